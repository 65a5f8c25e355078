"""`gensight ledger export`, `import` and `prune`: what changes where replies are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gensight.cli.checkout import configfile_option, ledger_of, load_checkout
from gensight.cli.printing import json_option, print_json
from gensight.errors import GensightError
from gensight.footers import read_footer
from gensight.freshness import settle
from gensight.plan import Plan
from gensight.specs.project import Project

if TYPE_CHECKING:
    from gensight.runner.pruning import FinishedFile, Pruning
    from gensight.runner.transfer import Report

#: Where Snakemake says that it is at work in a checkout.
SNAKEMAKE_LOCKS = Path(".snakemake/locks")


@click.command()
@click.argument("destination", metavar="FILE.tar")
@click.option("--model", "models", multiple=True, help="Only replies of this model; may repeat.")
@click.option("--raw", is_flag=True, help="Also what providers sent, before it was read.")
@configfile_option
@json_option
def export(
    destination: str,
    models: tuple[str, ...],
    raw: bool,
    configfiles: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write replies, their pictures and their attempts to FILE.tar, for another ledger."""
    from gensight.runner.transfer import export as export_replies

    ledger = ledger_of(configfiles)
    _report("exported", export_replies(ledger, Path(destination), models, raw=raw), as_json)


@click.command("import")
@click.argument("source", metavar="FILE.tar")
@configfile_option
@json_option
def import_(source: str, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Take the replies of FILE.tar into the ledger; nothing that is there is replaced."""
    from gensight.runner.intake import take_in

    _report("imported", take_in(Path(source), ledger_of(configfiles)), as_json)


def _report(done: str, report: Report, as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
        return
    click.echo(
        f"{done}: {report.replies} replies, {report.attempts} attempts, {report.blobs} blobs, "
        f"{report.bytes / 1e6:.1f} MB"
    )
    for message in report.messages:
        click.echo(message)


@click.command()
@click.option("--raw", is_flag=True, help="Also what providers sent, before it was read.")
@click.option("--yes", is_flag=True, help="Remove it; without this nothing is changed.")
@configfile_option
@json_option
def prune(raw: bool, yes: bool, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Say which pictures the run's finished cells hold themselves; with --yes remove them.

    Entries, money and whatever is in doubt stay. The ledger keeps a link to the cells' files.
    """
    from gensight.runner.pruning import prune as remove
    from gensight.runner.pruning import survey

    project = load_checkout(configfiles)
    if yes:
        _refuse_beside_snakemake()
    files = _finished(project)
    act = remove if yes else survey
    found = act(project.ledger, files, raw=raw)
    if as_json:
        print_json(_as_json(found, files, yes))
        return
    for line in _told(found, files, yes):
        click.echo(line)


def _refuse_beside_snakemake() -> None:
    """Refuse to remove what a job may be keeping at this moment."""
    if SNAKEMAKE_LOCKS.is_dir() and any(SNAKEMAKE_LOCKS.iterdir()):
        raise GensightError(
            f"{SNAKEMAKE_LOCKS}: Snakemake is at work here; wait until it has ended (after a kill: "
            f"snakemake --unlock)"
        )


def _finished(project: Project) -> list[FinishedFile]:
    """Return the generations of the run that are complete and what the plan wants."""
    from gensight.runner.pruning import FinishedFile

    files = Plan(project).files()
    current = settle(files, project, main_process=False).current
    return [
        FinishedFile(planned.determinants["model"], Path(path))
        for path, planned in files.items()
        if planned.stage == "generations" and path in current and not read_footer(path).gaps
    ]


def _as_json(found: Pruning, files: Sequence[FinishedFile], removed: bool) -> dict[str, object]:
    return {
        "files": [str(file.path) for file in files],
        "pictures": len(found.pictures),
        "raw": len(found.raw),
        "bytes": found.bytes,
        "shared": found.shared,
        "removed": removed,
    }


def _told(found: Pruning, files: Sequence[FinishedFile], removed: bool) -> list[str]:
    raw = f" and {len(found.raw)} replies as they were sent" if found.raw else ""
    what = f"{len(found.pictures)} pictures{raw}, {found.bytes / 1e6:.1f} MB"
    done = "removed" if removed else "can go"
    lines = [f"{done}: {what} (of {len(files)} finished files of the run)"]
    if found.shared:
        lines.append(f"kept: {found.shared} pictures that are needed elsewhere, too")
    if not removed and (found.pictures or found.raw):
        lines.append("nothing was changed; remove them with: gensight ledger prune --yes")
    return lines
