"""Checks between specs: every name is there, and every setting is one that its module has."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.aggregate_checks import check_aggregate, check_correlation_figure
from gensight.specs.benchmark import BenchmarkSpec, ScorerSpec
from gensight.specs.cards import check_card
from gensight.specs.conventions import CLASSIFIER, POINTS
from gensight.specs.correlation_figure import CorrelationFigureSpec
from gensight.specs.figures import FigureSpec
from gensight.specs.hosting import check_server
from gensight.specs.model import ModelSpec
from gensight.specs.number_checks import check_n, check_number
from gensight.specs.pixel_checks import (
    check_judge,
    check_pixels,
    check_stand_ins,
)
from gensight.specs.prompt import Task
from gensight.specs.protocols import PROTOCOLS
from gensight.specs.run_checks import check_run
from gensight.specs.sweep import SweepSpec
from gensight.specs.tables import TableSpec
from gensight.specs.words import refuse_unknown, unknown

if TYPE_CHECKING:
    from gensight.specs.project import Project


def check(project: Project, config_file: str) -> None:
    """Check every spec of a project against the others and against the library.

    `config_file` is what errors call the config.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    for name, model in project.models.items():
        _check_model(f"config/models/{name}.yaml", model, project)
    for name, benchmark in project.benchmarks.items():
        _check_benchmark(f"config/benchmarks/{name}.yaml", benchmark, project)
    for name, judge in project.judges.items():
        check_judge(f"config/judges/{name}.yaml", judge, project)
    for name, aggregate in project.aggregates.items():
        check_aggregate(f"config/aggregates/{name}.yaml", name, aggregate, project, check_number)
    for name, sweep in project.sweeps.items():
        _check_sweep(f"config/sweeps/{name}.yaml", name, sweep, project)
    for room, specs in (("tables", project.tables), ("figures", project.figures)):
        for name, spec in specs.items():
            _check_report(f"config/{room}/{name}.yaml", spec, project)
    if "all" in project.tables:
        raise SpecError(
            "config/tables/all.yaml: rename it; results/tables/all.tex is the document "
            "of all tables"
        )
    check_run(config_file, project)


def _check_model(file: str, model: ModelSpec, project: Project) -> None:
    if model.adapter not in PROTOCOLS:
        raise unknown(file, "adapter", model.adapter, PROTOCOLS)
    check_card(file, model)
    check_server(file, model)
    asked = {name for task, name in project.prompts if task in (model.tasks or [task])}
    refuse_unknown(file, "prompts", model.prompts or (), asked)
    refuse_unknown(file, "exposure", model.exposure, (*get_args(Task), *project.benchmarks))


