"""Failure classes: whether an answer has the asked format and, if not, what it shows instead.

Two classifiers, never mixed (PROTOCOLS 3): `blind` compares the answer with its input picture and
knows no truth; `truth` compares a mask with its target. Both return a `Verdict`.
"""

from __future__ import annotations

from typing import Any

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

# The classifiers transform pictures with SciPy, whose import every scoring job would pay for.
_LAZY = {
    "TASKS": "gensight.failures.classifier",
    "blind": "gensight.failures.classifier",
    "truth": "gensight.failures.comparison",
}


def __getattr__(name: str) -> Any:
    """Import a classifier when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)
