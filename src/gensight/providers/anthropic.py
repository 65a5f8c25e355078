"""Anthropic: where it lives and how it says no (Claude API reference, errors).

The type of an error is its code; `details.error_code` is finer, and present for limits of money.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://api.anthropic.com"
KEY_VARIABLES = ["ANTHROPIC_API_KEY"]

RULES = (
    Rule(None, "enforced_spend_limit*", FaultKind.QUOTA),
    Rule(None, "contract_spend_limit*", FaultKind.QUOTA),
    Rule(None, "billing_error", FaultKind.QUOTA),
    Rule(404, "not_found_error", FaultKind.GONE),
)
CREDIT_BALANCE = "credit balance"


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong.

    An empty account comes as 400 `invalid_request_error`, like any wrong request. This is the one
    place where a message is looked at: nothing else tells that every further request would fail.
    """
    fault = faults.fault_of(exchange, RULES, _codes_of, now=now)
    if fault is None or exchange.status != 400 or fault.kind is not FaultKind.BAD_REQUEST:
        return fault
    message = faults.dig(exchange.json, "error", "message")
    if isinstance(message, str) and CREDIT_BALANCE in message.lower():
        return Fault(FaultKind.QUOTA, "credit_balance")
    return fault


def _codes_of(body: Any) -> tuple[str, ...] | None:
    error = faults.dig(body, "error")
    if not isinstance(error, Mapping):
        return None
    told = (faults.dig(error, "details", "error_code"), error.get("type"))
    return tuple(code for code in map(faults.code, told) if code)
