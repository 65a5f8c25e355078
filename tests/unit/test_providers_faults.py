"""What all providers agree on: statuses, lost replies, hints; and that nothing makes them raise."""

import json
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_errors import (
    DATE,
    DAY_S,
    NOW,
    PER_DAY,
    fault_of,
    google_error,
    openai_error,
    retry_info,
    told,
)

from gensight import providers
from gensight.providers import Exchange, FaultKind, google, secrets
from gensight.providers.google import to_midnight_s
from gensight.providers.transport import KEPT_HEADERS, NOT_SENT
from gensight.specs import declared
from gensight.specs.protocols import PROVIDERS

#: What every provider makes of a status without a body that it would know.
BARE = {
    200: ("in_doubt", "html"),
    301: ("bad_request", "http_301"),
    307: ("bad_request", "http_307"),
    400: ("bad_request", "http_400"),
    401: ("auth", "http_401"),
    402: ("quota", "http_402"),
    403: ("auth", "http_403"),
    404: ("bad_request", "http_404"),
    408: ("in_doubt", "http_408"),
    409: ("bad_request", "http_409"),
    413: ("bad_request", "http_413"),
    422: ("bad_request", "http_422"),
    429: ("wait", "http_429"),
    499: ("in_doubt", "http_499"),
    500: ("in_doubt", "http_500"),
    502: ("overloaded", "http_502"),
    503: ("overloaded", "http_503"),
    504: ("in_doubt", "http_504"),
    524: ("in_doubt", "http_524"),
    529: ("overloaded", "http_529"),
    600: ("in_doubt", "http_600"),
    101: ("in_doubt", "http_101"),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", BARE)
def test_a_page_of_html_means_what_its_status_says(provider, status):
    body = b"<html><body>insufficient_quota moderation_blocked credit balance</body></html>"
    assert fault_of(provider, status, body) == told(*BARE[status])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "empty"),
        (b"  <!DOCTYPE html>", "html"),
        (b'{"data": [{"b64_json": "iVBOR', "not_json"),
        (b"\xff\xfe\x00", "not_json"),
        (b"[" * 100_000, "not_json"),
        (b"[1, 2]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"null", "not_json"),
    ],
)
def test_a_success_that_holds_no_object_is_a_final_answer(provider, body, detail):
    assert fault_of(provider, 200, body) == told("in_doubt", detail)
    assert fault_of(provider, 200, b'{"anything": 1}') is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_that_never_came_is_in_doubt_once_something_was_sent(provider):
    asked = providers.load(provider).fault_of
    lost = Exchange("POST", "https://api.example.org", error="ReadTimeout")
    assert asked(lost) == told("in_doubt", "ReadTimeout")
    for error in NOT_SENT:
        name = error.__name__
        assert asked(replace(lost, sent=False, error=name)) == told("not_sent", name)
    assert asked(replace(lost, error=None)) == told("in_doubt", "no_reply")


PICTURE = b"\x89PNG\r\n\x1a\nrest"
FETCHED = [
    ((200, PICTURE), None),
    ((200, b"\xff\xd8\xff\xe0 rest"), None),
    ((200, {"status": "Ready", "result": {"sample": "https://x/1.png"}}), None),
    ((200, {"status": "Request Moderated"}), None),
    ((200, {"status": "Content Moderated"}), None),
    ((200, {"status": "Pending"}), "pending"),
    ((200, {"status": "Task not found"}), "task_not_found"),
    ((200, b"<html>"), "html"),
    ((200, b""), "empty"),
    ((404, {"detail": "Not found"}), "http_404"),
    ((403, b"<Error>expired</Error>"), "http_403"),
    ((429, {"detail": "slower"}), "http_429"),
    ((402, {"detail": "no money"}), "http_402"),
    ((503, b""), "http_503"),
]


@pytest.mark.parametrize(("reply", "detail"), FETCHED)
def test_a_task_of_bfl_that_could_not_be_fetched_is_never_bought_again(reply, detail):
    fault = fault_of("bfl", *reply, method="GET")
    assert (fault and (fault.kind, fault.detail)) == (detail and (FaultKind.IN_DOUBT, detail))


@pytest.mark.parametrize("sent", [True, False])
def test_a_poll_of_bfl_without_a_reply_says_nothing_about_the_purchase(sent):
    lost = Exchange("GET", "https://api.bfl.ai/v1/get_result", sent=sent, error="ConnectError")
    assert providers.load("bfl").fault_of(lost) == told("in_doubt", "ConnectError")


HINTS = [
    ({"retry-after": "7"}, 7),
    ({"retry-after": "0"}, 0),
    ({"retry-after": " 1.5 "}, 1.5),
    ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
    ({"retry-after-ms": "soon", "retry-after": "7"}, 7),
    ({"retry-after": "Sun, 29 Nov 2026 20:00:30 GMT"}, 30),
    # The server's own clock counts, where it tells it.
    ({"retry-after": "Sun, 29 Nov 2026 20:00:30 GMT", "date": "Sun, 29 Nov 2026 20:00:10 GMT"}, 20),
    ({"retry-after": "Sun, 29 Nov 2026 19:00:00 GMT"}, 0),
    ({"retry-after": "Sun, 29 Nov 2026 20:00:30 -0000"}, 30),
    ({"retry-after": "86400"}, DAY_S),
    ({"retry-after": "-5"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "9" * 400}, 366 * DAY_S),
    ({"retry-after": ""}, None),
    ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
    ({"retry-after": "Sun, 29 Nov 99999 20:00:30 GMT"}, None),
    ({}, None),
    ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, 360),
    ({"x-ratelimit-reset-tokens": "1h0m2.5s", "x-ratelimit-remaining-tokens": "0"}, 3602.5),
    ({"x-ratelimit-reset-tokens": "12ms", "x-ratelimit-remaining-tokens": "0"}, 0.012),
    ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "3"}, None),
    ({"x-ratelimit-reset-requests": "1795982400", "x-ratelimit-remaining-requests": "0"}, None),
    (
        {
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-tokens": "9s",
            "x-ratelimit-remaining-tokens": "0",
        },
        9,
    ),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("headers", "wait_s"), HINTS)
