"""FLUX.2 as Black Forest Labs hosts it: a task is bought once, and then fetched as often as needed.

The reply to the one paid request names an address to poll, and is kept before it is read: a run
that was killed there finishes by polling. Pictures go beside one text, which refers to them by
their order. There is no SDK; the client is the one that all adapters share.

`size` is `input` (the sides of the first picture, as near as the API allows), `{width}x{height}`,
or null or `provider_default`: not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gensight.models._settings import complete, load_sdk

if TYPE_CHECKING:
    from gensight.models import HostedAdapter
    from gensight.providers import Connection

VERSION = 1
READS_TRUTH = False
SPENDS = {"max_tokens": None, "size": "size", "quality": None}
ANSWERS = ["image"]

DEFAULTS = {
    "model": None,
    "size": None,
    "assumed_size": None,
    "output_format": "png",
    "prompt_upsampling": False,
    "seed": None,
    "safety_tolerance": None,
    # Of flux-2-flex only.
    "guidance": None,
    "steps": None,
}
REQUIRED = ["model"]
CHOICES = {"output_format": ["png", "jpeg"], "safety_tolerance": [None, 0, 1, 2, 3, 4, 5]}


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the model that a generation block describes; nothing is sent yet.

    Raises:
        SpecError: unknown key or value; the message names it.
        GensightError: the HTTP client is not installed.
    """
    settings = complete("bfl_task", generation)
    load_sdk("bfl_task", "httpx2", "hosted")
    from gensight.models._bfl import BflTask

    return BflTask(settings, connection)
