"""Helpers of every rules file: the specs, the plan, and what each rule needs from them."""

import os
import sys
from pathlib import Path

import gensight
from gensight import freshness
from gensight.doorway import PLANNED_WITH
from gensight.errors import GensightError
from gensight.plan import Plan
from gensight.slurm.jobs import needs_of_encoder, needs_of_judge, needs_of_model
from gensight.slurm.partitions import at_most, partitions, with_gpus
from gensight.specs.pixel_checks import IN_A_JOB
from gensight.specs.project import leave, load_or_exit
from gensight.specs.protocols import PROVIDERS

project = load_or_exit(config, Path.cwd())

# Scripts of rules with environments of their own check that they run what was planned with.
os.environ[PLANNED_WITH] = str(Path(gensight.__file__).resolve().parent)

# One job per provider at a time: a second one would only wait for the first one's lock.
for provider in PROVIDERS:
    workflow.global_resources.setdefault(f"{provider}_slots", 1)

try:
    plan = Plan(project)
    PLANNED = plan.files()
    FRESH = freshness.settle(PLANNED, project, main_process=workflow.is_main_process)
except GensightError as error:
    leave(error)


def any_of(names):
    """Return the pattern that matches one of these names."""
    return "|".join(sorted(names)) or "no_such_name"


# A name that is not known reaches `planned`, which says so and knows the nearest one.
wildcard_constraints:
    model="[a-z0-9_]+",
    benchmark="[a-z0-9_]+",
    prompt="[a-z0-9_]+",
    shard="[a-z0-9_]+",
    reading="[a-z0-9_]+",
    scorer="[a-z0-9_]+",
    sweep="[a-z0-9_]+",
    encoder="[a-z0-9_]+",
    judge="[a-z0-9_]+",
    aggregate="[a-z0-9_]+",
    table="(?!all$)[a-z0-9_]+",
    figure="[a-z0-9_]+",


def models_of(*kinds):
    """Return the pattern that matches the models that run at one of these kinds of place."""
    return any_of(name for name, model in project.models.items() if model.kind in kinds)


def inputs_of(pattern):
    """Return an input function: what the file of this pattern is made from."""

    def inputs(wildcards):
        return FRESH.inputs(planned(pattern, wildcards))

    return inputs


def marker_of(pattern):
    """Return an input function: a marker newer than a file that must be made again."""

    def marker(wildcards):
        return FRESH.marker(planned(pattern, wildcards))

    return marker


def determinants_of(pattern):
    """Return a params function: what determines the file of this pattern, and nothing else."""

    def determinants(wildcards):
        return planned(pattern, wildcards).determinants

    return determinants


def planned(pattern, wildcards):
    """Return the planned file of a pattern, or end with one line if the run does not have it."""
    path = pattern.format(**wildcards)
    if path not in PLANNED:
        leave(GensightError(plan.not_planned(path)))
    return PLANNED[path]


def slots_of(takes):
    """Return a rule's slots as resources: one of each provider that a job `takes` a slot of."""

    def slots(provider):
        return lambda wildcards: int(takes(wildcards, provider))

    return {f"{provider}_slots": slots(provider) for provider in PROVIDERS}


def model_takes(wildcards, provider):
    """Whether a model's job takes a slot of the provider: where it asks it."""
    return project.asks(wildcards.model) == provider


def judge_takes(wildcards, provider):
    """Whether a judge's job takes a slot of the provider: where a model of its panel asks it.

    None where a model of the panel runs in the job: it would keep the provider from all others as
    long as that one takes, and the provider's lock holds in any case.
    """
    judging = project.judges[wildcards.judge].models
    asks = any(project.asks(name) == provider for name in judging)
    return asks and needs_of_judge(project, wildcards.judge).gpus == 0


def needs_by(wildcard, needs_of):
    """Return what says of wildcards what their job takes, by the one that names who works in it."""

    def needs(wildcards):
        return needs_of(project, getattr(wildcards, wildcard))

    return needs


def machine_of(rule, needs):
    """Return the resources of a rule whose jobs have a machine to themselves.

    A job that was killed, or ran out of time, is tried again with more of both. It lands where its
    GPUs are, unless the run says otherwise.
    """

    def gpus(wildcards):
        return needs(wildcards).gpus

    def memory_mb(wildcards, attempt):
        return needs(wildcards).memory_mb * attempt

    def runtime_minutes(wildcards, attempt):
        minutes = needs(wildcards).runtime_minutes
        return at_most(minutes, attempt, partition(wildcards), known_partitions())

    def partition(wildcards):
        chosen = set_resource(rule, "slurm_partition")
        if chosen is not None:
            return chosen
        asked = default_resource("slurm_partition")
        try:
            return with_gpus(asked, needs(wildcards), known_partitions(), rule)
        except GensightError as error:
            leave(error)

    return {
        "gpu": gpus,
        "mem_mb": memory_mb,
        "runtime": runtime_minutes,
        "slurm_partition": partition,
    }


def known_partitions():
    """Return the cluster's partitions; the process that submits asks, or that plans to."""
    plans_to = workflow.dryrun and workflow.resource_settings.nodes is not None
    submits = workflow.is_main_process and (workflow.non_local_exec or plans_to)
    return partitions() if submits else ()


def default_resource(name):
    """Return what --default-resources or the profile says of a resource of all rules, or None."""
    return text_of((workflow.resource_settings.default_resources or {}).get(name))


def set_resource(rule, name):
    """Return what --set-resources or the profile says of a resource of a rule, or None."""
    return text_of(
        workflow.resource_settings.overwrite_resources.get(rule, {}).get(name)
    )


def text_of(resource):
    """Return a resource as it was written; None for one that is not set."""
    written = getattr(resource, "raw", resource)
    return None if written is None else str(written)


def reading_memory_mb(wildcards, attempt):
    """Return the memory of reading answers: they are held a few at a time, whatever n is."""
    return 1000 * attempt


def reading_minutes(wildcards, attempt):
    """Return the time of one of the two steps of reading answers, more at each attempt.

    The steps are one job, which has the time of both: no more than its partition gives.
    """
    asked = set_resource("extract", "slurm_partition")
    asked = asked or default_resource("slurm_partition")
    return at_most(2 * 20, attempt, asked, known_partitions()) // 2


def run_targets():
    """Return every table and figure of the run, or its summaries where it has neither."""
    if not project.config.run.tables and not project.config.run.figures:
        return [
            f"results/summaries/{name}.parquet"
            for name in project.config.run.benchmarks
        ]
    targets = ["results/tables/all.tex"] if project.config.run.tables else []
    return targets + [
        f"results/figures/{name}.png" for name in project.config.run.figures
    ]


def closing_words():
    """Return where the results of the run are."""
    return plan.closing_words()


def tell_what_is_to_pay():
    """Print what the run would cost, where something paid was to be asked without a budget."""
    from contextlib import redirect_stdout

    from gensight.cli.plan import print_what_is_to_pay

    if any(project.models[name].kind == "hosted" for name in plan.asked_models()):
        with redirect_stdout(sys.stderr):
            print_what_is_to_pay(plan)


def leave_if_parked():
    """End with an exit code of its own where the same command, run later, goes on."""
    from gensight.runner.parking import EXIT_CODE, parked_lines

    lines = parked_lines(
        project.ledger,
        {project.models[name].provider for name in plan.asked_models()},
    )
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        sys.exit(EXIT_CODE)
