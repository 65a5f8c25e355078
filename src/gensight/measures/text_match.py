"""A read text against the true one: equal or not, and how many characters differ.

Protocol. ProbeGen Appendix D names answers in words and no metric. Both texts are folded first:
NFKC, case folding, runs of blanks to one, none at the ends; nothing else is forgiven (no articles,
no punctuation). The edit distance counts inserted, deleted and replaced characters (Levenshtein),
and the character error rate divides their sum by that of the true characters, so it may pass 100 %.

A failed answer counts as the empty text: not equal, every character missing. A true text that is
missing, or empty once folded, is no ground truth.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.measures import Parts, PartsByFit, complete, required
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("empty",)
DEFAULTS: dict[str, Any] = {"failure": "empty"}


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Compare a text with the true one; None without a true one.

    Parts: exact (0 or 1), character_edits, true_characters.
    """
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    true = folded(sample.target_text or "")
    if not true:
        return None
    return {None: _parts(required(prediction.text, sample.sample_id, "text", "text"), true)}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Score a failed answer as the empty text."""
    complete(settings, DEFAULTS, FAILURE_POLICIES)
    true = folded(sample.target_text or "")
    return {None: _parts("", true)} if true else None


def folded(text: str) -> str:
    """Return a text without differences of width, case and blanks.

    >>> folded("  Two  ﬁsh ")
    'two fish'
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def edit_distance(first: str, second: str) -> int:
    """Return the least number of characters inserted, deleted or replaced between two texts.

    >>> edit_distance("kitten", "sitting")
    3
    """
    short, long = sorted((first, second), key=len)
    codes = np.array([ord(character) for character in long], np.int64)
    steps = np.arange(len(long) + 1)
    row = steps
    for count, character in enumerate(short, 1):
        changed = row[:-1] + (codes != ord(character))
        best = np.concatenate([[count], np.minimum(row[1:] + 1, changed)])
        # Inserting along the row: the least of all earlier entries plus the steps from there.
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def _parts(text: str, true: str) -> Parts:
    said = folded(text)
    return {
        "exact": float(said == true),
        "character_edits": float(edit_distance(said, true)),
        "true_characters": float(len(true)),
    }
