"""Generation: every model answers every request once; one rule per kind of place it runs at.

inputs    results/samples/{benchmark}.parquet, results/requests/{benchmark}/{prompt}.parquet
outputs   results/generations/{model}/{benchmark}/{prompt}/{shard}.parquet
"""

GENERATIONS = "results/generations/{model}/{benchmark}/{prompt}/{shard}.parquet"


rule generate_reference:
    input:
        files=inputs_of(GENERATIONS),
        outdated=marker_of(GENERATIONS),
    output:
        GENERATIONS,
    log:
        "logs/generate_reference/{model}/{benchmark}/{prompt}/{shard}.log",
    wildcard_constraints:
        model=models_of("reference"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(GENERATIONS),
        ledger=project.config.ledger,
    script:
        "../scripts/generate.py"


rule generate_hosted:
    input:
        files=inputs_of(GENERATIONS),
        outdated=marker_of(GENERATIONS),
    output:
        GENERATIONS,
    log:
        "logs/generate_hosted/{model}/{benchmark}/{prompt}/{shard}.log",
    wildcard_constraints:
        model=models_of("hosted"),
    # The runner knows what may be asked again; what it gave up on is the user's to look at.
    retries: 0
    localrule: True
    conda:
        "../../envs/hosted.yaml"
    resources:
        **slots_of(model_takes),
    params:
        determinants=determinants_of(GENERATIONS),
        ledger=project.config.ledger,
    script:
        "../scripts/generate.py"


rule generate_local:
    input:
        files=inputs_of(GENERATIONS),
        outdated=marker_of(GENERATIONS),
    output:
        GENERATIONS,
    log:
        "logs/generate_local/{model}/{benchmark}/{prompt}/{shard}.log",
    wildcard_constraints:
        model=models_of("local", "served", "external"),
    conda:
        "../../envs/models.yaml"
    resources:
        **slots_of(model_takes),
        **machine_of("generate_local", needs_by("model", needs_of_model)),
    params:
        determinants=determinants_of(GENERATIONS),
        ledger=project.config.ledger,
    script:
        "../scripts/generate.py"
