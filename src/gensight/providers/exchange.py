"""One round trip with a provider, as it was: the only thing that replies and faults are read from.

What an SDK makes of a reply is never used: its bytes are kept before anything parses them, and both
a live reply and one that was kept before a crash are read from the same bytes by the same function.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import httpx2


#: The transport's exceptions that come before anything of a request has left.
NOT_SENT_ERRORS = (
    "ConnectError",
    "ConnectTimeout",
    "PoolTimeout",
    "ProxyError",
    "UnsupportedProtocol",
)


@dataclass(frozen=True)
class Exchange:
    """A request that was made, and what came back.

    `status` and `body` are None where no whole reply arrived; `error` then names the transport's
    exception, and `sent` says whether the request may have reached the server. `headers` have
    lower-case names and hold only what `transport.KEPT_HEADERS` lists; `url` has no query.
    """

    method: str
    url: str
    sent: bool = True
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    error: str | None = None

    @property
    def json(self) -> Any:
        """Return the body as JSON; None where it is none (HTML, cut short, not UTF-8)."""
        try:
            return json.loads(self.body) if self.body else None
        except (ValueError, RecursionError):
            return None


class FaultKind(StrEnum):
    """What a fault means for the request, and for those that would follow it."""

    #: Nothing reached the server: asking again costs nothing.
    NOT_SENT = "not_sent"
    #: Too many requests: asked again after a while.
    WAIT = "wait"
    #: The server could not: asked again after a while.
    OVERLOADED = "overloaded"
    #: It may have been done and billed: never asked again without leave.
    IN_DOUBT = "in_doubt"
    #: Money or a daily allowance is used up: every request of the provider stops.
    QUOTA = "quota"
    #: The key is not accepted: every request of the provider stops.
    AUTH = "auth"
    #: The model does not exist any more: every request of the model stops.
    GONE = "gone"
    #: The request is wrong: it stops, and its like would fail too.
    BAD_REQUEST = "bad_request"
    #: The provider's moderation refused the request: an answer of the model, kept and replayed.
    REFUSED_INPUT = "refused_input"
    #: The same, decided on what the model made.
    REFUSED_OUTPUT = "refused_output"


class Fault(NamedTuple):
    """What went wrong. `wait_s` is the server's own hint, `until_s` the end of a quota's window.

    Both count from now. `detail` is short and holds a code, not prose.
    """

    kind: FaultKind
    detail: str
    wait_s: float | None = None
    until_s: float | None = None


@dataclass(frozen=True)
class Connection:
    """What an adapter talks through: a key (empty where none is asked for), an address, a client.

    The client records every round trip made inside `transport.recording`.
    """

    key: str
    base_url: str
    client: httpx2.Client
