"""Slurm's commands, and what they print."""

from __future__ import annotations

import shutil
import subprocess

from gensight.errors import GensightError

#: A controller that is busy answers late; one that is down does not.
PATIENCE_S = 30


def is_here(program: str) -> bool:
    """Say whether one of Slurm's commands is installed."""
    return shutil.which(program) is not None


def rows(program: str, columns: str, *options: str) -> list[list[str]]:
    """Return what a command lists, one list of fields a line.

    `columns` are Slurm's letters for them, e.g. "iT"; the fields must not hold a bar.

    Raises:
        GensightError: the command is missing, fails, or does not answer.
    """
    form = "|".join(f"%{column}" for column in columns)
    printed = run(program, "--noheader", f"--format={form}", *options)
    return [[field.strip() for field in line.split("|")] for line in printed.splitlines()]


def run(program: str, *options: str) -> str:
    """Run one of Slurm's commands and return what it prints; errors as `rows`."""
    if not is_here(program):
        raise GensightError(f"{program} is not installed: this needs a machine of a Slurm cluster")
    try:
        done = subprocess.run(
            [program, *options], capture_output=True, text=True, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        raise GensightError(f"{program}: no answer within {PATIENCE_S} s; try again") from None
    if done.returncode != 0:
        raise GensightError(f"{program}: {' '.join(done.stderr.split())}")
    return done.stdout
