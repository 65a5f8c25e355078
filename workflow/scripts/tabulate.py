from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.tabulate import tabulate

    tabulate(snakemake.input.files, snakemake.output[0], snakemake.params.determinants)
