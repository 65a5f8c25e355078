"""What can go wrong, by name, and the replies that are no provider's own words."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

#: Refused before anything is made: never charged. Each provider says it in its own words.
ERRORS = (
    "wait_429",  # retry_after_s=1: None leaves the hint out
    "quota_429",  # code
    "quota_402",
    "error_500",
    "overloaded_503",  # retry_after_s
    "overloaded_529",
    "timeout_504",
    "auth_401",
    "gone_404",
    "bad_request_400",
    "refused_400",
    "credit_400",
    "leak_key",  # status=401: an error that repeats the key it was sent
)
#: Answers that are not what was asked for; a protocol that cannot say one of them answers as usual.
SHAPES = (
    "refused_200",  # reason; stage="input" where there is a choice
    "no_image",
    "text_only",
    "thought_image",
    "two_images",
    "truncated",
    "wrong_model",  # model
)
#: A good answer, charged, that arrives late, in pieces or not at all.
BROKEN = (
    "slow",  # delay_s=1
    "hang_after_charge",
    "drop_after_charge",
    "drop_mid_body",
    "html_200",
    "empty_200",
    "broken_json",
)
#: The request is lost on the way, or in a gateway that knows nothing of the provider: not charged.
LOST = ("drop_before_charge", "error_500_bare")
FAULTS = ("ok", *ERRORS, *SHAPES, *BROKEN, *LOST)
HTML = b"<!DOCTYPE html><html><head><title>Gateway</title></head><body>Try later</body></html>"


class Answer(NamedTuple):
    """A whole reply: what it says, what it costs (None: it is not charged), how it is typed."""

    status: int
    body: Any
    usd: float | None = None
    headers: Mapping[str, str] = {}
    kind: str = "application/json"

    @property
    def data(self) -> bytes:
        """Return the bytes of the body."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


def leak(secret: str) -> str:
    """Return a message that repeats a key: plain, URL-encoded, base64."""
    coded = base64.b64encode(secret.encode()).decode()
    return f"Incorrect API key provided: {secret} ({quote(secret, safe='')}, {coded})"


def retry_after_s(options: Mapping[str, Any]) -> float | None:
    """Return the hint that a fault gives, one second if it does not say."""
    return options.get("retry_after_s", 1)


def broken(answer: Answer, fault: str) -> Answer:
    """Return an answer whose body became something else on the way."""
    match fault:
        case "html_200":
            return answer._replace(body=HTML, kind="text/html")
        case "empty_200":
            return answer._replace(body=b"")
        case "broken_json":
            return answer._replace(body=answer.data[: len(answer.data) // 2])
    return answer
