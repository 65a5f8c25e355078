from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.sample import sample

    count = sample(snakemake.output[0], snakemake.params.determinants)
    print(f"{count} samples")
