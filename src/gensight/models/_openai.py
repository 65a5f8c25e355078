"""What the adapters on OpenAI's SDK share: the client, the one request, the reading of replies.

Of a reply only what is read is checked, with the SDK's own types: a service that echoes a setting
by a new word has not spoilt an answer that was paid for.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

from gensight.errors import GensightError, ImageError, SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models._pictures import decoded
from gensight.models._settings import PROVIDER_DEFAULT, complete
from gensight.providers.faults import code, dig
from gensight.providers.usage import Usage

if TYPE_CHECKING:
    from openai import OpenAI

    from gensight.providers import Connection, Exchange

#: What separates the texts of a turn where a provider takes one prompt beside its pictures.
BETWEEN_TEXTS = "\n\n"
#: More tokens than any reply has: a number above it is a mangled one.
MOST_TOKENS = 10**12
#: Seeds that every service takes.
SEEDS = 2**31

#: Codes of the error inside a reply, and what they say of it. The first that fits counts.
Verdicts = Sequence[tuple[str, Outcome]]
Typed = TypeVar("Typed")


@dataclass(frozen=True)
class OpenAIAdapter:
    """A connected model behind OpenAI's SDK: all that does not depend on what is asked."""

    settings: Mapping[str, Any]
    client: OpenAI

    def follow(self, exchanges: Sequence[Exchange]) -> None:
        """Do nothing: the first reply is the answer."""

    def keeps(self, exchange: Exchange) -> bool:
        """Keep every round trip."""
        return True


def settings_of(
    adapter: str, generation: Mapping[str, Any], least: Mapping[str, float]
) -> dict[str, Any]:
    """Return a generation block with every default filled in.

    `least` names the settings that are numbers, with the smallest value of each; where that is a
    whole number, only those will do.

    Raises:
        SpecError: unknown key, wrong type or value; the message names the key and what is allowed.
    """
    settings = complete(adapter, generation)
    for name, smallest in least.items():
        value = settings[name]
        if value not in (None, PROVIDER_DEFAULT) and not _is_number(value, smallest):
            kind = "whole number" if type(smallest) is int else "number"
            raise SpecError(f"generation: {name}: {value!r} is not a {kind} of at least {smallest}")
    return settings


def _is_number(value: object, least: float) -> bool:
    kinds = (int,) if type(least) is int else (int, float)
    return type(value) in kinds and least <= value < float("inf")  # type: ignore[operator]


def open_sdk(adapter: str, connection: Connection, *, own_account: bool) -> OpenAI:
    """Return the SDK's client: the connection's key, address, transport and timeouts, no retries.

    `own_account` says whether the service is OpenAI's: only there the account and project that the
    environment may name belong into a request.

    Raises:
        GensightError: the SDK is not installed; the message says how to install it.
    """
    try:
        from openai import OpenAI
    except ModuleNotFoundError as error:
        if error.name != "openai":
            raise
        raise GensightError(
            f"adapter: '{adapter}' needs OpenAI's SDK: pip install \"gensight[openai]\""
        ) from None
    client = OpenAI(
        # Without a key the SDK would take the one that the environment holds for OpenAI.
        api_key=connection.key or "none",
        base_url=connection.base_url,
        timeout=connection.client.timeout,
        max_retries=0,
        http_client=connection.client,
    )
    if not own_account:
        client.organization = client.project = None
    return client


