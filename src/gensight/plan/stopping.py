"""Spending to a precision: how many ranks of a benchmark are planned, kept in the ledger.

`ledger/stops/{run}/{benchmark}.json` holds how many first ranks have been asked for, and why no
more are. Planning only reads it; `gensight spend` writes it after every look at the scores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args

from gensight.atomic import write_text
from gensight.digests import digest_of
from gensight.errors import SpecError
from gensight.plan.cells import Cell
from gensight.plan.determinants import Determinants
from gensight.specs.project import Project
from gensight.specs.stops import Decision, Stop


def with_stops(project: Project) -> Project:
    """Return the project with every benchmark of `stop_when` as far as its spending has come.

    Where nothing is kept, or what is kept was about another question, it is at its first ranks.

    Raises:
        SpecError: a model of a rule is not scored where the rule looks, or a kept file is damaged.
    """
    rules = project.config.run.stop_when
    if not rules:
        return project
    whole = Determinants(project)
    kept = {name: _kept_for(whole, name) for name in rules}
    reached = {name: Stop(_reached(whole, name, kept[name])) for name in rules}
    planned = Determinants(replace(project, stops=reached))
    return replace(
        project,
        stops={name: _decided(planned, name, stop, kept[name]) for name, stop in reached.items()},
    )


def pair(plan: Determinants, benchmark: str) -> list[Cell]:
    """Return the two cells that a benchmark's rule compares.

    Raises:
        SpecError: one of them is not asked, or not read by the rule's scorer.
    """
    rule = plan.run.stop_when[benchmark]
    cells = [Cell(model, benchmark, rule.prompt) for model in rule.models]
    asked = plan.cells(benchmark)
    for cell in cells:
        if cell not in asked or rule.scorer not in plan.scorers(cell):
            raise SpecError(
                f"config/config.yaml (or --configfile): run.stop_when.{benchmark}: '{cell.model}' "
                f"has no scores of '{rule.scorer}' under the prompt '{rule.prompt}' (see the "
                f"model's tasks, answers and prompts, and the scorer's prompts, roles and "
                f"subjects); name another model or scorer"
            )
    return cells


def most_of(plan: Determinants, benchmark: str) -> int:
    """Return how many ranks of a benchmark may be asked; a rule needs a number (`specs.checks`)."""
    most = plan.project.most(benchmark)
    assert isinstance(most, int)
    return most


def keep(plan: Determinants, benchmark: str, stop: Stop) -> None:
    """Keep how far spending has come, by the plan whose scores were looked at.

    Raises:
        SpecError: the ledger cannot be written.
    """
    state = {
        **asdict(stop),
        "rule": _rule(plan, benchmark),
        "scores": _scores(plan, benchmark) if stop.decided else None,
    }
    path = _path(plan.project, benchmark)
    try:
        write_text(path, json.dumps(state, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise SpecError(
            f"config/config.yaml (or --configfile): ledger: cannot keep the progress of "
            f"'{benchmark}' in {path} ({error.strerror}); name a folder that can be written"
        ) from None


def superseded(plan: Determinants, benchmark: str) -> int | None:
    """Return how many ranks were reached under another rule than the plan's, None if none were."""
    state = _load(_path(plan.project, benchmark))
    return state["n"] if state and state["rule"] != _rule(plan, benchmark) else None


def _kept_for(plan: Determinants, benchmark: str) -> Mapping[str, Any]:
    """Return what is kept about the plan's own rule; nothing where it is about another one."""
    state, rule = _load(_path(plan.project, benchmark)), _rule(plan, benchmark)
    return state if state and state["rule"] == rule else {}


def _reached(plan: Determinants, benchmark: str, kept: Mapping[str, Any]) -> int:
    first = plan.run.stop_when[benchmark].first
    return min(kept.get("n", first), most_of(plan, benchmark))


def _decided(plan: Determinants, benchmark: str, stop: Stop, kept: Mapping[str, Any]) -> Stop:
    """Return a stop with the kept decision, if that was read from the scores that are planned."""
    if kept.get("scores") is None or kept["scores"] != _scores(plan, benchmark):
        return stop
    if kept["decided"] == "all" and stop.n < most_of(plan, benchmark):
        return stop
    return Stop(**{field.name: kept[field.name] for field in fields(Stop)})


def _rule(plan: Determinants, benchmark: str) -> str:
    """Return the digest of the question: the rule, and who is asked what, whatever the number."""
    rule = plan.run.stop_when[benchmark]
    asked = [_without_n(plan.generations(cell)) for cell in pair(plan, benchmark)]
    return digest_of({"rule": rule.model_dump(), "asked": asked})


def _without_n(generations: Mapping[str, Any]) -> dict[str, Any]:
    requests = generations["requests"]
    samples = {key: value for key, value in requests["samples"].items() if key != "n"}
    return {**generations, "requests": {**requests, "samples": samples}}


def _scores(plan: Determinants, benchmark: str) -> str:
    """Return the digest of the scores that a decision is read from."""
    scorer = plan.run.stop_when[benchmark].scorer
    return digest_of([digest_of(plan.score(cell, scorer)) for cell in pair(plan, benchmark)])


def _path(project: Project, benchmark: str) -> Path:
    return project.ledger / "stops" / project.config.run.name / f"{benchmark}.json"


def _load(path: Path) -> dict[str, Any] | None:
    """Return a kept state, None where there is none yet."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        state = None
    if not _is_state(state):
        raise SpecError(f"{path}: holds no progress; remove it to start from the first ranks again")
    return state


def _is_state(state: Any) -> bool:
    keys = {"rule", "scores", *(field.name for field in fields(Stop))}
    if not isinstance(state, dict) or set(state) != keys or type(state["n"]) is not int:
        return False
    if state["decided"] is None:
        return True
    bounds = [state["low"], state["high"]]
    return (
        state["decided"] in get_args(Decision)
        and type(state["after"]) is int
        and all(type(bound) in (int, float) for bound in bounds)
    )
