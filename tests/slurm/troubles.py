"""One run in which a job is cancelled, a node lost, a process killed, and time and memory run out.

All at once, because a cluster's patience is what takes time: a job that has run out of its time is
noticed once in half a minute. Beside them a job prints what its environment holds, and a hosted
model is asked under a key from a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from fakes.google import GoogleFake
from fakes.painters import Gallery
from fakes.server import Fake
from slurm_checkout import Done, SlurmCheckout, Started, slurm, wait_for

N = 4
#: What each model does at its first try, when it has answered two questions.
FAILURES = {
    "cancelled": "wait",
    "lost": "wait",
    "late": "wait",
    "lacking": "memory",
    "killed": "kill",
    "witness": "environment",
}
#: One is hosted: it is paid under a key from a file.
HOSTED, KEY = "nano_banana_2", "key-of-this-test"
MEMORY_MB, MINUTES = 300, 10
LIMITS = {"memory_mb": MEMORY_MB, "runtime_minutes": MINUTES}
#: The node that is lost has no other job on it: the only one of its kind.
LOST_NODE = "gpu1"
SPECIAL = {"lost": {**LIMITS, "gpu": 1}, "late": {**LIMITS, "runtime_minutes": 1}}
#: Exported by whoever submits.
MARK = "GENSIGHT_TEST_MARK"


@dataclass
class Troubles:
    """The run, and what was seen of it while it went on."""

    checkout: SlurmCheckout
    run: Started
    provider: Fake

    @cached_property
    def done(self) -> Done:
        """Wait for the end of the run."""
        return self.run.wait()

    @cached_property
    def jobs(self) -> list[dict[str, str]]:
        """Return the jobs of the ended run."""
        assert self.done
        return self.checkout.jobs()


@contextmanager
def troubled(folder: Path) -> Iterator[Troubles]:
    """Start the run, cancel a job, take a node away and give it back."""
    checkout = SlurmCheckout(folder)
    checkout.make_scenes_small(N)
    for name, failure in FAILURES.items():
        limits = SPECIAL.get(name, LIMITS)
        checkout.add_rehearsed(name, {"failure": failure}, limits=limits)
    keys = folder / "keys"
    keys.touch(mode=0o600)
    keys.write_text(f"GOOGLE_API_KEY={KEY}\n")
    run = {
        "name": "troubles",
        "models": [*FAILURES, HOSTED],
        "benchmarks": ["scenes_depth"],
        "prompts": ["mid"],
    }
    with GoogleFake(painter=Gallery(folder / "results")) as provider:
        config = {
            "run": run,
            "keys_file": "keys",
            "budget": {"usd": 5.0},
            "endpoints": {"google": provider.url},
        }
        (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
        targets = [
            f"results/generations/{name}/scenes_depth/mid/all.parquet" for name in run["models"]
        ]
        os.environ[MARK] = "1"
        started = checkout.start(*targets)
        try:
            disturb(checkout)
            yield Troubles(checkout, started, provider)
        finally:
            del os.environ[MARK]
            started.stop()


def disturb(checkout: SlurmCheckout) -> None:
    """Cancel the job of one model; take the node of another one away and give it back."""
    for name in ("cancelled", "lost"):
        wait_for(lambda name=name: checkout.rehearsal(name, "failing"), f"{name} to run")
    (cancelled,), (lost,) = checkout.jobs_of("cancelled"), checkout.jobs_of("lost")
    assert lost["NodeList"] == LOST_NODE
    slurm("scancel", cancelled["JobId"])
    slurm("scontrol", "update", f"NodeName={LOST_NODE}", "State=DOWN", "Reason=test")
    wait_for(lambda: checkout.jobs_of("lost")[0]["Restarts"] == "1", "the node to be lost")
    # The pretended loss leaves the node's daemon alive, which does not know one job twice.
    wait_for(lambda: not steps_of(lost["JobId"]), "the lost job's processes to end")
    slurm("scontrol", "update", f"NodeName={LOST_NODE}", "State=RESUME")
    # Slurm puts it into the queue again, and lets it wait there for two minutes.
    slurm("scontrol", "update", f"JobId={lost['JobId']}", "StartTime=now")


def steps_of(job: str) -> list[str]:
    """Return the processes of this machine that look after a job."""
    names = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return [name.decode() for name in names if name.startswith(f"slurmstepd: [{job}.".encode())]
