from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.embed import gallery

    (samples,) = snakemake.input.files
    count = gallery(samples, snakemake.output[0], snakemake.params.determinants)
    print(f"{count} candidates embedded")
