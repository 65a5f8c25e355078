"""Recall of the blind classifier on a small part of the confusion set (tests/failure_operators).

The whole set is run by bench/failures.py and reported in docs/failures.md. Here every operator of
split A, and of B every right answer that looks like a failure, has one case from the strong half of
its severities, on pictures that every checkout has, so that a change that breaks a class shows.
Floors lie below what was measured when the thresholds were frozen, by one or two cases.
"""

import statistics
from collections import defaultdict

import failure_operators
import pytest
from failure_operators import sources

from gensight import failures

FORMATS = failures.DETAILS["wrong_format"]
RENAMED = {"drift_local": "drift", "other_format": "wrong_format"}


# Class: (least share, why it is not more).
FLOORS = {
    "ok": (0.85, "a target that fills the frame is inverted or flat to anyone without the truth"),
    "copy": (0.8, "all were found"),
    "unmarked_copy": (0.6, "all were found; three cases"),
    "filter": (0.5, "weak filters stay within the limits of a copy"),
    "drift": (0.3, "the drift of masks and depth is hard to see blind, and bends are harder"),
    "stylised": (0.5, "a painting that loses the input's edges is a re-rendering to the rules"),
    "unrelated": (0.6, "all were found; three cases"),
    "degenerate": (0.6, "fog whose contrast is above the limit is a grey drawing"),
    "inverted": (1.0, "one case, and plain"),
    "wrong_format": (0.75, "faint tints and faded cut-outs of dots are missed"),
}
# The same scene under another light or in other textures keeps its edges, its layout and most of
# its colours: it passes for a copy (segmentation, depth) or for the marked input (counting).
NOT_RECOGNISED = {"rerender"}


def expected_class(true_class):
    return "wrong_format" if true_class in FORMATS else RENAMED.get(true_class, true_class)


def chosen(split, task):
    """Return one strong case of every operator: the first that `plan` lists."""
    taken = {}
    for operator, severity, name in failure_operators.plan(split, task):
        is_strong = severity >= statistics.median(operator.severities)
        is_wanted = split == "A" or operator.is_hard
        if is_strong and is_wanted and name not in sources.SHARED_SPLITS[split]:
            taken.setdefault(operator.name, (operator, severity, task, name))
    return taken.values()


def verdict_of(case, task):
    """Return the class as the measure counts it: an unmarked copy of nothing to mark is right."""
    found = failures.blind(case.input_rgb, case.output_rgb, task).failure_class
    return "ok" if found == "unmarked_copy" and not len(case.truth) else found


@pytest.fixture(scope="module")
def shares():
    """Return the share of right verdicts by split and class, and the cases behind it."""
    found = defaultdict(list)
    for split in "AB":
        for task in failure_operators.TASKS:
            for operator, severity, _, name in chosen(split, task):
                case = failure_operators.make(operator, severity, task, name)
                expected = expected_class(case.true_class)
                said = verdict_of(case, task)
                found[(split, expected)].append((said == expected, task, operator.name, said))
    return {key: (statistics.mean(hit for hit, *_ in rows), rows) for key, rows in found.items()}


def test_every_class_has_a_floor_or_a_reason(shares):
    classes = {name for split, name in shares if split == "A"}
    assert classes == FLOORS.keys() | NOT_RECOGNISED


@pytest.mark.parametrize("name", FLOORS)
def test_recall_on_split_a(shares, name):
    least, reason = FLOORS[name]
    share, rows = shares[("A", name)]
    assert share >= least, f"{reason}: {[row for row in rows if not row[0]]}"


def test_right_answers_that_look_wrong_on_split_b(shares):
    share, rows = shares[("B", "ok")]
    assert len(rows) >= 25
    assert share >= 0.7, [row for row in rows if not row[0]]
