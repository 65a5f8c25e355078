"""Embedding: what an encoder makes of the grids of a cell, and of a benchmark's candidates.

inputs    the cell's predictions; results/samples/{benchmark}.parquet
outputs   results/features/{model}/{benchmark}/{prompt}/{encoder}.parquet
          results/galleries/{benchmark}/{encoder}.parquet
"""

FEATURES = "results/features/{model}/{benchmark}/{prompt}/{encoder}.parquet"
GALLERIES = "results/galleries/{benchmark}/{encoder}.parquet"


rule embed:
    input:
        files=inputs_of(FEATURES),
        outdated=marker_of(FEATURES),
    output:
        FEATURES,
    log:
        "logs/embed/{model}/{benchmark}/{prompt}/{encoder}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **machine_of("embed", needs_by("encoder", needs_of_encoder)),
    params:
        determinants=determinants_of(FEATURES),
    script:
        "../scripts/embed.py"


rule embed_candidates:
    input:
        files=inputs_of(GALLERIES),
        outdated=marker_of(GALLERIES),
    output:
        GALLERIES,
    log:
        "logs/embed_candidates/{benchmark}/{encoder}.log",
    conda:
        "../../envs/models.yaml"
    resources:
        **machine_of("embed_candidates", needs_by("encoder", needs_of_encoder)),
    params:
        determinants=determinants_of(GALLERIES),
    script:
        "../scripts/embed_candidates.py"
