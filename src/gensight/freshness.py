"""Which files of a run are current, decided by digests and never by times.

Snakemake compares modification times, and forgets everything about files that were laid into
results/ by hand. So the project decides for itself, once, when the Snakefile is parsed:

- a file is **current** if its own digest is the plan's and the files it was made from still hold
  the rows that it saw. It is given only those inputs that exist, and a time no older than theirs:
  Snakemake then has no reason to make it again, whatever the order of the times.
- a file is **outdated** if it was made here, or had been current here, and its digest is no longer
  the plan's. It is given one more input, a marker newer than itself: Snakemake makes it again.
- a file that was **laid in** and never matched the plan stops the run before it is used, with one
  line. Exceptions are made again from checked files: summaries, tables and figures, and readings
  and scores that differ in nothing but versions of the code that reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gensight.answering import answering_files, answering_judgements, asked_models
from gensight.atomic import write_text
from gensight.digests import differences, digest_of, told_difference
from gensight.errors import GensightError, RecordError
from gensight.footers import Footer, footer_from, read_footer, rebuild_command
from gensight.outcomes import Outcome
from gensight.plan import PlannedFile
from gensight.specs.model import ModelSpec
from gensight.specs.project import Project
from gensight.specs.protocols import OWN_SERVER, PROTOCOLS
from gensight.stamps import STATE, is_known, mark_built

MARKER = STATE / "outdated"
FOOTERS = STATE / "footers.json"
MANIFEST = Path("results/ARCHIVE.json")

#: Rows that were bought or rendered: never taken over, and never thrown away, in silence.
GUARDED = (
    "samples",
    "requests",
    "generations",
    "predictions",
    "features",
    "galleries",
    "judgements",
    "scores",
)
#: Stages whose rows depend on the content of these upstream stages, beyond their own digest.
#: Samples and requests follow from their digests; a generation is never made again for them.
CHAINED = (
    "generations",
    "predictions",
    "features",
    "galleries",
    "judgements",
    "scores",
    "summaries",
    "aggregates",
    "tables",
)


@dataclass
class Freshness:
    """The verdict on every planned file that exists; paths are relative to the checkout."""

    current: set[str] = field(default_factory=set)
    outdated: set[str] = field(default_factory=set)
    adopted: list[str] = field(default_factory=list)

    def inputs(self, planned: PlannedFile) -> list[str]:
        """Return the inputs that Snakemake is to see for a file."""
        if planned.path in self.current:
            return [path for path in planned.inputs if Path(path).exists()]
        # An absent input stays listed, so that Snakemake makes it; only pictures whose scores are
        # current are spared.
        return [
            path
            for path in planned.inputs
            if planned.spared.get(path) not in self.current or Path(path).exists()
        ]

    def marker(self, planned: PlannedFile) -> list[str]:
        """Return the marker if a file must be made again, else nothing."""
        return [str(MARKER)] if planned.path in self.outdated else []


def settle(files: Mapping[str, PlannedFile], project: Project, *, main_process: bool) -> Freshness:
    """Judge every planned file that exists; only the main process writes anything.

    Generations with questions that are to be asked again are outdated.

    Raises:
        RecordError: a file was laid in that the plan does not want, or that is damaged; one line
            naming the file, the key, both values and what to do.
        GensightError: the checkout cannot be written.
    """
    footers = _Footers()
    found = {path: footers[path] for path in files if Path(path).exists()}
    verdict = Freshness()
    for path, footer in found.items():
        is_current = _is_current(files[path], footer, found)
        if is_current and not is_known(path, footer.content):
            verdict.adopted.append(path)
        if is_current and not _asks_again(files[path], footer, project):
            verdict.current.add(path)
        else:
            verdict.outdated.add(path)
    # In the plan's order, not the set's: the same fault is always told of the same file.
    outdated = [files[path] for path in found if path in verdict.outdated]
    _refuse_foreign(outdated, found)
    _refuse_strangers([files[path] for path in found], found, project.models)
    for planned in outdated:
        _refuse_asking_again(planned, files, project.ledger)
    if main_process:
        try:
            _act(files, found, verdict, footers, project)
        except OSError as error:
            raise GensightError(
                f"{error.filename or 'results/'}: cannot be written ({error.strerror}); make the "
                f"checkout writable, or work in a copy of it"
            ) from None
    return verdict


def _act(
    files: Mapping[str, PlannedFile],
    found: Mapping[str, Footer],
    verdict: Freshness,
    footers: _Footers,
    project: Project,
) -> None:
    for path in verdict.adopted:
        _adopt(files[path], found[path], project.ledger)
    for model, path in answering_files(files, found, verdict.current, project):
        from gensight.runner.adoption import adopt

        adopt(project.ledger, model, Path(path))
    for _, path in answering_judgements(files, found, verdict.current, project):
        from gensight.runner.adopted_judgements import adopt_judgements

        adopt_judgements(project.ledger, Path(path))
    _put_times_in_order(files, verdict)
    footers.save()
    if verdict.outdated:
        MARKER.parent.mkdir(parents=True, exist_ok=True)
        MARKER.touch()


def _adopt(planned: PlannedFile, footer: Footer, ledger: Path) -> None:
    """Take over a file that was laid in, once its rows are what its footer says."""
    if planned.path.endswith(".parquet"):
        from gensight.records.storage import is_intact

        kept = read_footer(planned.path)
        same_rows = is_intact(planned.path, kept.content)
        if not same_rows or digest_of(kept.determinants) != kept.digest:
            raise RecordError(
                f"{planned.path} was laid in and its rows are not those that were written: it is "
                f"damaged or altered; lay in a sound copy, or {rebuild_command(planned.path)}"
            )
    if planned.stage == "generations":
        from gensight.runner.adoption import adopt

        # Its replies answer for their keys from now on.
        adopt(ledger, planned.determinants["model"], Path(planned.path))
    if planned.stage == "judgements":
        from gensight.runner.adopted_judgements import adopt_judgements

        adopt_judgements(ledger, Path(planned.path))
    mark_built(planned.path, footer.content)


def _asks_again(planned: PlannedFile, footer: Footer, project: Project) -> bool:
    """Say whether some questions of a file are to be asked again.

    Where gaps are kept, those stay that another run leaves alone too: what a retired model was
    asked, and what is held in doubt because it may have been billed.
    """
    config = project.config
    if not footer.gaps or config.unresolved == "fail":
        return bool(footer.gaps)
    left_alone = set.intersection(
        *(_left_alone(project.models[name], project) for name in asked_models(planned))
    )
    return not footer.gaps.keys() <= left_alone


def _left_alone(spec: ModelSpec, project: Project) -> set[str]:
    """Return the gaps of a model that no run closes by itself."""
    found: set[str] = set()
    if spec.retired is not None and spec.retired.date <= datetime.now(UTC).date():
        found.add(Outcome.MODEL_GONE)
    if project.config.hosted.in_doubt == "hold" and spec.provider != OWN_SERVER:
        found.add(Outcome.IN_DOUBT)
    return found


def _is_current(planned: PlannedFile, footer: Footer, found: Mapping[str, Footer]) -> bool:
    if footer.digest != planned.digest:
        return False
    if not all(Path(sibling).exists() for sibling in planned.siblings):
        return False
    if planned.stage in ("samples", "galleries"):
        return True
    if planned.stage in ("requests", "generations"):
        return _saw_the_same_grids(planned, footer, found)
    if planned.stage in ("tables", "figures"):
        return _same_marked_inputs(planned, footer, found)
    # An input that is not here cannot contradict what was seen of it: scores alone may be laid in.
    return all(
        found[path].content == content
        for path, content in footer.inputs.items()
        if path in found and found[path].stage in CHAINED
    )


def _saw_the_same_grids(planned: PlannedFile, footer: Footer, found: Mapping[str, Footer]) -> bool:
    """Say whether questions about another model's grids are about those that there are now.

    All other requests follow from their digests. Answers are asked again only where a question has
    changed: the ledger has the others.
    """
    requests = planned.determinants.get("requests", planned.determinants)
    if "source" not in requests:
        return True
    changed = ("predictions", "requests")
    return all(
        found[path].content == content
        for path, content in footer.inputs.items()
        if path in found and found[path].stage in changed
    )


def _same_marked_inputs(planned: PlannedFile, footer: Footer, found: Mapping[str, Footer]) -> bool:
    """Tables and figures keep one digest over all inputs: comparable only if all are there."""
    if not all(path in found for path in planned.inputs):
        return True
    seen = {path: found[path].content for path in planned.inputs}
    return footer.inputs[""] == digest_of(seen)


def _refuse_foreign(outdated: Sequence[PlannedFile], found: Mapping[str, Footer]) -> None:
    """Stop before files are used that were laid in and are not what the run plans."""
    foreign = [planned for planned in outdated if _is_foreign(planned, found[planned.path])]
    if not foreign:
        return
    first, more = foreign[0], len(foreign) - 1
    key, told = told_difference(read_footer(first.path).determinants, first.determinants)
    others = f" (and {more} more)" if more else ""
    raise RecordError(
        f"{first.path}{others} was laid in and is not what this run plans: {told}; set "
        f"{key.split('.')[-1]} back, or take everything over with: gensight archive adopt (then "
        f"replies that fit are replayed, and the rest is made again)"
    )


def _refuse_strangers(
    planned: Sequence[PlannedFile], found: Mapping[str, Footer], models: Mapping[str, ModelSpec]
) -> None:
    """Stop before answers are used that came from another model than the one that was asked for."""
    for file in planned:
        asked = asked_models(file)
        for answered in found[file.path].answered if asked else ():
            if not any(models[model].answers_under(answered) for model in asked):
                raise RecordError(
                    f"{file.path}: holds answers of {answered}, which "
                    f"config/models/{asked[0]}.yaml does not ask for; add the id to answered_as "
                    f"there, or remove the file to ask again"
                )


def _refuse_asking_again(
    planned: PlannedFile, files: Mapping[str, PlannedFile], ledger: Path
) -> None:
    """Stop where reading answers again would silently ask a model again.

    That is so in a checkout into which scores or predictions were laid without their generations.
    """
    if planned.stage not in ("predictions", "scores"):
        return
    for path in planned.inputs:
        if files[path].stage == "judgements" and not Path(path).exists():
            _refuse_judging_again(planned, files[path], ledger)
    model = planned.path.split("/")[2]
    if _has_answers(ledger, model):
        return
    for path in _answers_of(planned, files):
        if not Path(path).exists():
            raise RecordError(
                f"{planned.path} must be made again, and the answers that it was made from are not "
                f"here: lay in {path}, or remove {planned.path} to ask {model} again"
            )


def _refuse_judging_again(planned: PlannedFile, judgements: PlannedFile, ledger: Path) -> None:
    for model, asked in judgements.determinants["models"].items():
        paid = PROTOCOLS[asked["adapter"]].kind != "reference"
        if paid and not _has_answers(ledger, model):
            raise RecordError(
                f"{planned.path} must be made again, and the judgements that it was made from are "
                f"not here: lay in {judgements.path}, or remove {planned.path} to ask {model} again"
            )


def _has_answers(ledger: Path, model: str) -> bool:
    return any((ledger / kind / model).exists() for kind in ("replies", "adopted"))


def _answers_of(planned: PlannedFile, files: Mapping[str, PlannedFile]) -> list[str]:
    """Return the generations below a file that must be made again, as far as they are needed."""
    answers = [path for path in planned.inputs if files[path].stage == "generations"]
    for path in planned.inputs:
        if files[path].stage == "predictions" and not Path(path).exists():
            answers += _answers_of(files[path], files)
    return answers


def _is_foreign(planned: PlannedFile, footer: Footer) -> bool:
    if planned.stage not in GUARDED or is_known(planned.path, footer.content):
        return False
    if footer.digest == planned.digest:
        return False
    determinants = read_footer(planned.path).determinants
    changes = differences(determinants, planned.determinants)
    return not all(_is_cheap_version(planned.stage, key) for key, *_ in changes)


def _is_cheap_version(stage: str, key: str) -> bool:
    """Say whether a change is only a version of code, and not one that answers were given under."""
    return (
        stage in ("predictions", "features", "galleries", "scores")
        and key.endswith("_version")
        and "generations." not in key
    )


def _put_times_in_order(files: Mapping[str, PlannedFile], verdict: Freshness) -> None:
    """Give each current file, upstream first, a time no older than its existing inputs'."""
    for path, planned in files.items():
        if path not in verdict.current:
            continue
        inputs = [p for p in planned.inputs if p in verdict.current]
        newest = max((Path(p).stat().st_mtime_ns for p in inputs), default=0)
        for output in (path, *planned.siblings):
            if Path(output).stat().st_mtime_ns < newest:
                os.utime(output, ns=(newest, newest))


