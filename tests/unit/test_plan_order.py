"""The plans of the shipped runs: what a file is made from stands before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gensight.cli.checkout import load_checkout
from gensight.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
#: Without those that are laid over another one.
RUNS = sorted(
    path.name
    for path in (ROOT / "config/runs").glob("*.yaml")
    if not path.name.endswith("published_only.yaml")
)


def planned(name):
    return Plan(load_checkout([] if name is None else [f"config/runs/{name}"])).files()


@pytest.mark.parametrize("name", [None, *RUNS])
def test_every_shipped_run_is_planned_upstream_first(monkeypatch, name):
    """Times are put in order and jobs are forecast in one pass over the plan."""
    monkeypatch.chdir(ROOT)
    files = planned(name)
    place = {path: number for number, path in enumerate(files)}
    late = [
        (path, used)
        for path, planned in files.items()
        for used in planned.inputs
        if place[used] >= place[path]
    ]
    assert not late


@pytest.mark.parametrize("name", [None, *RUNS])
def test_tables_know_the_digest_of_each_of_their_files(monkeypatch, name):
    """Also where a table names an aggregate before a benchmark: it reads its files in its order."""
    monkeypatch.chdir(ROOT)
    files = planned(name)
    for path, table in files.items():
        if table.stage == "tables" and not path.endswith("/all.tex"):
            told = [*table.determinants["summaries"].values()]
            assert told == [files[used].digest for used in table.inputs]
