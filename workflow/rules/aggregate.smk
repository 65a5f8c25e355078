"""Aggregates: averages over prompts, anchored scores and correlations, for all models at once.

inputs    the scores that an aggregate is made from, and other aggregates
outputs   results/aggregates/{aggregate}.parquet
"""

AGGREGATE = "results/aggregates/{aggregate}.parquet"


rule aggregate:
    input:
        files=inputs_of(AGGREGATE),
        outdated=marker_of(AGGREGATE),
    output:
        AGGREGATE,
    log:
        "logs/aggregate/{aggregate}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(AGGREGATE),
    script:
        "../scripts/aggregate.py"
