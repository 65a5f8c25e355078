from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.embed import embed

    (predictions,) = snakemake.input.files
    count = embed(predictions, snakemake.output[0], snakemake.params.determinants)
    print(f"{count} grids embedded")
