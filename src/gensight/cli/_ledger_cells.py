"""The questions of planned cells, played against the ledger; nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gensight.errors import GensightError
from gensight.outcomes import Outcome
from gensight.plan import Plan, PlannedFile
from gensight.runner.conversation import Conversation, Setting
from gensight.runner.ledger import Entry
from gensight.runner.questions import Answer, Question
from gensight.specs.words import nearest


@dataclass(frozen=True)
class Played:
    """One question of a cell, as far as the ledger has answers.

    `keys` are those of its turns so far, the one that has no answer last; `missing` that turn,
    None where all are answered. `strangers` are models that answered and were not asked for.
    """

    sample_id: str
    setting: Setting
    keys: list[str] = field(default_factory=list)
    missing: Question | None = None
    strangers: list[str] = field(default_factory=list)


def files_of(plan: Plan, name: str) -> list[PlannedFile]:
    """Return the generations files of a cell MODEL/BENCHMARK/PROMPT.

    Raises:
        GensightError: the run has no such cell.
    """
    folders = {cell.folder: cell for cell in plan.cells()}
    if name not in folders:
        raise GensightError(
            f"{name} is no cell of the run '{plan.run.name}'{nearest(name, folders)}; give "
            f"MODEL/BENCHMARK/PROMPT, and the run's --configfile"
        )
    files = plan.files()
    return [files[path] for path in plan.generation_paths(folders[name])]


def play(plan: Plan, planned: PlannedFile, sample_id: str | None = None) -> Iterator[Played]:
    """Yield every question of a generations file, or those about one sample.

    Raises:
        RecordError: samples or requests are not made yet, or not the plan's.
        NotHereYetError: this version has no adapter for the model.
    """
    from gensight.stages.generate import Shard, conversation_of

    shard = Shard.of(*planned.inputs, planned.determinants)
    spec = plan.project.models[planned.determinants["model"]]
    asker = _WritesDown()
    conversation = replace(
        conversation_of(shard, plan.project.ledger),
        asker=asker,
        answered_as=spec.answered_as if spec.kind == "hosted" else None,
    )
    for request, setting in shard.questions():
        if sample_id is None or sample_id in request.sample_ids:
            yield _played(shard, conversation, asker, request, setting)


def _played(
    shard: Any, conversation: Conversation, asker: _WritesDown, request: Any, setting: Setting
) -> Played:
    from gensight.stages.generate import played

    keys, strangers, missing = [], [], None
    for row in played(conversation, request, shard.about(request), setting):
        keys.append(row.request_key)
        if row.outcome == Outcome.MODEL_MISMATCH:
            strangers.append(str(row.answered_model))
        elif row.outcome == Outcome.NOT_RUN:
            missing = asker.last
    return Played(request.sample_ids[0], setting, keys, missing, strangers)


class _WritesDown:
    """Asks nobody, and remembers the last question."""

    last: Question

    def ask(self, question: Question) -> Answer:
        self.last = question
        return Entry(question.key, str(Outcome.NOT_RUN)), []


class Samples:
    """The samples that requests are about, where the run plans them and their files are made."""

    def __init__(self, plan: Plan | None) -> None:
        self._plan = plan
        self._known: dict[str, dict[str, str]] = {}

    def of(self, cell: str, key: str) -> str | None:
        """Return the sample that a key of a cell is about, or None."""
        if cell not in self._known:
            self._known[cell] = dict(self._keys(cell))
        return self._known[cell].get(key)

    def _keys(self, cell: str) -> Iterator[tuple[str, str]]:
        if self._plan is None:
            return
        try:
            for planned in files_of(self._plan, cell):
                if not all(Path(path).exists() for path in planned.inputs):
                    continue
                for found in play(self._plan, planned):
                    yield from ((key, found.sample_id) for key in found.keys)
        except GensightError:  # another run's, or the config has changed since
            return


def sample_names(played: Sequence[Played]) -> list[str]:
    """Return the samples that some questions are about, each once, in order."""
    return list(dict.fromkeys(one.sample_id for one in played))
