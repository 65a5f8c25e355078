"""Checks between specs: every name is there, and every setting is one that its module has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

from gensight import published
from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.aggregate_checks import check_aggregate
from gensight.specs.benchmark import BenchmarkSpec, ScorerSpec
from gensight.specs.cards import check_card
from gensight.specs.conventions import CLASSIFIER, NATIVE_DEFAULT, POINTS
from gensight.specs.figures import FigureSpec, GallerySpec, MetricPanelSpec
from gensight.specs.hosting import check_hosting, check_server
from gensight.specs.model import ModelSpec
from gensight.specs.pixel_checks import (
    check_judge,
    check_pixels,
    check_sources,
    check_stand_ins,
)
from gensight.specs.prompt import Task
from gensight.specs.protocols import PROTOCOLS
from gensight.specs.run import StopSpec
from gensight.specs.sweep import SweepSpec
from gensight.specs.tables import ColumnSpec, TableSpec
from gensight.specs.words import unknown

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
        check_aggregate(f"config/aggregates/{name}.yaml", name, aggregate, project, _check_number)
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
    _check_run(config_file, project)


def _known(file: str, key: str, words: Iterable[object], known: Iterable[object]) -> None:
    names = list(known)
    for word in words:
        if word not in names:
            raise unknown(file, key, word, names)


def _check_model(file: str, model: ModelSpec, project: Project) -> None:
    if model.adapter not in PROTOCOLS:
        raise unknown(file, "adapter", model.adapter, PROTOCOLS)
    check_card(file, model)
    check_server(file, model)
    asked = {name for task, name in project.prompts if task in (model.tasks or [task])}
    _known(file, "prompts", model.prompts or (), asked)
    _known(file, "exposure", model.exposure, (*get_args(Task), *project.benchmarks))


def _check_benchmark(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    _known(file, "dataset.module", [benchmark.dataset.module], declared.names("datasets"))
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
    _known(file, "prompts", benchmark.prompts, prompts)
    _check_n(f"{file}: n", benchmark, benchmark.n)
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
        _known(file, f"scorers.{name}.prompts", scorer.prompts or (), benchmark.prompts)
        _check_scorer(file, f"scorers.{name}", scorer, readings)
    _check_colours(file, benchmark, project)
    check_pixels(file, benchmark, project)


def _check_n(place: str, benchmark: BenchmarkSpec, n: int | str) -> None:
    """Refuse to evaluate a held-out rank, and all of a data set that has no end.

    How many `all` are, only the sampling job knows.
    """
    module = benchmark.dataset.module
    if n == "all" and not declared.has_function("datasets", module, "population"):
        raise SpecError(
            f"{place}: 'all' needs a data set of known size; '{module}' makes as many samples as "
            f"are asked for: give a number"
        )
    held_out = benchmark.held_out
    if held_out and isinstance(n, int) and n > held_out.first_rank:
        raise SpecError(
            f"{place}: {n} reaches into the held-out ranks; lower it or raise the "
            f"benchmark's held_out.first_rank ({held_out.first_rank})"
        )


def _check_scorer(file: str, key: str, scorer: ScorerSpec, readings: dict[str, ScorerSpec]) -> None:
    _known(file, f"{key}.extractor", [scorer.extractor], declared.names("extractors"))
    _known(file, f"{key}.measure", [scorer.measure], declared.names("measures"))
    _known(file, f"{key}.metrics", scorer.metrics, declared.names("metrics"))
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
    _known(file, f"{key}.extractor", [inner], declared.names("extractors"))
    variants = declared.constants("extractors", str(inner)).get("CHOICES", {}).get("variants", [])
    if scorer.parameters.get("variant") is not None:
        _known(file, f"{key}.variant", [scorer.parameters["variant"]], variants)
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
    _known(file, "benchmark", [sweep.benchmark], project.benchmarks)
    benchmark = project.benchmarks[sweep.benchmark]
    _known(file, "prompt", [sweep.prompt], benchmark.prompts)
    _known(file, "scorer", [sweep.scorer], benchmark.scorers)
    scorer = benchmark.scorers[sweep.scorer]
    _known(file, "metric", [sweep.metric], scorer.metrics)
    grid = scorer.parameters.get("grid")
    if not isinstance(grid, dict):
        raise SpecError(f"{file}: scorer: '{sweep.scorer}' has no parameters.grid to sweep over")
    for key, point in (("previous", sweep.previous), ("adopted", sweep.adopted)):
        for parameter, values in grid.items():
            _known(file, f"{key}.{parameter}", [point.get(parameter)], values)
        _known(file, key, point, grid)


def _check_report(file: str, spec: TableSpec | FigureSpec, project: Project) -> None:
    known = project.benchmarks
    sweeps = project.sweeps if isinstance(spec, TableSpec) else {}
    points = [*POINTS] if {*spec.benchmarks} & {*sweeps} else []
    # What is correlated over models stands in their place.
    for name in {*spec.benchmarks} & {*project.aggregates}:
        points += [one.name for one in project.aggregates[name].correlations]
    for place, names in spec.named_models.items():
        _known(file, place, names, [*points, *project.models])
    check_stand_ins(file, spec, project)
    for key, number in spec.numbers.items():
        _known(file, f"{key}benchmark", [number.benchmark], [*known, *sweeps, *project.aggregates])
        if number.benchmark in known:
            _check_number(file, key, number, known[number.benchmark])
        elif number.benchmark in project.aggregates:
            rows = project.aggregates[number.benchmark].metrics
            _known(file, f"{key}metric", [number.metric], rows)


def _check_number(
    file: str,
    key: str,
    number: ColumnSpec | MetricPanelSpec | GallerySpec | StopSpec,
    benchmark: BenchmarkSpec,
) -> None:
    """Check that a benchmark has the number that a column, panel, gallery or rule names."""
    if isinstance(number, GallerySpec):
        _known(file, f"{key}task", [number.task], [benchmark.task])
    _known(file, f"{key}prompt", [number.prompt], benchmark.prompts)
    _known(file, f"{key}scorer", [number.scorer], benchmark.scorers)
    scorer = benchmark.scorers[number.scorer]
    _known(file, f"{key}metric", [number.metric], scorer.metrics)
    fits = list(declared.constants("measures", scorer.measure).get("FITS", (None,)))
    if NATIVE_DEFAULT in fits:
        fits.append("native")
    _known(file, f"{key}fit", [number.fit], fits)
    stratum = getattr(number, "stratum", None)
    if stratum is not None and stratum.startswith("first_"):
        _known(file, f"{key}stratum", [stratum], [f"first_{n}" for n in benchmark.subsets])
    if isinstance(number, ColumnSpec) and number.minus_fit is not None:
        _known(file, f"{key}minus_fit", [number.minus_fit], fits)
    defaults = declared.constants("extractors", scorer.extractor).get("DEFAULTS", {})
    variants = {**defaults, **scorer.parameters}.get("variants")
    if variants is None:  # the extractor does not say beforehand what it will read
        return
    if number.variant is not None or len(variants) > 1:
        # What the repeats of one request agree on is a variant of its own.
        agreed = [f"{variant}_consensus" for variant in variants]
        allowed = [*variants, *(agreed if number.variant in agreed else [])]
        _known(file, f"{key}variant", [number.variant], allowed)


def _check_run(file: str, project: Project) -> None:
    run = project.config.run
    _known(file, "run.models", run.models, project.models)
    _known(file, "run.benchmarks", run.benchmarks, project.benchmarks)
    _known(file, "run.prompts", run.prompts, {name for _, name in project.prompts})
    _known(file, "run.tables", run.tables, project.tables)
    _known(file, "run.figures", run.figures, project.figures)
    _known(file, "run.n", run.n, project.benchmarks)
    for name, n in run.n.items():
        _check_n(f"{file}: run.n.{name}", project.benchmarks[name], n)
    _known(file, "run.prompt_ranks", run.prompt_ranks, {name for _, name in project.prompts})
    _known(file, "run.prompt_subjects", run.prompt_subjects, {name for _, name in project.prompts})
    _known(file, "run.prompt_subjects", run.prompt_subjects.values(), run.subjects)
    for name, models in run.subjects.items():
        _known(file, f"run.subjects.{name}", models, run.models)
    _known(file, "data", project.config.data, declared.disk_modules())
    check_hosting(file, project)
    if run.twin and run.published != "hide":
        raise SpecError(
            f"{file}: run.published: a paper's numbers do not belong beside those of synthetic "
            f"twins; set it to hide, or run.twin to false"
        )
    check_sources(file, project)
    _known(file, "run.stop_when", run.stop_when, run.benchmarks)
    for name, rule in run.stop_when.items():
        _check_stop(file, name, rule, project)
    for name in run.tables:
        _check_planned_table(file, name, project)
    for name in run.figures:
        needed = _made_from(project.figures[name].benchmarks, project)
        _check_here(file, "figures", name, needed, project)


def _check_stop(file: str, name: str, rule: StopSpec, project: Project) -> None:
    """Check a rule of `stop_when`: its number, and that there are ranks to spend on."""
    run, key = project.config.run, f"run.stop_when.{name}"
    benchmark, most = project.benchmarks[name], project.most(name)
    _known(file, f"{key}.models", rule.models, run.models)
    _check_number(file, f"{key}.", rule, benchmark)
    _known(file, f"{key}.prompt", [rule.prompt], run.prompts)
    _check_followed(file, key, rule, benchmark.scorers[rule.scorer])
    if not isinstance(most, int):
        raise SpecError(
            f"{file}: {key}: '{name}' asks for n: all; say at most how many with run.n.{name}"
        )
    if rule.first > most:
        raise SpecError(
            f"{file}: {key}.first: {rule.first} is more than the {most} samples of '{name}'; lower "
            f"it or raise run.n.{name}"
        )
    ends = {
        f"run.prompt_ranks.{rule.prompt}": run.prompt_ranks.get(rule.prompt),
        f"scorers.{rule.scorer}.ranks": benchmark.scorers[rule.scorer].ranks,
    }
    for place, ranks in ends.items():
        if ranks is not None and ranks < most:
            raise SpecError(
                f"{file}: {key}: {place} ends at {ranks} ranks, before the {most} of '{name}'; "
                f"remove it, or lower run.n.{name} to {ranks}"
            )


def _check_followed(file: str, key: str, rule: StopSpec, scorer: ScorerSpec) -> None:
    """Check that a metric averages scores of samples that lie between 0 and the rule's scale."""

    def followed(metric: str) -> bool:
        found = declared.constants("metrics", metric)
        bounded = found.get("BOUNDS", (None, None))[0] == 0
        return {"mean": bounded, "rate": True}.get(found.get("INTERVAL", "mean"), False)

    if not followed(rule.metric):
        able = [metric for metric in scorer.metrics if followed(metric)]
        raise SpecError(
            f"{file}: {key}.metric: '{rule.metric}' is no average of the samples' own scores from "
            f"0 upwards, so it cannot be followed sample by sample; of '{rule.scorer}' these can: "
            f"{', '.join(able) or 'none'}"
        )
    top = declared.constants("metrics", rule.metric).get("BOUNDS", (0, None))[1]
    if top is not None and rule.scale < top:
        raise SpecError(
            f"{file}: {key}.scale: the scores of '{rule.metric}' go up to {top:g}; write scale: "
            f"{top:g}"
        )


