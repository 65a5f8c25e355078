"""Rendering: a prompt about every evaluated sample, independent of any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.prompts import render as render_prompt
from gensight.records import Request, RowFile, Sample, write_rows


def render(samples: str, output: str, determinants: Mapping[str, Any]) -> int:
    """Write a benchmark's requests under one prompt; return their number."""
    rows = RowFile(samples, Sample, determinants["samples"])
    task, ranks = determinants["samples"]["task"], determinants["ranks"]
    asked = (row for row in rows if ranks is None or row.rank < ranks)
    requests = render_prompt(determinants["prompt"], determinants["turns"], asked, task=task)
    return write_rows(output, Request, requests, determinants, [samples])
