"""What is asked again, after how long, and what stops whom (DESIGN 4; APIS, runner rules 5 and 6).

There is this one layer of retries: those of the SDKs are off.
"""

from __future__ import annotations

import random

from gensight.outcomes import Outcome
from gensight.providers import FaultKind

#: Faults that cost nothing: the same request is sent again after a while.
SAFE = frozenset({FaultKind.NOT_SENT, FaultKind.WAIT, FaultKind.OVERLOADED})
#: Faults that end every request of the provider, or of the model, until something changes.
STOPS_PROVIDER = frozenset({FaultKind.QUOTA, FaultKind.AUTH})
STOPS_MODEL = frozenset({FaultKind.GONE})
#: Faults that are answers: final, kept and replayed.
ANSWERS = {
    FaultKind.REFUSED_INPUT: Outcome.REFUSED_INPUT,
    FaultKind.REFUSED_OUTPUT: Outcome.REFUSED_OUTPUT,
}
#: How a request ends for now when it is not asked any further.
UNRESOLVED = {
    FaultKind.NOT_SENT: Outcome.OVERLOADED_EXHAUSTED,
    FaultKind.WAIT: Outcome.THROTTLED_EXHAUSTED,
    FaultKind.OVERLOADED: Outcome.OVERLOADED_EXHAUSTED,
    FaultKind.IN_DOUBT: Outcome.IN_DOUBT,
    FaultKind.QUOTA: Outcome.QUOTA,
    FaultKind.AUTH: Outcome.AUTH,
    FaultKind.GONE: Outcome.MODEL_GONE,
    FaultKind.BAD_REQUEST: Outcome.BAD_REQUEST,
}
FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 60.0
#: How long a stop lasts whose end the provider does not tell: then one request may try again.
PROBE_AFTER_S = 600.0
#: After so many requests in a row that stayed without an answer, nothing more is sent.
HOPELESS = 10


def delay_s(attempt: int, hint_s: float | None) -> float:
    """Return how long to wait after an attempt (from 0): the server's hint, if it is longer.

    Doubles from one second to a minute, and is drawn between half and all of that, so that
    requests which failed together do not come back together.
    """
    longest = min(FIRST_DELAY_S * 2**attempt, LONGEST_DELAY_S)
    return max(hint_s or 0.0, longest * random.uniform(0.5, 1.0))
