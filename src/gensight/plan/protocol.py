"""The facts that a number cannot be compared without, in words, for the notes of a report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from gensight.specs import declared
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.project import Project

#: Parameters of a data set that other lines tell, or that say where rather than what.
TOLD_ELSEWHERE = ("seed", "twin")


def told_protocol(
    project: Project,
    benchmarks: Sequence[str],
    scorers: Collection[tuple[str, str]],
    samples: Callable[[str], dict[str, Any]],
) -> list[str]:
    """Return the protocol of a report, each fact once, with the benchmarks that it holds for.

    `scorers` are the (benchmark, scorer) pairs whose numbers are shown; `samples` gives what
    determines a benchmark's samples.
    """
    found: dict[str, list[str]] = {}
    for name in benchmarks:
        label = project.benchmarks[name].display.label
        for fact in _facts(project, name, scorers, samples(name)):
            found.setdefault(fact, []).append(label)
    return [f"{', '.join(dict.fromkeys(labels))}: {fact}." for fact, labels in found.items()]


def _facts(
    project: Project, name: str, shown: Collection[tuple[str, str]], samples: dict[str, Any]
) -> Iterator[str]:
    spec = project.benchmarks[name]
    yield _drawn(samples)
    facts = declared.constants("datasets", spec.dataset.module).get("FACTS", {})
    # What is true of a data set is not true of its twin.
    if spec.task in facts and not samples["parameters"].get("twin"):
        yield facts[spec.task]
    for scorer, scorer_spec in spec.scorers.items():
        if (name, scorer) in shown:
            yield _read(scorer_spec)
            note = declared.constants("measures", scorer_spec.measure).get("NOTE")
            if note:
                yield note


def _drawn(samples: dict[str, Any]) -> str:
    """Return which samples of which data set; parameters only where they are not the defaults."""
    module, parameters = samples["dataset"], samples["parameters"]
    defaults = declared.constants("datasets", module).get("DEFAULTS", {})
    seed = "" if parameters.get("seed") is None else f", seed {parameters['seed']}"
    manifest = samples["manifest"]
    frozen = f", frozen by {manifest['file']} ({manifest['sha256'][:12]})" if manifest else ""
    twin = parameters.get("twin")
    what = "synthetic twin, never the data set itself, of" if twin else "data set"
    changed = [
        f"{key} {value}"
        for key, value in parameters.items()
        if key not in TOLD_ELSEWHERE and value != defaults.get(key)
    ]
    told = f" ({', '.join(changed)})" if changed else ""
    return f"n = {samples['n']}{seed}{frozen}, {what} {module} version " + (
        f"{samples['dataset_version']}{told}"
    )


def _read(scorer: ScorerSpec) -> str:
    defaults = declared.constants("measures", scorer.measure).get("DEFAULTS", {})
    settings = {**defaults, **scorer.settings}
    told = ", ".join(f"{key} {value}" for key, value in sorted(settings.items()))
    return (
        f"extractor {scorer.extractor} version "
        f"{declared.constants('extractors', scorer.extractor)['VERSION']}, measure "
        f"{scorer.measure} version {declared.constants('measures', scorer.measure)['VERSION']} "
        f"({told})"
    )
