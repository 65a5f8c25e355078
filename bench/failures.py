"""Validate the failure classifiers on the confusion set; write the report into a folder.

    python bench/failures.py FOLDER

The set and its two splits are in tests/failure_operators (PROTOCOLS 3.4): thresholds were tuned on
A, numbers to quote are those of B. Verdicts are counted as the measure `failure_class` does. Every
share has its number of cases and Wilson's interval at the sample size that the source pictures
leave, and abstention (`ambiguous`) counts as a miss.

    cases.csv      every case with its verdict and time
    recall.csv     per split, task and class: recall over all severities, and over the upper half of
                   each operator's, where the fault is no longer faint
    left_out.csv   the recall of each class without one of its operators
    confusion.csv  true class against verdict
    curves.csv     share of each verdict by operator and severity; for masks the mean IoU as well
    curves.png     share of the true class by severity
    causal.csv     what undoing a claimed drift gains
    summary.json   time, counts, the IoU point, the version and digest of the thresholds
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import failure_causes  # noqa: E402
import failure_curves  # noqa: E402
import failure_operators  # noqa: E402

from gensight import failures  # noqa: E402
from gensight.digests import digest_of  # noqa: E402
from gensight.extractors import failure_class  # noqa: E402
from gensight.failures.thresholds import THRESHOLDS  # noqa: E402
from gensight.statistics.intervals import wilson_interval  # noqa: E402

SPLITS = ("A", "B")
# The set's names for the classes of this package that have others here.
CLASSES = {"drift_local": "drift", "other_format": "wrong_format"}
FORMATS = failures.DETAILS["wrong_format"]


@dataclass(frozen=True)
class Judged:
    """One case with its verdict: `seconds` is the classifier's time, `iou` that of the mask."""

    split: str
    task: str
    true_class: str
    operator: str
    severity: float
    source: str
    is_hard: bool
    verdict: str
    seconds: float
    iou: float | None

    @property
    def is_hit(self) -> bool:
        """Whether the class is right, details left out."""
        return failures.class_of(self.verdict) == expected_class(self.true_class)


def expected_class(true_class: str) -> str:
    """Return the class of this package for a class of the confusion set.

    >>> expected_class("cutout"), expected_class("drift_local"), expected_class("copy")
    ('wrong_format', 'drift', 'copy')
    """
    return "wrong_format" if true_class in FORMATS else CLASSES.get(true_class, true_class)


def measured_name(name: str, task: str, truth: np.ndarray) -> str:
    """Return a verdict as the measure `failure_class` counts it: nothing to mark, none marked."""
    return "ok" if name == "unmarked_copy" and task == "counting" and not len(truth) else name


def judge(limit: int | None = None) -> Iterator[tuple[Judged, failure_causes.Undone | None]]:
    """Classify every case of both splits, and undo the drift that is claimed."""
    for split in SPLITS:
        for task in failure_operators.TASKS:
            for case in failure_operators.cases(split, task, limit=limit):
                start = time.perf_counter()
                verdict = failures.blind(case.input_rgb, case.output_rgb, task)
                seconds = time.perf_counter() - start
                undone, iou = failure_causes.undo(case, task, verdict)
                yield (
                    Judged(
                        split=split,
                        task=task,
                        true_class=case.true_class,
                        operator=case.operator,
                        severity=case.severity,
                        source=case.source,
                        is_hard=failure_operators.OPERATORS[case.operator].is_hard,
                        verdict=measured_name(verdict.name, task, case.truth),
                        seconds=seconds,
                        iou=iou,
                    ),
                    undone,
                )


def recall_row(rows: list[Judged]) -> dict[str, Any]:
    """Return n, recall with its interval in percent, and abstentions of some cases."""
    hits = np.array([row.is_hit for row in rows], np.float64)
    found = wilson_interval(hits, [row.source for row in rows])
    low, high = ("" if end is None else round(100 * end, 1) for end in (found.low, found.high))
    return {
        "n": len(rows),
        "pictures": len({row.source for row in rows}),
        "recall": round(100 * float(hits.mean()), 1),
        "low": low,
        "high": high,
        "abstained": sum(row.verdict == "ambiguous" for row in rows),
    }


