"""A temporary copy of the project, small enough to run often, and what can be asked of it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from warm_snakemake import WarmSnakemake

#: Everything but errors.
QUIET = ("--quiet", "host", "progress", "rules", "reason")
ROOT = Path(__file__).resolve().parents[2]
COPIED = ("Snakefile", "workflow", "config", "resources", "profiles", "envs", "src")
WARM = WarmSnakemake()


class Checkout:
    """A copy of the project with its own config; its own src/ is the one that runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
        (folder / "slurm").symlink_to("profiles/slurm")

    @classmethod
    def at(cls, folder: Path) -> Checkout:
        """Return a checkout that is there already."""
        made = object.__new__(cls)
        made.folder = folder
        return made

    def environment(self) -> dict[str, str]:
        """Return the environment in which the copy's own library is imported."""
        return {**os.environ, "PYTHONPATH": str(self.folder / "src"), "MPLBACKEND": "Agg"}

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in the copy."""
        if not {"--cores", "--profile", "--lint"} & set(arguments):
            arguments = (*arguments, "--cores", "2")
        done = WARM.run(arguments, self.folder, self.environment())
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
        return done

    def run(self, *targets: str) -> None:
        """Build targets (default: all of the run)."""
        self.snakemake(*targets, *QUIET)

    def python(self, script: str) -> None:
        """Run a script in the copy with its own library."""
        subprocess.run(
            [sys.executable, "-c", script], cwd=self.folder, env=self.environment(), check=True
        )

    def gensight(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line in the copy."""
        return subprocess.run(
            [sys.executable, "-c", "from gensight.cli import main; main()", *arguments],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=check,
        )

    def planned(self, *arguments: str) -> dict[str, int]:
        """Return how many jobs of each rule a dry run plans, without the `all` rule."""
        out = self.snakemake(*arguments, "-n", "--quiet", "rules")
        return planned_jobs(out.stdout + out.stderr)

    def edit(self, name: str, **changes: object) -> None:
        """Change top-level or dotted keys (`a__b`) of a YAML file."""
        path = self.folder / name
        content = yaml.safe_load(path.read_text())
        for key, value in changes.items():
            *steps, last = key.split("__")
            place = content
            for step in steps:
                place = place.setdefault(step, {})
            place[last] = value
        path.write_text(yaml.safe_dump(content, sort_keys=False))

    def write_yaml(self, name: str, content: object) -> None:
        """Write a YAML file."""
        (self.folder / name).write_text(yaml.safe_dump(content, sort_keys=False))

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace text that must be there."""
        path = self.folder / name
        text = path.read_text()
        assert old in text, f"{name} does not hold {old!r}"
        path.write_text(text.replace(old, new))

    def add_protocol(self, source: str) -> None:
        """Give the copy a local protocol `stand_in`, whose adapter is this module."""
        (self.folder / "src/gensight/models/stand_in.py").write_text(source)
        last = '    "published": Protocol("published"),\n'
        line = '    "stand_in": Protocol("local"),\n'
        self.replace("src/gensight/specs/protocols.py", last, line + last)

    def adapter_calls(self) -> int:
        """Return how many replies the ledger holds that were asked for here."""
        return len(list((self.folder / "ledger" / "replies").rglob("*.json")))

    def digests(self, *suffixes: str) -> dict[str, str]:
        """Return the sha256 of every result with one of these suffixes, by path."""
        import hashlib

        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.folder / "results").rglob("*"))
            if path.suffix in suffixes
        }


def planned_jobs(output: str) -> dict[str, int]:
    """Read Snakemake's table of job counts."""
    rows = re.findall(r"^(\w+)\s+(\d+)\s*$", output, flags=re.MULTILINE)
    return {rule: int(count) for rule, count in rows if rule not in ("total", "all")}


def write_small_config(checkout: Checkout, **run: object) -> None:
    """Give a checkout a run of two benchmarks and a few models that takes seconds."""
    for name in ("scenes_segmentation", "scenes_counting"):
        path = f"config/benchmarks/{name}.yaml"
        checkout.edit(path, n=4, held_out={"first_rank": 500, "n": 2})
        checkout.edit(path, dataset__parameters__width=384, dataset__parameters__height=288)
    small = {
        "name": "small",
        "models": ["oracle", "oracle_plan", "echo"],
        "benchmarks": ["scenes_segmentation", "scenes_counting"],
        "prompts": ["mid", "plan"],
        "tables": ["segmentation", "counting"],
        "figures": [],
        **run,
    }
    (checkout.folder / "config/config.yaml").write_text(yaml.safe_dump({"run": small}))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a small copy of the project in which nothing has run."""
    made = Checkout(tmp_path / "checkout")
    write_small_config(made)
    return made


@pytest.fixture(scope="session")
def finished_results(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Checkout:
    """Return a copy whose run is complete, made once for all workers: never change it, copy it."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    folder = shared / "finished" / "checkout"
    with (shared / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            made = Checkout(folder)
            write_small_config(made)
            made.run()
            (folder / "complete").touch()
    return Checkout.at(folder)


@pytest.fixture
def finished(finished_results: Checkout, tmp_path: Path) -> Checkout:
    """Return an own copy of the finished checkout, with its times and Snakemake's memory."""
    folder = tmp_path / "finished"
    shutil.copytree(finished_results.folder, folder, symlinks=True)
    return Checkout.at(folder)


def read_json(path: Path) -> dict[str, object]:
    """Read a JSON file."""
    return json.loads(path.read_text())
