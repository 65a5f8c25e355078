"""ByteDance Ark in China: where it lives and how it says no (Volcengine Ark, error codes).

Its pictures fail one by one inside a reply of 200, which is no fault. Codes other than those of
limits are assumed from the vendor's naming.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://ark.cn-beijing.volces.com/api/v3"
KEY_VARIABLES = ["ARK_API_KEY"]

RULES = (
    Rule(None, "*Overdue*", FaultKind.QUOTA),
    Rule(None, "QuotaExceeded*", FaultKind.QUOTA),
    Rule(None, "SetLimitExceeded*", FaultKind.QUOTA),
    Rule(None, "RateLimitExceeded*", FaultKind.WAIT),
    Rule(429, "ServerOverloaded*", FaultKind.OVERLOADED),
    Rule(400, "Output*SensitiveContentDetected*", FaultKind.REFUSED_OUTPUT),
    Rule(400, "*SensitiveContentDetected*", FaultKind.REFUSED_INPUT),
    Rule(404, "InvalidEndpointOrModel*", FaultKind.GONE),
    Rule(404, "ModelNotOpen*", FaultKind.GONE),
    Rule(404, "*NotFound", FaultKind.GONE),
)
#: Codes of a picture that failed in a reply of 200: the server's fault, and perhaps billed.
BROKEN = ("Internal*", "ServerOverloaded*", "RateLimitExceeded*")


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong; pictures that all failed may have done so on the server's side."""
    fault = faults.fault_of(exchange, RULES, now=now)
    pictures = faults.dig(exchange.json, "data")
    if fault is not None or not isinstance(pictures, list) or not pictures:
        return fault
    told = [faults.dig(picture, "error", "code") for picture in pictures]
    if all(isinstance(code, str) and _is_broken(code) for code in told):
        return Fault(FaultKind.IN_DOUBT, str(told[0]))
    return None


def _is_broken(code: str) -> bool:
    return any(fnmatchcase(code, pattern) for pattern in BROKEN)
