from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.generate import generate

    samples, requests = snakemake.input.files
    determinants, ledger = snakemake.params.determinants, snakemake.params.ledger
    conversation = generate(samples, requests, snakemake.output[0], ledger, determinants)
    print(f"{conversation.asked} asked, {conversation.replayed} replayed from the ledger")
