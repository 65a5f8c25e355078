from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.generate import generate

    samples, requests = snakemake.input.files
    determinants, ledger = snakemake.params.determinants, snakemake.params.ledger
    # From the config and no params: other limits, budgets or addresses make nothing again.
    config = snakemake.config
    counts = generate(samples, requests, snakemake.output[0], ledger, determinants, config)
    print(f"{counts.asked} asked, {counts.replayed} replayed from the ledger")
