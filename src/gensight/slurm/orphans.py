"""What a killed run leaves on a cluster: jobs in the queue, and a locked working directory.

Snakemake gives all jobs of a run the run's id as their name and the rule and its wildcards as their
comment, and writes the id, the host and its own command into the run's log (measured: snakemake
9.27, snakemake-executor-plugin-slurm 2.8, Slurm 22.05).
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gensight.errors import GensightError
from gensight.slurm import commands

LOGS = Path(".snakemake/log")
LOCKS = Path(".snakemake/locks")
#: A run's id: a UUID, after the prefix that a profile may give jobs.
RUN_ID = re.compile(r"(?:[\w-]{1,50}_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: The part of a log that says who writes it; what follows grows with every job.
HEAD_CHARACTERS = 1 << 16
#: A job gets a while between the wish that it ends and its end (KillWait, 30 s by default).
ENDED_S, LOOK_S = 120.0, 0.5


@dataclass(frozen=True)
class Job:
    """A job in the queue. `what` is the rule and its wildcards, joined by underscores."""

    number: str
    run: str
    state: str
    what: str


@dataclass(frozen=True)
class Run:
    """A run as its log tells it: where it was started, and with which arguments."""

    number: str
    host: str
    arguments: tuple[str, ...]
    log: Path

    @property
    def is_alive(self) -> bool:
        """Say whether a process of this host writes the log."""
        return _is_open(self.log)


def jobs_of(folder: Path) -> list[Job]:
    """Return the user's jobs in the queue that runs of a working directory have submitted.

    Raises:
        GensightError: Slurm does not answer.
    """
    found = []
    for number, run, state, comment, place in commands.rows("squeue", "ijTkZ", "--me"):
        if RUN_ID.fullmatch(run) and Path(place).resolve() == folder.resolve():
            found.append(Job(number, run, state, comment.removeprefix("rule_")))
    return found


def runs_of(folder: Path) -> list[Run]:
    """Return the runs on a cluster that have a log in a working directory, the newest first."""
    paths = sorted((folder / LOGS).glob("*.snakemake.log"), reverse=True)
    return [run for path in paths if (run := _run_of(path)) is not None]


def check_dead(jobs: Iterable[Job], runs: Sequence[Run]) -> None:
    """Refuse if a run that submitted one of the jobs may still be alive.

    Raises:
        GensightError: it is alive, was started on another host, or has no log.
    """
    known = {run.number: run for run in runs}
    here = socket.gethostname()
    for number in dict.fromkeys(job.run for job in jobs):
        run = known.get(number)
        if run is None:
            raise GensightError(
                f"run {number}: has no log in {LOGS}, so nobody can say whether it is still alive; "
                f"if it is dead: --force"
            )
        if run.host != here:
            raise GensightError(
                f"run {number}: was started on {run.host}, this is {here}; look there whether it "
                f"is still alive; if it is dead: --force"
            )


def check_quiet(runs: Iterable[Run]) -> None:
    """Refuse if a run of the working directory is alive on this host.

    Raises:
        GensightError: one is.
    """
    for run in runs:
        if run.is_alive:
            raise GensightError(
                f"run {run.number}: is still alive ({run.log.name} is being written); end it first "
                f"(Ctrl-C: it cancels its jobs itself)"
            )


def cancel(jobs: Sequence[Job]) -> None:
    """Cancel jobs and wait until they have ended.

    Raises:
        GensightError: Slurm does not answer, or some do not end.
    """
    commands.run("scancel", *(job.number for job in jobs))
    left, deadline = {job.number for job in jobs}, time.monotonic() + ENDED_S
    while left:
        left &= {number for number, *_ in commands.rows("squeue", "i", "--me")}
        if left and time.monotonic() > deadline:
            raise GensightError(f"jobs {', '.join(sorted(left))}: do not end; try again later")
        if left:
            time.sleep(LOOK_S)


def is_locked(folder: Path) -> bool:
    """Say whether a run has locked a working directory."""
    return any((folder / LOCKS).glob("*"))


def _run_of(log: Path) -> Run | None:
    with log.open(encoding="utf-8", errors="replace") as stream:
        head = stream.read(HEAD_CHARACTERS)
    number = _told(head, "SLURM run ID")
    if number is None:
        return None
    # Snakemake joins its arguments by spaces, unquoted.
    arguments = (_told(head, "  Command") or "").split(" ")[1:]
    return Run(number, _told(head, "  Host") or "an unknown host", tuple(arguments), log)


def _told(head: str, name: str) -> str | None:
    found = re.search(rf"^{name}: (.+)$", head, flags=re.MULTILINE)
    return found[1] if found else None


def _is_open(path: Path) -> bool:
    """Say whether a process of this host that may be looked at has a file open."""
    own = str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == own:
            continue
        with suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    if descriptor.samefile(path):
                        return True
    return False
