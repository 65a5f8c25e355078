"""The extract stage: repeats and what they agree on, first ranks, the model's own times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gensight.images import decode_mask, encode_png
from gensight.records import Generation, Prediction, RowFile, Sample, write_rows
from gensight.stages.extract import extract

SAMPLED = {"stage": "samples"}
SIDE = 64


def picture(rows_white: int) -> bytes:
    grey = np.zeros((SIDE, SIDE), np.uint8)
    grey[:rows_white] = 255
    return encode_png(grey)


def generated(repeats: int) -> dict:
    return {
        "stage": "generations",
        "requests": {"samples": SAMPLED, "turns": [{"answer_form": {"kind": "mask"}}]},
        "exif": "apply",
        "repeats": repeats,
    }


def answers(rows_white: list[int | None], rank: int = 0, **columns):
    for repeat, rows in enumerate(rows_white):
        yield Generation(
            request_key=f"{rank}/{repeat}",
            request_id=f"r{rank}",
            sample_ids=[f"s{rank}"],
            rank=rank,
            turn=0,
            final=True,
            repeat=repeat,
            outcome="ok" if rows is not None else "refused_output",
            image={"bytes": picture(rows), "path": None} if rows is not None else None,
            **columns,
        )


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Extract masks from these generations; return the predictions by (sample, variant, repeat)."""
    monkeypatch.chdir(tmp_path)

    def _run(generations, repeats=1, ranks=None):
        rows = list(generations)
        names = sorted({row.rank for row in rows})
        samples = [
            Sample(
                sample_id=f"s{rank}",
                rank=rank,
                cluster_id=f"c{rank}",
                image={"bytes": picture(8), "path": None},
                width=SIDE,
                height=SIDE,
            )
            for rank in names
        ]
        write_rows("samples.parquet", Sample, samples, SAMPLED)
        write_rows("answers.parquet", Generation, rows, generated(repeats))
        plan = {
            "extractor": "mask",
            "parameters": {},
            "generations": generated(repeats),
            "ranks": ranks,
        }
        extract("samples.parquet", ["answers.parquet"], "read.parquet", plan)
        found = RowFile("read.parquet", Prediction)
        return {(row.sample_id, row.variant, row.repeat): row for row in found}

    return _run


def area(row: Prediction) -> int:
    return int(decode_mask(row.mask).sum())


def test_repeats_are_read_one_by_one_and_together(run):
    found = run(answers([10, 20, 60]), repeats=3)
    assert {key: area(row) for key, row in found.items()} == {
        ("s0", "otsu", 0): 10 * SIDE,
        ("s0", "otsu", 1): 20 * SIDE,
        ("s0", "otsu", 2): 60 * SIDE,
        ("s0", "otsu_consensus", 0): 20 * SIDE,
    }


def test_a_refused_repeat_does_not_spoil_the_consensus(run):
    found = run(answers([None, 20, 20]), repeats=3)
    assert found["s0", "otsu", 0].status == "no_output"
    agreed = found["s0", "otsu_consensus", 0]
    assert (agreed.status, agreed.outcome, area(agreed)) == ("ok", "ok", 20 * SIDE)


def test_repeats_that_all_failed_agree_on_nothing(run):
    agreed = run(answers([None, None, None]), repeats=3)["s0", "otsu_consensus", 0]
    assert (agreed.status, agreed.mask) == ("no_output", None)


def test_one_answer_has_no_consensus(run):
    assert {key[1] for key in run(answers([10]))} == {"otsu"}


def test_the_first_ranks_alone_are_read(run):
    both = [*answers([10], rank=0), *answers([10], rank=1)]
    assert {key[0] for key in run(both)} == {"s0", "s1"}
    assert {key[0] for key in run(both, ranks=1)} == {"s0"}


def test_times_are_the_generations_and_a_warm_up_has_none(run):
    timed = run(answers([10], latency_s=1.5, peak_memory_gb=3.0))["s0", "otsu", 0]
    assert (timed.latency_s, timed.peak_memory_gb) == (1.5, 3.0)
    warm = run(answers([10], latency_s=1.5, peak_memory_gb=3.0, warm_up=True))["s0", "otsu", 0]
    assert (warm.latency_s, warm.peak_memory_gb) == (None, 3.0)


def test_an_answer_takes_as_long_as_all_its_turns_and_rounds_together(run):
    (answer,) = answers([10], latency_s=1.5, peak_memory_gb=3.0, warm_up=False)
    first = replace(answer, final=False, goes_on=True, latency_s=0.25, peak_memory_gb=5.0)
    taken = run([first, first, answer])["s0", "otsu", 0]
    assert (taken.latency_s, taken.peak_memory_gb) == (2.0, 5.0)
    warm = run([replace(first, warm_up=True), answer])["s0", "otsu", 0]
    assert (warm.latency_s, warm.peak_memory_gb) == (None, 5.0)
    unknown = run([replace(first, latency_s=None), answer])["s0", "otsu", 0]
    assert (unknown.latency_s, unknown.peak_memory_gb) == (None, 5.0)
