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
PROBEGEN = ("--configfile", "config/runs/probegen.yaml")
LIMIT_JOBS, LIMIT_PLAN_S, LIMIT_NO_OP_S = 2000, 8.0, 5.0
# Empty files of every stage, upstream first; a text file holds its mark alone.
LAY_IN = """
from pathlib import Path
import yaml
from gensight.digests import digest_of
from gensight.footers import mark, read_footer
from gensight.plan import Plan
from gensight.records import Generation, Prediction, Request, Sample, Score, Summary, write_rows
from gensight.specs.project import load_project

ROWS = dict(samples=Sample, requests=Request, generations=Generation, predictions=Prediction,
            scores=Score, summaries=Summary, sweeps=Summary)
config = yaml.safe_load(Path("config/config.yaml").read_text())
run = yaml.safe_load(Path("config/runs/probegen.yaml").read_text())["run"]
config["run"] = {**config["run"], **run}
files = Plan(load_project(config, Path.cwd())).files()
for planned in files.values():
    if planned.stage in ROWS:
        write_rows(planned.path, ROWS[planned.stage], [], planned.determinants, planned.inputs)
        for sibling in planned.siblings:
            Path(sibling).write_text("")
        continue
    contents = {path: read_footer(path).content for path in planned.inputs}
    for path in (planned.path, *planned.siblings):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(mark(digest_of(planned.determinants), contents))
print(len(files))
"""


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


def whole_plan() -> Iterator[Measurement]:
    """Yield the seconds and jobs of planning ProbeGen whole, and of a run with nothing to do.

    Nothing is answered: every file that the run plans is laid in without rows, under the digest
    that the plan asks for.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copy_project(folder)
        planned_s = min(_snakemake(folder, "-n", *PROBEGEN) for _ in range(2))
        jobs = _lay_in(folder)
        nothing_s = min(_snakemake(folder, *PROBEGEN) for _ in range(3))
    yield Measurement(
        name="probegen_jobs",
        what="files that config/runs/probegen.yaml plans",
        measured=jobs,
        limit=LIMIT_JOBS,
        unit="",
    )
    yield Measurement(
        name="probegen_plan",
        what="snakemake -n of config/runs/probegen.yaml without any file, best of two",
        measured=planned_s,
        limit=LIMIT_PLAN_S,
        unit="s",
    )
    yield Measurement(
        name="probegen_no_op",
        what="snakemake of config/runs/probegen.yaml with every file there, best of three",
        measured=nothing_s,
        limit=LIMIT_NO_OP_S,
        unit="s",
    )


def _lay_in(folder: Path) -> int:
    """Write every planned file without rows in another process; return their number."""
    done = subprocess.run(
        [sys.executable, "-c", LAY_IN], cwd=folder, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def _copy_project(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name)


def _copy_small_project(folder: Path) -> None:
    _copy_project(folder)
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
