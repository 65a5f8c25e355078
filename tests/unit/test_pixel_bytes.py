"""The pixel tasks give the same bytes whatever the order, the cut, the process and hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from pixel_road import PixelRoad, some_grid

from gensight.footers import read_footer

# What runs here and is no reference model notes how long it took, so it has other bytes each time.
EVERYTHING = {
    "models": ["painter", "noise", "flat", "drawer", "first_option"],
    "benchmarks": ["draw", "redraw", "name"],
    "prompts": ["grid_8", "letter_8", "shuffled_8", "options_only"],
}


def digests(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("results/**/*.parquet"))
    }


def painted(question):
    """Half of the source's grids are fenced, and one is none."""
    rank = int(question.sample_id[-6:])
    text = some_grid(question.turn.answer_form["size"], seed=rank).text()
    return {1: "no", 2: f"```\n{text}\n```"}.get(rank, text)


def made(folder, monkeypatch, **run):
    folder.mkdir()
    monkeypatch.chdir(folder)
    road = PixelRoad(folder)
    road.answers["painter"] = painted
    road.edit("config/models/painter.yaml", tasks=["image_to_pixel"])
    road.edit("config/benchmarks/draw.yaml", samples_per_request=4)
    road.edit("config/benchmarks/name.yaml", source__model="painter")
    road.run_of(**{**EVERYTHING, **run})
    road.make()
    return road, digests(folder)


def test_the_order_of_a_runs_lists_changes_no_byte_of_a_cell_and_no_number(tmp_path, monkeypatch):
    """Summaries list their rows in the run's order, and name the first of two equal floors."""

    def numbers(road, name):
        return sorted(str(replace(row, floor_model=None)) for row in road.rows(name))

    road, forward = made(tmp_path / "forward", monkeypatch)
    summaries = sorted(path for path in forward if "/summaries/" in path)
    names = [path.removeprefix("results/").removesuffix(".parquet") for path in summaries]
    before = [numbers(road, name) for name in names]
    backward = {key: value[::-1] for key, value in EVERYTHING.items()}
    road, turned = made(tmp_path / "backward", monkeypatch, **backward)
    assert len(forward) > 40 and forward.keys() == turned.keys()
    assert {path for path in forward if forward[path] != turned[path]} <= set(summaries)
    assert [numbers(road, name) for name in names] == before


def test_shards_change_no_row_of_what_is_read_from_them(tmp_path, monkeypatch):
    road, whole = made(tmp_path / "whole", monkeypatch)
    contents = {path: read_footer(path).content for path in whole if "/generations/" not in path}
    for size in (1, 5):
        for model in ("painter", "noise", "drawer", "first_option"):
            road.edit(f"config/models/{model}.yaml", shard_size=size)
        road.make()
        assert {path: read_footer(path).content for path in contents} == contents


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from pixel_road import PixelRoad
from test_pixel_bytes import EVERYTHING
road = PixelRoad(Path.cwd())
road.edit("config/benchmarks/name.yaml", source__model="noise")
road.run_of(**{**EVERYTHING, "models": EVERYTHING["models"][1:]})
road.make()
"""


def test_hash_seeds_and_processes_change_no_byte(tmp_path):
    """Whatever the order of sets, the folder and the number of threads."""
    found = []
    for seed, threads in (("0", "1"), ("4711", "2")):
        folder = tmp_path / f"seed_{seed}" / "checkout"
        folder.mkdir(parents=True)
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads},
            check=True,
            capture_output=True,
        )
        found.append(digests(folder))
    assert found[0] == found[1] and len(found[0]) > 30
