"""Generation: one model answers the requests of one shard, through the ledger."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gensight import images, models
from gensight.models import Turn
from gensight.records import Generation, Request, RowFile, Sample, SampleStore, write_rows
from gensight.runner.conversation import Conversation, Ladder, Setting
from gensight.runner.here import HereAsker
from gensight.runner.ledger import Ledger
from gensight.runner.questions import NobodyAsks
from gensight.specs import declared
from gensight.specs.base import load_spec
from gensight.specs.conventions import LONG_SIDE_PX
from gensight.specs.model import ModelSpec
from gensight.specs.protocols import PROTOCOLS
from gensight.stages.gaps import note, without_gaps

if TYPE_CHECKING:
    from gensight.stages.buy import Questions

#: Input pictures kept at the sent size: the settings of one request reuse the same picture.
STANDARDISED_PICTURES_KEPT = 4


#: A request in one of the settings that it is asked in.
Question = tuple[Request, Setting]


@dataclass(frozen=True)
class Counts:
    """What a shard took: answers in all, and how many were asked for now."""

    answers: int
    asked: int

    @property
    def replayed(self) -> int:
        """Return how many answers the ledger had."""
        return max(self.answers - self.asked, 0)


@dataclass(frozen=True)
class Shard:
    """The questions of one file: requests of some ranks, their samples, the model's settings."""

    requests: RowFile[Request]
    samples: SampleStore
    plan: Mapping[str, Any]
    guard: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, samples: str, requests: str, plan: Mapping[str, Any]) -> Shard:
        """Open the files of a shard; errors as `RowFile`."""
        asked = RowFile(requests, Request, plan["requests"])
        return cls(asked, SampleStore(RowFile(samples, Sample, plan["requests"]["samples"])), plan)

    def about(self, request: Request) -> list[Sample]:
        """Return the samples of a request, in its order."""
        with self.guard:  # a reader of Parquet files serves one thread at a time
            return [self.samples[sample_id] for sample_id in request.sample_ids]

    def questions(self) -> Iterator[Question]:
        """Yield every request with every setting that it is asked in, by rank."""
        first, last = self.plan["ranks"]
        settings = [
            Setting(repeat=repeat, severity=severity)
            for severity in self.plan["generation"].get("severities") or [None]
            for repeat in range(self.plan["repeats"])
        ]
        for request in self.requests:
            if first <= request.rank and (last is None or request.rank < last):
                yield from ((request, setting) for setting in settings)

    def rows(self, conversation: Conversation, question: Question) -> Iterator[Generation]:
        """Yield the rows of one question."""
        request, setting = question
        return played(conversation, request, self.about(request), setting)

    def turns(self, question: Question) -> int:
        """Return how many turns a question has."""
        return len(question[0].turns)

    def first_turn(self, conversation: Conversation, question: Question) -> Turn:
        """Return the first turn of a question as it is asked."""
        request, setting = question
        return conversation.first_question(request, self.about(request), setting).turn

    def answers(self, conversation: Conversation) -> Iterator[Generation]:
        """Yield the rows of the shard, in the order of its questions."""
        for question in self.questions():
            yield from self.rows(conversation, question)


def generate(
    samples: str,
    requests: str,
    output: str,
    ledger: str,
    determinants: Mapping[str, Any],
    config: Mapping[str, Any] | None = None,
) -> Counts:
    """Write one shard of a cell's generations.

    Rerunning is harmless: replies that the ledger holds are replayed, and nothing is opened or
    loaded unless one is missing. `config` says on what terms a hosted model is asked.

    Raises:
        BudgetError, ParkedError: a hosted model cannot be asked.
        ModelMemoryError: a model that runs here needs more memory.
        UnresolvedError: questions got no answer, and the config does not keep such gaps.
    """
    shard = Shard.of(samples, requests, determinants)
    conversation = conversation_of(shard, ledger, config or {})
    asked = bought(shard, conversation, config or {})
    answers = without_gaps(
        shard.answers(conversation), conversation.cell, keeps=keeps_gaps(config or {})
    )
    inputs = [samples, requests]
    try:
        rows = write_rows(output, Generation, answers, determinants, inputs, note=note)
    finally:
        asked += closed(conversation)
    return Counts(rows, asked)


def bought(shard: Questions, conversation: Conversation, config: Mapping[str, Any]) -> int:
    """Ask a hosted model all that it has not answered; return how many, 0 for one that runs here.

    Raises:
        BudgetError, ParkedError: it cannot be asked.
    """
    if not conversation.is_hosted:
        return 0
    from gensight.stages.buy import buy

    return buy(shard, conversation, config)


