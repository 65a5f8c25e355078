"""Generation: one model answers the requests of one shard, through the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from gensight import images, models
from gensight.records import Generation, Request, RowFile, Sample, SampleStore, write_rows
from gensight.runner.conversation import Conversation, Setting
from gensight.runner.ledger import Ledger

#: Input pictures kept at the sent size: the settings of one request reuse the same picture.
STANDARDISED_PICTURES_KEPT = 4


def generate(
    samples: str, requests: str, output: str, ledger: str, determinants: Mapping[str, Any]
) -> Conversation:
    """Write one shard of a cell's generations; return the conversation with its counts.

    Rerunning is harmless: replies that the ledger holds are replayed, and nothing is opened or
    loaded unless one is missing.
    """
    asked = RowFile(requests, Request, determinants["requests"])
    store = SampleStore(RowFile(samples, Sample, determinants["requests"]["samples"]))
    conversation = _conversation(store, ledger, determinants)
    rows = _answers(conversation, asked, store, determinants)
    write_rows(output, Generation, rows, determinants, [samples, requests])
    return conversation


def _conversation(store: SampleStore, ledger: str, plan: Mapping[str, Any]) -> Conversation:
    module = models.load(plan["adapter"])

    @cache
    def _open_adapter() -> models.Adapter:
        held_out = _HeldOut(store.samples) if module.READS_TRUTH else []
        return module.open_model(plan["generation"], held_out)

    identity = {
        "adapter": plan["adapter"],
        "adapter_version": plan["adapter_version"],
        # Severities are keys of their own: adding one must not ask the others again.
        "generation": {k: v for k, v in plan["generation"].items() if k != "severities"},
        # Reference models open in no time; their answers also follow from what they were fitted on.
        "fit": _open_adapter().fit_digest if module.READS_TRUTH else None,
    }
    return Conversation(
        model=plan["model"],
        benchmark=plan["requests"]["samples"]["benchmark"],
        identity=identity,
        reads_truth=module.READS_TRUTH,
        ledger=Ledger(Path(ledger), plan["model"]),
        open_adapter=_open_adapter,
        standardise=_standardiser(plan["exif"] == "apply"),
        keeps_times=not module.READS_TRUTH,
    )


def _standardiser(orient: bool) -> Callable[[bytes], bytes]:
    @lru_cache(maxsize=STANDARDISED_PICTURES_KEPT)
    def _standardise(data: bytes) -> bytes:
        return images.standardise(data, orient=orient)

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


def _answers(
    conversation: Conversation,
    requests: RowFile[Request],
    store: SampleStore,
    plan: Mapping[str, Any],
) -> Iterator[Generation]:
    first, last = plan["ranks"]
    settings = [
        Setting(repeat=repeat, severity=severity)
        for severity in plan["generation"].get("severities") or [None]
        for repeat in range(plan["repeats"])
    ]
    for request in requests:
        if request.rank < first or (last is not None and request.rank >= last):
            continue
        sample = store[request.sample_ids[0]]
        for setting in settings:
            try:
                yield from conversation.play(request, sample, setting)
            except Exception as error:
                error.add_note(f"while answering sample {sample.sample_id}")
                raise