def send_once(method: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    """Call a method of the SDK, which makes one request; whatever it makes of the reply is dropped.

    Arguments that the method does not have are our own mistake, and raise TypeError.
    """
    inspect.signature(method).bind(**arguments)
    with suppress(Exception):
        method(**arguments)


def texts_of(turn: Turn) -> str:
    """Return the texts of a turn in order, a blank line between them."""
    return BETWEEN_TEXTS.join(part.text for part in turn.parts if part.text is not None)


def pictures_of(turn: Turn, most: int, most_bytes: int) -> list[bytes]:
    """Return the pictures of a turn in order.

    Raises:
        ImageError: there are more than the provider takes, or one is larger; nothing was sent.
    """
    pictures = [part.image for part in turn.parts if part.image is not None]
    if len(pictures) > most:
        raise ImageError(f"the request has {len(pictures)} pictures; the provider takes {most}")
    for number, picture in enumerate(pictures, start=1):
        if len(picture) > most_bytes:
            raise ImageError(
                f"picture {number} of the request has {len(picture)} bytes; "
                f"the provider takes {most_bytes}"
            )
    return pictures


def given(settings: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return those settings that are to be sent, by the name that the provider has for them."""
    found = {name.removeprefix("assumed_"): settings[name] for name in names}
    return {name: value for name, value in found.items() if value not in (None, PROVIDER_DEFAULT)}


def sent_seed(settings: Mapping[str, Any], turn: Turn) -> dict[str, int]:
    """Return the seed of a turn where the model is to be sent one, in 31 bits."""
    if settings["seed"] is None or turn.seed is None:
        return {}
    return {"seed": turn.seed % SEEDS}


def check_mapping(key: str, value: object, known: Iterable[str], needed: str) -> None:
    """Raise SpecError for a setting that is no mapping, lacks a key, or has one that is unknown."""
    if not isinstance(value, Mapping) or not isinstance(value.get(needed), str):
        raise SpecError(f"generation: {key}: expected a mapping with the text '{needed}'")
    names = sorted(known)
    for name in value:
        if name not in names:
            raise SpecError(f"generation: {key}.{name}: not known; allowed: {', '.join(names)}")


def body_of(exchange: Exchange) -> dict[str, Any]:
    """Return the JSON object of a reply; an empty one where it holds none.

    Half a surrogate pair, which a cut reply can hold, becomes U+FFFD: it would not pass as text.
    """
    body = exchange.json
    if not isinstance(body, dict):
        return {}
    if b"\\ud" not in (exchange.body or b"").lower():
        return body
    try:
        text = json.dumps(body, ensure_ascii=False)
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError):
        return {}


def typed(kind: type[Typed], value: object, *names: str) -> Typed | None:
    """Return an object of the reply as the SDK's type; None where it is not of that type.

    Only the fields of these names are looked at.
    """
    from pydantic import ValidationError

    if not isinstance(value, Mapping):
        return None
    try:
        return kind.model_validate({name: value[name] for name in names if name in value})  # type: ignore[attr-defined]
    except (ValidationError, RecursionError):
        return None


def count(table: object, *names: str) -> int | None:
    """Return a number of tokens or pictures below these names; None where none is told."""
    told = dig(table, *names)
    return told if type(told) is int and 0 <= told <= MOST_TOKENS else None


def made(
    body: Mapping[str, Any],
    outcome: Outcome,
    detail: object = None,
    *,
    text: str | None = None,
    pictures: Sequence[bytes] = (),
    usage: Usage | None = None,
) -> Reply:
    """Return the reply; its model is what the body says, its detail a code or nothing."""
    model = body.get("model")
    return Reply(
        outcome,
        text=text,
        images=tuple(pictures),
        detail=code(detail),
        answered_model=model if isinstance(model, str) and model else None,
        usage=usage.to_json() if usage is not None else None,
    )


def verdict(told: object, verdicts: Verdicts, otherwise: Outcome) -> Outcome:
    """Return what an error code inside a reply says; `*` in a verdict's code is anything."""
    word = code(told) or ""
    return next((outcome for known, outcome in verdicts if fnmatchcase(word, known)), otherwise)


def read_pictures(
    body: Mapping[str, Any], usage: Usage | None, verdicts: Verdicts, otherwise: Outcome
) -> Reply:
    """Return the reply of an image endpoint: `data` with pictures in base64, or their errors.

    Pictures may fail one by one; the first that came is the answer then. A body with an error and
    no data, and a picture that failed, end as `verdicts` say, and `otherwise` if they do not.
    """
    from openai.types import Image

    data, told = body.get("data"), dig(body, "error", "code")
    if not isinstance(data, list):
        outcome = verdict(told, verdicts, Outcome.MALFORMED)
        return made(body, outcome, code(told) or "no_data", usage=usage)
    pictures: list[bytes] = []
    errors: list[object] = []
    for item in data:
        if isinstance(item, dict) and isinstance(item.get("error"), dict):
            errors.append(code(item["error"].get("code")) or "unnamed_error")
            continue
        image = typed(Image, item, "b64_json", "url")
        picture = decoded(image.b64_json) if image else None
        if picture is None:
            lies_elsewhere = image is not None and image.b64_json is None and image.url is not None
            detail = "url" if lies_elsewhere else "not_base64"
            return made(body, Outcome.MALFORMED, detail, usage=usage)
        pictures.append(picture)
    if pictures:
        return made(body, Outcome.OK, pictures=pictures, usage=usage)
    if errors:
        return made(body, verdict(errors[0], verdicts, otherwise), errors[0], usage=usage)
    return made(body, Outcome.NO_IMAGE, "no_data", usage=usage)


def painted_usage(told: object, images: int) -> Usage | None:
    """Return what an image model used; None where it does not say, or says nonsense.

    What the details of a side leave out counts as pictures, which cost more.
    """
    sides: list[int] = []
    for side in ("input", "output"):
        whole, details = count(told, f"{side}_tokens"), f"{side}_tokens_details"
        if whole is None:
            return None
        text, image = (count(told, details, kind) or 0 for kind in ("text_tokens", "image_tokens"))
        sides += [text, image + max(0, whole - text - image)]
    return Usage(*sides, images)
