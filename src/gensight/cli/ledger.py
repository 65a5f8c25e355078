"""`gensight ledger`: the replies that were bought, looked into, explained, moved and put in order.

Nothing here asks a model. What only reads works while a runner is at work, and where nothing can be
written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from gensight.cli import _ledger_list, _ledger_miss, _ledger_moves, _ledger_show
from gensight.cli.checkout import configfile_option, ledger_of, load_checkout
from gensight.cli.printing import json_option, print_json, print_table
from gensight.errors import GensightError

PROBLEMS_FOUND = 1


@click.group()
def command() -> None:
    """Look into the replies that were bought, move and check them; run in a checkout's root."""


command.add_command(_ledger_moves.export)
command.add_command(_ledger_moves.import_)
command.add_command(_ledger_moves.prune)


@command.command("list")
@click.option("--in-doubt", is_flag=True, help="The requests that may have been billed, singly.")
@configfile_option
@json_option
def list_(in_doubt: bool, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Say what the ledger holds: answers, money, requests in doubt, parked providers."""
    from gensight.runner.inventory import IN_DOUBT, take_inventory

    found = take_inventory(ledger_of(configfiles))
    if not in_doubt:
        if as_json:
            print_json(_ledger_list.inventory_json(found))
        else:
            _ledger_list.print_inventory(found)
        return
    doubts = [request for request in found.open_requests if request.state == IN_DOUBT]
    sample_of = _ledger_miss.sample_finder(configfiles)
    if as_json:
        print_json(_ledger_list.open_json(doubts, sample_of))
    else:
        _ledger_list.print_open(doubts, sample_of)


@command.command()
@click.argument("key")
@click.option("--raw", is_flag=True, help="Write the bytes that the provider sent, nothing else.")
@configfile_option
@json_option
def show(key: str, raw: bool, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Show what was asked under KEY (its first letters are enough), and what came of it."""
    found = _ledger_show.find(ledger_of(configfiles), key)
    if raw:
        sys.stdout.buffer.write(_ledger_show.raw_bytes(found))
        sys.stdout.flush()
    elif as_json:
        print_json(_ledger_show.kept_json(found))
    else:
        _ledger_show.print_kept(found)


@command.command("explain-miss")
@click.argument("cell", metavar="MODEL/BENCHMARK/PROMPT")
@click.argument("sample", required=False)
@configfile_option
@json_option
def explain_miss(
    cell: str, sample: str | None, configfiles: tuple[str, ...], as_json: bool
) -> None:
    """Say why questions of a cell are not answered by the ledger, field by field.

    Without SAMPLE the first question that has no answer is explained.
    """
    found = _ledger_miss.look_into(load_checkout(configfiles), cell, sample)
    if as_json:
        print_json(_ledger_miss.miss_json(found))
    else:
        _ledger_miss.print_miss(found)


@command.command()
@configfile_option
@json_option
def verify(configfiles: tuple[str, ...], as_json: bool) -> None:
    """Check every entry, blob, adopted file and book; exit code 1 if anything is damaged."""
    from gensight.runner.verification import verify as compare

    verdict = compare(ledger_of(configfiles))
    facts = {k: v for k, v in asdict(verdict).items() if k != "open_requests"}
    counted = {**facts, "open_requests": len(verdict.open_requests)}
    if as_json:
        print_json({**counted, "ok": not verdict.problems})
    else:
        rows = [(name.replace("_", " "), n) for name, n in counted.items() if name != "problems"]
        print_table(rows)
        for problem in verdict.problems:
            click.echo(problem, err=True)
        told = f"{len(verdict.problems)} problems" if verdict.problems else "the ledger is whole"
        click.echo(told)
    if verdict.problems:
        click.get_current_context().exit(PROBLEMS_FOUND)


@command.command()
@click.argument("provider")
@configfile_option
@json_option
def lift(provider: str, configfiles: tuple[str, ...], as_json: bool) -> None:
    """Let PROVIDER be asked again: remove what parks it and its models."""
    stops = _lift(ledger_of(configfiles), provider)
    if as_json:
        print_json({"provider": provider, "lifted": [asdict(stop) for stop in stops]})
        return
    for stop in stops:
        click.echo(f"lifted: {stop.scope} ({stop.kind}: {stop.detail})")
    if not stops:
        click.echo(f"nothing keeps {provider} from being asked")


def _lift(ledger: Path, provider: str) -> Sequence[Any]:
    """Remove the stops of a provider, and return them.

    Raises:
        AtWorkError: a runner of the provider is at work.
        GensightError: there is no such provider, or its book cannot be written.
    """
    from gensight.runner.standstill import lift_stops
    from gensight.specs.protocols import PROVIDERS
    from gensight.specs.words import unknown

    if provider not in PROVIDERS:
        raise unknown("gensight ledger lift", "provider", provider, PROVIDERS)
    try:
        return lift_stops(ledger, provider)
    except OSError as error:
        raise GensightError(f"{ledger}: cannot be written ({error})") from None