def strong(rows: Iterable[Judged]) -> list[Judged]:
    """Return the cases in the upper half of their operator's severities."""

    def is_strong(row: Judged) -> bool:
        severities = failure_operators.OPERATORS[row.operator].severities
        return row.severity >= statistics.median(severities)

    return [row for row in rows if is_strong(row)]


def by_class(rows: list[Judged]) -> dict[tuple[str, str, str], list[Judged]]:
    """Return the cases of each split, task and class."""
    groups: dict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for row in rows:
        groups[(row.split, row.task, row.true_class)].append(row)
    return groups


def recalls(rows: list[Judged]) -> Iterator[dict[str, Any]]:
    """Yield the recall of every class, over all and over strong severities."""
    for (split, task, true_class), group in sorted(by_class(rows).items()):
        for name, some in (("all", group), ("upper half", strong(group))):
            head = {"split": split, "task": task, "class": true_class, "severities": name}
            if some:
                yield head | recall_row(some)


def left_out(rows: list[Judged]) -> Iterator[dict[str, Any]]:
    """Yield the recall of every class without each of its operators."""
    for (split, task, true_class), group in sorted(by_class(rows).items()):
        for operator in sorted({row.operator for row in group}):
            others = [row for row in group if row.operator != operator]
            if others:
                head = {"split": split, "task": task, "class": true_class, "without": operator}
                yield head | recall_row(others)


def confusions(rows: list[Judged]) -> Iterator[dict[str, Any]]:
    """Yield how often each class got each verdict."""
    counts = Counter((row.split, row.task, row.true_class, row.verdict) for row in rows)
    names = ("split", "task", "class", "verdict")
    for key, n in sorted(counts.items()):
        yield dict(zip(names, key, strict=True)) | {"n": n}


def called_valid(rows: list[Judged]) -> dict[str, float]:
    """Return the percentage of answers called format-valid, of those that are and are not."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        right = expected_class(row.true_class) in failures.VALID_CLASSES
        name = f"{row.split} {row.task}, {'valid' if right else 'not valid'}"
        groups[name].append(failures.class_of(row.verdict) in failures.VALID_CLASSES)
    return {name: round(100 * sum(hits) / len(hits), 1) for name, hits in sorted(groups.items())}


def write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows of equal keys."""
    listed = list(rows)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(listed[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)


def summary(rows: list[Judged], undone: list[failure_causes.Undone]) -> dict[str, Any]:
    """Return the numbers that are no table."""
    seconds = [row.seconds for row in rows]
    return {
        "note": failures.validation_note(0),
        "cases": Counter(f"{row.split} {row.task}" for row in rows),
        "called_valid": called_valid(rows),
        "hard_right_answers": sum(row.is_hard for row in rows) / len(rows),
        "median_s": round(statistics.median(seconds), 4),
        "p95_s": round(float(np.percentile(seconds, 95)), 4),
        "iou_falls_by_0.05_at": failure_curves.fall_point(rows, 0.05),
        "causal": failure_causes.summary(undone),
        "extractor_version": failure_class.VERSION,
        "thresholds": digest_of(THRESHOLDS)[:16],
    }


def main(folder: str, limit: int | None = None) -> None:
    """Write the report."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    judged = list(judge(limit))
    rows, undone = [row for row, _ in judged], [found for _, found in judged if found]
    write_csv(target / "cases.csv", (vars(row) for row in rows))
    write_csv(target / "recall.csv", recalls(rows))
    write_csv(target / "left_out.csv", left_out(rows))
    write_csv(target / "confusion.csv", confusions(rows))
    curves = list(failure_curves.curves(rows))
    write_csv(target / "curves.csv", curves)
    failure_curves.draw(curves, target / "curves.png")
    write_csv(target / "causal.csv", (vars(found) for found in undone))
    text = json.dumps(summary(rows, undone), indent=2) + "\n"
    (target / "summary.json").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python bench/failures.py FOLDER [CASES OF EACH TASK]")
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else None)
