from gensight.doorway import logged

with logged(snakemake):
    from gensight.stages.judge import judge

    samples, predictions = snakemake.input.files
    made = judge(
        samples,
        predictions,
        snakemake.output[0],
        snakemake.params.ledger,
        snakemake.params.determinants,
        snakemake.config,
    )
    print(f"{made.answers} replies, {made.asked} asked for now, {made.replayed} replayed")
