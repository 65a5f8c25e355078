"""Scoring: each reading against the truth, raw and under the benchmark's failure policy.

inputs    results/samples/{benchmark}.parquet and the cell's predictions (its classes of failure, too);
          where a scorer goes by them, features and candidates, or judgements
outputs   results/scores/{model}/{benchmark}/{prompt}/{scorer}.parquet
"""

SCORES = "results/scores/{model}/{benchmark}/{prompt}/{scorer}.parquet"
# What waits for an encoder or a judge cannot be one job with the reading of the answers.
WAITING = any_of(
    name
    for spec in project.benchmarks.values()
    for name, scorer in spec.scorers.items()
    if scorer.encoder is not None or scorer.judge is not None
)


rule score:
    input:
        files=inputs_of(SCORES),
        outdated=marker_of(SCORES),
    output:
        SCORES,
    log:
        "logs/score/{model}/{benchmark}/{prompt}/{scorer}.log",
    wildcard_constraints:
        scorer=rf"(?!(?:{WAITING})\.parquet)[a-z0-9_]+",
    group:
        "cell"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=reading_memory_mb,
        runtime=reading_minutes,
    params:
        determinants=determinants_of(SCORES),
    script:
        "../scripts/score.py"


rule score_waiting:
    input:
        files=inputs_of(SCORES),
        outdated=marker_of(SCORES),
    output:
        SCORES,
    log:
        "logs/score_waiting/{model}/{benchmark}/{prompt}/{scorer}.log",
    wildcard_constraints:
        scorer=WAITING,
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(SCORES),
    script:
        "../scripts/score.py"
