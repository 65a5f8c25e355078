"""A checkout whose runs go to the throw-away cluster, and what Slurm says of their jobs."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import yaml
from workflow.conftest import Checkout

HERE = Path(__file__).resolve().parent
PROFILES = ("--profile", "slurm", "--workflow-profile", "slurm-ci")
#: No run of a test may take longer; without accounting a hanging Snakemake hangs for ever.
LONGEST_S = 240
LOOK_S = 0.2


@dataclass(frozen=True)
class Done:
    """A run that has ended, and all that it printed."""

    returncode: int
    text: str


@dataclass
class Started:
    """A run under `timeout -k`, which prints into a file."""

    process: subprocess.Popen[bytes]
    printed: Path

    @property
    def text(self) -> str:
        """Return what was printed so far."""
        return self.printed.read_text(errors="replace")

    @property
    def snakemake(self) -> int:
        """Return the process that `timeout` watches."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def wait(self) -> Done:
        """Wait for its end."""
        return Done(self.process.wait(timeout=LONGEST_S + 20), self.text)

    def stop(self) -> None:
        """End it if it still runs; it cancels its jobs then."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=60)


class SlurmCheckout(Checkout):
    """A small copy of the project; jobs import its own library."""

    def environment(self) -> dict[str, str]:
        """Return an environment without any key: what one has, all jobs have."""
        found = super().environment()
        return {name: value for name, value in found.items() if not name.endswith("_API_KEY")}

    def gensight(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line in the copy, which may start a run of its own."""
        command = [sys.executable, "-c", "from gensight.cli import main; main()", *arguments]
        return subprocess.run(
            ["timeout", "-k", "10", str(LONGEST_S), *command],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=check,
        )

    def start(self, *arguments: str) -> Started:
        """Start Snakemake on the cluster."""
        number = len(list(self.folder.glob("printed_*")))
        printed = self.folder / f"printed_{number}"
        command = [sys.executable, "-m", "snakemake", *PROFILES, *arguments]
        with printed.open("wb") as stream:
            process = subprocess.Popen(
                ["timeout", "-k", "10", str(LONGEST_S), *command],
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
        return Started(process, printed)

    def on_slurm(self, *arguments: str) -> Done:
        """Run Snakemake on the cluster to its end."""
        return self.start(*arguments).wait()

    def jobs(self) -> list[dict[str, str]]:
        """Return every job that this checkout has submitted, the oldest first.

        Slurm forgets them half an hour after their end.
        """
        told = slurm("scontrol", "--details", "--oneliner", "show", "job")
        jobs = [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in told.splitlines()]
        mine = [job for job in jobs if job.get("WorkDir") == str(self.folder)]
        return sorted(mine, key=lambda job: int(job["JobId"]))

    def jobs_of(self, model: str) -> list[dict[str, str]]:
        """Return the jobs that generate a model's answers, the oldest first."""
        start = f"rule_generate_local_wildcards_{model}_scenes"
        return [job for job in self.jobs() if job["Comment"].startswith(start)]

    def rows(self, model: str) -> list[dict[str, object]]:
        """Return what a model answered."""
        paths = sorted((self.folder / "results/generations" / model).rglob("*.parquet"))
        return [row for path in paths for row in pq.read_table(path).to_pylist()]

    def add_rehearsed(self, name: str, generation: Mapping[str, object], **spec: object) -> None:
        """Add a model of the adapter that fails as it is told."""
        library = self.folder / "src/gensight"
        (library / "models/rehearsed.py").write_text((HERE / "rehearsed.py").read_text())
        protocols = library / "specs/protocols.py"
        line = '    "published": Protocol("published"),\n'
        text = protocols.read_text()
        if "rehearsed" not in text:
            assert line in text
            protocols.write_text(text.replace(line, f'    "rehearsed": Protocol("local"),\n{line}'))
        spec = {"tasks": ["depth"], "display": {"label": name}, **spec}
        generation = {"name": name, **generation}
        content = {"adapter": "rehearsed", "generation": generation, **spec}
        (self.folder / f"config/models/{name}.yaml").write_text(yaml.safe_dump(content))

    def rehearsal(self, model: str, what: str) -> str | None:
        """Return what a rehearsed model wrote down: answered, failing, environment."""
        path = self.folder / "rehearsals" / model / what
        return path.read_text() if path.exists() else None

    def notes(self, model: str) -> list[tuple[str, str]]:
        """Return (digest of the question, job) of all that a rehearsed model answered, in order."""
        told = self.rehearsal(model, "answered") or ""
        return [(line.split()[0], line.split()[1]) for line in told.splitlines()]

    def answered(self, model: str) -> list[str]:
        """Return the digest of every question that a rehearsed model answered, in order."""
        return [digest for digest, _ in self.notes(model)]

    def make_scenes_small(self, n: int) -> None:
        """Make the two benchmarks of the demo small and few."""
        for name in ("scenes_depth", "scenes_segmentation"):
            path = f"config/benchmarks/{name}.yaml"
            self.edit(path, n=n, held_out={"first_rank": 500, "n": 2})
            self.edit(path, dataset__parameters__width=384, dataset__parameters__height=288)


def slurm(*command: str) -> str:
    """Return what one of Slurm's commands prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def wait_for(what: Callable[[], object], said: str, seconds: float = 90) -> object:
    """Return what a function returns as soon as that is true."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, f"waited {seconds} s for {said}"
        time.sleep(LOOK_S)
    return found
