"""Extraction: what each answer says, read the same way whoever gave it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gensight import extractors
from gensight.footers import read_footer
from gensight.outcomes import Outcome
from gensight.records import Generation, Prediction, RowFile, Sample, SampleStore, write_rows


def extract(
    samples: str, generations: Iterable[str], output: str, determinants: Mapping[str, Any]
) -> int:
    """Write a cell's predictions by one extractor; return their number."""
    plan = determinants["generations"]
    store = SampleStore(RowFile(samples, Sample, plan["requests"]["samples"]))
    shards = [_shard(path, plan) for path in generations]
    rows = (
        prediction
        for shard in shards
        for generation in shard
        if generation.final
        for prediction in _predictions(generation, store, determinants)
    )
    return write_rows(output, Prediction, rows, determinants, [samples, *(s.path for s in shards)])


def _shard(path: str, plan: Mapping[str, Any]) -> RowFile[Generation]:
    """Open a shard of the planned generations, however the cell is cut into shards."""
    cut = {k: v for k, v in read_footer(path).determinants.items() if k in ("shard", "ranks")}
    return RowFile(path, Generation, {**plan, **cut})


def _predictions(
    generation: Generation, store: SampleStore, plan: Mapping[str, Any]
) -> Iterator[Prediction]:
    module = extractors.load(plan["extractor"])
    for sample_id in generation.sample_ids:
        sample = store[sample_id]
        try:
            readings = module.extract(_answer(generation, sample, plan), plan["parameters"])
        except Exception as error:
            error.add_note(f"while extracting sample {sample_id}")
            raise
        for reading in readings:
            yield _prediction(generation, sample, reading)


def _answer(generation: Generation, sample: Sample, plan: Mapping[str, Any]) -> extractors.Answer:
    ok = generation.outcome == Outcome.OK
    return extractors.Answer(
        image=generation.image["bytes"] if ok and generation.image else None,
        text=generation.text if ok else None,
        source=sample.image["bytes"],
        source_width=sample.width,
        source_height=sample.height,
        orient_source=plan["generations"]["exif"] == "apply",
    )


def _prediction(generation: Generation, sample: Sample, reading: extractors.Reading) -> Prediction:
    ok = generation.outcome == Outcome.OK
    return Prediction(
        sample_id=sample.sample_id,
        rank=sample.rank,
        cluster_id=sample.cluster_id,
        stratum=sample.stratum,
        repeat=generation.repeat,
        severity=generation.severity,
        variant=reading.variant,
        status=reading.status if ok else "no_output",
        reason=reading.reason if ok else generation.outcome,
        outcome=generation.outcome,
        **reading.fields,
    )
