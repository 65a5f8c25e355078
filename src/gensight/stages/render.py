"""Rendering: a prompt about every evaluated sample, independent of the model that answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.outcomes import INFRASTRUCTURE_OUTCOMES
from gensight.prompts import Grids
from gensight.prompts import render as render_prompt
from gensight.records import Prediction, Request, RowFile, Sample, write_rows


def render(
    samples: str, output: str, determinants: Mapping[str, Any], source: str | None = None
) -> int:
    """Write a benchmark's requests under one prompt; return their number.

    `source` are the predictions that hold the grids which the prompt asks about.
    """
    rows = RowFile(samples, Sample, determinants["samples"])
    task, ranks = determinants["samples"]["task"], determinants["ranks"]
    asked = (row for row in rows if ranks is None or row.rank < ranks)
    requests = render_prompt(
        determinants["prompt"],
        determinants["turns"],
        asked,
        task=task,
        size=determinants.get("size"),
        per_request=determinants.get("samples_per_request", 1),
        grids=None if source is None else _grids(source, determinants["source"]),
        missing=() if source is None else _missing(source, determinants["source"]),
    )
    inputs = [samples] if source is None else [samples, source]
    return write_rows(output, Request, requests, determinants, inputs)


def _missing(path: str, source: Mapping[str, Any]) -> set[str]:
    """Return the samples about which the source has not answered yet."""
    return {
        row.sample_id
        for row in RowFile(path, Prediction, source["predictions"])
        if row.outcome in INFRASTRUCTURE_OUTCOMES
    }


def _grids(path: str, source: Mapping[str, Any]) -> Grids:
    """Return the grids of a model's first answers that could be read, as JSON by sample."""
    return {
        row.sample_id: row.text
        for row in RowFile(path, Prediction, source["predictions"])
        if row.variant == source["variant"]
        and row.status == "ok"
        and row.repeat == 0
        and row.text is not None
    }
