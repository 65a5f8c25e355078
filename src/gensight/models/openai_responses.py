"""OpenAI's Responses API: texts and pictures in their order, answered by a text or a picture.

With `image_tool` the language model paints through an image model, which that mapping must name:
the API's default changes. The language model may put the prompt in other words (`revised_prompt` in
the kept reply), so a model that is to be measured by the prompt's own words goes through
`openai_images`. Source: OpenAI API reference, responses.

Nothing is stored at the provider (`store: false`). There is no seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gensight.models import Outcome, Part, Reply, Turn
from gensight.models._openai import (
    OpenAIAdapter,
    body_of,
    check_mapping,
    count,
    given,
    made,
    open_sdk,
    painted_usage,
    pictures_of,
    send_once,
    settings_of,
    typed,
    verdict,
)
from gensight.models._pictures import data_uri, decoded
from gensight.models._settings import stated
from gensight.models.openai_images import asked_size, check_size
from gensight.providers.faults import dig
from gensight.providers.usage import Usage
from gensight.specs.words import unknown

if TYPE_CHECKING:
    from gensight.models import HostedAdapter
    from gensight.providers import Connection, Exchange

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image", "text"]
SPENDS = {
    "max_tokens": "max_output_tokens",
    "size": "image_tool.size",
    "quality": "image_tool.quality",
}

# null, and provider_default: not sent.
DEFAULTS = {
    "model": None,
    "max_output_tokens": None,
    # Higher limits that a reply cut at its limit is asked again with, one after the other.
    "length_ladder": [],
    "temperature": None,
    "top_p": None,
    "verbosity": None,
    "image_detail": None,
    "reasoning_effort": None,
    "assumed_reasoning_effort": None,
    # {model: gpt-image-2-2026-04-21, size: .., quality: .., ..}: the answer is a picture then.
    "image_tool": None,
    # What goes with the tool alone: it must be called, and once, for every call is paid.
    "force_image_tool": True,
    "max_tool_calls": 1,
}
REQUIRED = ["model"]
CHOICES = {
    "verbosity": [None, "low", "medium", "high"],
    "image_detail": [None, "auto", "low", "high", "original"],
}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
TOOL_SETTINGS = (
    "model",
    "action",
    "background",
    "complexity",
    "input_fidelity",
    "moderation",
    "output_compression",
    "output_format",
    "quality",
)
LEAST = {"max_output_tokens": 1, "max_tool_calls": 1, "temperature": 0.0, "top_p": 0.0}
MOST_PICTURES = 500
MOST_BYTES = 50_000_000
# Of an error inside a reply; what stopped the picture says so by its stage.
VERDICTS = (
    ("image_content_policy_violation", Outcome.REFUSED_INPUT),
    ("invalid_prompt", Outcome.REFUSED_INPUT),
    ("bio_policy", Outcome.REFUSED_INPUT),
    ("cyber_policy", Outcome.REFUSED_INPUT),
    ("misalignment_policy_violation", Outcome.REFUSED_OUTPUT),
    ("moderation_blocked", Outcome.REFUSED_OUTPUT),
    ("content_policy_violation", Outcome.REFUSED_OUTPUT),
)
INCOMPLETE = {
    "max_output_tokens": Outcome.TRUNCATED,
    "content_filter": Outcome.REFUSED_OUTPUT,
}


def connect(generation: Mapping[str, Any], connection: Connection) -> HostedAdapter:
    """Connect to the model that a generation block describes.

    Raises:
        SpecError: unknown key or value, or an image tool without its model.
        GensightError: OpenAI's SDK is not installed.
    """
    settings = settings_of("openai_responses", generation, LEAST)
    effort_of(settings)
    tool = settings["image_tool"]
    if tool is not None:
        check_mapping("image_tool", tool, (*TOOL_SETTINGS, "size"), needed="model")
        check_size("image_tool.size", tool.get("size", "provider_default"))
    return ResponsesAdapter(settings, open_sdk("openai_responses", connection, own_account=True))


def effort_of(settings: Mapping[str, Any]) -> str | None:
    """Return how hard the model is asked to think; None where it is left to it.

    Raises:
        SpecError: it is no such word, or it is given twice.
    """
    effort = stated(settings, "reasoning_effort")
    if effort is None or effort in EFFORTS:
        return effort
    raise unknown("adapter openai_responses", "generation.reasoning_effort", effort, EFFORTS)


class ResponsesAdapter(OpenAIAdapter):
    """A language model of OpenAI, with or without an image tool."""

    def send(self, turn: Turn) -> None:
        """Ask one turn, once.

        Raises:
            ImageError: the pictures cannot be sent.
            SpecError: the size is to be that of a picture, and there is none.
        """
        pictures = pictures_of(turn, MOST_PICTURES, MOST_BYTES)
        content = [_content(part, self.settings["image_detail"]) for part in turn.parts]
        arguments = {
            "input": [{"role": "user", "content": content}],
            "store": False,
            **given(self.settings, ("model", "max_output_tokens", "temperature", "top_p")),
            **self._ways(),
            **self._tools(pictures),
        }
        if turn.max_tokens is not None:
            arguments["max_output_tokens"] = turn.max_tokens
        send_once(self.client.responses.create, arguments)

    def _ways(self) -> dict[str, Any]:
        ways: dict[str, Any] = {}
        if (effort := effort_of(self.settings)) is not None:
            ways["reasoning"] = {"effort": effort}
        if self.settings["verbosity"] is not None:
            ways["text"] = {"verbosity": self.settings["verbosity"]}
        return ways

    def _tools(self, pictures: Sequence[bytes]) -> dict[str, Any]:
        tool = self.settings["image_tool"]
        if tool is None:
            return {}
        size = asked_size("image_tool.size", tool.get("size", "provider_default"), pictures)
        sent = {"type": "image_generation", **given(tool, [n for n in TOOL_SETTINGS if n in tool])}
        tools: dict[str, Any] = {"tools": [{**sent, **size}]}
        if self.settings["force_image_tool"]:
            tools["tool_choice"] = {"type": "image_generation"}
        return {**tools, **given(self.settings, ["max_tool_calls"])}

    def read(self, exchanges: Sequence[Exchange]) -> Reply:
        """Return the reply that a recorded round trip holds."""
        body = body_of(exchanges[-1])
        items = body.get("output")
        if not isinstance(items, list):
            told = dig(body, "error", "code")
            return made(body, verdict(told, VERDICTS, Outcome.MALFORMED), told or "no_output")
        if self.settings["image_tool"] is None:
            return _read_text(body, items)
        return _read_picture(body, items)


def _content(part: Part, detail: str | None) -> dict[str, Any]:
    if part.image is None:
        return {"type": "input_text", "text": part.text or ""}
    image = {"type": "input_image", "image_url": data_uri(part.image)}
    return image if detail is None else {**image, "detail": detail}


def _read_text(body: Mapping[str, Any], items: list[Any]) -> Reply:
    usage = _usage(body, 0)
    words = _words(items)
    if words is None:
        return made(body, Outcome.MALFORMED, "no_text", usage=usage)
    text, refusal = words
    ended = _ended(body)
    if ended is not None:
        return made(body, *ended, text=text, usage=usage)
    if refusal is not None:
        return made(body, Outcome.REFUSED_OUTPUT, "refusal", text=text or refusal, usage=usage)
    if text is None:
        return made(body, Outcome.MALFORMED, "empty", usage=usage)
    return made(body, Outcome.OK, text=text, usage=usage)


def _read_picture(body: Mapping[str, Any], items: list[Any]) -> Reply:
    """Return a reply whose answer is a picture: the last that the tool made, then the others."""
    calls = [i for i in items if isinstance(i, dict) and i.get("type") == "image_generation_call"]
    results = [result for result in map(_result, calls) if result is not None]
    pictures = [picture for picture in map(decoded, results) if picture is not None]
    usage = _usage(body, len(results))
    text, refusal = _words(items) or (None, None)
    if len(pictures) < len(results):
        return made(body, Outcome.MALFORMED, "not_base64", text=text, usage=usage)
    if pictures:
        pictures = [pictures[-1], *pictures[:-1]]
        return made(body, Outcome.OK, text=text, pictures=pictures, usage=usage)
    stopped = _stopped(calls) or _ended(body)
    if stopped is not None:
        return made(body, *stopped, text=text, usage=usage)
    if refusal is not None:
        return made(body, Outcome.REFUSED_OUTPUT, "refusal", text=text or refusal, usage=usage)
    if calls:
        return made(body, Outcome.NO_IMAGE, "no_result", text=text, usage=usage)
    outcome = Outcome.NO_IMAGE if text is None else Outcome.TEXT_ONLY
    return made(body, outcome, "no_call", text=text, usage=usage)


def _result(call: dict[str, Any]) -> object | None:
    """Return the picture of a call, in base64; None where it has none, or has an error."""
    if isinstance(call.get("error"), dict):
        return None
    return call.get("result")


def _stopped(calls: list[dict[str, Any]]) -> tuple[Outcome, object] | None:
    """Return what stopped the tool, if its calls say so, with the error's code."""
    for call in calls:
        error = call.get("error")
        if isinstance(error, dict):
            stage = dig(error, "moderation_details", "moderation_stage")
            told = error.get("code")
            if stage == "input":
                return Outcome.REFUSED_INPUT, told
            otherwise = Outcome.NO_IMAGE if stage is None else Outcome.REFUSED_OUTPUT
            return verdict(told, VERDICTS, otherwise), told
    return None


