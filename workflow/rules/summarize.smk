"""Summaries: every metric of every cell of a benchmark, with its uncertainty, floor and ceiling.

inputs    the scores of all cells of the benchmark
outputs   results/summaries/{benchmark}.parquet   (the target of a partial rerun)
"""

SUMMARY = "results/summaries/{benchmark}.parquet"


rule summarize:
    input:
        files=inputs_of(SUMMARY),
        outdated=marker_of(SUMMARY),
    output:
        SUMMARY,
    log:
        "logs/summarize/{benchmark}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(SUMMARY),
    script:
        "../scripts/summarize.py"
