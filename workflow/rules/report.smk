"""Reports: tables, the document of all tables, and figures.

inputs    results/summaries/{benchmark}.parquet, results/sweeps/{sweep}.parquet; galleries also
          read their cells
outputs   results/tables/{table}.tex|.csv|.md, results/tables/all.tex
          results/figures/{figure}.png|.pdf|.json
"""

TABLE = "results/tables/{table}.tex"
ALL_TABLES = "results/tables/all.tex"
FIGURE = "results/figures/{figure}.png"


rule tabulate:
    input:
        files=inputs_of(TABLE),
        outdated=marker_of(TABLE),
    output:
        TABLE,
        "results/tables/{table}.csv",
        "results/tables/{table}.md",
    log:
        "logs/tabulate/{table}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(TABLE),
    script:
        "../scripts/tabulate.py"


rule collect_tables:
    input:
        files=inputs_of(ALL_TABLES),
        outdated=marker_of(ALL_TABLES),
    output:
        ALL_TABLES,
    log:
        "logs/collect_tables.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(ALL_TABLES),
    script:
        "../scripts/collect_tables.py"


rule plot:
    input:
        files=inputs_of(FIGURE),
        outdated=marker_of(FIGURE),
    output:
        FIGURE,
        "results/figures/{figure}.pdf",
        "results/figures/{figure}.json",
    log:
        "logs/plot/{figure}.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(FIGURE),
    script:
        "../scripts/plot.py"
