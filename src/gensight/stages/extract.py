"""Extraction: what each answer says, read the same way whoever gave it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from types import ModuleType
from typing import Any

from gensight import extractors
from gensight.extractors._consensus import MERGEABLE, merged
from gensight.footers import read_footer
from gensight.outcomes import Outcome
from gensight.records import Generation, Prediction, RowFile, Sample, SampleStore, write_rows

#: Answers of a kind that are told of one by one: a model may break the same rule a thousand times.
TOLD_OF_A_KIND = 10


def extract(
    samples: str, generations: Iterable[str], output: str, determinants: Mapping[str, Any]
) -> int:
    """Write a cell's predictions by one extractor; return their number.

    Where a sample was asked about several times, each variant has one more row that holds what the
    answers agree on, named `{variant}_consensus` (ProbeGen Appendix D).
    """
    plan = determinants["generations"]
    store = SampleStore(RowFile(samples, Sample, plan["requests"]["samples"]))
    shards = [_shard(path, plan) for path in generations]
    reader, ranks = _Reader(determinants, store), determinants["ranks"]
    rows = (row for shard in shards for row in reader.rows(_final(shard, ranks)))
    written = write_rows(
        output, Prediction, rows, determinants, [samples, *(s.path for s in shards)]
    )
    reader.tell_rest()
    return written


def _shard(path: str, plan: Mapping[str, Any]) -> RowFile[Generation]:
    """Open a shard of the planned generations, however the cell is cut into shards."""
    cut = {k: v for k, v in read_footer(path).determinants.items() if k in ("shard", "ranks")}
    return RowFile(path, Generation, {**plan, **cut})


def _final(shard: RowFile[Generation], ranks: int | None) -> Iterator[Generation]:
    """Yield the answers that are read: those to the last turn, of the first ranks.

    An answer takes as long as all of its turns and rounds together, and as much memory as the one
    that takes most; its time is not known where that of one of them is not.
    """
    before: list[Generation] = []
    for generation in shard:
        before.append(generation)
        if generation.final:
            if ranks is None or generation.rank < ranks:
                yield _taken_together(before)
            before = []


def _taken_together(rows: Sequence[Generation]) -> Generation:
    times = [row.latency_s for row in rows]
    peaks = [row.peak_memory_gb for row in rows if row.peak_memory_gb is not None]
    return replace(
        rows[-1],
        latency_s=None if None in times else math.fsum(times),  # type: ignore[arg-type]
        peak_memory_gb=max(peaks, default=None),
        warm_up=any(row.warm_up for row in rows) if rows[-1].warm_up is not None else None,
    )


class _Reader:
    """One extractor with its parameters, over the samples of one benchmark."""

    def __init__(self, plan: Mapping[str, Any], store: SampleStore) -> None:
        self.module: ModuleType = extractors.load(plan["extractor"])
        self.name: str = plan["extractor"]
        self.parameters: Mapping[str, Any] = plan["parameters"]
        self.orient: bool = plan["generations"]["exif"] == "apply"
        self.form = plan["generations"]["requests"]["turns"][-1]["answer_form"]
        self.repeats: int = plan["generations"]["repeats"]
        self.ranks: int | None = plan["ranks"]
        self.store = store
        self.told: Counter[str] = Counter()

    def rows(self, generations: Iterable[Generation]) -> Iterator[Prediction]:
        """Yield the readings of every answer, and what the repeats of a request agree on."""
        # The repeats of one request and severity stand next to each other.
        for _, repeats in groupby(generations, key=attrgetter("request_id", "severity")):
            answers = list(repeats)
            for sample_id in answers[0].sample_ids:
                sample = self.store[sample_id]
                # Samples that share a request with the last one that is read stay unread.
                if self.ranks is None or sample.rank < self.ranks:
                    yield from self._of_sample(sample, answers)

    def _of_sample(self, sample: Sample, answers: Sequence[Generation]) -> Iterator[Prediction]:
        found: dict[str, list[extractors.Reading]] = {}
        for generation in answers:
            readings = self._read(generation, sample)
            self._tell(generation, sample, readings)
            for reading in readings:
                found.setdefault(reading.variant, []).append(reading)
                yield _prediction(generation, sample, reading)
        if self.repeats > 1 and self.name in MERGEABLE:
            for variant, readings in found.items():
                agreed = replace(merged(self.name, readings), variant=f"{variant}_consensus")
                yield _prediction(answers[0], sample, agreed, consensus=True)

    def _tell(
        self, generation: Generation, sample: Sample, readings: Sequence[extractors.Reading]
    ) -> None:
        """Print what is to be told of an answer, of each kind the first few."""
        by_detail: dict[str, list[extractors.Reading]] = {}
        for reading in readings:
            if reading.detail is not None:
                by_detail.setdefault(reading.detail, []).append(reading)
        for detail, some in by_detail.items():
            kind = str(some[0].reason)
            self.told[kind] += 1
            if self.told[kind] <= TOLD_OF_A_KIND:
                which = [sample.sample_id, f"repeat {generation.repeat}"]
                if generation.severity is not None:
                    which.append(f"severity {generation.severity:g}")
                variants = ", ".join(reading.variant for reading in some)
                print(f"{', '.join(which)} ({variants}): {detail}")

    def tell_rest(self) -> None:
        """Print how many more there were of each kind."""
        for kind, number in sorted(self.told.items()):
            if number > TOLD_OF_A_KIND:
                print(f"{number - TOLD_OF_A_KIND} more of the kind '{kind}'")

    def _read(self, generation: Generation, sample: Sample) -> list[extractors.Reading]:
        try:
            return self.module.extract(self._answer(generation, sample), self.parameters)
        except Exception as error:
            error.add_note(f"while extracting sample {sample.sample_id}")
            raise

    def _answer(self, generation: Generation, sample: Sample) -> extractors.Answer:
        ok = generation.outcome == Outcome.OK
        return extractors.Answer(
            image=generation.image["bytes"] if ok and generation.image else None,
            text=generation.text if ok else None,
            source=sample.image["bytes"] if sample.image else None,
            source_width=sample.width or 0,
            source_height=sample.height or 0,
            orient_source=self.orient,
            form=self.form,
            label=sample.query if len(generation.sample_ids) > 1 else None,
            # What the prompts of grids ask to be repeated: the label, or of a picture its id.
            echo=sample.query if self.form.get("shape") == "images" else sample.sample_id,
        )


def _prediction(
    generation: Generation, sample: Sample, reading: extractors.Reading, consensus: bool = False
) -> Prediction:
    # A consensus stands on its own status: one answer of several may have failed.
    ok = consensus or generation.outcome == Outcome.OK
    # Several pictures of one request share its time: throughput is pictures, not requests.
    latency_s = None if consensus or generation.warm_up else generation.latency_s
    if latency_s is not None:
        latency_s /= len(generation.sample_ids)
    return Prediction(
        sample_id=sample.sample_id,
        rank=sample.rank,
        cluster_id=sample.cluster_id,
        stratum=sample.stratum,
        repeat=0 if consensus else generation.repeat,
        severity=generation.severity,
        variant=reading.variant,
        status=reading.status if ok else "no_output",
        reason=reading.reason if ok else generation.outcome,
        outcome=Outcome.OK if consensus and reading.status == "ok" else generation.outcome,
        latency_s=latency_s,
        peak_memory_gb=None if consensus else generation.peak_memory_gb,
        **reading.fields,
    )
