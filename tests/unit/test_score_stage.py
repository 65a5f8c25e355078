"""The score stage: classes of failure reach every score, and feed none of its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gensight.images import encode_mask
from gensight.records import Prediction, RowFile, Sample, Score, write_rows
from gensight.stages.score import score

SIDE = 16
SAMPLED = {"stage": "samples"}
GENERATED = {"stage": "generations", "requests": {"samples": SAMPLED}}
MASKS = {"stage": "predictions", "extractor": "mask", "generations": GENERATED}
CLASSES = {"stage": "predictions", "extractor": "failure_class", "generations": GENERATED}


def target() -> np.ndarray:
    mask = np.zeros((SIDE, SIDE), np.bool_)
    mask[:8] = True
    return mask


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Score one perfect mask per class; return the gIoU rows by class."""
    monkeypatch.chdir(tmp_path)

    def _scored(classes: list[str | None], *, asked: bool = True) -> dict[int, Score]:
        names = range(len(classes))
        samples = [
            Sample(
                sample_id=f"s{rank}",
                rank=rank,
                cluster_id="c",
                population_n=99,
                label_flag=rank == 0,
                image={"bytes": b"", "path": None},
                width=SIDE,
                height=SIDE,
                target_mask=encode_mask(target()),
            )
            for rank in names
        ]
        write_rows("samples.parquet", Sample, samples, SAMPLED)
        head = [
            {"sample_id": f"s{r}", "rank": r, "cluster_id": "c", "outcome": "ok"} for r in names
        ]
        masks = [
            Prediction(**h, variant="otsu", status="ok", mask=encode_mask(target())) for h in head
        ]
        write_rows("mask.parquet", Prediction, masks, MASKS)
        found = [
            Prediction(**h, variant="blind", status="ok", failure_blind=name)
            for h, name in zip(head, classes, strict=True)
        ]
        write_rows("classes.parquet", Prediction, found, CLASSES)
        plan = {
            "measure": "overlap",
            "metrics": {"giou": {}},
            "settings": {},
            "predictions": MASKS,
            "classes": CLASSES if asked else None,
        }
        files = ["mask.parquet", "classes.parquet"] if asked else ["mask.parquet"]
        score("samples.parquet", files, "scores.parquet", plan)
        rows = RowFile("scores.parquet", Score)
        return {row.rank: row for row in rows if row.kind == "metric"}

    return _scored


def test_a_class_decides_the_format_and_leaves_the_number(scored):
    classes = ["ok", "drift:global", "inverted", "copy", "wrong_format:overlay", "ambiguous"]
    rows = scored(classes)
    assert [rows[rank].failure_blind for rank in range(6)] == classes
    assert [rows[rank].format_valid for rank in range(6)] == [True] * 3 + [False] * 3
    assert {row.value for row in rows.values()} == {100.0}


def test_without_classes_the_picture_alone_decides(scored):
    rows = scored(["copy"], asked=False)
    assert (rows[0].failure_blind, rows[0].format_valid) == (None, True)


def test_scores_carry_what_the_summary_needs_of_their_sample(scored):
    rows = scored(["ok", "ok"])
    assert [(r.population_n, r.label_flag) for r in rows.values()] == [(99, True), (99, False)]


def test_a_consensus_has_the_class_of_most_of_its_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = Sample(
        sample_id="s0",
        rank=0,
        cluster_id="c",
        image={"bytes": b"", "path": None},
        width=SIDE,
        height=SIDE,
        target_mask=encode_mask(target()),
    )
    write_rows("samples.parquet", Sample, [sample], SAMPLED)
    head = {"sample_id": "s0", "rank": 0, "cluster_id": "c", "outcome": "ok", "status": "ok"}
    mask = encode_mask(target())
    masks = [Prediction(**head, variant="otsu", repeat=r, mask=mask) for r in range(3)]
    masks.append(Prediction(**head, variant="otsu_consensus", mask=mask))
    write_rows("mask.parquet", Prediction, masks, MASKS)
    names = ["copy", "ok", "ok"]
    found = [
        Prediction(**head, variant="blind", repeat=r, failure_blind=name)
        for r, name in enumerate(names)
    ]
    write_rows("classes.parquet", Prediction, found, CLASSES)
    plan = {
        "measure": "overlap",
        "metrics": {"giou": {}},
        "settings": {},
        "predictions": MASKS,
        "classes": CLASSES,
    }
    score("samples.parquet", ["mask.parquet", "classes.parquet"], "scores.parquet", plan)
    rows = [row for row in RowFile("scores.parquet", Score) if row.kind == "metric"]
    assert [(row.variant, row.repeat, row.format_valid) for row in rows] == [
        ("otsu", 0, False),
        ("otsu", 1, True),
        ("otsu", 2, True),
        ("otsu_consensus", 0, True),
    ]


@pytest.mark.parametrize(("truth", "valid"), [(0, True), (3, False)])
def test_nothing_marked_is_right_where_there_is_nothing_to_mark(
    tmp_path, monkeypatch, truth, valid
):
    monkeypatch.chdir(tmp_path)
    sample = Sample(
        sample_id="s0",
        rank=0,
        cluster_id="c",
        image={"bytes": b"", "path": None},
        width=SIDE,
        height=SIDE,
        target_count=truth,
    )
    write_rows("samples.parquet", Sample, [sample], SAMPLED)
    head = {"sample_id": "s0", "rank": 0, "cluster_id": "c", "outcome": "ok", "status": "ok"}
    dots = Prediction(**head, variant="dots", count=0, points=[], work_width=SIDE, work_height=SIDE)
    write_rows("dots.parquet", Prediction, [dots], MASKS)
    copied = Prediction(**head, variant="blind", failure_blind="unmarked_copy")
    write_rows("classes.parquet", Prediction, [copied], CLASSES)
    plan = {
        "measure": "count_match",
        "metrics": {"mae": {}},
        "settings": {},
        "predictions": MASKS,
        "classes": CLASSES,
    }
    score("samples.parquet", ["dots.parquet", "classes.parquet"], "scores.parquet", plan)
    (row,) = [row for row in RowFile("scores.parquet", Score) if row.kind == "metric"]
    assert (row.format_valid, row.value) == (valid, float(truth))
