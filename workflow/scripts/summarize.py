from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.summarize import summarize

    count = summarize(snakemake.output[0], snakemake.params.determinants)
    print(f"{count} summary rows")
