from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.tabulate import tabulate

    tabulate(snakemake.params.sources, snakemake.output[0], snakemake.params.determinants)
