"""The adapter of `google_generate`: what it sends with google-genai, and what replies are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from google import genai
from google.genai import types

from gensight.errors import SpecError
from gensight.models import Part, Reply, Turn
from gensight.models._google_reply import reply_of
from gensight.models._pictures import mime_of
from gensight.models._settings import checked_by_sdk, count, stated
from gensight.providers import Connection, Exchange

LEVELS = ("minimal", "low", "medium", "high", "xhigh")
#: The API's seed is a signed number of 32 bits.
SEEDS = 2**31
#: The four categories whose filters can be set on the Gemini API.
HARMS = (
    "HARM_CATEGORY_HARASSMENT",
    "HARM_CATEGORY_HATE_SPEECH",
    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    "HARM_CATEGORY_DANGEROUS_CONTENT",
)
MILLISECONDS = 1000


class GoogleGenerate:
    """One Gemini model under one generation block."""

    def __init__(self, settings: Mapping[str, Any], connection: Connection) -> None:
        self._settings = settings
        self._wants_image = "IMAGE" in settings["response_modalities"]
        with checked_by_sdk("google_generate"):
            self._config = _config(settings)
        # Given no limit, the SDK waits for ever, whatever the client's own limit is.
        limit_s = connection.client.timeout.read
        self._client = genai.Client(
            api_key=connection.key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=connection.base_url,
                api_version=settings["api_version"],
                httpx_client=connection.client,
                timeout=None if limit_s is None else max(1, round(limit_s * MILLISECONDS)),
            ),
        )

    def send(self, turn: Turn) -> None:
        """Ask once; the SDK's own answer is not used."""
        contents = [types.Content(role="user", parts=[_part(part) for part in turn.parts])]
        changes: dict[str, Any] = {}
        if self._settings["seed"] is not None and turn.seed is not None:
            changes["seed"] = turn.seed % SEEDS
        if turn.max_tokens is not None:
            changes["max_output_tokens"] = turn.max_tokens
        config = self._config.model_copy(update=changes)
        with suppress(Exception):
            self._client.models.generate_content(
                model=self._settings["model"], contents=contents, config=config
            )

    def follow(self, exchanges: Sequence[Exchange]) -> None:
        """Do nothing: the first reply is the answer."""

    def keeps(self, exchange: Exchange) -> bool:
        """Keep every round trip."""
        return True

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that the last round trip holds."""
        return reply_of(exchanges[-1].json, wants_image=self._wants_image)


def _part(part: Part) -> types.Part:
    if part.image is None:
        return types.Part.from_text(text=part.text or "")
    return types.Part.from_bytes(data=part.image, mime_type=mime_of(part.image))


def _config(settings: Mapping[str, Any]) -> types.GenerateContentConfig:
    resolution, threshold = settings["media_resolution"], settings["safety_threshold"]
    size, ratio = stated(settings, "image_size"), settings["aspect_ratio"]
    return types.GenerateContentConfig(
        response_modalities=settings["response_modalities"] or None,
        response_mime_type=settings["response_mime_type"],
        image_config=types.ImageConfig(aspect_ratio=ratio, image_size=size)
        if size or ratio
        else None,
        temperature=stated(settings, "temperature"),
        top_p=settings["top_p"],
        top_k=settings["top_k"],
        max_output_tokens=count(settings, "max_output_tokens"),
        thinking_config=_thinking(stated(settings, "thinking")),
        media_resolution=f"MEDIA_RESOLUTION_{resolution.upper()}" if resolution else None,
        safety_settings=[types.SafetySetting(category=harm, threshold=threshold) for harm in HARMS]
        if threshold
        else None,
        # Both would ask again, and pay again, out of sight.
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


def _thinking(thinking: Any) -> types.ThinkingConfig | None:
    if thinking is None:
        return None
    if isinstance(thinking, int) and not isinstance(thinking, bool) and thinking >= -1:
        return types.ThinkingConfig(thinking_budget=thinking)
    if thinking in LEVELS:
        return types.ThinkingConfig(thinking_level=str(thinking).upper())
    raise SpecError(
        f"generation: thinking: {thinking!r} is neither a budget in tokens nor one of "
        f"provider_default, {', '.join(LEVELS)}"
    )
