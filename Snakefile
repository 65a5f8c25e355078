from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/render.smk"
include: "workflow/rules/generate.smk"
include: "workflow/rules/extract.smk"
include: "workflow/rules/embed.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/summarize.smk"
include: "workflow/rules/sweep.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        run_targets(),


onsuccess:
    print(closing_words())


onerror:
    tell_what_is_to_pay()
    leave_if_parked()
