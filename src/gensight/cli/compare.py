"""`gensight compare`: whether one cell is better than another, and on which samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gensight.cli.printing import as_text, json_option, print_json, print_table
from gensight.comparison import Choice, Comparison, Item, compare

if TYPE_CHECKING:
    from gensight.cli.compared_pictures import Written

FELL = 1
SHOWN_ITEMS = 20


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--metric", metavar="NAME", help="The metric. Default: the first of the scorer.")
@click.option("--variant", metavar="NAME", help="The extractor's variant, if there are several.")
@click.option("--fit", metavar="NAME", help="The fit, if there are several. Default: the first.")
@click.option(
    "--severity", type=float, metavar="NUMBER", help="The severity, of a disturbed model's answers."
)
@click.option("--pictures", metavar="DIR", help="Write input, A and B of the flipped samples.")
@json_option
def command(
    first: str,
    second: str,
    metric: str | None,
    variant: str | None,
    fit: str | None,
    severity: float | None,
    pictures: str | None,
    as_json: bool,
) -> None:
    """Compare two files of scores, B against A.

    They are results/scores/MODEL/BENCHMARK/PROMPT/SCORER.parquet of one benchmark, and may lie in
    different checkouts. A disturbed model is compared at one severity. Says what differs in
    protocol, the paired difference with its 95 % interval and p, and which samples flipped. Exit
    code 1 if B is significantly worse.
    """
    choice = Choice(metric=metric, variant=variant, fit=fit, severity=severity)
    found = compare(first, second, choice)
    written = _write_pictures(found, first, second, pictures) if pictures else None
    if as_json:
        print_json(_content(found, written.pictures if written else None))
    else:
        _print(found, first, second, written)
    if found.fell:
        click.get_current_context().exit(FELL)


def _write_pictures(found: Comparison, first: str, second: str, folder: str) -> Written:
    from gensight.cli.compared_pictures import write_pictures

    items = found.flipped[:SHOWN_ITEMS]
    return write_pictures(items, [Path(first), Path(second)], found.severities, Path(folder))


def _content(found: Comparison, pictures: int | None) -> dict[str, Any]:
    return {
        "metric": found.metric,
        "unit": found.unit,
        "higher_is_better": found.higher_is_better,
        "variant": found.variant,
        "fit": found.fit,
        "severities": list(found.severities),
        "a": found.first,
        "b": found.second,
        "difference": found.test.difference,
        "interval": [found.test.interval.low, found.test.interval.high],
        "interval_method": found.test.interval.method,
        "p": found.test.p,
        "test": found.test.test,
        "clusters": found.test.clusters,
        "n": len(found.items),
        "left_out": found.left_out,
        "fell": found.fell,
        "protocol": [{"key": k, "a": as_text(a), "b": as_text(b)} for k, a, b in found.protocol],
        "flipped": [_item(item) for item in found.flipped],
        "pictures": pictures,
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "sample_id": item.sample_id,
        "repeat": item.repeat,
        "a": item.first,
        "b": item.second,
        "a_valid": item.first_valid,
        "b_valid": item.second_valid,
    }


def _print(found: Comparison, first: str, second: str, written: Written | None) -> None:
    for side, path, severity in zip("AB", (first, second), found.severities, strict=True):
        click.echo(f"{side}  {path}{'' if severity is None else f', severity {severity:g}'}")
    fit = f", fit {found.fit}" if found.fit else ""
    click.echo(f"{found.metric} ({found.unit}), variant {found.variant}{fit}")
    low, high = found.test.interval.low, found.test.interval.high
    print_table(
        [
            ("A", found.first),
            ("B", found.second),
            ("B - A", found.test.difference),
            ("95 % interval", f"{as_text(low)} to {as_text(high)}, {found.test.interval.method}"),
            ("p", f"{as_text(found.test.p)} ({found.test.test})"),
            ("samples", f"{len(found.items)}; {found.test.clusters} units of resampling"),
            ("only in one", found.left_out),
        ],
        indent="  ",
    )
    click.echo("protocol" if found.protocol else "protocol: the same")
    print_table([(key, a, "->", b) for key, a, b in found.protocol], indent="  ")
    flipped = found.flipped
    click.echo(f"flipped: {len(flipped)} samples" if flipped else "flipped: no sample")
    print_table(
        [(i.sample_id, i.first, "->", i.second, _validity(i)) for i in flipped[:SHOWN_ITEMS]],
        indent="  ",
    )
    if len(flipped) > SHOWN_ITEMS:
        click.echo(f"  and {len(flipped) - SHOWN_ITEMS} more (--json lists all)")
    if written is not None:
        click.echo(
            f"{written.pictures} pictures written (input, A, B); {written.restricted} may not be "
            f"shown, {written.without_answer} lack an answer here (grey)"
        )
    if found.fell:
        click.echo("B is significantly worse than A")


def _validity(item: Item) -> str:
    if item.first_valid == item.second_valid:
        return ""
    return "A is in the asked format, B is not" if item.first_valid else "B is, A is not"
