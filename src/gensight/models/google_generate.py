"""Gemini models that read and paint, by `models.generateContent` of Google's Gemini API.

Texts and pictures go in their order. A model thinks in pictures too: its thought parts are never
the answer. Refusals come with HTTP 200 and a finish reason, or as feedback on the prompt.

A setting that a paper lost is named `assumed_`; the value `provider_default` is not sent.
`thinking` is a level (`minimal` to `xhigh`) or a budget in tokens (0 is off, -1 the model's own).
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
SPENDS = {"max_tokens": "max_output_tokens", "size": "image_size", "quality": None}
ANSWERS = ["image", "text"]

DEFAULTS = {
    "model": None,
    "api_version": "v1beta",
    "response_modalities": [],
    "response_mime_type": None,
    "image_size": None,
    "assumed_image_size": None,
    "aspect_ratio": None,
    "temperature": None,
    "assumed_temperature": None,
    "top_p": None,
    "top_k": None,
    "seed": None,
    "max_output_tokens": None,
    # Higher limits that a reply cut at its limit is asked again with, one after the other.
    "length_ladder": [],
    "thinking": None,
    "assumed_thinking": None,
    "media_resolution": None,
    "safety_threshold": None,
}
REQUIRED = ["model"]
CHOICES = {
    "api_version": ["v1beta", "v1"],
    "response_modalities": ["TEXT", "IMAGE"],
    "media_resolution": [None, "low", "medium", "high"],
    "safety_threshold": [
        None,
        "OFF",
        "BLOCK_NONE",
        "BLOCK_ONLY_HIGH",
        "BLOCK_MEDIUM_AND_ABOVE",
        "BLOCK_LOW_AND_ABOVE",
    ],
}


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the model that a generation block describes; nothing is sent yet.

    Raises:
        SpecError: unknown key or value; the message names it.
        GensightError: the SDK is not installed.
    """
    settings = complete("google_generate", generation)
    load_sdk("google_generate", "google.genai", "google")
    from gensight.models._google import GoogleGenerate

    return GoogleGenerate(settings, connection)
