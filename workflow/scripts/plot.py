from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.plot import plot

    plot(snakemake.input.files, snakemake.output[0], snakemake.params.determinants)
