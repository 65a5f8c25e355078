"""How a request can end: one enum for generations and judge replies.

A model outcome is something the model did; it is scored under the benchmark's failure policy. An
infrastructure outcome says that no answer arrived; it is never scored, is asked again by the next
run, and blocks a table marked final. A question that cannot be put is neither: there is nothing to
ask, and nothing to score.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The end of one request; every key of the ledger ends in exactly one.

    `in_doubt` is a request that was sent and whose reply was lost: it may have been billed, so it
    is counted, priced and never silently sent again. `pending` is one that was accepted, and whose
    result is still to be fetched, at no cost. `error` is an answer that a model which runs
    here did not get to: its program failed, or what it made are no numbers. `no_source` is a
    question about a grid that another model was to give and did not; `source_missing` is one about
    a grid that nobody knows yet, for that model's answer never arrived.
    """

    OK = "ok"
    REFUSED_INPUT = "refused_input"
    REFUSED_OUTPUT = "refused_output"
    NO_IMAGE = "no_image"
    TEXT_ONLY = "text_only"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    MODEL_GONE = "model_gone"
    MODEL_MISMATCH = "model_mismatch"
    BAD_REQUEST = "bad_request"
    AUTH = "auth"
    QUOTA = "quota"
    THROTTLED_EXHAUSTED = "throttled_exhausted"
    OVERLOADED_EXHAUSTED = "overloaded_exhausted"
    IN_DOUBT = "in_doubt"
    PENDING = "pending"
    ERROR = "error"
    NOT_RUN = "not_run"
    NO_SOURCE = "no_source"
    SOURCE_MISSING = "source_missing"


#: Answers, which are replayed for ever under their key. A cut one too, but its request then goes on
#: to the next rung of its ladder of lengths, under a new key.
MODEL_OUTCOMES = frozenset(
    {
        Outcome.OK,
        Outcome.REFUSED_INPUT,
        Outcome.REFUSED_OUTPUT,
        Outcome.NO_IMAGE,
        Outcome.TEXT_ONLY,
        Outcome.TRUNCATED,
        Outcome.MALFORMED,
    }
)
INFRASTRUCTURE_OUTCOMES = frozenset(Outcome) - MODEL_OUTCOMES - {Outcome.NO_SOURCE}
