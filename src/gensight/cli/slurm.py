"""`gensight slurm`: what is to be done about a run on a cluster (see `gensight.slurm`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from gensight.cli.checkout import check_root
from gensight.cli.printing import print_table
from gensight.errors import GensightError
from gensight.slurm import orphans

#: Without it Snakemake stops at the files that the killed run has left unfinished.
GO_ON = "--rerun-incomplete"


@click.group()
def command() -> None:
    """Look after runs on a Slurm cluster; run in the root of the checkout."""


@command.command()
@click.option("--dry-run", "-n", is_flag=True, help="Only list the jobs.")
@click.option("--force", is_flag=True, help="The run is dead, though nothing here proves it.")
@click.option("--go-on", is_flag=True, help="Start the run again, as it was started before.")
@click.argument("arguments", nargs=-1, metavar="[-- SNAKEMAKE'S ARGUMENTS]")
def recover(dry_run: bool, force: bool, go_on: bool, arguments: tuple[str, ...]) -> None:
    """Clean up after a run whose main process was killed, and say how to go on.

    Cancels the jobs that it has left in the queue, waits for their end, and unlocks the folder.
    What was answered is kept in the ledger. Refuses while the run is alive.
    """
    check_root()
    folder = Path.cwd()
    jobs, runs = orphans.jobs_of(folder), orphans.runs_of(folder)
    print_table([(job.number, job.state, job.what, job.run) for job in jobs])
    if dry_run:
        click.echo(f"{len(jobs)} jobs of this folder are in the queue; nothing was done")
        return
    orphans.check_quiet(folder)
    if not force:
        orphans.check_dead(jobs, runs)
        orphans.check_lock(folder)
    if jobs:
        orphans.cancel(jobs)
    click.echo(f"{len(jobs)} jobs cancelled")
    if orphans.is_locked(folder):
        # Jobs take a while to end, in which a run may have been started.
        orphans.check_quiet(folder)
        _snakemake(["--unlock"])
    if not arguments and runs:
        arguments = runs[0].arguments
    again = [GO_ON, *(each for each in arguments if each != GO_ON)]
    if go_on:
        click.get_current_context().exit(_snakemake(again))
    click.echo(f"go on with: snakemake {' '.join(again)}")


def _snakemake(arguments: Sequence[str]) -> int:
    """Run Snakemake, which prints for itself, and return its exit code.

    Raises:
        GensightError: it could not unlock the folder.
    """
    done = subprocess.run([sys.executable, "-m", "snakemake", *arguments])
    if done.returncode != 0 and "--unlock" in arguments:
        raise GensightError("snakemake --unlock failed: see above")
    return done.returncode
