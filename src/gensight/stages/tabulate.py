"""Tables: a run's summaries set into .tex, .csv and .md, and one document of all tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gensight.atomic import write_text
from gensight.digests import digest_of
from gensight.footers import mark, read_footer
from gensight.records import RowFile, Summary
from gensight.specs.tables import TableSpec
from gensight.tables import (
    ModelInfo,
    RunFacts,
    all_document,
    build_table,
    render_csv,
    render_markdown,
    render_tex,
)


def tabulate(summaries: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write one table beside `output` (a .tex path) in all three formats."""
    plan = determinants
    rows = [
        row
        for path, digest in zip(summaries, plan["summaries"].values(), strict=True)
        for row in RowFile(path, Summary, digest)
    ]
    table = build_table(
        TableSpec.model_validate(plan["spec"]),
        rows,
        {name: _info(entry) for name, entry in plan["models"].items()},
        {name: entry["label"] for name, entry in plan["benchmarks"].items()},
        RunFacts(name=plan["run"], mark=_mark(summaries, plan), protocol=tuple(plan["protocol"])),
    )
    tex = Path(output)
    # The .tex carries the mark by which the three are known, so it is written last.
    write_text(tex.with_suffix(".csv"), render_csv(table))
    write_text(tex.with_suffix(".md"), render_markdown(table))
    write_text(tex, render_tex(table))


def collect_tables(tables: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write the document that holds every table of the run."""
    texts = [(Path(path).stem, Path(path).read_text(encoding="utf-8")) for path in tables]
    run_digest = digest_of(determinants)
    document = all_document(
        texts, determinants["run"], run_digest[:12], _mark(tables, determinants)
    )
    write_text(Path(output), document)


def _mark(inputs: Sequence[str], determinants: Mapping[str, Any]) -> str:
    contents = {path: read_footer(path).content for path in inputs}
    return mark(digest_of(determinants), contents)


def _info(entry: Mapping[str, Any]) -> ModelInfo:
    return ModelInfo(
        **entry["display"],
        role=entry["role"],
        failed_above=entry["failed_above"],
        severity_unit=entry.get("severity_unit", ""),
    )
