"""Whether an answer has the asked format, and what may be claimed of the classes themselves."""

from __future__ import annotations

from gensight.failures.classes import VALID_CLASSES, class_of
from gensight.outcomes import Outcome
from gensight.records import Prediction, Sample
from gensight.truths import true_count

#: Human labels needed before more than synthetic validation is claimed (PROTOCOLS 3.4).
LABELS_NEEDED = 200


def class_under_truth(failure_blind: str | None, sample: Sample) -> str | None:
    """Return a blind class, put right where the truth is that there is nothing to mark.

    The input returned as it was is the right answer to a count of 0 (PROTOCOLS 1.4 and 3.3).
    """
    if failure_blind == "unmarked_copy" and true_count(sample) == 0:
        return "ok"
    return failure_blind


def format_valid(prediction: Prediction, failure_blind: str | None = None) -> bool:
    """Say whether an answer has the asked format, whatever it shows (PROTOCOLS 1.3).

    An answer that arrived and could be read is valid if its blind class, with or without a detail,
    is one of ok, drift and inverted. The class is `failure_blind`, else the prediction's own; where
    neither is known, an answer is valid unless it is a picture of one flat level of grey. A grid of
    one colour, given as text, has the asked format (PixelBench: valid, and flat).
    """
    known = prediction.failure_blind if failure_blind is None else failure_blind
    if prediction.outcome != Outcome.OK or prediction.status != "ok":
        return False
    if known is None:
        is_text = prediction.text is not None and prediction.image_kind is None
        return is_text or not prediction.degenerate_output
    return class_of(known) in VALID_CLASSES


def validation_note(n_labels: int) -> str:
    """Return the sentence that goes with every failure table, for this many human labels.

    >>> validation_note(0)
    'synthetic validation only (no human labels, 200 needed)'
    """
    if n_labels >= LABELS_NEEDED:
        return f"validated against {n_labels} human labels"
    count = f"{n_labels} of" if n_labels else "no human labels,"
    ending = " human labels" if n_labels else " needed"
    return f"synthetic validation only ({count} {LABELS_NEEDED}{ending})"
