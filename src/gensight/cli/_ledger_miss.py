"""What `gensight ledger explain-miss` says: which question is open, and what comes nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from gensight.cli import _ledger_cells
from gensight.cli._ledger_cells import Played
from gensight.cli._ledger_list import KEY_LETTERS, moment
from gensight.cli.checkout import load_checkout
from gensight.cli.plan import told_usd
from gensight.errors import GensightError
from gensight.plan import Plan
from gensight.runner.explanation import NO_ANSWER, PICTURE_GONE, SENT, Explanation, explain
from gensight.runner.inventory import OpenRequest
from gensight.specs.project import Project
from gensight.specs.words import unknown


@dataclass(frozen=True)
class Miss:
    """How many questions of a cell the ledger answers, and why the first of the others is open."""

    cell: str
    questions: int
    answered: int
    strangers: Sequence[str]
    first: Played | None
    why: Explanation | None


def look_into(project: Project, cell: str, sample: str | None) -> Miss:
    """Play the questions of a cell, or of one sample, against the ledger.

    Raises:
        GensightError: there is no such cell or sample in the run.
        RecordError: samples or requests are not made yet, or the ledger is damaged.
    """
    plan = Plan(project)
    files = _ledger_cells.files_of(plan, cell)
    played = [one for planned in files for one in _ledger_cells.play(plan, planned, sample)]
    if sample is not None and not played:
        everything = [one for planned in files for one in _ledger_cells.play(plan, planned)]
        raise unknown(cell, "sample", sample, _ledger_cells.sample_names(everything))
    first = next((one for one in played if one.missing is not None), None)
    why = None
    if first is not None and first.missing is not None:
        why = explain(project.ledger, cell.split("/")[0], first.missing.asked)
    return Miss(
        cell=cell,
        questions=len(played),
        answered=sum(one.missing is None and not one.strangers for one in played),
        strangers=sorted({name for one in played for name in one.strangers}),
        first=first,
        why=why,
    )


def miss_json(found: Miss) -> dict[str, Any]:
    """Return an explanation as it is printed with --json."""
    first = None
    if found.first is not None and found.why is not None:
        first = {
            "sample": found.first.sample_id,
            **asdict(found.first.setting),
            "turn": len(found.first.keys) - 1,
            **asdict(found.why),
        }
    return {
        "cell": found.cell,
        "questions": found.questions,
        "answered": found.answered,
        "strangers": list(found.strangers),
        "first": first,
    }


def print_miss(found: Miss) -> None:
    """Print an explanation for people."""
    click.echo(f"{found.cell}: {found.answered} of {found.questions} questions are answered")
    if found.strangers:
        model = found.cell.split("/")[0]
        click.echo(
            f"  answered by a model that was not asked for: {', '.join(found.strangers)}; allow it "
            f"with answered_as in config/models/{model}.yaml"
        )
    if found.first is None or found.why is None:
        return
    place = "" if len(found.first.keys) == 1 else f", turn {len(found.first.keys)}"
    repeat = f", repeat {found.first.setting.repeat}" if found.first.setting.repeat else ""
    click.echo(f"{found.first.sample_id}{place}{repeat} is asked under {found.why.key}")
    for line in _told(found.why):
        click.echo(f"  {line}")


def _told(why: Explanation) -> list[str]:
    if why.state == NO_ANSWER:
        return [f"it was asked and got no answer ({why.detail}): it is asked again"]
    if why.state == PICTURE_GONE:
        return [f"it was answered ({why.detail}), and the picture is not here any more"]
    lines = [_told_sent(request) for request in why.sent] if why.state == SENT else []
    if why.nearest is None:
        lines.append("the ledger has no reply of this model to compare it with")
    else:
        lines.append(
            f"the nearest of {why.compared} kept requests is {why.nearest[:KEY_LETTERS]} "
            f"(kept -> asked for now):"
        )
        lines += [f"  {change.told}" for change in why.changes]
    if why.silent:
        lines.append(
            f"{why.silent} adopted files also hold replies of it, and do not say what was asked "
            f"for them"
        )
    return lines


def _told_sent(request: OpenRequest) -> str:
    return (
        f"it was sent on {moment(request.attempt.started)} and its reply was not read "
        f"({request.state}), {told_usd(request.most_usd)} at most"
    )


def sample_finder(configfiles: Sequence[str]) -> Callable[[OpenRequest], str | None]:
    """Return what finds the sample of a request, as far as the run of the checkout plans it."""
    try:
        plan = Plan(load_checkout(configfiles))
    except GensightError:  # the ledger can be read although the project is wrong
        plan = None
    samples = _ledger_cells.Samples(plan)

    def _sample_of(request: OpenRequest) -> str | None:
        attempt = request.attempt
        return samples.of(f"{attempt.model}/{attempt.benchmark}/{attempt.prompt}", attempt.key)

    return _sample_of