def _check_benchmark(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    refuse_unknown(file, "dataset.module", [benchmark.dataset.module], declared.names("datasets"))
    declared.merged(
        file,
        "dataset.parameters",
        "datasets",
        benchmark.dataset.module,
        {k: v for k, v in benchmark.dataset.parameters.items() if (k, v) != ("seed", "fresh")},
    )
    if benchmark.dataset.manifest and benchmark.dataset.module not in declared.disk_modules():
        raise SpecError(
            f"{file}: dataset.manifest: '{benchmark.dataset.module}' is built in and has no "
            f"files to freeze; remove it"
        )
    prompts = [name for task, name in project.prompts if task == benchmark.task]
    refuse_unknown(file, "prompts", benchmark.prompts, prompts)
    check_n(f"{file}: n", benchmark, benchmark.n)
    if "all" in benchmark.scorers:
        raise SpecError(f"{file}: scorers.all: rename it")
    for place, first in enumerate(benchmark.subsets):
        if isinstance(benchmark.n, int) and first > benchmark.n:
            raise SpecError(
                f"{file}: subsets.{place}: {first} is more than the {benchmark.n} samples of n"
            )
    classifiers = [n for n, s in benchmark.scorers.items() if s.extractor == CLASSIFIER]
    if len(classifiers) > 1:
        raise SpecError(
            f"{file}: scorers.{classifiers[1]}: there is a classifier of failures already "
            f"('{classifiers[0]}'); one decides for all scorers"
        )
    readings: dict[str, ScorerSpec] = {}
    for name, scorer in benchmark.scorers.items():
        refuse_unknown(file, f"scorers.{name}.prompts", scorer.prompts or (), benchmark.prompts)
        _check_scorer(file, f"scorers.{name}", scorer, readings)
    _check_colours(file, benchmark, project)
    check_pixels(file, benchmark, project)


def _check_scorer(file: str, key: str, scorer: ScorerSpec, readings: dict[str, ScorerSpec]) -> None:
    refuse_unknown(file, f"{key}.extractor", [scorer.extractor], declared.names("extractors"))
    refuse_unknown(file, f"{key}.measure", [scorer.measure], declared.names("measures"))
    refuse_unknown(file, f"{key}.metrics", scorer.metrics, declared.names("metrics"))
    declared.merged(file, f"{key}.parameters", "extractors", scorer.extractor, scorer.parameters)
    declared.merged(file, f"{key}.settings", "measures", scorer.measure, scorer.settings)
    _check_grid(file, f"{key}.parameters", scorer)
    for metric in scorer.metrics:
        needed = declared.constants("metrics", metric).get("MEASURE")
        if needed != scorer.measure:
            raise SpecError(
                f"{file}: {key}.metrics: '{metric}' is a metric of the measure "
                f"'{needed}', not of '{scorer.measure}'"
            )
    first = readings.setdefault(scorer.file, scorer)
    for setting in ("extractor", "parameters", "ranks"):
        if getattr(first, setting) != getattr(scorer, setting):
            raise SpecError(
                f"{file}: {key}.{setting}: two scorers read '{scorer.file}' with different "
                f"{setting}; use variants, or give one of them a `reading` name of its own"
            )


def _check_grid(file: str, key: str, scorer: ScorerSpec) -> None:
    """Check an extractor that calls another one with every combination of some parameters."""
    defaults = declared.constants("extractors", scorer.extractor).get("DEFAULTS", {})
    if not {"extractor", "grid"} <= set(defaults):
        return
    inner = scorer.parameters.get("extractor")
    refuse_unknown(file, f"{key}.extractor", [inner], declared.names("extractors"))
    variants = declared.constants("extractors", str(inner)).get("CHOICES", {}).get("variants", [])
    if scorer.parameters.get("variant") is not None:
        refuse_unknown(file, f"{key}.variant", [scorer.parameters["variant"]], variants)
    fixed, grid = scorer.parameters.get("parameters", {}), scorer.parameters.get("grid", {})
    if not isinstance(grid, dict) or not isinstance(fixed, dict):
        raise SpecError(f"{file}: {key}: parameters and grid are mappings of the parameters' names")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise SpecError(f"{file}: {key}.grid.{name}: expected a list of values, got {values!r}")
        for value in values:
            if values.count(value) > 1:
                raise SpecError(f"{file}: {key}.grid.{name}: {value!r} is listed twice")
            declared.merged(file, f"{key}.grid", "extractors", str(inner), {**fixed, name: value})


def _check_colours(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    """Check that a scorer looks for the colours that its prompts ask for.

    They stand in two files, because a prompt is words and an extractor knows no prompt.
    """
    for name, scorer in benchmark.scorers.items():
        defaults = declared.constants("extractors", scorer.extractor).get("DEFAULTS", {})
        read = {**defaults, **scorer.parameters}
        for prompt in scorer.prompts or []:
            turns = project.prompts[(benchmark.task, prompt)].turns
            form = turns[-1].answer_form.model_dump()
            asked = {k: form[k] for k in ("colour", "colours") if form.get(k) is not None}
            if form.get("alternate") is not None:
                asked = {"colours": [form["colour"], form["alternate"]]}
            for setting, colours in asked.items():
                if setting in read and read[setting] != colours:
                    raise SpecError(
                        f"{file}: scorers.{name}.parameters.{setting}: {read[setting]} is not the "
                        f"{colours} that resources/prompts/{benchmark.task}/{prompt}.yaml asks for"
                    )


def _check_sweep(file: str, name: str, sweep: SweepSpec, project: Project) -> None:
    if name in project.benchmarks:
        raise SpecError(f"{file}: rename it; there is a benchmark of this name")
    refuse_unknown(file, "benchmark", [sweep.benchmark], project.benchmarks)
    benchmark = project.benchmarks[sweep.benchmark]
    refuse_unknown(file, "prompt", [sweep.prompt], benchmark.prompts)
    refuse_unknown(file, "scorer", [sweep.scorer], benchmark.scorers)
    scorer = benchmark.scorers[sweep.scorer]
    refuse_unknown(file, "metric", [sweep.metric], scorer.metrics)
    grid = scorer.parameters.get("grid")
    if not isinstance(grid, dict):
        raise SpecError(f"{file}: scorer: '{sweep.scorer}' has no parameters.grid to sweep over")
    for key, point in (("previous", sweep.previous), ("adopted", sweep.adopted)):
        for parameter, values in grid.items():
            refuse_unknown(file, f"{key}.{parameter}", [point.get(parameter)], values)
        refuse_unknown(file, key, point, grid)


def _check_report(file: str, spec: TableSpec | FigureSpec, project: Project) -> None:
    known = project.benchmarks
    sweeps = project.sweeps if isinstance(spec, TableSpec) else {}
    points = [*POINTS] if {*spec.benchmarks} & {*sweeps} else []
    # What is correlated over models stands in their place.
    for name in {*spec.benchmarks} & {*project.aggregates}:
        points += [one.name for one in project.aggregates[name].correlations]
    for place, names in spec.named_models.items():
        refuse_unknown(file, place, names, [*points, *project.models])
    check_stand_ins(file, spec, project)
    if isinstance(spec, CorrelationFigureSpec):
        check_correlation_figure(file, spec, project)
    for key, number in spec.numbers.items():
        refuse_unknown(
            file, f"{key}benchmark", [number.benchmark], [*known, *sweeps, *project.aggregates]
        )
        if number.benchmark in known:
            check_number(file, key, number, known[number.benchmark])
        elif number.benchmark in project.aggregates:
            rows = project.aggregates[number.benchmark].metrics
            refuse_unknown(file, f"{key}metric", [number.metric], rows)
