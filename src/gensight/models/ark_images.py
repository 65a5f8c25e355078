"""Seedream on ByteDance Ark, through OpenAI's SDK: pictures from pictures and one text.

One endpoint for both, `images/generations`; the pictures of a turn (up to 14) go into `image`, and
its texts are joined in order by a blank line, so a prompt must call pictures by their order.
Source: Volcengine Ark API reference, image generation. Its ids and hosts differ from BytePlus's.

A picture can fail inside a reply of 200, by a code of its own. One picture is asked for, without
a watermark, as base64: an address would expire before it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gensight.errors import SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models._openai import (
    OpenAIAdapter,
    body_of,
    count,
    given,
    open_sdk,
    pictures_of,
    read_pictures,
    send_once,
    sent_seed,
    settings_of,
    texts_of,
)
from gensight.models._pictures import data_uri
from gensight.providers.usage import Usage

if TYPE_CHECKING:
    from gensight.models import HostedAdapter
    from gensight.providers import Connection, Exchange

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
SPENDS = {"max_tokens": None, "size": "assumed_size", "quality": None}

# null, and provider_default: not sent. `watermark` is sent always: the provider's default is true,
# and a stamp would spoil masks and depth.
DEFAULTS = {
    "model": None,
    "watermark": False,
    "sequential_image_generation": "disabled",
    "response_format": "b64_json",
    "seed": None,
    "guidance_scale": None,
    "output_format": None,
    "optimize_prompt_options": None,
    # A word (1K, 2K, 3K, 4K) or WIDTHxHEIGHT, within the model's own limits.
    "assumed_size": "provider_default",
}
REQUIRED = ["model"]
CHOICES = {
    "watermark": [False],
    "sequential_image_generation": ["disabled"],
    "response_format": ["b64_json"],
    "output_format": [None, "png", "jpeg"],
}
STANDARD = ("model", "response_format", "output_format", "assumed_size")
BEYOND_OPENAI = (
    "watermark",
    "sequential_image_generation",
    "guidance_scale",
    "optimize_prompt_options",
)
LEAST = {"seed": 0, "guidance_scale": 0.0}
MOST_PICTURES = 14
MOST_BYTES = 10_000_000
# The codes are assumed from the vendor's naming.
VERDICTS = (
    ("Input*SensitiveContentDetected*", Outcome.REFUSED_INPUT),
    ("Input*RiskDetection*", Outcome.REFUSED_INPUT),
    ("*SensitiveContentDetected*", Outcome.REFUSED_OUTPUT),
    ("*RiskDetection*", Outcome.REFUSED_OUTPUT),
)


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the Seedream model that a generation block describes.

    Raises:
        SpecError: unknown key or value; the message names the key and what is allowed.
        GensightError: OpenAI's SDK is not installed.
    """
    settings = settings_of("ark_images", generation, LEAST)
    if settings["assumed_size"] == "input":
        raise SpecError(
            "generation: assumed_size: 'input' is not here: most inputs are below what Seedream "
            "makes; set 2K or WIDTHxHEIGHT, or leave it to the provider_default"
        )
    return ArkAdapter(settings, open_sdk("ark_images", connection, own_account=False))


class ArkAdapter(OpenAIAdapter):
    """An image model on Ark."""

    def send(self, turn: Turn) -> None:
        """Ask for the picture of a turn, once.

        Raises:
            ImageError: the pictures cannot be sent.
        """
        pictures = [data_uri(p) for p in pictures_of(turn, MOST_PICTURES, MOST_BYTES)]
        beyond = {**given(self.settings, BEYOND_OPENAI), **sent_seed(self.settings, turn)}
        if pictures:
            beyond["image"] = pictures if len(pictures) > 1 else pictures[0]
        send_once(
            self.client.images.generate,
            {
                "prompt": texts_of(turn),
                **given(self.settings, STANDARD),
                "extra_body": beyond,
            },
        )

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that a recorded round trip holds."""
        body = body_of(exchanges[-1])
        return read_pictures(body, _usage(body), VERDICTS, Outcome.NO_IMAGE)


def _usage(body: Mapping[str, Any]) -> Usage | None:
    """Return what was used; pictures are paid by the piece, so their number must be told."""
    told = body.get("usage")
    images = count(told, "generated_images")
    if images is None:
        return None
    return Usage(output_image_tokens=count(told, "output_tokens") or 0, images=images)
