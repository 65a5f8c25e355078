"""`gensight failures`: what one answer shows, and how far human raters and the classifier agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gensight import extractors
from gensight.cli._failure_sheets import write_sheets
from gensight.cli.files import read_bytes, upright_size
from gensight.cli.printing import json_option, print_json, print_table
from gensight.errors import GensightError
from gensight.extractors import Answer, Reading
from gensight.failures import TASKS, validation_note
from gensight.failures.labels import Sheet, agreement, read_sheet, recalls


@click.group()
def command() -> None:
    """Classify one answer; write and read the sheets of human raters."""


@command.command()
@click.argument("output", metavar="OUT")
@click.option("--input", "source", required=True, metavar="IN", help="The picture it answers.")
@click.option("--task", type=click.Choice(TASKS), required=True, help="What was asked for.")
@json_option
def classify(output: str, source: str, task: str, as_json: bool) -> None:
    """Say what the picture OUT shows, judged beside the picture that was asked about.

    No truth is used: a mask of the wrong thing is `ok` here.
    """
    reading = _classified(output, source, task)
    facts = {
        "file": output,
        "input": source,
        "task": task,
        "failure_class": reading.fields["failure_blind"],
        "features": reading.fields.get("facts") or {},
        "detail": reading.detail,
        "note": validation_note(0),
        "extractor_version": extractors.load("failure_class").VERSION,
    }
    if as_json:
        print_json(facts)
        return
    print_table((key, facts[key]) for key in ("file", "task", "failure_class", "note"))
    print_table(sorted(facts["features"].items()), indent="  ")


def _classified(output: str, source: str, task: str) -> Reading:
    data, source_data = read_bytes(output), read_bytes(source)
    width, height = upright_size(source, source_data)
    answer = Answer(image=data, source=source_data, source_width=width, source_height=height)
    return extractors.load("failure_class").extract(answer, {"task": task})[0]


@command.command()
@click.argument("generations", metavar="GENERATIONS.parquet")
@click.argument("folder", metavar="DIR")
@click.option(
    "--samples", required=True, metavar="SAMPLES.parquet", help="The benchmark's samples."
)
@click.option("--task", type=click.Choice(TASKS), required=True, help="What was asked for.")
@click.option("--n", type=click.IntRange(min=1), help="Take this many answers. Default: all.")
@json_option
def label(
    generations: str, folder: str, samples: str, task: str, n: int | None, as_json: bool
) -> None:
    """Write two raters' sheets and the pictures they are about to DIR.

    Which answers are taken, and each rater's order, follow from the answers' names alone: a larger
    --n keeps those that are there.
    """
    facts = write_sheets(generations, samples, folder, task=task, n=n)
    if as_json:
        print_json(facts)
    else:
        print_table(facts.items())


@command.command()
@click.argument("first", metavar="RATER1.csv")
@click.argument("second", metavar="RATER2.csv")
@json_option
def agree(first: str, second: str, as_json: bool) -> None:
    """Say how far two raters agree, and how often the classifier says what both say.

    The pictures are looked for beside the sheets, where `label` wrote them.
    """
    sheets = [read_sheet(name, read_bytes(name)) for name in (first, second)]
    found = agreement(*sheets)
    items = found.pop("items")
    said = [_verdict(first, sheets[0], item) for item in items]
    pairs = zip((sheets[0].classes[item] for item in items), said, strict=True)
    samples = [sheets[0].lines[item].get("sample") or item for item in items]
    rows = recalls(pairs, samples)
    if as_json:
        print_json({**found, "first": first, "second": second, "recall": rows})
        return
    print_table(found.items())
    if rows:
        head = ("class", "n", "recall", "low", "high", "abstained")
        print_table([head, *([row[key] for key in head] for row in rows)], indent="  ")


def _verdict(name: str, sheet: Sheet, item: str) -> str:
    """Return what the classifier says of the pictures of one line."""
    line = sheet.lines[item]
    columns = ("answer_file", "input_file", "task")
    found: list[Any] = [(line.get(column) or "").strip() for column in columns]
    if not all(found):
        raise GensightError(f"{name}: item '{item}' lacks one of {', '.join(columns)}")
    if found[2] not in TASKS:
        raise GensightError(
            f"{name}: item '{item}': task '{found[2]}'; allowed: {', '.join(TASKS)}"
        )
    beside = Path(name).parent
    answer, source = (str(beside / file) for file in found[:2])
    return _classified(answer, source, found[2]).fields["failure_blind"]
