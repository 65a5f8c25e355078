"""Google, the Gemini API: where it lives and how it says no (Gemini API, rate limits).

Every limit has the status RESOURCE_EXHAUSTED. Which one it was is told only by the `quotaId`s of
QuotaFailure: one per minute is waited for, one per day lasts until midnight in California.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gensight.providers import faults
from gensight.providers.exchange import Exchange, Fault, FaultKind
from gensight.providers.faults import Rule

BASE_URL = "https://generativelanguage.googleapis.com"
# The order of the SDK.
KEY_VARIABLES = ["GOOGLE_API_KEY", "GEMINI_API_KEY"]

RULES = (
    Rule(404, "NOT_FOUND", FaultKind.GONE),
    # Assumed: a wrong key and a country without the service are told with 400.
    Rule(400, "API_KEY_*", FaultKind.AUTH),
    Rule(400, "FAILED_PRECONDITION", FaultKind.AUTH),
)
PACIFIC = "America/Los_Angeles"
PER_DAY = "PerDay"
DAY_S = 86_400.0


def fault_of(exchange: Exchange, now: float | None = None) -> Fault | None:
    """Return what went wrong; `now` counts where the reply has no date of its own."""
    fault = faults.fault_of(exchange, RULES, _codes_of, now=now)
    if fault is None or fault.kind is not FaultKind.WAIT:
        return fault
    details = list(_details(exchange.json))
    daily = [quota for quota in _quotas(details) if PER_DAY in quota]
    if daily:
        until_s = to_midnight_s(faults.moment(exchange, now))
        return Fault(FaultKind.QUOTA, faults.code(daily[0]) or fault.detail, until_s=until_s)
    hints = [faults.duration_s(detail.get("retryDelay")) for detail in details]
    known = [hint for hint in (fault.wait_s, *hints) if hint is not None]
    return fault._replace(wait_s=max(known, default=None))


def to_midnight_s(moment: float) -> float:
    """Return the seconds from `moment` (since 1970) to the next midnight in California."""
    zone = _pacific()
    try:
        day = datetime.fromtimestamp(moment, zone).date() + timedelta(days=1)
        return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() - moment
    except (ValueError, OverflowError, OSError):  # a date beyond the calendar
        return DAY_S


def _pacific() -> tzinfo:
    """Return the zone; without a table of zones its winter time, at most an hour too late."""
    try:
        return ZoneInfo(PACIFIC)
    except ZoneInfoNotFoundError:
        return timezone(timedelta(hours=-8))


def _codes_of(body: Any) -> tuple[str, ...] | None:
    error = faults.dig(body, "error")
    if not isinstance(error, Mapping):
        return None
    told = [error.get("status"), *(detail.get("reason") for detail in _details(body))]
    return tuple(code for code in map(faults.code, told) if code)


def _details(body: Any) -> Iterator[Mapping[str, Any]]:
    details = faults.dig(body, "error", "details")
    if isinstance(details, list):
        yield from (detail for detail in details if isinstance(detail, Mapping))


def _quotas(details: list[Mapping[str, Any]]) -> Iterator[str]:
    for detail in details:
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            quota = faults.dig(violation, "quotaId")
            if isinstance(quota, str):
                yield quota