def closed(conversation: Conversation) -> int:
    """Let go of a model that runs here; return how many questions it was asked, 0 for others."""
    if not isinstance(conversation.asker, HereAsker):
        return 0
    conversation.asker.close()
    return conversation.asker.asked


def keeps_gaps(config: Mapping[str, Any]) -> bool:
    """Say whether a config keeps questions that got no answer as gaps."""
    return config.get("unresolved") == "keep"


def conversation_of(
    shard: Shard, ledger: str | Path, config: Mapping[str, Any] | None = None
) -> Conversation:
    """Return the conversation of a shard's model; a hosted one asks nobody yet."""
    plan = shard.plan
    protocol = PROTOCOLS[plan["adapter"]]
    kept = Ledger(Path(ledger), plan["model"], durable=protocol.kind == "hosted")
    is_reference = protocol.kind == "reference"
    if protocol.kind == "hosted":
        asker, fit, reads_truth, reads_form = NobodyAsks(), None, False, False
    else:
        module = models.load(plan["adapter"])
        reads_truth = module.READS_TRUTH
        reads_form = getattr(module, "READS_FORM", False)

        open_adapter = partial(_opened, module, shard, config or {})
        if reads_truth:
            open_adapter = cache(open_adapter)
        # Reference models are exact: the same bytes wherever they run.
        asker = HereAsker(kept, open_adapter, keeps_place=not is_reference)
        # Reference models open in no time; their answers also follow from what they were fitted on.
        fit = open_adapter().fit_digest if reads_truth else None
    identity = {
        "adapter": plan["adapter"],
        "adapter_version": plan["adapter_version"],
        # Severities are keys of their own: adding one must not ask the others again.
        "generation": {
            k: v for k, v in plan["generation"].items() if k not in ("severities", "length_ladder")
        },
        "fit": fit,
    }
    return Conversation(
        model=plan["model"],
        benchmark=plan["requests"]["samples"]["benchmark"],
        prompt=plan["requests"]["prompt"],
        identity=identity,
        reads_truth=reads_truth,
        reads_form=reads_form,
        keeps_times=not is_reference,
        is_hosted=protocol.kind == "hosted",
        ledger=kept,
        asker=asker,
        standardise=_standardiser(
            plan["exif"] == "apply", plan.get("input_long_side_px", LONG_SIDE_PX)
        ),
        ladder=_ladder(plan),
    )


def _opened(module: ModuleType, shard: Shard, config: Mapping[str, Any]) -> models.Adapter:
    """Open a model that runs here, at the site that the config and its spec describe."""
    plan = shard.plan
    if module.READS_TRUTH:
        return module.open_model(plan["generation"], _HeldOut(shard.samples.samples))
    from gensight.runner.served import open_here

    root, name = Path.cwd(), plan["model"]
    spec = load_spec(root / "config/models" / f"{name}.yaml", model=ModelSpec)
    site = models.Site.of(config, root, spec.limits)
    return open_here(module, name, spec, plan["generation"], [], site)


def played(
    conversation: Conversation,
    request: Request,
    samples: Sequence[Sample],
    setting: Setting,
    pictures: Mapping[str, bytes] | None = None,
) -> Iterator[Generation]:
    """Yield the rows of one request; an error tells the sample it was met at."""
    try:
        yield from conversation.play(request, samples, setting, pictures)
    except Exception as error:
        error.add_note(f"while answering sample {samples[0].sample_id}")
        raise


def _ladder(plan: Mapping[str, Any]) -> Ladder:
    """Return the lengths that a cut reply is asked again with, where the adapter has a limit."""
    rungs = plan["generation"].get("length_ladder") or ()
    if not rungs:
        return Ladder()
    limit = declared.constants("models", plan["adapter"])["SPENDS"]["max_tokens"]
    return Ladder(limit, tuple(rungs))


def _standardiser(orient: bool, long_side: int | None) -> Callable[[bytes], bytes]:
    @lru_cache(maxsize=STANDARDISED_PICTURES_KEPT)
    def _standardise(data: bytes) -> bytes:
        return images.standardise(data, long_side=long_side, orient=orient)

    return _standardise


class _HeldOut(Sequence[Sample]):
    """The held-out samples, read only by a model that is fitted on them."""

    def __init__(self, samples: RowFile[Sample]) -> None:
        self._samples = samples

    @cached_property
    def _rows(self) -> list[Sample]:
        return [row for row in self._samples if row.role == "held_out"]

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)
