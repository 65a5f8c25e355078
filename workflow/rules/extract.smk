"""Extraction: what each answer says, by the same rules for every model.

inputs    results/samples/{benchmark}.parquet and the cell's generations
outputs   results/predictions/{model}/{benchmark}/{prompt}/{reading}.parquet
"""

PREDICTIONS = "results/predictions/{model}/{benchmark}/{prompt}/{reading}.parquet"


rule extract:
    input:
        files=inputs_of(PREDICTIONS),
        outdated=marker_of(PREDICTIONS),
    output:
        PREDICTIONS,
    log:
        "logs/extract/{model}/{benchmark}/{prompt}/{reading}.log",
    group:
        "cell"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=reading_memory_mb,
        runtime=reading_minutes,
    params:
        determinants=determinants_of(PREDICTIONS),
    script:
        "../scripts/extract.py"
