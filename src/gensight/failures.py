"""Whether an answer is in the asked format.

Until the failure classes of PROTOCOLS 3 exist, an answer is format-valid if its outcome is ok, it
could be read, and it is not one flat level of grey.
"""

from __future__ import annotations

from gensight.outcomes import Outcome
from gensight.records import Prediction


def format_valid(prediction: Prediction) -> bool:
    """Say whether an answer has the asked format, whatever it shows (PROTOCOLS 1.3)."""
    return (
        prediction.outcome == Outcome.OK
        and prediction.status == "ok"
        and not prediction.degenerate_output
    )
