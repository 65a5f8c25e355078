from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.render import render

    samples, *source = snakemake.input.files
    count = render(samples, snakemake.output[0], snakemake.params.determinants, *source)
    print(f"{count} requests")
