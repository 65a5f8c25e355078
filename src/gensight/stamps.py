"""Stamps of the files that were made here, kept beside Snakemake's own memory.

A file without a stamp was laid in. (Every job imports this: nothing heavy.)
"""

from __future__ import annotations

from pathlib import Path

from gensight.atomic import write_text

STATE = Path(".snakemake/gensight")


def mark_built(path: str, content: str) -> None:
    """Remember that a file was made here, so that a later change of the plan may replace it."""
    write_text(STATE / "known" / path, content)


def is_known(path: str, content: str) -> bool:
    """Say whether a file with this content digest was made here, or was taken over."""
    stamp = STATE / "known" / path
    return stamp.exists() and stamp.read_text(encoding="utf-8") == content
