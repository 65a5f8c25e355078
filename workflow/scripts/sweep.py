from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.sweep import sweep

    count = sweep(*snakemake.output, snakemake.params.determinants)
    print(f"{count} rows")
