"""Checks of a run: that what it lists is there, and that its reports have what they need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gensight import published
from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.benchmark import BenchmarkSpec, ScorerSpec
from gensight.specs.hosting import check_hosting
from gensight.specs.number_checks import check_n, check_number
from gensight.specs.pixel_checks import check_sources
from gensight.specs.run import StopSpec
from gensight.specs.tables import TableSpec
from gensight.specs.words import refuse_unknown

if TYPE_CHECKING:
    from gensight.specs.project import Project


def check_run(file: str, project: Project) -> None:
    """Check what a run lists, and that it has all that its reports are made from.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    run = project.config.run
    refuse_unknown(file, "run.models", run.models, project.models)
    refuse_unknown(file, "run.benchmarks", run.benchmarks, project.benchmarks)
    refuse_unknown(file, "run.prompts", run.prompts, {name for _, name in project.prompts})
    refuse_unknown(file, "run.tables", run.tables, project.tables)
    refuse_unknown(file, "run.figures", run.figures, project.figures)
    refuse_unknown(file, "run.n", run.n, project.benchmarks)
    for name, n in run.n.items():
        check_n(f"{file}: run.n.{name}", project.benchmarks[name], n)
    refuse_unknown(
        file, "run.prompt_ranks", run.prompt_ranks, {name for _, name in project.prompts}
    )
    refuse_unknown(
        file, "run.prompt_subjects", run.prompt_subjects, {name for _, name in project.prompts}
    )
    refuse_unknown(file, "run.prompt_subjects", run.prompt_subjects.values(), run.subjects)
    for name, models in run.subjects.items():
        refuse_unknown(file, f"run.subjects.{name}", models, run.models)
    refuse_unknown(file, "data", project.config.data, declared.disk_modules())
    check_hosting(file, project)
    if run.twin and run.published != "hide":
        raise SpecError(
            f"{file}: run.published: a paper's numbers do not belong beside those of synthetic "
            f"twins; set it to hide, or run.twin to false"
        )
    check_sources(file, project)
    refuse_unknown(file, "run.stop_when", run.stop_when, run.benchmarks)
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
    refuse_unknown(file, f"{key}.models", rule.models, run.models)
    check_number(file, f"{key}.", rule, benchmark)
    refuse_unknown(file, f"{key}.prompt", [rule.prompt], run.prompts)
    _check_followed(file, key, rule, benchmark.scorers[rule.scorer], benchmark)
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


def _check_pool(
    file: str, key: str, metric: str, scorer: ScorerSpec, benchmark: BenchmarkSpec
) -> None:
    """Refuse a score that further samples change: a rank among the samples' own pictures."""
    candidates = benchmark.candidates
    if scorer.encoder is not None and candidates is not None and candidates.template is None:
        raise SpecError(
            f"{file}: {key}.metric: '{metric}' looks an answer up among the pictures of all "
            f"samples that are asked, so every further sample changes those before it; name a "
            f"metric that goes by one sample alone"
        )


def _check_followed(
    file: str, key: str, rule: StopSpec, scorer: ScorerSpec, benchmark: BenchmarkSpec
) -> None:
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
    _check_pool(file, key, rule.metric, scorer, benchmark)
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
        refuse_unknown(file, f"{key}.metric", [wanted.metric], {cell.metric for cell in cells})
        if wanted.benchmark is not None:
            known = sorted({cell.benchmark for cell in cells})
            refuse_unknown(file, f"{key}.benchmark", [wanted.benchmark], known)
        settings = {setting for cell in cells for setting in cell.setting}
        refuse_unknown(file, f"{key}.setting", wanted.setting, settings)


def _check_here(
    file: str, room: str, name: str, benchmarks: Iterable[str], project: Project
) -> None:
    for benchmark in benchmarks:
        if benchmark not in project.config.run.benchmarks:
            raise SpecError(
                f"{file}: run.{room}: '{name}' needs the benchmark '{benchmark}'; add it to "
                f"run.benchmarks"
            )
