"""The adapter of `anthropic_messages`: what it sends with anthropic, and what replies are."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from anthropic import Anthropic, Omit, types
from pydantic import ValidationError

from gensight.errors import SpecError
from gensight.models import Part, Reply, Turn
from gensight.models._bodies import tokens
from gensight.models._pictures import mime_of
from gensight.models._settings import count, stated
from gensight.outcomes import Outcome
from gensight.providers import Connection, Exchange
from gensight.providers.faults import code, dig
from gensight.providers.usage import Usage

DONE = frozenset({"end_turn", "stop_sequence"})
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
#: No tools are offered, and a turn that the server pauses has not been answered.
BROKEN = frozenset({"tool_use", "pause_turn"})
#: The SDK names no smaller budget.
LEAST_BUDGET = 1024
#: Where the SDK takes further headers from.
FOREIGN_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"


class AnthropicMessages:
    """One Claude model under one generation block."""

    def __init__(self, settings: Mapping[str, Any], connection: Connection) -> None:
        limit = count(settings, "max_tokens")
        if limit is None:
            raise SpecError(
                "adapter anthropic_messages: key 'generation.max_tokens' is missing; add it (or "
                "assumed_max_tokens): the API needs a limit"
            )
        if os.environ.get(FOREIGN_HEADERS):
            raise SpecError(
                f"adapter anthropic_messages: the environment variable {FOREIGN_HEADERS} adds to "
                f"requests what no record would tell; unset it"
            )
        self._max_tokens = limit
        self._oversized_image = settings["oversized_image"]
        self._asked = {"model": settings["model"], **_optional(settings)}
        self._client = Anthropic(
            api_key=connection.key,
            base_url=connection.base_url,
            # The API reference's header; the SDK alone would send the key as a bearer's token.
            default_headers={"x-api-key": connection.key, "authorization": Omit()},  # type: ignore[dict-item]
            http_client=connection.client,
            # A limit of time that is given here keeps the SDK from refusing long answers.
            timeout=connection.client.timeout,
            max_retries=0,
            open_telemetry=False,
        )

    def send(self, turn: Turn) -> None:
        """Ask once; the SDK's own answer is not used."""
        content = [self._block(part) for part in turn.parts]
        limit = self._max_tokens if turn.max_tokens is None else turn.max_tokens
        with suppress(Exception):
            self._client.messages.create(
                max_tokens=limit, messages=[{"role": "user", "content": content}], **self._asked
            )

    def follow(self, exchanges: Sequence[Exchange]) -> None:
        """Do nothing: the first reply is the answer."""

    def keeps(self, exchange: Exchange) -> bool:
        """Keep every round trip."""
        return True

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that the last round trip holds."""
        return reply_of(exchanges[-1].json)

    def _block(self, part: Part) -> Any:
        if part.image is None:
            return {"type": "text", "text": part.text or ""}
        return {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": mime_of(part.image),
                "data": base64.b64encode(part.image).decode("ascii"),
            },
            "transformations": {"oversized_image": self._oversized_image},
        }


def _optional(settings: Mapping[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    thinking = stated(settings, "thinking")
    if thinking is not None:
        asked["thinking"] = _thinking(thinking)
    if settings["effort"] is not None:
        asked["output_config"] = {"effort": settings["effort"]}
    if settings["service_tier"] is not None:
        asked["service_tier"] = settings["service_tier"]
    return asked


def _thinking(thinking: Any) -> dict[str, Any]:
    if thinking in ("adaptive", "disabled"):
        return {"type": thinking}
    is_number = isinstance(thinking, int) and not isinstance(thinking, bool)
    if is_number and thinking >= LEAST_BUDGET:
        return {"type": "enabled", "budget_tokens": thinking}
    raise SpecError(
        f"generation: thinking: {thinking!r} is neither provider_default, adaptive or disabled nor "
        f"a budget of at least {LEAST_BUDGET} tokens"
    )


def reply_of(body: Any) -> Reply:
    """Return the reply of a parsed body; whatever the body is, nothing is raised.

    An end for a reason that is not known here goes by whether there is a text, and its reason is
    the detail.
    """
    try:
        message = _validated(body)
    except ValidationError as error:
        return Reply(Outcome.MALFORMED, detail=f"body_{error.errors()[0]['type']}")
    text = "".join(block.text for block in message.content if block.type == "text")
    outcome, detail = _end(body, text)
    return Reply(
        outcome,
        text=text or None,
        detail=detail,
        answered_model=str(message.model),
        usage=_usage(dig(body, "usage")),
    )


def _validated(body: Any) -> types.Message:
    """Return the message with what is read of it only: its texts and its model.

    The SDK's type refuses reasons, categories and blocks that are newer than itself; none of them
    makes a text worse.
    """
    if not isinstance(body, dict):
        return types.Message.model_validate(body)
    content = body.get("content")
    if isinstance(content, list):
        content = [_bare(block) for block in content if _is_read(block)]
    read = {name: body.get(name) for name in ("id", "type", "role", "model")}
    usage = {"input_tokens": 0, "output_tokens": 0}
    return types.Message.model_validate({**read, "content": content, "usage": usage})


def _is_read(block: Any) -> bool:
    """Say whether a block is a text, or nothing that an answer may hold."""
    kind = dig(block, "type")
    return kind == "text" or not isinstance(kind, str)


def _bare(block: Any) -> Any:
    return {"type": "text", "text": block.get("text")} if dig(block, "type") else block


def _end(body: Any, text: str) -> tuple[Outcome, str | None]:
    reason = code(dig(body, "stop_reason")) or "no_stop_reason"
    if reason == "refusal":
        return Outcome.REFUSED_OUTPUT, code(dig(body, "stop_details", "category")) or reason
    if reason in CUT:
        return Outcome.TRUNCATED, reason
    if reason in BROKEN:
        return Outcome.MALFORMED, reason
    odd = None if reason in DONE else reason
    if text.strip():
        return Outcome.OK, odd
    return Outcome.MALFORMED, odd or "empty"


def _usage(told: Any) -> str | None:
    """Return what was used; None where the body does not say, or says nonsense.

    Pictures cost what texts cost, and are not told apart. Tokens of thinking are output.
    """
    if dig(told, "input_tokens") is None or dig(told, "output_tokens") is None:
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    into = [tokens(dig(told, name)) for name in names]
    out = tokens(dig(told, "output_tokens"))
    if None in into or out is None:
        return None
    return Usage(input_text_tokens=sum(into), output_text_tokens=out).to_json()  # type: ignore[arg-type]
