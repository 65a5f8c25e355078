from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.plot import plot

    plot(snakemake.params.sources, snakemake.output[0], snakemake.params.determinants)
