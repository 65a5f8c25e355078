"""DeepSeek: where it lives and how it says no; its statuses say it all (402: no balance)."""

from __future__ import annotations

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://api.deepseek.com"
KEY_VARIABLES = ["DEEPSEEK_API_KEY"]

RULES = (Rule(404, "model_not_found", FaultKind.GONE),)


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong."""
    return faults.fault_of(exchange, RULES, now=now)
