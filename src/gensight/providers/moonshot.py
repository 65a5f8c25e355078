"""Moonshot (Kimi): where it lives and how it says no. It has types of errors and no codes.

The types are assumed: an account without money and a busy engine both come as 429.
"""

from __future__ import annotations

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://api.moonshot.ai/v1"
KEY_VARIABLES = ["MOONSHOT_API_KEY"]

RULES = (
    Rule(None, "exceeded_current_quota_error", FaultKind.QUOTA),
    Rule(429, "engine_overloaded_error", FaultKind.OVERLOADED),
    Rule(404, "resource_not_found_error", FaultKind.GONE),
    Rule(404, "model_not_found", FaultKind.GONE),
)


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong."""
    return faults.fault_of(exchange, RULES, now=now)
