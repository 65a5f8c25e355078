"""OpenAI: where it lives and how it says no (OpenAI API reference, error codes).

Money is told from pace by the code: both come as 429, and the type may be the same.
"""

from __future__ import annotations

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://api.openai.com/v1"
KEY_VARIABLES = ["OPENAI_API_KEY"]

# Beside the codes that mean the same for all (`faults.COMMON_RULES`).
MONEY = (
    "*_spend_limit_exceeded",
    "*usage_limit_exceeded",
    "billing_not_active",
    "billing_hard_limit_reached",
)
MODERATION = ("bio_policy", "cyber_policy", "misalignment_policy_violation")
RULES = (
    *(Rule(None, code, FaultKind.QUOTA) for code in MONEY),
    *(Rule(400, code, FaultKind.REFUSED_INPUT) for code in MODERATION),
    Rule(429, "server_overloaded", FaultKind.OVERLOADED),
    Rule(404, "model_not_found", FaultKind.GONE),
)
#: Codes of a response that failed in a reply of 200: the server's fault, and perhaps billed.
BROKEN = ("server_error", "rate_limit_exceeded")


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong; moderation says whether it stopped the request or the picture."""
    fault = faults.fault_of(exchange, RULES, now=now)
    if fault is None and faults.dig(exchange.json, "status") == "failed":
        told = faults.dig(exchange.json, "error", "code")
        return Fault(FaultKind.IN_DOUBT, str(told)) if told in BROKEN else None
    if fault is None or fault.kind is not FaultKind.REFUSED_INPUT:
        return fault
    stage = faults.dig(exchange.json, "error", "moderation_details", "moderation_stage")
    return fault._replace(kind=FaultKind.REFUSED_OUTPUT) if stage == "output" else fault
