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


@pytest.mark.parametrize("name", [None, *RUNS])
def test_every_shipped_run_is_planned_upstream_first(monkeypatch, name):
    """Times are put in order and jobs are forecast in one pass over the plan."""
    monkeypatch.chdir(ROOT)
    files = Plan(load_checkout([] if name is None else [f"config/runs/{name}"])).files()
    place = {path: number for number, path in enumerate(files)}
    late = [
        (path, used)
        for path, planned in files.items()
        for used in planned.inputs
        if place[used] >= place[path]
    ]
    assert not late
