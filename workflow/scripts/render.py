from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.render import render

    determinants = snakemake.params.determinants
    (samples,) = snakemake.input.files
    count = render(samples, snakemake.output[0], determinants)
    print(f"{count} requests")
