from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.score import score_files

    count = score_files(snakemake.input.files, snakemake.output[0], snakemake.params.determinants)
    print(f"{count} scores")
