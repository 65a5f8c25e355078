from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.generate import generate

    samples, requests = snakemake.input.files
    determinants, ledger = snakemake.params.determinants, snakemake.params.ledger
    talk = generate(samples, requests, snakemake.output[0], ledger, determinants)
    print(f"{talk.asked} asked, {talk.replayed} replayed from the ledger")
