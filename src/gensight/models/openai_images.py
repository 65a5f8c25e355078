"""OpenAI's image endpoints: pictures edited by one text, or made from a text alone.

`images/edits` where the turn has pictures (1 to 16), `images/generations` where it has none. Texts
are joined in order by a blank line, so where a picture stood between them is lost: interleaved
prompts go through `openai_responses`. Source: OpenAI API reference, images.

An edit takes neither seed nor temperature nor moderation, so there is no such setting but
`moderation`, which goes with pictures made from text; `input_fidelity` goes with edits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gensight.errors import SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models._openai import (
    OpenAIAdapter,
    body_of,
    given,
    open_sdk,
    painted_usage,
    pictures_of,
    read_pictures,
    send_once,
    settings_of,
    texts_of,
)
from gensight.models._pictures import sent_file, size_like
from gensight.models._settings import PROVIDER_DEFAULT

if TYPE_CHECKING:
    from gensight.models import HostedAdapter
    from gensight.providers import Connection, Exchange
    from gensight.providers.usage import Usage

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
SPENDS = {"max_tokens": None, "size": "assumed_size", "quality": "assumed_quality"}

# null, and provider_default: not sent.
DEFAULTS = {
    "model": None,
    "n": 1,
    "output_format": "png",
    "output_compression": None,
    "background": None,
    "complexity": None,
    "input_fidelity": None,
    "moderation": None,
    # WIDTHxHEIGHT, auto, or `input`: the first picture's, see `providers.sizes`. Only
    # models of free size (gpt-image-2 and later) take `input`.
    "assumed_size": "provider_default",
    "assumed_quality": "provider_default",
}
REQUIRED = ["model"]
CHOICES = {
    "n": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    "output_format": ["png", "jpeg", "webp"],
    "background": [None, "transparent", "opaque", "auto"],
    "complexity": [None, "low", "medium", "high"],
    "input_fidelity": [None, "low", "high"],
    "moderation": [None, "low", "auto"],
    "assumed_quality": ["provider_default", "low", "medium", "high", "xhigh", "max", "auto"],
}
#: Of both endpoints; then what only one of them has.
SHARED = ("model", "n", "output_format", "output_compression", "background", "complexity")
MOST_PICTURES = 16
MOST_BYTES = 50_000_000
SIZE = re.compile(rf"[1-9]\d*x[1-9]\d*|auto|input|{PROVIDER_DEFAULT}")
VERDICTS = (
    ("moderation_blocked", Outcome.REFUSED_OUTPUT),
    ("*content_policy_violation", Outcome.REFUSED_OUTPUT),
)


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the image model that a generation block describes.

    Raises:
        SpecError: unknown key or value; the message names the key and what is allowed.
        GensightError: OpenAI's SDK is not installed.
    """
    settings = settings_of("openai_images", generation, {"output_compression": 0})
    check_size("assumed_size", settings["assumed_size"])
    return ImagesAdapter(settings, open_sdk("openai_images", connection, own_account=True))


def check_size(key: str, size: object) -> None:
    """Raise SpecError for a size that is neither WIDTHxHEIGHT nor one of the words."""
    if not isinstance(size, str) or not SIZE.fullmatch(size):
        raise SpecError(
            f"generation: {key}: {size!r} is no size; allowed: WIDTHxHEIGHT (1024x1024), "
            f"auto, input, {PROVIDER_DEFAULT}"
        )


def asked_size(key: str, size: str, pictures: Sequence[bytes]) -> dict[str, str]:
    """Return the size to send, if any; `input` is that of the first picture.

    Raises:
        SpecError: the size is to be the input's, and there is no picture.
    """
    if size == PROVIDER_DEFAULT:
        return {}
    if size != "input":
        return {"size": size}
    if not pictures:
        raise SpecError(
            f"generation: {key}: 'input' needs a picture, and the prompt has none; "
            f"set WIDTHxHEIGHT, auto or {PROVIDER_DEFAULT}"
        )
    return {"size": size_like(pictures[0])}


class ImagesAdapter(OpenAIAdapter):
    """An image model of OpenAI."""

    def send(self, turn: Turn) -> None:
        """Ask for the picture of a turn, once.

        Raises:
            ImageError: the pictures cannot be sent.
            SpecError: the size is to be that of a picture, and there is none.
        """
        pictures = pictures_of(turn, MOST_PICTURES, MOST_BYTES)
        only_here = "input_fidelity" if pictures else "moderation"
        arguments = {
            "prompt": texts_of(turn),
            **given(self.settings, (*SHARED, only_here, "assumed_quality")),
            **asked_size("assumed_size", self.settings["assumed_size"], pictures),
        }
        if not pictures:
            send_once(self.client.images.generate, arguments)
            return
        files = [sent_file(picture, number) for number, picture in enumerate(pictures, start=1)]
        image = files if len(files) > 1 else files[0]
        send_once(self.client.images.edit, {"image": image, **arguments})

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that a recorded round trip holds."""
        body = body_of(exchanges[-1])
        return read_pictures(body, _usage(body), VERDICTS, Outcome.NO_IMAGE)


def _usage(body: Mapping[str, Any]) -> Usage | None:
    data = body.get("data")
    return painted_usage(body.get("usage"), len(data) if isinstance(data, list) else 0)
