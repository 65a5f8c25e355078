from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.aggregate import aggregate

    count = aggregate(snakemake.output[0], snakemake.params.determinants)
    print(f"{count} rows")
