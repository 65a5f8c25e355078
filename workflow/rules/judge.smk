"""Judging: what models that act as judges say of the readings of a cell, by a rubric.

inputs    results/samples/{benchmark}.parquet and the cell's predictions
outputs   results/judgements/{model}/{benchmark}/{prompt}/{judge}.parquet
"""

JUDGEMENTS = "results/judgements/{model}/{benchmark}/{prompt}/{judge}.parquet"


rule judge:
    input:
        files=inputs_of(JUDGEMENTS),
        outdated=marker_of(JUDGEMENTS),
    output:
        JUDGEMENTS,
    log:
        "logs/judge/{model}/{benchmark}/{prompt}/{judge}.log",
    # The runner knows what may be asked again; what it gave up on is the user's to look at.
    retries: 0
    localrule: True
    conda:
        "../../envs/hosted.yaml"
    resources:
        **{f"{name}_slots": judge_slots(name) for name in PROVIDERS},
    params:
        determinants=determinants_of(JUDGEMENTS),
        ledger=project.config.ledger,
    script:
        "../scripts/judge.py"
