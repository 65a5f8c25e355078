"""`gensight archive`: results of a checkout as one file, and back (see `gensight.archive`)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from gensight import archive
from gensight.cli.checkout import check_root, configfile_option, ledger_of
from gensight.cli.printing import json_option, print_json

PROBLEMS_FOUND = 1


@click.group()
def command() -> None:
    """Pack, restore, adopt or verify the results of a checkout; run in its root."""


@command.command()
@click.argument("destination", metavar="FILE.tar")
@click.option("--stage", "stages", multiple=True, help="Only this stage of results/; may repeat.")
@json_option
def create(destination: str, stages: tuple[str, ...], as_json: bool) -> None:
    """Pack results/ into FILE.tar."""
    check_root()
    _report("packed", archive.create(Path(destination), stages or None), as_json)


@command.command()
@click.argument("source", metavar="FILE.tar")
@configfile_option
@json_option
def restore(source: str, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Lay the files of FILE.tar into results/, and their replies into the ledger."""
    _report("restored", archive.restore(Path(source), ledger_of(configfiles)), as_json)


@command.command()
@configfile_option
@json_option
def adopt(configfiles: tuple[str, ...], as_json: bool) -> None:
    """Take over a results/ that was laid in by hand."""
    _report("adopted", archive.adopt(ledger_of(configfiles)), as_json)


@command.command()
@json_option
def verify(as_json: bool) -> None:
    """Check every listed file's bytes; exit code 1 and one line for each problem."""
    check_root()
    _report("checked", archive.verify(), as_json)


def _report(done: str, report: archive.Report, as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
    else:
        click.echo(f"{done}: {report.files} files, {report.bytes / 1e6:.1f} MB")
        for message in report.messages:
            click.echo(message)
        for problem in report.problems:
            click.echo(problem, err=True)
    if report.problems:
        click.get_current_context().exit(PROBLEMS_FOUND)
