"""Rows with a value in every column, and small files of a run, shared by the spine's tests."""

import hashlib
from dataclasses import fields

from gensight.records import (
    Candidate,
    Feature,
    Generation,
    Judgement,
    Prediction,
    Request,
    RowFile,
    Sample,
    Score,
    Summary,
    write_rows,
)

PICTURE = {"bytes": b"\x89PNG\r\n\x1a\n-picture", "path": None}
ARRAY = {"bytes": b"\x00\x00\x80?\x00\x00\x00@", "dtype": "float32", "shape": [1, 2]}
MASK = {"size": [2, 3], "counts": "06"}
BOX = {"left": 0.0, "top": 1.5, "right": 4.0, "bottom": 6.0, "score": 1.0}
POINT = {"x": 0.5, "y": 1.25}
PART = {"kind": "text", "text": "Paint it.", "sample_id": None, "turn": None}
TURN = {"parts": [PART, {**PART, "kind": "reply", "text": None, "turn": 0}], "answer_form": "{}"}

# A value for each Arrow type that occurs, by the first words of the type.
VALUES = {
    "string": "Grüße, 深度",
    "int32": 7,
    "int64": 2**40 + 1,
    "double": 0.1,
    "bool": True,
    "struct<bytes: binary, path": PICTURE,
    "struct<bytes: binary, dtype": ARRAY,
    "struct<size": MASK,
    "list<element: struct<size": [MASK, MASK],
    "list<element: struct<x": [POINT],
    "list<element: struct<parts": [TURN],
    "list<element: struct<left": [BOX],
    "list<element: struct<name: string, x": [{"name": "tip", "x": 0.5, "y": 1.25}],
    "list<element: struct<name: string, value: string": {"knob": "3", "another": ""},
    "list<element: struct<name: string, value: double": {"found": 3.0, "another": -0.5},
    "list<element: string": ["a", "b"],
    "list<element: float": [0.5, -0.25],
}
STAGES = (
    Sample,
    Request,
    Generation,
    Prediction,
    Feature,
    Candidate,
    Judgement,
    Score,
    Summary,
)


def value_for(column):
    """Return a value that fits a column's type, telling from the declared Arrow type."""
    kind = str(column.metadata["arrow"]).replace("list<item", "list<element")
    return next(value for start, value in VALUES.items() if kind.startswith(start))


def full_row(stage):
    """Return a row of a stage with a value in every column."""
    return stage(**{column.name: value_for(column) for column in fields(stage)})


def bare_row(stage):
    """Return a row of a stage with a value only where one is required."""
    needed = [c for c in fields(stage) if c.default is c.default_factory]
    return stage(**{column.name: value_for(column) for column in needed})


def sample(rank, role="evaluated", picture=b"picture", **columns):
    """Return a small sample."""
    values = {"query": "the ball", "width": 4, "height": 3, **columns}
    return Sample(
        sample_id=f"s{rank}",
        rank=rank,
        role=role,
        cluster_id=f"c{rank}",
        image={"bytes": picture, "path": None},
        **values,
    )


def generation(rank, image=b"answer", **columns):
    """Return the only answer about one sample."""
    values = {"outcome": "ok", "turn": 0, "final": True, "images_returned": int(bool(image))}
    return Generation(
        request_key=hashlib.sha256(f"key {rank}".encode()).hexdigest(),
        request_id=f"r{rank}",
        sample_ids=[f"s{rank}"],
        rank=rank,
        image={"bytes": image, "path": None} if image else None,
        **{**values, **columns},
    )


def prediction(rank, **columns):
    """Return one reading of one answer."""
    values = {"variant": "otsu", "status": "ok", "outcome": "ok", **columns}
    return Prediction(sample_id=f"s{rank}", rank=rank, cluster_id=f"c{rank}", **values)


def score(rank, value=0.5, **columns):
    """Return one number about one sample."""
    values = {"variant": "otsu", "status": "ok", "outcome": "ok", "format_valid": True, **columns}
    return Score(
        sample_id=f"s{rank}",
        rank=rank,
        cluster_id=f"c{rank}",
        kind="metric",
        name="giou",
        raw=value,
        value=value,
        **values,
    )


def request(rank):
    """Return a request of one turn."""
    return Request(
        request_id=f"r{rank}",
        sample_ids=[f"s{rank}"],
        rank=rank,
        prompt="mid",
        prompt_hash="h",
        turns=[TURN],
    )


def summary(value=0.5):
    """Return one summary row."""
    return Summary(
        model="oracle",
        benchmark="tiny_masks",
        prompt="mid",
        scorer="mask",
        variant="otsu",
        metric="giou",
        higher_is_better=True,
        unit="%",
        value=value,
        n=2,
        n_valid=2,
        clusters=2,
    )


ROWS = {
    "samples": (Sample, lambda tag: [sample(0, tags=[tag]), sample(1)]),
    "requests": (Request, lambda tag: [request(0), request(1)]),
    "generations": (Generation, lambda tag: [generation(0, tag.encode()), generation(1)]),
    "predictions": (Prediction, lambda tag: [prediction(0, text=tag), prediction(1)]),
    "scores": (Score, lambda tag: [score(0, reason=tag), score(1)]),
    "summaries": (Summary, lambda tag: [summary()]),
}


def lay(planned, tag="first"):
    """Write a planned Parquet file from the inputs that exist, with rows that depend on `tag`."""
    from pathlib import Path

    stage, rows = ROWS[planned.stage]
    inputs = [path for path in planned.inputs if Path(path).exists()]
    write_rows(planned.path, stage, rows(tag), planned.determinants, inputs)
    return RowFile(planned.path, stage).footer
