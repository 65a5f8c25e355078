from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.tabulate import collect_tables

    collect_tables(snakemake.input.files, snakemake.output[0], snakemake.params.determinants)