class _Footers:
    """Footers by path, read again only where size or time changed (or the archive says so)."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = _read_json(FOOTERS)
        listed = _read_json(MANIFEST).get("files", {})
        for path, entry in listed.items() if isinstance(listed, dict) else ():
            if isinstance(entry, dict):
                kept = [entry.get("size"), entry.get("mtime_ns"), entry.get("footer")]
                self._kept.setdefault(path, kept)
        self._seen: dict[str, Footer] = {}

    def __getitem__(self, path: str) -> Footer:
        kept = self._from_cache(path)
        self._seen[path] = kept or replace(read_footer(path), determinants={})
        return self._seen[path]

    def _from_cache(self, path: str) -> Footer | None:
        """Return a kept footer; an entry of another version or shape is as good as none."""
        try:
            size, mtime_ns, fields = self._kept[path]
            footer = footer_from(fields)
        except (KeyError, TypeError, ValueError):
            return None
        return footer if (size, mtime_ns) == _size_and_time(path) else None

    def save(self) -> None:
        """Keep the footers for the next run, atomically: two runs may start at once."""
        if not self._seen:
            return
        kept = {p: [*_size_and_time(p), asdict(footer)] for p, footer in self._seen.items()}
        write_text(FOOTERS, json.dumps(kept))


def _size_and_time(path: str) -> tuple[int, int]:
    stat = Path(path).stat()
    return stat.st_size, stat.st_mtime_ns


def _read_json(path: Path) -> dict[str, Any]:
    """Return a cache's mapping; one that is missing or damaged only costs reading again."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
