"""The turns of a request, played in order against one model, each under its own ledger key."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gensight.digests import digest_of, digest_of_bytes, seed_of
from gensight.models import Adapter, Part, Reply, Turn
from gensight.outcomes import Outcome
from gensight.records import Generation, Request, Sample
from gensight.runner.ledger import Entry, Ledger

KEY_VERSION = 1
#: The first answers of an opened model take longer, and their times are left out (assumed: ProbeGen
#: Appendix B warms up and does not say how long).
ASSUMED_WARM_UP_ANSWERS = 3


@dataclass(frozen=True)
class Setting:
    """Which of its answers to a request a model gives: the repeat, the disturbance's severity."""

    repeat: int = 0
    severity: float | None = None


@dataclass
class Conversation:
    """A model that answers requests about one benchmark.

    `open_adapter` is called at the first miss only: weights load and connections open when there
    is something to ask. `identity` is all that determines answers besides the turns: protocol,
    adapter version, generation block. `standardise` brings an input picture to the sent size.
    """

    model: str
    benchmark: str
    identity: Mapping[str, Any]
    reads_truth: bool
    ledger: Ledger
    open_adapter: Callable[[], Adapter]
    standardise: Callable[[bytes], bytes]
    keeps_times: bool = True
    asked: int = 0
    replayed: int = 0

    @cached_property
    def adapter(self) -> Adapter:
        """Return the opened model."""
        return self.open_adapter()

    def play(self, request: Request, sample: Sample, setting: Setting) -> Iterator[Generation]:
        """Yield one row per turn; a turn that fails ends the conversation as its final answer."""
        image = self.standardise(sample.image["bytes"])
        replies: list[tuple[Entry, list[bytes]]] = []
        for index, turn in enumerate(request.turns):
            parent = replies[-1][0].key if replies else None
            parts = tuple(self._part(part, image, replies) for part in turn["parts"])
            reply = self._ask(parts, turn["answer_form"], sample, setting, parent)
            replies.append(reply)
            final = index == len(request.turns) - 1 or reply[0].outcome != Outcome.OK
            yield self._row(request, index, final, setting, parent, reply)
            if final:
                return

    def _part(
        self, part: Mapping[str, Any], image: bytes, replies: list[tuple[Entry, list[bytes]]]
    ) -> Part:
        if part["kind"] == "image":
            return Part("image", image=image)
        if part["kind"] == "text":
            return Part("text", text=part["text"])
        entry, images = replies[part["turn"]]
        if images:
            return Part("image", image=images[0])
        return Part("text", text=entry.text or "")

    def _ask(
        self,
        parts: tuple[Part, ...],
        answer_form: str,
        sample: Sample,
        setting: Setting,
        parent: str | None,
    ) -> tuple[Entry, list[bytes]]:
        asked = self._canonical(parts, answer_form, sample, setting, parent)
        key = digest_of(asked)
        found = self.ledger.find(key)
        if found is None:
            with self.ledger.claim(key):
                found = self.ledger.find(key) or self._send(
                    key, asked, parts, answer_form, sample, setting
                )
        else:
            self.replayed += 1
        return found

    def _send(
        self,
        key: str,
        asked: dict[str, Any],
        parts: tuple[Part, ...],
        answer_form: str,
        sample: Sample,
        setting: Setting,
    ) -> tuple[Entry, list[bytes]]:
        turn = Turn(
            parts=parts,
            answer_form=json.loads(answer_form),
            seed=asked["seed"],
            repeat=setting.repeat,
            severity=setting.severity,
            truth=sample if self.reads_truth else None,
        )
        # Opened before the clock starts: loading weights is no part of an answer's time.
        adapter = self.adapter
        started = time.monotonic()
        reply: Reply = adapter.answer(turn)
        latency_s = time.monotonic() - started
        warm_up = self.asked < ASSUMED_WARM_UP_ANSWERS
        self.asked += 1
        entry = self.ledger.record(key, reply, asked, latency_s, warm_up=warm_up)
        return entry, list(reply.images)

    def _canonical(
        self,
        parts: tuple[Part, ...],
        answer_form: str,
        sample: Sample,
        setting: Setting,
        parent: str | None,
    ) -> dict[str, Any]:
        """Return everything that an answer may depend on, absences included."""
        seed = seed_of(
            self.identity["generation"].get("seed", 0),
            self.model,
            self.benchmark,
            sample.sample_id,
            setting.repeat,
        )
        return {
            "key_version": KEY_VERSION,
            **self.identity,
            "parts": [_canonical_part(part) for part in parts],
            "parent_key": parent,
            "seed": seed,
            "repeat": setting.repeat,
            "severity": setting.severity,
            # Only models that are handed the truth and the form can depend on them.
            "truth": truth_digest(sample) if self.reads_truth else None,
            "answer_form": answer_form if self.reads_truth else None,
        }

    def _row(
        self,
        request: Request,
        turn: int,
        final: bool,
        setting: Setting,
        parent: str | None,
        reply: tuple[Entry, list[bytes]],
    ) -> Generation:
        entry, images = reply
        # With several pictures the first is the answer and the number is kept (PROTOCOLS API-2).
        image = {"bytes": images[0], "path": None} if images else None
        return Generation(
            request_key=entry.key,
            parent_key=parent,
            request_id=request.request_id,
            sample_ids=request.sample_ids,
            rank=request.rank,
            turn=turn,
            final=final,
            repeat=setting.repeat,
            severity=setting.severity,
            outcome=entry.outcome,
            detail=entry.detail,
            text=entry.text,
            image=image,
            images_returned=len(images) if entry.images_returned is None else entry.images_returned,
            requested_model=self.model,
            answered_model=entry.answered_model,
            latency_s=entry.latency_s if self.keeps_times else None,
            peak_memory_gb=entry.peak_memory_gb if self.keeps_times else None,
            device=entry.device,
            warm_up=entry.warm_up if self.keeps_times else None,
            usage=entry.usage,
        )


def _canonical_part(part: Part) -> dict[str, Any]:
    if part.image is not None:
        return {"image": digest_of_bytes(part.image)}
    return {"text": unicodedata.normalize("NFC", part.text or "")}


def truth_digest(sample: Sample) -> str:
    """Return a digest of everything about a sample that a reference model may read."""
    fields = {
        name: getattr(sample, name)
        for name in sample.__dataclass_fields__
        if name.startswith(("target_", "valid_mask", "ignore_mask", "min_depth", "max_depth"))
    }
    # A fitted prior leaves out the held-out samples of the asked sample's own cluster.
    fields["cluster_id"] = sample.cluster_id
    # It may also go by what was asked.
    fields["query"] = sample.query
    for name, value in fields.items():
        if isinstance(value, dict) and "bytes" in value:
            fields[name] = {**value, "bytes": digest_of_bytes(value["bytes"])}
    return digest_of(fields)
