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
    return [run for path in _logs(folder) if (run := _run_of(path)) is not None]


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


def check_quiet(folder: Path) -> None:
    """Refuse if a run of any kind is alive on this host in a working directory.

    Told by its log, which Snakemake holds open from its first line to its end; a run on a cluster
    writes its id there only after it has planned.

    Raises:
        GensightError: one is.
    """
    writer = _writer(_logs(folder))
    if writer is not None:
        process, log = writer
        raise GensightError(
            f"a run is still alive here (process {process} writes {log.name}); end it first "
            f"(Ctrl-C: it cancels its jobs itself)"
        )


def check_lock(folder: Path) -> None:
    """Refuse if the lock of a working directory may be that of a run on another host.

    Raises:
        GensightError: the newest log that tells its host tells another one.
    """
    here = socket.gethostname()
    hosts = ((log, _told(_head(log), "  Host")) for log in _logs(folder))
    log, host = next(((log, host) for log, host in hosts if host is not None), (None, here))
    if is_locked(folder) and log is not None and host != here:
        raise GensightError(
            f"the folder is locked, and the newest run ({log.name}) was started on {host}, this "
            f"is {here}; look there whether it is still alive; if it is dead: --force"
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


def _logs(folder: Path) -> list[Path]:
    """Return the logs of all runs of a working directory, the newest first."""
    return sorted((folder / LOGS).glob("*.snakemake.log"), reverse=True)


def _head(log: Path) -> str:
    with log.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(HEAD_CHARACTERS)


def _run_of(log: Path) -> Run | None:
    head = _head(log)
    number = _told(head, "SLURM run ID")
    if number is None:
        return None
    # Snakemake joins its arguments by spaces, unquoted.
    arguments = (_told(head, "  Command") or "").split(" ")[1:]
    return Run(number, _told(head, "  Host") or "an unknown host", tuple(arguments), log)


def _told(head: str, name: str) -> str | None:
    found = re.search(rf"^{name}: (.+)$", head, flags=re.MULTILINE)
    return found[1] if found else None


def _writer(paths: Iterable[Path]) -> tuple[int, Path] | None:
    """Return a process of this host that has one of the files open, and the file.

    Processes that may not be looked at (of other users) are passed over.
    """
    wanted = {}
    for path in paths:
        with suppress(OSError):
            wanted[_identity(path)] = path
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                with suppress(OSError):
                    path = wanted.get(_identity(descriptor))
                    if path is not None:
                        return int(process.name), path
    return None


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
