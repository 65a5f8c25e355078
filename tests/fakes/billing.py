"""What a fake was asked, what it does about it, and what it charges: requests, scripts, journals.

A request's key is a digest of what was asked, free of headers and of the boundary of a multipart
body: two requests with the same key are the same purchase. Repeats of an item that differ in
nothing that is sent have the same key; send them a seed to tell them apart.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

MINUTE_S = 60.0


@dataclass(frozen=True)
class Asked:
    """One request as a protocol understood it.

    `operation` is the protocol's own word for the end point, None where there is none. `body` has
    every picture replaced by its size and sha256. `attempt` counts the requests of this key from 0.
    """

    method: str
    path: str
    secret: str
    key: str
    operation: str | None
    model: str = ""
    texts: tuple[str, ...] = ()
    pictures: tuple[bytes, ...] = ()
    wants_image: bool = False
    max_tokens: int | None = None
    body: Any = None
    attempt: int = 0

    @property
    def text(self) -> str:
        """Return all texts, one per line."""
        return "\n".join(self.texts)


class Painted(NamedTuple):
    """What a painter made of a request; a fake takes of it what its protocol can return."""

    image: bytes | None = None
    text: str | None = None


Painter = Callable[[list[str], list[bytes]], Painted]


class Price(NamedTuple):
    """US dollars per million tokens, and per picture."""

    text_in: float = 0.0
    image_in: float = 0.0
    text_out: float = 0.0
    image_out: float = 0.0
    picture: float = 0.0


class Used(NamedTuple):
    """What a reply says it used: tokens by kind, thoughts apart, and pictures."""

    text_in: int = 0
    image_in: int = 0
    text_out: int = 0
    image_out: int = 0
    thoughts: int = 0
    pictures: int = 0

    @property
    def input(self) -> int:
        """Return the tokens of the request."""
        return self.text_in + self.image_in

    @property
    def output(self) -> int:
        """Return the tokens of the reply, thoughts included."""
        return self.text_out + self.image_out + self.thoughts

    def usd(self, price: Price) -> float:
        """Return what it costs; thoughts cost what text does."""
        tokens = (
            self.text_in * price.text_in
            + self.image_in * price.image_in
            + (self.text_out + self.thoughts) * price.text_out
            + self.image_out * price.image_out
        )
        return tokens / 1e6 + self.pictures * price.picture


def text_tokens(text: str | None) -> int:
    """Return about how many tokens a text is: one per four characters, at least one if any."""
    return -(-len(text or "") // 4)


def picture_tokens(data: bytes, tokens_of_megapixel: float) -> int:
    """Return how many tokens a picture is, by its area in units of 1024 x 1024 pixels.

    What is no picture counts as one of that size.
    """
    try:
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
    except OSError:
        width, height = 1024, 1024
    return math.ceil(width * height / 1024**2 * tokens_of_megapixel)


class Fault(NamedTuple):
    """A named fault with its options (seconds, codes); see `server.FAULTS`."""

    name: str
    options: dict[str, Any] = {}  # noqa: RUF012  (a value, never written to)


OK = Fault("ok")


@dataclass
class _Rule:
    fault: Fault
    applies: Callable[[Asked, int], bool]
    times: int | None
    each: bool
    free: bool = False
    seen: int = 0
    used: Counter[str] = field(default_factory=Counter)

    def takes(self, asked: Asked) -> bool:
        if self.free == (asked.method == "POST"):
            return False
        bucket = asked.key if self.each else ""
        if self.times is not None and self.used[bucket] >= self.times:
            return False
        self.seen += 1
        if not self.applies(asked, self.seen):
            return False
        self.used[bucket] += 1
        return True


class Scenario:
    """A script of faults: the first rule that takes a request says how it is answered.

    Options (`retry_after_s`, `delay_s`, `code`, ...) belong to the fault and follow its name. A
    scenario counts what it has seen, so that each fake needs one of its own.
    """

    def __init__(self) -> None:
        self._rules: list[_Rule] = []
        self._default = OK
        self._lock = threading.Lock()

    @property
    def faults(self) -> set[str]:
        """Return the names of all faults that this scenario may ask for."""
        return {rule.fault.name for rule in self._rules} | {self._default.name}

    def on(
        self,
        matches: Callable[[Asked], bool],
        fault: str,
        *,
        times: int | None = None,
        each: bool = False,
        free: bool = False,
        **options: Any,
    ) -> Scenario:
        """Fail requests that match, the first `times` of them; with `each`, of every key.

        `free` rules are for what is never charged (polls, downloads), which no other rule touches.
        """
        return self._add(fault, options, lambda asked, _: bool(matches(asked)), times, each, free)

    def first(self, fault: str, times: int = 1, **options: Any) -> Scenario:
        """Fail the first `times` attempts of every distinct request."""
        return self._add(fault, options, lambda asked, _: True, times, each=True)

    def every(self, n: int, fault: str, **options: Any) -> Scenario:
        """Fail every n-th request that comes to this rule, in order of arrival."""
        return self._add(fault, options, lambda _, seen: seen % n == 0)

    def probability(self, p: float, fault: str, *, seed: int = 0, **options: Any) -> Scenario:
        """Fail a share of all attempts, told by key and attempt and not by order of arrival."""

        def is_drawn(asked: Asked, _: int) -> bool:
            drawn = hashlib.sha256(f"{seed} {fault} {asked.key} {asked.attempt}".encode()).digest()
            return int.from_bytes(drawn[:8], "big") < p * 2**64

        return self._add(fault, options, is_drawn)

    def default(self, fault: str, **options: Any) -> Scenario:
        """Say what happens to a request that no rule takes; `ok` if this is not called."""
        self._default = Fault(fault, options)
        return self

    def _add(
        self,
        fault: str,
        options: dict[str, Any],
        applies: Callable[[Asked, int], bool],
        times: int | None = None,
        each: bool = False,
        free: bool = False,
    ) -> Scenario:
        self._rules.append(_Rule(Fault(fault, options), applies, times, each, free))
        return self

    def decide(self, asked: Asked) -> Fault:
        """Return the fault of the first rule that takes the request, else the default."""
        with self._lock:
            for rule in self._rules:
                if rule.takes(asked):
                    return rule.fault
        return self._default if asked.method == "POST" else OK

    @classmethod
    def parse(cls, script: str) -> Scenario:
        """Return a scenario from its words, for a fake that is a process of its own.

        Rules are parted by semicolons: `first wait_429 times=2 retry_after_s=0.1; every 3
        error_500; probability 0.2 overloaded_503 seed=4; default slow delay_s=0.5`.
        """
        scenario = cls()
        for rule in filter(None, (part.split() for part in script.split(";"))):
            verb, words = rule[0], [word for word in rule[1:] if "=" not in word]
            options = {
                name: _number(value)
                for name, _, value in (word.partition("=") for word in rule[1:] if "=" in word)
            }
            match verb, words:
                case "first", [fault]:
                    scenario.first(fault, **options)
                case "every", [n, fault]:
                    scenario.every(int(n), fault, **options)
                case "probability", [p, fault]:
                    scenario.probability(float(p), fault, **options)
                case "default", [fault]:
                    scenario.default(fault, **options)
                case _:
                    raise ValueError(f"scenario: no rule reads '{' '.join(rule)}'")
        return scenario


def _number(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Entry:
    """One line of a journal: a request, when it came, what it was answered and what it cost.

    `status` is None where no reply was sent, `fault` None where all went well; `n` counts from 0 in
    the order of decisions, `time_s` is the wall clock at the arrival.
    """

    n: int
    time_s: float
    method: str
    path: str
    key: str
    charged: bool
    usd: float
    status: int | None
    fault: str | None
    body: Any = None
    model: str = ""


class Journal:
    """Everything that a fake was asked, in the order in which it decided; a line is never changed.

    With a path, every line is in that file before its reply is sent.
    """

    def __init__(self, path: str | Path | None = None, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        self._lock = threading.Condition()
        # Open as long as the journal is: a line must be out before its reply is.
        self._file = None if path is None else Path(path).open("a", encoding="utf-8")  # noqa: SIM115

    @classmethod
    def read(cls, path: str | Path) -> Journal:
        """Return the journal that a fake wrote to a file; a half-written last line is left out."""
        text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""
        lines = text.split("\n")[:-1]
        return cls(entries=[Entry(**json.loads(line)) for line in lines])

    def add(self, **seen: Any) -> Entry:
        """Append one line, numbered by this journal, and write it out."""
        with self._lock:
            entry = Entry(n=len(self._entries), **seen)
            self._entries.append(entry)
            if self._file is not None:
                self._file.write(json.dumps(asdict(entry), sort_keys=True) + "\n")
                self._file.flush()
            self._lock.notify_all()
        return entry

    def wait_for(self, lines: int, patience_s: float = 30.0) -> list[Entry]:
        """Return all lines as soon as there are so many: a client that gives up may be first.

        Raises:
            TimeoutError: they do not come.
        """
        with self._lock:
            if not self._lock.wait_for(lambda: len(self._entries) >= lines, patience_s):
                raise TimeoutError(f"{len(self._entries)} of {lines} lines in {patience_s:g} s")
            return list(self._entries)

    def close(self) -> None:
        """Close the file, if there is one."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Any:
        return iter(list(self._entries))

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    @property
    def asked(self) -> list[Entry]:
        """Return the requests that could have cost something: not polls and downloads."""
        return [entry for entry in self if entry.method == "POST"]

    @property
    def charged(self) -> int:
        """Return how many requests were charged."""
        return sum(entry.charged for entry in self)

    @property
    def charged_usd(self) -> float:
        """Return the bill."""
        return sum(entry.usd for entry in self)

    @property
    def distinct(self) -> int:
        """Return how many different things were asked for, charged or not."""
        return len({entry.key for entry in self.asked})

    @property
    def paid_twice(self) -> dict[str, int]:
        """Return how often each key was charged that was charged more than once."""
        counts = Counter(entry.key for entry in self if entry.charged)
        return {key: count for key, count in counts.items() if count > 1}

    def busiest_window(self, window_s: float = MINUTE_S) -> int:
        """Return the largest number of requests that came in any half-open window of this length.

        Polls and downloads do not count, refused requests do.
        """
        times = sorted(entry.time_s for entry in self.asked)
        return max(
            (bisect_left(times, first + window_s) - i for i, first in enumerate(times)), default=0
        )


@dataclass
class Limits:
    """What a fake admits: so many requests in any window; more are answered `wait_429`.

    `window_s` shortens the minute, so that a test of a limit does not last minutes. A request that
    is turned away takes no place.
    """

    requests_per_minute: int
    window_s: float = MINUTE_S
    _admitted: list[float] = field(default_factory=list, repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    def wait_s(self, now_s: float) -> float | None:
        """Admit a request and return None, or return how long until there is a place."""
        with self._lock:
            self._admitted = [t for t in self._admitted if now_s - t < self.window_s]
            if len(self._admitted) < self.requests_per_minute:
                self._admitted.append(now_s)
                return None
            return self.window_s - (now_s - self._admitted[0])
