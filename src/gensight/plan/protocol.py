"""The facts that a number cannot be compared without, in words, for the notes of a report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from gensight.specs import declared
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.project import Project
from gensight.vocabulary import vocabulary_hash

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
    if name in project.stops:
        yield _spent(project, name)
    facts = declared.constants("datasets", spec.dataset.module).get("FACTS", {})
    # What is true of a data set is not true of its twin.
    if spec.task in facts and not samples["parameters"].get("twin"):
        yield facts[spec.task]
    for scorer, scorer_spec in spec.scorers.items():
        if (name, scorer) in shown:
            yield _read(scorer_spec)
            if scorer_spec.encoder is not None:
                yield _embedded(project, name, scorer_spec.encoder)
            if scorer_spec.judge is not None:
                yield _judged(project, scorer_spec.judge)
            note = declared.constants("measures", scorer_spec.measure).get("NOTE")
            if note:
                yield note


def _embedded(project: Project, benchmark: str, encoder: str) -> str:
    """Return what grids are seen by, and what they are compared with."""
    spec, candidates = project.encoders[encoder], project.benchmarks[benchmark].candidates
    file = f"config/encoders/{encoder}.yaml"
    settings = declared.merged(file, "settings", "encoders", spec.module, spec.settings)
    told = ", ".join(f"{key} {value}" for key, value in sorted(settings.items()))
    version = declared.constants("encoders", spec.module)["VERSION"]
    seen = f"encoder {spec.display.label} (module {spec.module} version {version}: {told})"
    if spec.stand_in:
        seen = f"{seen}, a stand-in that is validated against nothing"
    if candidates is None or candidates.template is None:
        return f"{seen}; candidates are the samples' own pictures"
    others = ""
    if candidates.vocabulary is not None:
        digest = vocabulary_hash(project.root)
        others = f" beside those of the {candidates.vocabulary} vocabulary (sha256 {digest[:12]})"
    return f'{seen}; candidates are the texts "{candidates.template}" of its labels{others}'


def _judged(project: Project, judge: str) -> str:
    """Return who judges, by what, and how often."""
    spec = project.judges[judge]
    again = ""
    if spec.rescored is not None:
        again = f", {100 * spec.rescored.share:g} % of the samples judged again"
    replies = "1 reply" if spec.repeats == 1 else f"{spec.repeats} replies"
    return (
        f"judge {spec.display.label} (models {', '.join(spec.models)}; rubrics "
        f"{', '.join(spec.rubrics)}; {replies} an answer, at most {spec.reasks} more "
        f"where one cannot be read{again}); intervals hold no bias of the judge"
    )


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


def told_spending(project: Project, name: str) -> str:
    """Return how far the spending on a benchmark has come, and why it ended, on one line."""
    return f"{project.benchmarks[name].display.label}: {_reached(project, name)}"


def _spent(project: Project, name: str) -> str:
    """Return how many samples were used and why no more, with what that does to the intervals."""
    told, decided = _reached(project, name), project.stops[name].decided
    if decided not in ("told_apart", "narrow"):
        return told
    return (
        f"{told}; intervals and ranks printed here are made for a number of samples that is fixed "
        f"beforehand, so after such a stop this difference looks a little larger and surer than it "
        f"is"
    )


def _reached(project: Project, name: str) -> str:
    stop, rule = project.stops[name], project.config.run.stop_when[name]
    spent = f"{stop.n} of at most {project.most(name)} samples, in the order of their ranks"
    if stop.decided is None or stop.low is None or stop.high is None:
        return f"{spent}; not decided yet"
    first, second = (project.models[model].display.label for model in rule.models)
    setting = [rule.metric, rule.variant, rule.fit, f"prompt {rule.prompt}"]
    what = f"{first} minus {second} ({', '.join(word for word in setting if word)})"
    why = {
        "told_apart": f"stopped because the confidence sequence of {what} excluded 0",
        "narrow": f"stopped because the confidence sequence of {what} was narrow enough",
        "all": f"all were asked, and the confidence sequence of {what} did not end it before",
    }
    low, high = (f"{bound * rule.scale:.3g}" for bound in (stop.low, stop.high))
    return f"{spent}; {why[stop.decided]} ({low} to {high} at 95 %, after {stop.after} clusters)"


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
