"""What the workflow itself costs: a job that has next to nothing to do, and a run with nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import yaml
from timing import Measurement

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("Snakefile", "workflow", "config", "resources", "profiles", "envs", "src")
CELLS = 8
JOBS_PER_CELL = 3  # generate, extract, score
LIMIT_JOB_S = 0.4
LIMIT_NOTHING_S = 3.0
TARGET = "results/summaries/scenes_counting.parquet"


def empty_cells() -> Iterator[Measurement]:
    """Yield the seconds that one job of a cell with one small picture takes, all included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copy_small_project(folder)
        _snakemake(folder, "results/requests/scenes_counting/mid.parquet")
        start_s = _snakemake(folder, "results/requests/scenes_counting/mid.parquet")
        seconds = _snakemake(folder, TARGET) - start_s
    each = seconds / (CELLS * JOBS_PER_CELL + 1)
    yield Measurement(
        name="empty_job",
        what=f"wall seconds per job, {CELLS} cells of one small picture, one core, start-up aside",
        measured=each,
        limit=LIMIT_JOB_S,
        unit="s",
    )


def nothing_to_do() -> Iterator[Measurement]:
    """Yield the seconds of `snakemake -n` after the demo (which is run first where it was not)."""
    _snakemake(ROOT)
    yield Measurement(
        name="nothing_to_do",
        what="snakemake -n of the finished demo, best of three",
        measured=min(_snakemake(ROOT, "-n") for _ in range(3)),
        limit=LIMIT_NOTHING_S,
        unit="s",
    )


def _copy_small_project(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)
    path = folder / "config/benchmarks/scenes_counting.yaml"
    spec = yaml.safe_load(path.read_text())
    spec |= {"n": 1, "held_out": None}
    spec["dataset"]["parameters"] |= {"width": 384, "height": 288}
    path.write_text(yaml.safe_dump(spec))
    echo = (folder / "config/models/echo.yaml").read_text()
    models = [f"echo_{place}" for place in range(CELLS)]
    for model in models:
        (folder / f"config/models/{model}.yaml").write_text(echo)
    run = {"name": "empty", "models": models, "benchmarks": ["scenes_counting"], "prompts": ["mid"]}
    (folder / "config/config.yaml").write_text(yaml.safe_dump({"run": run}))


def _snakemake(folder: Path, *arguments: str) -> float:
    command = [sys.executable, "-m", "snakemake", *arguments, "--cores", "1"]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return time.perf_counter() - started
