"""What `gensight ledger list` prints: replies, money, what is in doubt, who takes no requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from gensight.cli.plan import told_usd
from gensight.cli.printing import print_table
from gensight.runner.inventory import IN_DOUBT, CellHolding, Inventory, ModelHolding, OpenRequest
from gensight.runner.parking import moment, told_stop

HEAD = ("model", "benchmark", "replies", "spent", "reserved", "imported", "in doubt", "answers")
FILES_HEAD = ("model", "entries", "own files", "adopted files", "")
OPEN_HEAD = ("key", "model", "benchmark", "prompt", "sample", "sent", "at most", "state")
KEY_LETTERS = 12
#: Returns the sample that a request is about, where that is known.
SampleOf = Callable[[OpenRequest], "str | None"]


def inventory_json(found: Inventory) -> dict[str, Any]:
    """Return an inventory as it is printed with --json."""
    doubts = [request for request in found.open_requests if is_doubtful(request)]
    return {
        "cells": [asdict(cell) for cell in found.cells],
        "models": [asdict(model) for model in found.models],
        "providers": [asdict(provider) for provider in found.providers],
        "in_doubt": len(doubts),
        "in_doubt_usd": sum(request.most_usd for request in doubts),
    }


def is_doubtful(request: OpenRequest) -> bool:
    """Say whether a request may have been billed and has no answer."""
    return request.state == IN_DOUBT and not request.answered


def open_json(requests: Sequence[OpenRequest], sample_of: SampleOf) -> dict[str, Any]:
    """Return requests without an answer as they are printed with --json."""
    return {
        "open_requests": [
            {
                "provider": request.provider,
                "state": request.state,
                "sent_again_and_answered": request.answered,
                "sample": sample_of(request),
                "most_usd": request.most_usd,
                **asdict(request.attempt),
            }
            for request in requests
        ],
        "in_doubt": sum(map(is_doubtful, requests)),
        "in_doubt_usd": sum(r.most_usd for r in requests if is_doubtful(r)),
    }


def print_inventory(found: Inventory) -> None:
    """Print an inventory for people."""
    if not found.cells and not found.models:
        click.echo("the ledger holds no replies")
    if found.cells:
        print_table([HEAD, *map(_cell, found.cells)])
        click.echo()
    if found.models:
        print_table([FILES_HEAD, *map(_files, found.models)])
        click.echo()
    for provider in found.providers:
        alive = "a runner is at work" if provider.alive else "nobody asks it now"
        click.echo(f"{provider.provider}: {provider.attempts} requests sent, {alive}")
        for stop in provider.stops:
            click.echo(f"  {told_stop(provider.provider, stop)}")
    click.echo(_told_doubts(found.open_requests))


def print_open(requests: Sequence[OpenRequest], sample_of: SampleOf) -> None:
    """Print requests without an answer for people."""
    if requests:
        print_table([OPEN_HEAD, *(_open_cells(request, sample_of) for request in requests)])
        click.echo()
    click.echo(_told_doubts(requests))


def _told_doubts(requests: Sequence[OpenRequest]) -> str:
    doubts = [request for request in requests if is_doubtful(request)]
    if not doubts:
        return "nothing is in doubt"
    worth = told_usd(sum(request.most_usd for request in doubts))
    return (
        f"in doubt: {len(doubts)} requests that may have been billed, {worth} at most; "
        f"hosted.in_doubt: resend in the config asks them again"
    )


def _cell(cell: CellHolding) -> tuple[Any, ...]:
    doubts = f"{cell.in_doubt} ({told_usd(cell.in_doubt_usd)})" if cell.in_doubt else None
    money = (cell.spent_usd, cell.reserved_usd, cell.imported_usd)
    answers = ", ".join(f"{number} {name}" for name, number in sorted(cell.outcomes.items()))
    return (
        cell.model,
        cell.benchmark,
        cell.replies,
        *(told_usd(usd) if usd else None for usd in money),
        doubts,
        answers or None,
    )


def _files(model: ModelHolding) -> tuple[Any, ...]:
    adopted = f"{model.adopted_files} ({_megabytes(model.adopted_bytes)})"
    unreadable = f"{model.unreadable} cannot be read: gensight ledger verify"
    return (
        model.model,
        model.replies,
        _megabytes(model.blob_bytes),
        adopted if model.adopted_files else None,
        unreadable if model.unreadable else "",
    )


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"


def _open_cells(request: OpenRequest, sample_of: SampleOf) -> Iterator[Any]:
    attempt = request.attempt
    yield attempt.key[:KEY_LETTERS]
    yield from (attempt.model, attempt.benchmark, attempt.prompt, sample_of(request))
    yield from (moment(attempt.started), told_usd(request.most_usd))
    yield request.state + (", answered since" if request.answered else "")
