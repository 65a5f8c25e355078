"""vLLM, a server of one's own: how it says no. It has no address but the one it is given.

The address comes from the config's `endpoints` or from the model's spec; no key is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = None
KEY_VARIABLES: list[str] = []

RULES = (
    Rule(404, "NotFoundError", FaultKind.GONE),
    Rule(404, "model_not_found", FaultKind.GONE),
)


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong."""
    return faults.fault_of(exchange, RULES, _codes_of, now=now)


def _codes_of(body: Any) -> tuple[str, ...] | None:
    """Return the type: the code repeats the status. Older versions put it at the top."""
    if isinstance(body, Mapping) and body.get("object") == "error":
        body = {"error": body}
    return faults.error_codes(body)
