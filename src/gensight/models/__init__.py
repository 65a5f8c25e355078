"""Models: one adapter module per protocol, all answering turns with replies.

An adapter module declares `VERSION` and `READS_TRUTH`, and `READS_FORM` if its answers also follow
from the declared form of answer. One that runs here has
`open_model(generation, held_out, site) -> Adapter`; one that talks to a provider has
`connect(generation, connection) -> HostedAdapter`, and declares

    SPENDS   {"max_tokens", "size", "quality"}: the settings that bound what an answer costs, or
             null where it has none
    ANSWERS  ["text"], ["image"] or both: what it can be asked for

Only adapters with `READS_TRUTH = True` are handed the truth of a sample; for all others
`Turn.truth` is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from gensight import modules
from gensight.errors import NotHereYetError
from gensight.outcomes import Outcome
from gensight.specs import declared

if TYPE_CHECKING:
    from gensight.providers import Exchange
    from gensight.records import Sample
    from gensight.specs.model import LimitsSpec

__all__ = [
    "Adapter",
    "HostedAdapter",
    "Outcome",
    "Part",
    "Reply",
    "Site",
    "Turn",
    "available",
    "load",
]


@dataclass(frozen=True)
class Part:
    """One piece of a turn, in order: a text, or the bytes of a picture as they are sent."""

    kind: str
    text: str | None = None
    image: bytes | None = None


@dataclass(frozen=True)
class Turn:
    """What a model is shown at once, and what it is asked for.

    Replies to earlier turns that the prompt cites arrive as ordinary parts. `answer_form` is the
    prompt's declaration; `severity` the strength of a reference model's disturbance; `seed` is None
    where the model is sent none; `max_tokens` a rung of the ladder of lengths, above the first.
    `truth` is the sample that is asked about, `companions` the others of the same request, for
    models that read the truth.
    `rounds` are this model's own earlier replies within the turn, each of which went on.
    """

    parts: tuple[Part, ...]
    answer_form: Mapping[str, Any]
    seed: int | None = 0
    repeat: int = 0
    severity: float | None = None
    max_tokens: int | None = None
    truth: Sample | None = None
    companions: tuple[Sample, ...] = ()
    rounds: tuple[Reply, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came back, untouched: an outcome (`gensight.outcomes`), a text, pictures as bytes.

    `setup` is JSON of how a model that runs here made it: weights and their revision, number type,
    quantisation, library versions, seed, and the sizes that were asked for, used and returned. One
    that `goes_on` is a round of an agent: the same turn is asked again, with this reply among its
    `rounds`, and the last one is the answer.
    Half a surrogate pair, which a cut reply can end in, has no UTF-8: it becomes U+FFFD.
    """

    outcome: str
    text: str | None = None
    images: tuple[bytes, ...] = ()
    detail: str | None = None
    answered_model: str | None = None
    usage: str | None = None
    peak_memory_gb: float | None = None
    device: str | None = None
    setup: str | None = None
    goes_on: bool = False

    def __post_init__(self) -> None:
        for name in ("text", "detail", "answered_model", "usage", "device", "setup"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, storable(value))


def storable(text: str) -> str:
    """Return a text that UTF-8 has bytes for: half a surrogate pair becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _default_limits() -> LimitsSpec:
    from gensight.specs.model import LimitsSpec

    return LimitsSpec()


@dataclass(frozen=True)
class Site:
    """What a model that runs here finds at its site; none of it determines an answer.

    `environments` maps the name of an environment to its folder, `endpoints` the name of a service,
    or of a model at it, to its address; `limits` are those of the model.
    """

    root: Path = Path()
    environments: Mapping[str, str] = field(default_factory=dict)
    endpoints: Mapping[str, str] = field(default_factory=dict)
    limits: LimitsSpec = field(default_factory=_default_limits)

    @classmethod
    def of(cls, config: Mapping[str, Any], root: Path, limits: LimitsSpec) -> Site:
        """Return what a config says about the site of a model with these limits."""
        environments, endpoints = config.get("environments") or {}, config.get("endpoints") or {}
        return cls(root, environments, endpoints, limits)

    def endpoint(self, model: str, service: str) -> str | None:
        """Return where a model is asked, if the site says so: for itself, or for its service."""
        return self.endpoints.get(model) or self.endpoints.get(service)


class Adapter(Protocol):
    """An opened model. `fit_digest` is the sha256 of what it was fitted on, "" if nothing.

    One that started a process or holds a connection also has `close()`; one that starts its process
    again after a failure has `restarts`, how often it did, for a new process has to warm up; one
    that adds to a reply what takes time to find out has `completed(reply)`, called off the clock.
    """

    fit_digest: str

    def answer(self, turn: Turn) -> Reply:
        """Answer one turn.

        Raises:
            AnswerError: this turn cannot be answered, and others may be.
        """
        ...


class HostedAdapter(Protocol):
    """A connected model. Sending and reading are apart: what is read are the recorded bytes.

    A reply that was kept before a crash is therefore read without being asked for again.
    """

    def send(self, turn: Turn) -> None:
        """Make the one paid request of a turn, without any retry.

        Whatever the SDK raises or returns may be ignored: the round trip is recorded.
        """
        ...

    def follow(self, exchanges: Sequence[Exchange]) -> None:
        """Fetch what the first reply only promises (a task's result); nothing for most models."""
        ...

    def keeps(self, exchange: Exchange) -> bool:
        """Say whether a round trip is worth keeping: "not yet" is not."""
        ...

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that recorded round trips hold; pure, the last one has the answer."""
        ...


def available() -> tuple[str, ...]:
    """Return the names of the protocols that have an adapter in this version."""
    return declared.names("models")


def load(protocol: str) -> ModuleType:
    """Import the adapter module of a protocol.

    Raises:
        NotHereYetError: this version has no adapter for the protocol.
    """
    names = available()
    if protocol not in names:
        raise NotHereYetError(
            f"adapter: '{protocol}' has no adapter in this version of gensight; "
            f"take a model whose adapter is one of: {', '.join(names)}"
        )
    return modules.load("models", protocol)
