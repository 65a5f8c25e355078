"""The adapter of `bfl_task`: submit, poll, download (BFL API reference, FLUX.2)."""

from __future__ import annotations

import base64
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx2

from gensight.errors import SpecError
from gensight.images.kinds import inspect
from gensight.models import Reply, Turn
from gensight.models._settings import stated
from gensight.outcomes import Outcome
from gensight.providers import Connection, Exchange
from gensight.providers.bfl import PICTURE_SIGNATURES
from gensight.providers.faults import dig, hint_s
from gensight.providers.usage import Usage

#: The first pause between two polls; the following ones are longer, for a task may queue.
POLL_INTERVAL_S = 1.0
GROWTH, MOST_INTERVALS = 1.25, 5
#: How long a server's own hint is obeyed within one call.
LONGEST_HINT_S = 60.0
#: How long one call waits for a task; it may be called again.
FOLLOW_LIMIT_S = 600.0
#: Failures in a row while fetching, which costs nothing, after which one call gives up.
MOST_FAILURES = 5
OFFICIAL_DOMAIN = "bfl.ai"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
KEY_HEADER = "x-key"
#: The task is still there for a key that is accepted, and an account that is not empty.
KEY_REFUSED = frozenset({401, 402, 403})

SIDE_STEP_PX, LEAST_SIDE_PX = 16, 64
#: The API says 4 MP (assumed: millions, which is the smaller of the two readings).
MOST_PIXELS = 4_000_000
#: A side beside the least one, in steps.
MOST_STEPS = MOST_PIXELS // LEAST_SIDE_PX // SIDE_STEP_PX
MOST_PICTURES = 8
SEEDS = 2**31
#: Names and numbers only: what comes after a backslash is another host to other programs.
HOST = re.compile(rb"[a-z0-9_.:-]+")
SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})", re.ASCII)

#: How a task ends with an answer that is no picture.
ENDS = {
    "Request Moderated": (Outcome.REFUSED_INPUT, "request_moderated"),
    "Content Moderated": (Outcome.REFUSED_OUTPUT, "content_moderated"),
}
#: How it ends without an answer, which is a fault of the provider's (`gensight.providers.bfl`).
BROKEN = ("Error", "Task not found")
OVER = (*ENDS, *BROKEN)
READY = "Ready"


class UnfinishedError(httpx2.RequestError):
    """A task is still to be fetched: it was not ready, or could not be reached, for long."""


class ForeignAddressError(httpx2.RequestError):
    """A task is to be fetched where the key must not be sent; it is left until that is settled."""


class BflTask:
    """One FLUX.2 model under one generation block; `sleep` and `clock` count seconds."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        connection: Connection,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._connection = settings, connection
        self._sleep, self._clock = sleep, clock
        #: Where tasks were asked for, as round trips name it: without what is asked there.
        self._polled: set[str] = set()
        self._size = _size(stated(settings, "size"))

    def send(self, turn: Turn) -> None:
        """Buy one task."""
        asked = self._asked(turn)
        url = f"{self._connection.base_url}/v1/{self._settings['model']}"
        with suppress(httpx2.RequestError):
            self._connection.client.post(url, json=asked, headers=self._key())

    def follow(self, exchanges: Sequence[Exchange]) -> None:
        """Poll until the task ends, and download its picture.

        A task that was ready before is polled again: its picture's address lives for minutes.

        Raises:
            httpx2.RequestError: it did not end now; call again with what was kept.
        """
        told = _told_address(exchanges)
        if told is None or _is_over(exchanges[-1]):
            return
        if not self._is_trusted(told):
            raise ForeignAddressError("the task is polled at a host that is not the provider's")
        sample = self._awaited(told)
        if sample is not None and not _is_picture(_seen(self._fetched(sample, {}))):
            raise UnfinishedError("what lies at the picture's address is no picture")

    def keeps(self, exchange: Exchange) -> bool:
        """Keep what was paid for, and how it ended; "not yet" and "not now" are asked again."""
        if exchange.method != "GET":
            return True
        if exchange.status is None or _is_passing(exchange.status):
            return False
        if exchange.url not in self._polled:
            return _is_picture(exchange)
        if _status(exchange.json) in (READY, *OVER):
            return True
        return exchange.status >= 400 and exchange.status not in KEY_REFUSED

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that the last round trip holds."""
        last = exchanges[-1]
        if _is_picture(last):
            usage = Usage(images=1).to_json()
            return Reply(Outcome.OK, images=(last.body or b"",), usage=usage)
        if last.method != "GET":
            return Reply(Outcome.MALFORMED, detail="no_polling_url")
        status = _status(last.json)
        if status == READY:
            return Reply(Outcome.MALFORMED, detail="no_sample")
        outcome, detail = ENDS.get(status or "", (Outcome.MALFORMED, "no_picture"))
        return Reply(outcome, detail=detail)

    def _asked(self, turn: Turn) -> dict[str, Any]:
        pictures = [part.image for part in turn.parts if part.image is not None]
        if len(pictures) > MOST_PICTURES:
            raise SpecError(
                f"adapter bfl_task: a turn has {len(pictures)} pictures and the API takes "
                f"{MOST_PICTURES}; leave the prompt out for this model (prompts: of its spec)"
            )
        asked: dict[str, Any] = {
            "prompt": "\n\n".join(part.text for part in turn.parts if part.text),
            "output_format": self._settings["output_format"],
            "prompt_upsampling": self._settings["prompt_upsampling"],
        }
        for number, picture in enumerate(pictures, start=1):
            name = "input_image" if number == 1 else f"input_image_{number}"
            asked[name] = base64.b64encode(picture).decode("ascii")
        sides = sides_near(inspect(pictures[0]).upright_size) if pictures else None
        sides = sides if self._size == "input" else self._size
        if sides is not None:
            asked["width"], asked["height"] = sides
        if self._settings["seed"] is not None and turn.seed is not None:
            asked["seed"] = turn.seed % SEEDS
        optional = ("safety_tolerance", "guidance", "steps")
        given = {name: self._settings[name] for name in optional}
        return asked | {name: value for name, value in given.items() if value is not None}

    def _key(self) -> dict[str, str]:
        return {KEY_HEADER: self._connection.key}

    def _is_trusted(self, url: httpx2.URL) -> bool:
        """Say whether the key may be sent to an address."""
        own = httpx2.URL(self._connection.base_url)
        if (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port):
            # The key went there with the purchase.
            return True
        is_official = url.host == OFFICIAL_DOMAIN or url.host.endswith(f".{OFFICIAL_DOMAIN}")
        return url.scheme == "https" and is_official

    def _sample(self, body: Any) -> httpx2.URL | None:
        """Return where the picture of a finished task lies; it is fetched without the key."""
        url = _url(dig(body, "result", "sample")) if _status(body) == READY else None
        if url is None or url.scheme == "https":
            return url
        own = httpx2.URL(self._connection.base_url)
        is_own = url.host == own.host or {own.host, url.host} <= LOOPBACK
        return url if own.scheme == "http" and is_own else None

    def _awaited(self, polling_url: httpx2.URL) -> httpx2.URL | None:
        """Poll until the task ends; return the address of its picture, None without one."""
        self._polled.add(str(polling_url.copy_with(query=None, fragment=None)))
        end, odd, pause_s = self._clock() + FOLLOW_LIMIT_S, 0, POLL_INTERVAL_S
        while True:
            response = self._fetched(polling_url, self._key())
            told = _seen(response).json
            status = _status(told)
            if status == READY:
                return self._sample(told)
            if status in OVER:
                return None
            odd += status is None
            if response.status_code in KEY_REFUSED or odd == MOST_FAILURES:
                raise UnfinishedError(f"polling was answered with {response.status_code}")
            if response.status_code >= 400:
                return None
            if self._clock() >= end:
                raise UnfinishedError(f"the task is not ready after {FOLLOW_LIMIT_S:.0f} s")
            self._sleep(pause_s)
            pause_s = min(pause_s * GROWTH, MOST_INTERVALS * POLL_INTERVAL_S)

    def _fetched(self, url: httpx2.URL, headers: Mapping[str, str]) -> httpx2.Response:
        """Get an address, again after failures that pass; it costs nothing."""
        for failures in range(1, MOST_FAILURES + 1):
            told_s = 0.0
            try:
                response = self._connection.client.get(url, headers=headers)
                if not _is_passing(response.status_code):
                    return response
                told_s = min(hint_s(_seen(response)) or 0.0, LONGEST_HINT_S)
            except httpx2.RequestError:
                if failures == MOST_FAILURES:
                    raise
            if failures < MOST_FAILURES:
                self._sleep(max(told_s, POLL_INTERVAL_S * 2 ** (failures - 1)))
        raise UnfinishedError(f"the task could not be fetched in {MOST_FAILURES} tries")


