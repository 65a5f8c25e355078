"""Claude models, which read pictures and answer in words, by Anthropic's Messages API.

Texts and pictures go in their order. A picture above the model's size would be shrunk unseen,
which spoils coordinates and counts: with `oversized_image: error` the request fails instead.

There is no seed, and no temperature: the SDK's request has no such field. `thinking` is
`adaptive`, `disabled` or a budget in tokens; `provider_default` is not sent.
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
SPENDS = {"max_tokens": "max_tokens", "size": None, "quality": None}
ANSWERS = ["text"]

DEFAULTS = {
    "model": None,
    # The API needs a limit, so one of the two must be given.
    "max_tokens": None,
    "assumed_max_tokens": None,
    # Higher limits that a reply cut at its limit is asked again with, one after the other.
    "length_ladder": [],
    "oversized_image": "error",
    "thinking": None,
    "assumed_thinking": None,
    "effort": None,
    "service_tier": None,
}
REQUIRED = ["model"]
CHOICES = {
    "oversized_image": ["error", "downsize"],
    "effort": [None, "low", "medium", "high", "xhigh", "max"],
    "service_tier": [None, "auto", "standard_only"],
}


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the model that a generation block describes; nothing is sent yet.

    Raises:
        SpecError: unknown key or value, or no limit of tokens; the message names it.
        GensightError: the SDK is not installed.
    """
    settings = complete("anthropic_messages", generation)
    load_sdk("anthropic_messages", "anthropic", "anthropic")
    from gensight.models._anthropic import AnthropicMessages

    return AnthropicMessages(settings, connection)
