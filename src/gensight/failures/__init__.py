"""Failure classes: whether an answer has the asked format and, if not, what it shows instead.

Two classifiers, never mixed (PROTOCOLS 3): `blind` compares the answer with its input picture and
knows no truth; `truth` compares a mask with its target. Both return a `Verdict`.
"""

from gensight.failures.classes import (
    CLASSES,
    DETAILS,
    NO_OUTPUT,
    TRUTH_CLASSES,
    VALID_CLASSES,
    Verdict,
    blind_names,
    class_of,
)
from gensight.failures.classifier import TASKS, blind
from gensight.failures.comparison import truth
from gensight.failures.validity import class_under_truth, format_valid, validation_note

__all__ = [
    "CLASSES",
    "DETAILS",
    "NO_OUTPUT",
    "TASKS",
    "TRUTH_CLASSES",
    "VALID_CLASSES",
    "Verdict",
    "blind",
    "blind_names",
    "class_of",
    "class_under_truth",
    "format_valid",
    "truth",
    "validation_note",
]
