"""`gensight doctor`: what is installed, what can run here, and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gensight.cli.checkout import configfile_option
from gensight.cli.health import Health, examine
from gensight.cli.printing import json_option, print_json, print_table

BROKEN = 1
#: Where a model can run, as people read it.
RUNS = {"here": "ready", "cluster": "on Slurm", "no": "not here"}


@click.command()
@configfile_option
@json_option
def command(configfiles: tuple[str, ...], as_json: bool) -> None:
    """Say what is installed, which models and benchmarks can run, and what is missing.

    Imports no adapter and sends nothing. Exit code 1 if something keeps the run from running.
    """
    health = examine(Path.cwd(), configfiles)
    if as_json:
        notes = {"warnings": health.warnings, "problems": health.problems}
        print_json({**health.facts, **notes, "ok": not health.problems})
    else:
        _print(health)
    if health.problems:
        click.get_current_context().exit(BROKEN)


def _print(health: Health) -> None:
    facts = health.facts
    _section("versions", facts["versions"].items())
    _section("optional", [(name, _extra(found)) for name, found in facts["extras"].items()])
    has = facts["machine"]
    _section("machine", [("GPU", _seen(has["gpu"])), ("Slurm", _seen(has["slurm"]))])
    if "models" in facts:
        rows = facts["models"].items()
        _section("models", [(name, f["kind"], f["adapter"], *_model(f)) for name, f in rows])
        rows = facts["providers"].items()
        _section("providers", [(name, f["key"], *f["parked"]) for name, f in rows])
        rows = facts["encoders"].items()
        _section("encoders", [(name, f["module"], *_encoder(f)) for name, f in rows])
        rows = facts["benchmarks"].items()
        _section("benchmarks", [(name, f["dataset"], _data(f)) for name, f in rows])
        _section(
            "folders",
            [(n, "writable" if ok else "NOT WRITABLE") for n, ok in facts["folders"].items()],
        )
    _section("disk", [("free", f"{facts['free_disk_bytes'] / 1e9:.1f} GB")])
    for kind, lines in (("warning", health.warnings), ("problem", health.problems)):
        for line in lines:
            click.echo(f"{kind}: {line}")
    click.echo(f"{'not ready' if health.problems else 'ready'} for {health.run}")


def _section(title: str, rows: Any) -> None:
    click.echo(title)
    print_table(rows, indent="  ")
    click.echo()


def _extra(found: dict[str, Any]) -> str:
    return (found["version"] or "installed") if found["importable"] else "not installed"


def _seen(there: bool) -> str:
    return "seen" if there else "not seen"


def _model(found: dict[str, Any]) -> tuple[str, str]:
    return RUNS[found["runs"]], _with_notes(found)


def _encoder(found: dict[str, Any]) -> tuple[str, str]:
    return RUNS["no" if found["reasons"] else "here"], _with_notes(found)


def _with_notes(found: dict[str, Any]) -> str:
    """Return why not, and in brackets what else is to be known."""
    notes = [note for note in (found["note"], found["weights"]) if note is not None]
    notes = [note for note in notes if note not in found["reasons"]]
    told = "; ".join(found["reasons"])
    return " ".join(filter(None, (told, f"({'; '.join(notes)})" if notes else "")))


def _data(found: dict[str, Any]) -> str:
    return "data present" if found["data_present"] else f"data missing: {found['missing']}"
