"""Sampling: every benchmark's evaluated and held-out samples.

outputs   results/samples/{benchmark}.parquet
"""

SAMPLES = "results/samples/{benchmark}.parquet"


rule sample:
    input:
        files=inputs_of(SAMPLES),
        outdated=marker_of(SAMPLES),
    output:
        SAMPLES,
    log:
        "logs/sample/{benchmark}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(SAMPLES),
    script:
        "../scripts/sample.py"
