"""Scoring: each reading against the truth, raw and under the benchmark's failure policy.

inputs    results/samples/{benchmark}.parquet and the cell's predictions (its classes of failure, too)
outputs   results/scores/{model}/{benchmark}/{prompt}/{scorer}.parquet
"""

SCORES = "results/scores/{model}/{benchmark}/{prompt}/{scorer}.parquet"


rule score:
    input:
        files=inputs_of(SCORES),
        outdated=marker_of(SCORES),
    output:
        SCORES,
    log:
        "logs/score/{model}/{benchmark}/{prompt}/{scorer}.log",
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
