"""Every ProbeGen number that follows from others: averages, repeated numbers, sample totals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gensight.published.cells import PublishedCell, load, select
from gensight.published.comparison import (
    Check,
    copied,
    half_unit,
    number,
    numbers,
    one,
    recomputed,
)
from gensight.published.facts import facts
from gensight.published.formulas import plain_mean

PAPER = "probegen"
EFFICIENCY = ("IMG/min", "GB")


def checks(root: Path | None = None) -> Iterator[Check]:
    """Yield the checks of ProbeGen, in the order of its tables."""
    yield from _averages(load(PAPER, 5, root), 5, "benchmark", "extractor")
    yield from _averages(load(PAPER, 7, root), 7, "model", "decoder")
    efficiency = load(PAPER, 9, root)
    for table in (1, 3):
        yield from _efficiency(load(PAPER, table, root), efficiency)
    yield _default_setting(root)
    said = facts(PAPER, root)
    samples = number(said["n_benchmarks"]) * number(said["n_samples_per_benchmark"])
    yield recomputed("text", "samples = benchmarks x samples", said["n_samples_total"], samples)


def _averages(
    cells: list[PublishedCell], table: int, averaged: str, setting: str
) -> Iterator[Check]:
    """Yield the plain mean of each row of an ablation: its columns are benchmarks or models."""
    for value in dict.fromkeys(cell.setting[setting] for cell in cells):
        row = select(cells, setting={setting: value})
        average = one(row, **{averaged: "Average"})
        columns = [cell for cell in row if cell is not average]
        yield recomputed(
            f"Table {table}",
            f"{value}: mean of {len(columns)}",
            average,
            plain_mean(numbers(columns)),
            inputs=half_unit(columns[0]),
        )


def _efficiency(cells: list[PublishedCell], efficiency: list[PublishedCell]) -> Iterator[Check]:
    """Yield speed and memory that Table 9 repeats; – stands where Table 9 has an API's time."""
    for cell in cells:
        if cell.metric not in EFFICIENCY or cell.status == "unavailable":
            continue
        other = one(efficiency, model=cell.model, benchmark=cell.benchmark, metric=cell.metric)
        yield copied(f"Tables {cell.table} and 9", f"{cell.model}: {cell.metric}", cell, other)


def _default_setting(root: Path | None) -> Check:
    names = {"model": "Nano Banana 2", "benchmark": "RefCOCOg"}
    prompt = one(load(PAPER, 6, root), setting={"prompt": "mid"}, **names)
    extractor = one(load(PAPER, 5, root), setting={"extractor": "otsu"}, **names)
    return copied("Tables 6 and 5", "Nano Banana 2: RefCOCOg, mid, Otsu", prompt, extractor)
