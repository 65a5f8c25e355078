"""What human raters say of answers, how far they agree, and how far the blind classifier does.

A sheet is a CSV file with one line an answer; two raters fill the column `class` without seeing
each other's, nor the classifier's. Agreement is Cohen's kappa (1960) on classes, details left out;
answers on which both raters agree are the truth for the classifier's recall.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensight.errors import GensightError
from gensight.failures.classes import CLASSES, blind_names, class_of
from gensight.failures.validity import validation_note
from gensight.specs.words import nearest
from gensight.statistics.intervals import wilson_interval

COLUMNS = (
    "item",
    "model",
    "benchmark",
    "prompt",
    "sample",
    "repeat",
    "severity",
    "task",
    "input_file",
    "answer_file",
    "class",
    "note",
)


@dataclass(frozen=True)
class Sheet:
    """A rater's sheet: its lines by item, and the classes that were filled in, by item."""

    lines: dict[str, dict[str, str]]
    classes: dict[str, str]


def sheet_text(lines: Iterable[Mapping[str, Any]]) -> str:
    """Return a sheet as CSV; what a line lacks is left empty."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return stream.getvalue()


def read_sheet(name: str, data: bytes) -> Sheet:
    """Return a filled sheet; `name` is what errors call it.

    Raises:
        GensightError: not a sheet, an item twice, or a class that does not exist; names the line.
    """
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise GensightError(f"{name}: is not a CSV file in UTF-8 ({error})") from None
    missing = {"item", "class"} - set(reader.fieldnames or ())
    if missing:
        columns = ", ".join(sorted(missing))
        raise GensightError(f"{name}: lacks the columns {columns}; write it with `label`")
    lines: dict[str, dict[str, str]] = {}
    classes: dict[str, str] = {}
    for number, row in enumerate(rows, 2):
        item, given = (row["item"] or "").strip(), (row["class"] or "").strip()
        if item in lines:
            raise GensightError(f"{name}: line {number}: item '{item}' is there twice")
        lines[item] = row
        if given:
            classes[item] = _checked(given, f"{name}: line {number}")
    return Sheet(lines, classes)


def _checked(given: str, place: str) -> str:
    known = blind_names()
    if given not in known:
        hint = nearest(given, known)
        raise GensightError(f"{place}: class '{given}' is not known{hint}; see docs/failures.md")
    return given


def kappa(first: Sequence[str], second: Sequence[str]) -> float | None:
    """Return Cohen's kappa of two raters' classes, in one order; None if chance alone agrees.

    That is so where there are no items, or where both raters know one class only.

    >>> kappa(["ok", "copy", "ok", "copy"], ["ok", "copy", "copy", "ok"])
    0.0
    """
    n = len(first)
    if not n:
        return None
    agreed = sum(one == other for one, other in zip(first, second, strict=True)) / n
    counts, others = Counter(first), Counter(second)
    chance = sum(counts[name] * others[name] for name in counts) / n**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def agreement(first: Sheet, second: Sheet) -> dict[str, Any]:
    """Return how many answers both raters labelled, their agreement, and what may be claimed."""
    items = sorted(first.classes.keys() & second.classes.keys())
    names = [[class_of(sheet.classes[item]) for item in items] for sheet in (first, second)]
    agreed = [item for item, *pair in zip(items, *names, strict=True) if pair[0] == pair[1]]
    return {
        "labelled_by_first": len(first.classes),
        "labelled_by_second": len(second.classes),
        "labelled_by_both": len(items),
        "agreed": len(agreed),
        "kappa": kappa(*names),
        "note": validation_note(len(items)),
        "items": agreed,
    }


def recalls(pairs: Iterable[tuple[str, str]], clusters: Sequence[str]) -> list[dict[str, Any]]:
    """Return, for every true class, how often the classifier says the same, in percent.

    `pairs` are (true class, verdict), details left out; `clusters` names the picture that each is
    about. An `ambiguous` verdict is a miss, and is counted as `abstained` too. Intervals are
    Wilson's at the effective sample size, None where there are fewer than two pictures.
    """
    rows = [(class_of(true), class_of(said)) for true, said in pairs]
    found = []
    for name in CLASSES:
        places = [place for place, (true, _) in enumerate(rows) if true == name]
        if not places:
            continue
        hits = np.array([rows[place][1] == name for place in places], np.float64)
        interval = wilson_interval(hits, [clusters[place] for place in places])
        low, high = (None if end is None else 100 * end for end in (interval.low, interval.high))
        found.append(
            {
                "class": name,
                "n": len(places),
                "recall": 100 * float(hits.mean()),
                "low": low,
                "high": high,
                "abstained": sum(rows[place][1] == "ambiguous" for place in places),
            }
        )
    return found
