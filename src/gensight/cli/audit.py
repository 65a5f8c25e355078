"""`gensight audit`: every derived number that the papers print, recomputed from the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import click

from gensight.cli.printing import json_option, print_json, print_table
from gensight.published import PAPERS
from gensight.published.audit import Audit, Expected, audit
from gensight.published.comparison import EXACT, RESULTS, WITHIN, Check

CHANGED = 1
_NUMBERS = ("paper", "place", "name", "printed", "recomputed")


@click.command()
@click.option(
    "--paper",
    "papers",
    multiple=True,
    type=click.Choice(PAPERS),
    help="Only this paper; may repeat. Default: all.",
)
@click.option("--every", is_flag=True, help="List the numbers that agree exactly as well.")
@json_option
def command(papers: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Recompute every derived number that the papers print, from the numbers in print.

    Averages, totals, aggregates, correlations, gains, spreads, and numbers that are printed twice.
    Nothing is measured. Exit code 1 if a number differs that is not known to differ, or if a known
    difference is gone; resources/published/expected_differences.csv lists them.
    """
    found = audit(papers or PAPERS)
    if as_json:
        print_json(_content(found))
    else:
        _print(found, every)
    if found.new or found.vanished:
        click.get_current_context().exit(CHANGED)


def _content(found: Audit) -> dict[str, Any]:
    return {
        "totals": {result.replace(" ", "_"): n for result, n in found.totals.items()},
        "checks": [_check(check) for check in found.checks],
        "expected": [asdict(one) for one in found.expected],
        "vanished": [asdict(one) for one in found.vanished],
        "new": [_check(check) for check in found.new],
        "ok": not (found.new or found.vanished),
    }


def _check(check: Check) -> dict[str, Any]:
    names = (*_NUMBERS, "tolerance", "result")
    return {name: getattr(check, name) for name in names}


def _print(found: Audit, every: bool) -> None:
    click.echo("published numbers, recomputed from published numbers; nothing here is measured")
    click.echo()
    counted = Counter((check.paper, check.place, check.result) for check in found.checks)
    places = dict.fromkeys((check.paper, check.place) for check in found.checks)
    rows = [[*place, *(counted[(*place, result)] for result in RESULTS)] for place in places]
    print_table([("paper", "place", *RESULTS), *rows, ("all", "", *found.totals.values())])
    if every:
        _print_numbers(EXACT, [check for check in found.checks if check.result == EXACT])
    _print_numbers(WITHIN, [check for check in found.checks if check.result == WITHIN])
    _print_numbers("differs, as known", found.expected)
    _print_numbers("DIFFERS, NEW", found.new)
    _print_numbers("KNOWN DIFFERENCE IS GONE", found.vanished)


def _print_numbers(title: str, numbers: list[Check] | list[Expected]) -> None:
    if not numbers:
        return
    click.echo(f"\n{title}")
    rows = [
        [*(getattr(one, name) for name in _NUMBERS), getattr(one, "remark", "")] for one in numbers
    ]
    print_table([(*_NUMBERS, ""), *rows], indent="  ")
