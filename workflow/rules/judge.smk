"""Judging: what models that act as judges say of the readings of a cell, by a rubric.

inputs    results/samples/{benchmark}.parquet and the cell's predictions
outputs   results/judgements/{model}/{benchmark}/{prompt}/{judge}.parquet
"""

JUDGEMENTS = "results/judgements/{model}/{benchmark}/{prompt}/{judge}.parquet"


# Models behind somebody's API are asked beside the main process, which holds their keys.
rule judge:
    input:
        files=inputs_of(JUDGEMENTS),
        outdated=marker_of(JUDGEMENTS),
    output:
        JUDGEMENTS,
    log:
        "logs/judge/{model}/{benchmark}/{prompt}/{judge}.log",
    wildcard_constraints:
        judge=any_of(set(project.judges) - set(project.judges_at(*IN_A_JOB))),
    # The runner knows what may be asked again; what it gave up on is the user's to look at.
    retries: 0
    localrule: True
    conda:
        "../../envs/hosted.yaml"
    resources:
        **slots_of(judge_takes),
    params:
        determinants=determinants_of(JUDGEMENTS),
        ledger=project.config.ledger,
    script:
        "../scripts/judge.py"


# Models that run in a job are asked one after another, each with the machine to itself.
rule judge_local:
    input:
        files=inputs_of(JUDGEMENTS),
        outdated=marker_of(JUDGEMENTS),
    output:
        JUDGEMENTS,
    log:
        "logs/judge_local/{model}/{benchmark}/{prompt}/{judge}.log",
    wildcard_constraints:
        judge=any_of(project.judges_at(*IN_A_JOB)),
    conda:
        "../../envs/models.yaml"
    resources:
        **slots_of(judge_takes),
        **machine_of("judge_local", needs_by("judge", needs_of_judge)),
    params:
        determinants=determinants_of(JUDGEMENTS),
        ledger=project.config.ledger,
    script:
        "../scripts/judge.py"