def test_the_servers_hint_is_understood(provider, headers, wait_s):
    for status in (429, 503):
        found = fault_of(provider, status, b"", headers).wait_s
        assert found == (wait_s if wait_s is None else pytest.approx(wait_s))


@pytest.mark.parametrize("delay", ["", "s", "-3s", "soon", "34", None, 34, {"seconds": 34}, "9e9s"])
def test_a_delay_of_google_that_is_none_is_left_out(delay):
    body = google_error(429, "RESOURCE_EXHAUSTED", retry_info(delay))
    assert fault_of("google", 429, body) == told("wait", "RESOURCE_EXHAUSTED")


MIDNIGHTS = {
    # Winter is 8 hours behind Greenwich, summer 7.
    "2026-11-29T20:00:00Z": 12 * 3600,
    "2026-07-01T20:00:00Z": 11 * 3600,
    "2026-11-30T08:00:00Z": 24 * 3600,
    "2026-11-30T07:59:59Z": 1,
    # The days on which the clock is moved are shorter and longer.
    "2026-03-08T08:00:00Z": 23 * 3600,
    "2026-11-01T07:00:00Z": 25 * 3600,
}


@pytest.mark.parametrize("moment", MIDNIGHTS)
def test_a_day_of_google_ends_at_midnight_in_california(moment):
    at = datetime.fromisoformat(moment).timestamp()
    assert to_midnight_s(at) == MIDNIGHTS[moment]


def test_without_a_table_of_time_zones_a_day_ends_at_most_an_hour_late(monkeypatch):
    monkeypatch.setattr(google, "PACIFIC", "Not/There")
    assert to_midnight_s(NOW) == 12 * 3600


@pytest.mark.parametrize("moment", [1e18, -1e18, 253402300799.0])
def test_a_date_beyond_the_calendar_is_a_day_away(moment):
    assert to_midnight_s(moment) == DAY_S


def test_prose_and_keys_are_no_codes():
    secrets.register("sk-marked-0123456789")
    for code in ("You exceeded your quota", "sk-marked-0123456789", "x" * 200, "", 429, None, []):
        assert fault_of("openai", 400, openai_error(code, type_=code)) == told(
            "bad_request", "http_400"
        )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_declares_its_address_and_its_keys(provider):
    module = providers.load(provider)
    told_by_source = declared._constants_of(declared._source("providers", provider))
    assert told_by_source["BASE_URL"] == module.BASE_URL
    assert told_by_source["KEY_VARIABLES"] == module.KEY_VARIABLES
    if provider == "vllm":
        assert module.BASE_URL is None
    else:
        assert module.BASE_URL.startswith("https://")
        assert not module.BASE_URL.endswith("/")


# --- No reply, however mangled, makes a provider raise ---

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
WORDS = st.sampled_from(
    ["RESOURCE_EXHAUSTED", PER_DAY, "34s", "insufficient_quota", "moderation_blocked", "output"]
)
NAMES = st.sampled_from(
    [
        *("error", "code", "type", "message", "status", "details", "detail", "error_code"),
        *("violations", "quotaId", "retryDelay", "reason", "object", "moderation_details"),
        *("moderation_stage", "result", "sample"),
    ]
)
JSON = st.recursive(
    LEAVES | WORDS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=4),
    max_leaves=12,
)
BODIES = st.none() | st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode())
HEADERS = st.dictionaries(
    st.sampled_from([*KEPT_HEADERS, "x-ratelimit-reset-a", "x-ratelimit-remaining-a"]),
    st.text(max_size=30)
    | st.sampled_from([DATE, "0", "7", "1h", "Sun, 29 Nov 9999 23:59:59 -2359", "1e999", "1" * 40]),
    max_size=4,
)
STATUSES = (
    st.none()
    | st.sampled_from([200, 400, 402, 404, 429, 429, 429, 500, 503, 529])
    | st.integers(-(10**6), 10**6)
)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(
    status=STATUSES,
    body=BODIES,
    headers=HEADERS,
    error=st.none() | st.text(max_size=20),
    sent=st.booleans(),
    method=st.sampled_from(["POST", "GET"]),
)
def test_no_reply_makes_a_provider_raise(provider, status, body, headers, error, sent, method):
    seen = Exchange(method, "https://x", sent, status, headers, body, error)
    fault = providers.load(provider).fault_of(seen)
    if fault is None:
        assert 200 <= status < 300
        return
    assert fault.kind in FaultKind
    assert 0 < len(fault.detail) <= 80
    assert fault.detail.isascii() and " " not in fault.detail
    for hint in (fault.wait_s, fault.until_s):
        assert hint is None or 0 <= hint < float("inf")
    if fault.kind in (FaultKind.WAIT, FaultKind.OVERLOADED):
        # Asked again by itself: only what the server itself refused to begin.
        assert status >= 400 and status not in (408, 504)
