"""Scores as aligned lines: the numbers over all pairs first, then each pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gensight.cli.printing import print_table

SIGNS = {"percent": "%", "metres": "m", "degrees": "deg"}


def print_scores(result: Mapping[str, Any]) -> None:
    """Print the metrics over all pairs, how many there were, and a line for each of several."""
    fits = result.get("fits")
    if fits is None:
        names = _defined(result, [result])
        print_table((name, result[name], _unit(result, name)) for name in names)
    else:
        _print_fits(result, fits)
    click.echo()
    print_table(_counts(result))
    if len(result["pairs"]) > 1:
        click.echo()
        print_table(_pairs(result, fits))


def _print_fits(result: Mapping[str, Any], fits: Mapping[str, Mapping[str, Any]]) -> None:
    names = _defined(result, fits.values())
    alone = result["pairs"][0]["fits"] if _is_single(result) else {}
    extra = ["scale", "shift", "polarity"] if alone else []
    head = ["fit", *(f"{name} {_unit(result, name)}" for name in names), *extra]
    rows = [
        [fit, *(numbers[n] for n in names), *(alone[fit][key] for key in extra)]
        for fit, numbers in fits.items()
    ]
    print_table([head, *rows])


def _is_single(result: Mapping[str, Any]) -> bool:
    return len(result["pairs"]) == 1 and "fits" in result["pairs"][0]


def _counts(result: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [("n", result["n"])]
    if len(result["pairs"]) == 1:
        rows.append(("status", _status(result["pairs"][0])))
    if result["coverage"] is not None:
        rows.append(("coverage", f"{100 * result['coverage']:.6g} %"))
    if result["no_ground_truth"]:
        rows.append(("no_ground_truth", result["no_ground_truth"]))
    return rows


def _pairs(result: Mapping[str, Any], fits: Mapping[str, Any] | None) -> list[list[Any]]:
    """Return a head and a row for each pair; with fits, the first metric of each fit."""
    if fits is None:
        names = _defined(result, [result])
        head = [*names]
        numbers = [[pair.get(name) for name in names] for pair in result["pairs"]]
    else:
        name = next(iter(result["units"]))
        head = [f"{name} ({fit})" for fit in fits]
        rows = (pair.get("fits", {}) for pair in result["pairs"])
        numbers = [[row.get(fit, {}).get(name) for fit in fits] for row in rows]
    described = zip(numbers, result["pairs"], strict=True)
    return [
        ["pair", *head, "status", "prediction"],
        *([i, *row, _status(p), p["prediction"]] for i, (row, p) in enumerate(described, 1)),
    ]


def _status(pair: Mapping[str, Any]) -> str:
    reason = f": {pair['reason']}" if pair["reason"] else ""
    flags = [name for name in ("degenerate_output", "aspect_changed") if pair[name]]
    return ", ".join([f"{pair['status']}{reason}", *flags])


def _defined(result: Mapping[str, Any], rows: Any) -> list[str]:
    """Return the metrics that any of the rows holds a number for."""
    kept = list(rows)
    return [n for n in result["units"] if any(row.get(n) is not None for row in kept)]


def _unit(result: Mapping[str, Any], name: str) -> str:
    unit = result["units"][name]
    return SIGNS.get(unit, unit)
