"""Reports: tables, the document of all tables, and figures.

inputs    results/summaries/{benchmark}.parquet; galleries also read their cells
outputs   results/tables/{table}.tex|.csv|.md, results/tables/all.tex
          results/figures/{figure}.png|.pdf|.json
"""

TABLE = "results/tables/{table}.tex"
ALL_TABLES = "results/tables/all.tex"
FIGURE = "results/figures/{figure}.png"


rule tabulate:
    input:
        inputs_of(TABLE),
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
        sources=sources_of(TABLE),
    script:
        "../scripts/tabulate.py"


rule collect_tables:
    input:
        inputs_of(ALL_TABLES),
    output:
        ALL_TABLES,
    log:
        "logs/collect_tables.log",
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        determinants=determinants_of(ALL_TABLES),
        sources=sources_of(ALL_TABLES),
    script:
        "../scripts/collect_tables.py"


rule plot:
    input:
        inputs_of(FIGURE),
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
        sources=sources_of(FIGURE),
    script:
        "../scripts/plot.py"
