from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.extract import extract

    samples, *generations = snakemake.input.files
    count = extract(samples, generations, snakemake.output[0], snakemake.params.determinants)
    print(f"{count} predictions")