def sides_near(size: tuple[int, int]) -> tuple[int, int]:
    """Return the sides nearest to these that the API paints: multiples of 16, at most 4 MP.

    The aspect is kept as far as that allows: small pictures and narrow ones are enlarged.
    """
    scale = min(1.0, math.sqrt(MOST_PIXELS / (size[0] * size[1])))
    scale = max(scale, LEAST_SIDE_PX / min(size))
    for nearest in (round, math.floor):
        width, height = (
            min(
                max(nearest(side * scale / SIDE_STEP_PX), LEAST_SIDE_PX // SIDE_STEP_PX), MOST_STEPS
            )
            * SIDE_STEP_PX
            for side in size
        )
        if width * height <= MOST_PIXELS:
            break
    return width, height


def _size(size: Any) -> tuple[int, int] | str | None:
    if size in (None, "input"):
        return size
    found = SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None:
        raise SpecError(
            f"generation: size: {size!r} is neither input nor provider_default nor "
            f"{{width}}x{{height}}, for instance 1024x768"
        )
    sides = int(found[1]), int(found[2])
    if sides != sides_near(sides):
        nearest = "x".join(str(side) for side in sides_near(sides))
        raise SpecError(f"generation: size: the API has no pictures of {size}; nearest: {nearest}")
    return sides


def _status(body: Any) -> str | None:
    """Return what a task says of itself; None of what is no task."""
    status = dig(body, "status")
    return status if isinstance(status, str) else None


def _told_address(exchanges: Sequence[Exchange]) -> httpx2.URL | None:
    """Return where the reply to the purchase says that the task is polled."""
    submitted = next((exchange for exchange in exchanges if exchange.method == "POST"), None)
    return _url(dig(submitted.json, "polling_url")) if submitted else None


def _is_over(exchange: Exchange) -> bool:
    return _is_picture(exchange) or _status(exchange.json) in OVER


def _is_picture(exchange: Exchange) -> bool:
    is_download = exchange.method == "GET" and exchange.status == 200
    return is_download and (exchange.body or b"").startswith(PICTURE_SIGNATURES)


def _is_passing(status: int) -> bool:
    return status == 429 or status >= 500


def _seen(response: httpx2.Response) -> Exchange:
    return Exchange(
        response.request.method,
        str(response.request.url),
        status=response.status_code,
        headers=dict(response.headers),
        body=response.content,
    )


def _url(value: Any) -> httpx2.URL | None:
    try:
        url = httpx2.URL(value) if isinstance(value, str) else None
    except (httpx2.InvalidURL, ValueError):
        return None
    if url is None or url.userinfo or not HOST.fullmatch(url.raw_host):
        return None
    return url
