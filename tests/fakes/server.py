"""A provider on loopback: a request is charged and journaled before any byte of its reply is sent.

Whatever becomes of the client then, the journal says what a provider would have billed.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from fakes import wire
from fakes.billing import OK, Asked, Fault, Journal, Limits, Painted, Painter, Price, Scenario
from fakes.faults import ERRORS, FAULTS, HTML, SHAPES, Answer, broken, leak
from fakes.painters import plain
from fakes.sockets import Server


class Fake:
    """A provider on loopback, from the start of a `with` block to its end.

    `prices` adds models to the fake's own list; a model that is on neither is gone (404). Errors of
    the fake itself are raised at the end of the block.
    """

    PREFIX: ClassVar[str] = ""
    PRICES: ClassVar[Mapping[str, Price]] = {}

    def __init__(
        self,
        painter: Painter | None = None,
        scenario: Scenario | None = None,
        *,
        limits: Limits | None = None,
        prices: Mapping[str, Price] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.painter = painter or plain
        self.scenario = scenario or Scenario()
        self.limits = limits
        self.prices = {**self.PRICES, **(prices or {})}
        # An empty journal is false, and yet it is the one that was given.
        self.journal = Journal() if journal is None else journal
        self.errors: list[BaseException] = []
        #: The port to listen on; 0: any that is free.
        self.wanted_port = 0
        if unknown := sorted(self.scenario.faults - set(FAULTS)):
            raise ValueError(f"no fake knows the fault '{unknown[0]}'")
        self._attempts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server: Server | None = None

    # What a protocol says -------------------------------------------------------------------------

    def secret(self, raw: wire.Raw) -> str:
        """Return the key that came with a request."""
        return raw.headers.get("authorization", "").removeprefix("Bearer ")

    def describe(self, raw: wire.Raw, data: Any) -> dict[str, Any]:
        """Return what `Asked` holds of this request; an empty mapping for an unknown address."""
        raise NotImplementedError

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        """Return a good answer, or one of the `SHAPES`."""
        raise NotImplementedError

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        """Return one of the `ERRORS` in this provider's words."""
        raise NotImplementedError

    def shapes(self, asked: Asked) -> set[str]:
        """Return which of the `SHAPES` an answer to this request can have."""
        raise NotImplementedError

    def objection(self, asked: Asked) -> str | None:
        """Return the name of a parameter that this provider does not take with this model."""
        return None

    def knows(self, model: str) -> bool:
        """Say whether a model exists."""
        return model in self.prices

    def free(self, asked: Asked) -> Answer | None:
        """Answer what never costs anything (polls, downloads); None if this is no such request."""
        return None

    def reply_headers(self) -> dict[str, str]:
        """Return the headers that every reply of this provider has."""
        return {}

    # What all have in common ----------------------------------------------------------------------

    def __enter__(self) -> Fake:
        self._server = Server(self)
        self._server.start()
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._server is not None
        self._server.stop()
        self.journal.close()
        if self.errors and raised[0] is None:
            raise self.errors[0]

    @property
    def port(self) -> int:
        """Return the port that the fake listens on."""
        assert self._server is not None
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Return the base address, as a `Connection` takes it."""
        return f"http://127.0.0.1:{self.port}{self.PREFIX}"

    @property
    def charged(self) -> int:
        """Return how many requests were charged."""
        return self.journal.charged

    @property
    def charged_usd(self) -> float:
        """Return the bill."""
        return self.journal.charged_usd

    @property
    def distinct(self) -> int:
        """Return how many different things were asked for."""
        return self.journal.distinct

    def busiest_window(self, window_s: float = 60.0) -> int:
        """Return the largest number of requests that came in any window of this length."""
        return self.journal.busiest_window(window_s)

    def handle(self, raw: wire.Raw, time_s: float) -> tuple[Answer | None, Fault]:
        """Decide a request and write it down; return its answer and what befalls it on the way."""
        asked = self._understand(raw)
        answer, fault = self._decide(asked, time_s)
        usd = None if answer is None else answer.usd
        is_seen = fault.name not in ("hang_after_charge", "drop_after_charge", "drop_before_charge")
        self.journal.add(
            time_s=time_s,
            method=asked.method,
            path=asked.path,
            key=asked.key,
            charged=usd is not None,
            usd=usd or 0.0,
            status=answer.status if answer is not None and is_seen else None,
            fault=None if fault.name == "ok" else fault.name,
            body=asked.body,
            model=asked.model,
        )
        return answer, fault

    def _understand(self, raw: wire.Raw) -> Asked:
        body = wire.parse(raw) or wire.Body(None, ())
        key = wire.key_of(raw, body)
        with self._lock:
            attempt = self._attempts[key]
            self._attempts[key] += 1
        told = {"operation": None, "pictures": body.pictures, **self.describe(raw, body.data)}
        return Asked(
            method=raw.method,
            path=raw.path,
            secret=self.secret(raw),
            key=key,
            body=body.data,
            attempt=attempt,
            **told,
        )

    def _decide(self, asked: Asked, time_s: float) -> tuple[Answer | None, Fault]:
        if asked.operation is None:
            name = "bad_request_400" if asked.body is None else "gone_404"
            return self.error(name, asked, {"message": f"nothing at {asked.path}"}), Fault(name)
        is_paid = asked.method == "POST"
        wait_s = self.limits.wait_s(time_s) if self.limits and is_paid else None
        if wait_s is not None:
            hint = {"retry_after_s": wait_s}
            return self.error("wait_429", asked, hint), Fault("wait_429", hint)
        fault = self.scenario.decide(asked)
        return (self._paid if is_paid else self._unpaid)(asked, fault)

    def _paid(self, asked: Asked, fault: Fault) -> tuple[Answer | None, Fault]:
        if fault.name == "drop_before_charge":
            return None, fault
        if fault.name in ERRORS or fault.name == "error_500_bare":
            return self._failure(asked, fault), fault
        if not self.knows(asked.model):
            return self.error("gone_404", asked, {}), Fault("gone_404")
        if (name := self.objection(asked)) is not None:
            return self.error("bad_request_400", asked, {"param": name}), Fault("bad_request_400")
        if fault.name in SHAPES and fault.name not in self.shapes(asked):
            fault = OK
        painted = self.painter(list(asked.texts), list(asked.pictures))
        return broken(self.success(asked, painted, fault), fault.name), fault

    def _unpaid(self, asked: Asked, fault: Fault) -> tuple[Answer | None, Fault]:
        if fault.name == "drop_before_charge":
            return None, fault
        if fault.name in ERRORS or fault.name == "error_500_bare":
            return self._failure(asked, fault), fault
        answer = self.free(asked)
        if answer is None:
            return self.error("gone_404", asked, {}), Fault("gone_404")
        return broken(answer, fault.name), fault

    def _failure(self, asked: Asked, fault: Fault) -> Answer:
        if fault.name == "error_500_bare":
            return Answer(500, HTML, kind="text/html")
        if fault.name == "leak_key":
            told = {"status": 401, **fault.options, "message": leak(asked.secret)}
            return self.error("auth_401", asked, told)._replace(status=told["status"])
        return self.error(fault.name, asked, fault.options)
