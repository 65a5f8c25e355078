"""Sweeps: an extractor's parameters, chosen on one fold and reported on the other.

inputs    the scores of a grid of parameters, of every model that is pooled
outputs   results/sweeps/{sweep}.parquet, and the folds in results/sweeps/{sweep}.folds.csv
"""

SWEEP = "results/sweeps/{sweep}.parquet"


rule sweep:
    input:
        files=inputs_of(SWEEP),
        outdated=marker_of(SWEEP),
    output:
        SWEEP,
        "results/sweeps/{sweep}.folds.csv",
    log:
        "logs/sweep/{sweep}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(SWEEP),
    script:
        "../scripts/sweep.py"
