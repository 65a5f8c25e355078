"""What went wrong in a round trip, as far as all vendors agree; each adds a meaning to its codes.

Statuses mean what the issue of double payment makes of them: whatever may have been done and
billed is in doubt, and only a refusal to begin is asked again. A vendor overrules a status by its
own error codes with `Rule`s; the words of a message are not looked at.

Nothing here raises, whatever the bytes: a fault that cannot be told is a reply that is lost.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from gensight.providers import secrets
from gensight.providers.exchange import Exchange, Fault, FaultKind

#: The codes in the JSON of an error, the most telling first; None where it is not the vendor's.
CodesOf = Callable[[Any], tuple[str, ...] | None]

#: A code, not prose: what may stand in a ledger and a table.
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,79}", re.ASCII)
SECONDS = re.compile(r"\d+(\.\d*)?", re.ASCII)
#: The durations of OpenAI's headers and of protobuf: 12ms, 1.5s, 6m0s, 1h0m2s.
DURATION = re.compile(
    r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+(?:\.\d*)?)s)?(?:(?P<ms>\d+(?:\.\d*)?)ms)?",
    re.ASCII,
)
#: No server means more; what counts from a hint stays within the calendar.
LONGEST_S = 366 * 86_400.0
UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
RESET_PREFIX, REMAINING_PREFIX = "x-ratelimit-reset-", "x-ratelimit-remaining-"

STATUSES = {
    401: FaultKind.AUTH,
    402: FaultKind.QUOTA,
    403: FaultKind.AUTH,
    408: FaultKind.IN_DOUBT,
    # The client is said to have hung up: what the server had done by then is not known.
    499: FaultKind.IN_DOUBT,
    429: FaultKind.WAIT,
    502: FaultKind.OVERLOADED,
    503: FaultKind.OVERLOADED,
    504: FaultKind.IN_DOUBT,
    529: FaultKind.OVERLOADED,
}


class Rule(NamedTuple):
    """What an error code of a vendor means; `*` in it stands for anything.

    A `status` of None is any. Of several rules that fit, the first counts.
    """

    status: int | None
    code: str
    kind: FaultKind

    def fits(self, status: int, code: str) -> bool:
        """Say whether an error is the one that is meant."""
        return self.status in (None, status) and fnmatchcase(code, self.code)


#: Codes that say what they mean whoever uses them: a gateway may stand before any vendor.
COMMON_RULES = (
    Rule(None, "insufficient_quota", FaultKind.QUOTA),
    Rule(None, "credit_balance_exhausted", FaultKind.QUOTA),
    # A refusal by moderation has the status of a wrong request.
    *(
        Rule(status, code, FaultKind.REFUSED_INPUT)
        for status in (400, 413, 422)
        for code in ("*moderation*", "*content_policy*", "content_filter")
    ),
)


def error_codes(body: Any) -> tuple[str, ...] | None:
    """Return the code of `{"error": {"code", "type"}}`, the form of most vendors.

    The type is taken where there is no code: some vendors say everything with it.
    """
    error = dig(body, "error")
    if not isinstance(error, Mapping):
        return None
    told = code(error.get("code")) or code(error.get("type"))
    return (told,) if told else ()


def fault_of(
    exchange: Exchange,
    rules: Sequence[Rule] = (),
    codes_of: CodesOf = error_codes,
    *,
    now: float | None = None,
) -> Fault | None:
    """Return what went wrong; None for a complete reply in JSON, which says the rest itself.

    `now` is in seconds since 1970, for hints that name a date; the reply's own date goes before.
    """
    if exchange.status is None:
        return lost(exchange)
    if 200 <= exchange.status < 300:
        return unreadable(exchange)
    codes = codes_of(exchange.json)
    kind, detail = _judged(exchange.status, codes, rules)
    hinted = kind in (FaultKind.WAIT, FaultKind.OVERLOADED)
    return Fault(kind, detail, hint_s(exchange, now) if hinted else None)


def lost(exchange: Exchange) -> Fault:
    """Return the fault of a round trip without a whole reply."""
    kind = FaultKind.IN_DOUBT if exchange.sent else FaultKind.NOT_SENT
    return Fault(kind, code(exchange.error) or "no_reply")


def unreadable(exchange: Exchange) -> Fault | None:
    """Return the fault of a success that holds no JSON object; None where it holds one.

    It is no answer of the model, and the work may have been done and billed.
    """
    if not exchange.body:
        return Fault(FaultKind.IN_DOUBT, "empty")
    found = exchange.json
    if isinstance(found, dict):
        return None
    if exchange.body.lstrip()[:1] == b"<":
        return Fault(FaultKind.IN_DOUBT, "html")
    return Fault(FaultKind.IN_DOUBT, "not_json" if found is None else "not_an_object")


def _judged(
    status: int, codes: tuple[str, ...] | None, rules: Sequence[Rule]
) -> tuple[FaultKind, str]:
    for rule in (*rules, *COMMON_RULES):
        for told in codes or ():
            if rule.fits(status, told):
                return rule.kind, told
    detail = codes[0] if codes else f"http_{status}"
    return _kind_of(status, is_told=codes is not None), detail


def _kind_of(status: int, is_told: bool) -> FaultKind:
    if status in STATUSES:
        return STATUSES[status]
    if 300 <= status < 500:
        return FaultKind.BAD_REQUEST
    # A server that reports its error did not answer; a bare failure may come after the work.
    return FaultKind.OVERLOADED if 500 <= status < 600 and is_told else FaultKind.IN_DOUBT


def hint_s(exchange: Exchange, now: float | None = None) -> float | None:
    """Return how long the server asks to wait, in seconds; None where it does not say.

    Read from `retry-after-ms`, `retry-after` (seconds or a date), and otherwise from the
    `x-ratelimit-reset-*` of those axes that have nothing remaining.
    """
    headers = exchange.headers
    milliseconds = seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after")
    if (told := seconds(after)) is not None:
        return told
    if (date := date_s(after)) is not None:
        return min(max(0.0, date - moment(exchange, now)), LONGEST_S)
    resets = [
        duration_s(value)
        for name, value in headers.items()
        if name.startswith(RESET_PREFIX)
        and headers.get(REMAINING_PREFIX + name.removeprefix(RESET_PREFIX)) == "0"
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def moment(exchange: Exchange, now: float | None = None) -> float:
    """Return when a reply was made, in seconds since 1970, by the server's own clock if told."""
    date = date_s(exchange.headers.get("date"))
    if date is not None:
        return date
    return time.time() if now is None else now


def date_s(text: str | None) -> float | None:
    """Return a date of HTTP in seconds since 1970; None where it is none."""
    try:
        date = parsedate_to_datetime(text or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def seconds(text: str | None) -> float | None:
    """Return a plain number of at least 0, at most a year's; None where it is none."""
    if text is None or not SECONDS.fullmatch(text.strip()):
        return None
    return min(float(text), LONGEST_S)


def duration_s(text: Any) -> float | None:
    """Return a duration with units (12ms, 1.5s, 6m0s) in seconds, at most a year; or None."""
    found = DURATION.fullmatch(text) if isinstance(text, str) and text else None
    if found is None:
        return None
    return min(sum(float(found[unit] or 0) * size for unit, size in UNITS_S.items()), LONGEST_S)


def code(value: Any) -> str | None:
    """Return what looks like an error code; None for prose, for a number, and for a key."""
    if not isinstance(value, str) or not CODE.fullmatch(value):
        return None
    return value if secrets.scrub(value) == value else None


def dig(value: Any, *names: str) -> Any:
    """Return what lies below these names in nested objects; None where any of them is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