def _ended(body: Mapping[str, Any]) -> tuple[Outcome, object] | None:
    """Return how a reply ended that is not whole, with its code; None for one that is."""
    status, error = body.get("status"), body.get("error")
    if status == "completed" and error is None:
        return None
    reason, told = dig(body, "incomplete_details", "reason"), dig(error, "code")
    if status == "incomplete" and isinstance(reason, str):
        return INCOMPLETE.get(reason, Outcome.MALFORMED), reason
    return verdict(told, VERDICTS, Outcome.MALFORMED), told or status or "no_status"


def _words(items: list[Any]) -> tuple[str | None, str | None] | None:
    """Return (text, refusal) of all messages; None where one is not as the SDK's types have it.

    Each of both is None where there is none of it. What a model says on its way to the answer
    (`commentary`) is left out.
    """
    texts: list[str] = []
    refusals: list[str] = []
    for part in _message_parts(items):
        kind = part.get("type") if isinstance(part, dict) else None
        said = _said(kind, part)
        if said is None:
            return None
        (texts if kind == "output_text" else refusals).append(said)
    return "".join(texts) or None, "".join(refusals) or None


def _message_parts(items: list[Any]) -> Iterator[Any]:
    for item in items:
        is_message = isinstance(item, dict) and item.get("type") == "message"
        if is_message and item.get("phase") != "commentary":
            content = item.get("content")
            yield from content if isinstance(content, list) else [content]


def _said(kind: object, part: Any) -> str | None:
    """Return the words of one part of a message; None where it has none."""
    from openai.types.responses import ResponseOutputRefusal, ResponseOutputText

    if kind == "output_text":
        # Annotations are not read, and the type needs some.
        bare = {**part, "annotations": []}
        spoken = typed(ResponseOutputText, bare, "type", "text", "annotations")
        return spoken.text if spoken else None
    if kind == "refusal":
        refused = typed(ResponseOutputRefusal, part, "type", "refusal")
        return refused.refusal if refused else None
    return None


def _usage(body: Mapping[str, Any], images: int) -> Usage | None:
    """Return the tokens of the language model and of the image tool; None where one is not told."""
    told = body.get("usage")
    words_in, words_out = count(told, "input_tokens"), count(told, "output_tokens")
    tool = painted_usage(dig(body, "tool_usage", "image_gen"), images)
    if words_in is None or words_out is None or (tool is None and images):
        return None
    if tool is None:
        return Usage(words_in, 0, words_out)
    return replace(
        tool,
        input_text_tokens=words_in + tool.input_text_tokens,
        output_text_tokens=words_out + tool.output_text_tokens,
    )
