"""Rendering: every prompt about every sample, once for all models.

inputs    results/samples/{benchmark}.parquet, and what was read of other models' answers, where
          a prompt asks about their grids
outputs   results/requests/{benchmark}/{prompt}.parquet
"""

REQUESTS = "results/requests/{benchmark}/{prompt}.parquet"


rule render:
    input:
        files=inputs_of(REQUESTS),
        outdated=marker_of(REQUESTS),
    output:
        REQUESTS,
    log:
        "logs/render/{benchmark}/{prompt}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(REQUESTS),
    script:
        "../scripts/render.py"
