"""Black Forest Labs: where it lives and how it says no (BFL API reference, errors).

A task is bought by one POST and then fetched by GETs, which cost nothing. What goes wrong while
fetching therefore never means that the task may be bought again: it is in doubt until it is
fetched, whatever the status. Moderation is told by the task, in a reply of 200.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://api.bfl.ai"
KEY_VARIABLES = ["BFL_API_KEY"]

# The model is the end of the path, and a wrong one gets the answer of any unknown path.
RULES = (Rule(404, "detail", FaultKind.GONE),)
#: Where an error body keeps its words; it has no codes.
FIELDS = ("detail", "error")
PICTURE_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")
#: What a task may say that is no answer of the model: not ready, lost, or broken at the provider,
#: who does not say whether that was billed.
NO_ANSWER = {
    "Error": "task_error",
    "Pending": "pending",
    "Task not found": "task_not_found",
}


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong; a downloaded picture is no fault."""
    if exchange.method == "GET":
        return _fault_of_fetching(exchange)
    return _named(exchange, faults.fault_of(exchange, RULES, _codes_of, now=now))


def _fault_of_fetching(exchange: Exchange) -> Fault | None:
    if exchange.status == 200 and (exchange.body or b"").startswith(PICTURE_SIGNATURES):
        return None
    fault = _named(exchange, faults.fault_of(exchange, (), _codes_of))
    if fault is not None:
        return fault._replace(kind=FaultKind.IN_DOUBT)
    status = faults.dig(exchange.json, "status")
    if isinstance(status, str) and status in NO_ANSWER:
        return Fault(FaultKind.IN_DOUBT, NO_ANSWER[status])
    return None


def _named(exchange: Exchange, fault: Fault | None) -> Fault | None:
    """Call a fault by its status: the name of a field says nothing to a reader."""
    if fault is None or fault.detail not in FIELDS:
        return fault
    return fault._replace(detail=f"http_{exchange.status}")


def _codes_of(body: Any) -> tuple[str, ...] | None:
    """Return which field an error has: the vendor has no codes, only statuses."""
    if not isinstance(body, Mapping):
        return None
    return next(((name,) for name in FIELDS if name in body), None)
