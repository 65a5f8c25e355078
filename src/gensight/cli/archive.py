"""`gensight archive`: results of a checkout as one file, and back (see `gensight.archive`)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from gensight import archive
from gensight.cli.printing import json_option, print_json
from gensight.errors import GensightError
from gensight.specs.base import parse, read_yaml
from gensight.specs.run import ConfigSpec

CONFIG = Path("config/config.yaml")
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
    _check_root()
    _report("packed", archive.create(Path(destination), stages or None), as_json)


@command.command()
@click.argument("source", metavar="FILE.tar")
@json_option
def restore(source: str, as_json: bool) -> None:
    """Lay the files of FILE.tar into results/, and their replies into the ledger."""
    _check_root()
    _report("restored", archive.restore(Path(source), _ledger()), as_json)


@command.command()
@json_option
def adopt(as_json: bool) -> None:
    """Take over a results/ that was laid in by hand."""
    _check_root()
    _report("adopted", archive.adopt(_ledger()), as_json)


@command.command()
@json_option
def verify(as_json: bool) -> None:
    """Check every listed file's bytes; exit code 1 and one line for each problem."""
    _check_root()
    _report("checked", archive.verify(), as_json)


def _check_root() -> None:
    if not Path("Snakefile").is_file():
        raise GensightError("there is no Snakefile here: run this in the root of the checkout")


def _ledger() -> Path:
    return Path(parse(CONFIG, ConfigSpec, read_yaml(CONFIG)).ledger)


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