def _check_planned_table(file: str, name: str, project: Project) -> None:
    spec, run = project.tables[name], project.config.run
    printed = run.published == "only" and spec.published is not None
    needed = [spec.subjects]
    needed += [project.sweeps[b].subjects for b in spec.benchmarks if b in project.sweeps]
    for subjects in needed[: 1 if printed else None]:
        if subjects is not None and not run.subjects.get(subjects):
            raise SpecError(
                f"{file}: run.tables: '{name}' is about the models of run.subjects.{subjects}; "
                f"list them there"
            )
    places = [c.subject for c in spec.columns if isinstance(c.subject, int)]
    if places and max(places) >= len(run.subjects.get(spec.subjects or "", [])):
        raise SpecError(
            f"{file}: run.subjects.{spec.subjects}: the table '{name}' needs "
            f"{max(places) + 1} models"
        )
    if run.published != "hide" and spec.published is not None:
        _check_printed(f"config/tables/{name}.yaml", spec, project)
    if printed:
        return
    _check_here(file, "tables", name, _made_from(spec.benchmarks, project), project)


def _made_from(names: Iterable[str], project: Project) -> list[str]:
    """Return the benchmarks that sweeps, aggregates and benchmarks are made from, each once."""
    found: list[str] = []
    for name in names:
        if name in project.sweeps:
            found.append(project.sweeps[name].benchmark)
        elif name in project.aggregates:
            spec = project.aggregates[name]
            found += _made_from([*spec.benchmarks, *spec.aggregates], project)
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def _check_printed(file: str, spec: TableSpec, project: Project) -> None:
    """Check that a paper prints what the columns of a table cite."""
    cited = spec.published
    assert cited is not None
    cells = published.load(cited.paper, cited.table, project.root)
    for place, column in enumerate(spec.columns):
        if column.published is None:
            continue
        key, wanted = f"columns.{place}.published", column.published
        _known(file, f"{key}.metric", [wanted.metric], {cell.metric for cell in cells})
        if wanted.benchmark is not None:
            known = sorted({cell.benchmark for cell in cells})
            _known(file, f"{key}.benchmark", [wanted.benchmark], known)
        settings = {setting for cell in cells for setting in cell.setting}
        _known(file, f"{key}.setting", wanted.setting, settings)


def _check_here(
    file: str, room: str, name: str, benchmarks: Iterable[str], project: Project
) -> None:
    for benchmark in benchmarks:
        if benchmark not in project.config.run.benchmarks:
            raise SpecError(
                f"{file}: run.{room}: '{name}' needs the benchmark '{benchmark}'; add it to "
                f"run.benchmarks"
            )
