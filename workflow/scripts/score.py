from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.score import score

    samples, *predictions = snakemake.input.files
    count = score(samples, predictions, snakemake.output[0], snakemake.params.determinants)
    print(f"{count} scores")
