"""What a body of `models.generateContent` says, with the types of google-genai."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import ValidationError

from gensight.models import Reply
from gensight.models._bodies import elements, tokens
from gensight.outcomes import Outcome
from gensight.providers.faults import code, dig
from gensight.providers.usage import Usage

# Its schema is built at first use, which not every pydantic does well in several threads at once.
types.GenerateContentResponse.model_rebuild()

REFUSED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "ESCALATION",
        "MODEL_ARMOR",
    }
)
NO_PICTURE = frozenset({"IMAGE_OTHER", "NO_IMAGE"})
#: CONTINUATION is the limit of one request, where the SDK would ask on.
CUT = frozenset({"MAX_TOKENS", "CONTINUATION"})
BROKEN = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        # The account was limited: no answer of the model, and nothing to look at.
        "PUP_LIMITED_DISABLED",
    }
)
STOP = "STOP"


def reply_of(body: Any, *, wants_image: bool) -> Reply:
    """Return the reply of a parsed body; whatever the body is, nothing is raised.

    The answer is the last picture that is no thought; the others follow it in their order. An end
    for a reason that is not known here goes by what came back, and its reason is the detail.
    """
    candidate = next(iter(elements(dig(body, "candidates"))), None)
    blocked = dig(body, "promptFeedback", "blockReason")
    try:
        answered, text, pictures = _validated(body, candidate)
    except ValidationError as error:
        return Reply(Outcome.MALFORMED, detail=f"body_{error.errors()[0]['type']}")
    outcome, detail = _end(candidate, blocked, text, pictures, wants_image=wants_image)
    return Reply(
        outcome,
        text=text or None,
        # An empty picture is none.
        images=tuple(picture for picture in pictures if picture),
        detail=detail,
        answered_model=answered,
        usage=_usage(dig(body, "usageMetadata"), len(pictures)),
    )


def _validated(body: Any, candidate: Any) -> tuple[str | None, str, list[bytes]]:
    """Return model, text and pictures, answer first, checked by the SDK's type.

    Only what is read is checked: the SDK's type refuses fields, and warns of enum values, that are
    newer than itself, and neither makes an answer worse.
    """
    response = types.GenerateContentResponse.model_validate(
        {
            "modelVersion": dig(body, "modelVersion"),
            "candidates": [{"content": {"role": "model", "parts": _parts(candidate)}}],
        }
    )
    found = response.candidates[0].content.parts  # type: ignore[index, union-attr]
    text = "".join(part.text for part in found or () if part.text)
    pictures = [part.inline_data.data or b"" for part in found or () if part.inline_data]
    return response.model_version, text, pictures[-1:] + pictures[:-1]


def _parts(candidate: Any) -> Any:
    """Return the parts that are no thoughts, bare; what is no list is left to be refused."""
    content = dig(candidate, "content")
    parts = content.get("parts") if isinstance(content, dict) else content
    if not isinstance(parts, list):
        return parts
    return [_bare(part) for part in parts if not dig(part, "thought")]


def _bare(part: Any) -> Any:
    """Return a part with its text and its picture only; other data (sound) is left out."""
    if not isinstance(part, dict):
        return part
    bare = {"text": part["text"]} if "text" in part else {}
    data = part.get("inlineData")
    kind = dig(data, "mimeType")
    if data is None or (isinstance(kind, str) and not kind.startswith("image/")):
        return bare
    bare["inlineData"] = (
        {"data": data.get("data"), "mimeType": kind} if isinstance(data, dict) else data
    )
    return bare


def _end(
    candidate: Any, blocked: Any, text: str, pictures: list[bytes], *, wants_image: bool
) -> tuple[Outcome, str | None]:
    if candidate is None and blocked is not None:
        return Outcome.REFUSED_INPUT, code(blocked) or "blocked"
    if not isinstance(candidate, dict):
        return Outcome.MALFORMED, "no_candidates"
    reason = code(candidate.get("finishReason")) or "no_finish_reason"
    if reason in REFUSED:
        return Outcome.REFUSED_OUTPUT, reason
    if reason in CUT:
        return Outcome.TRUNCATED, reason
    if reason in BROKEN or reason.startswith("MALFORMED_"):
        return Outcome.MALFORMED, reason
    if not all(pictures):
        return Outcome.MALFORMED, "empty_picture"
    if reason in NO_PICTURE and not pictures:
        return (Outcome.NO_IMAGE if wants_image else Outcome.MALFORMED), reason
    return _by_content(reason, text, pictures, wants_image=wants_image)


def _by_content(
    reason: str, text: str, pictures: list[bytes], *, wants_image: bool
) -> tuple[Outcome, str | None]:
    odd = None if reason == STOP else reason
    said = bool(text.strip())
    if pictures if wants_image else said:
        return Outcome.OK, odd
    if wants_image and said:
        return Outcome.TEXT_ONLY, odd
    if odd is not None:
        return Outcome.MALFORMED, odd
    return (Outcome.NO_IMAGE, STOP) if wants_image else (Outcome.MALFORMED, "empty")


def _usage(told: Any, images: int) -> str | None:
    """Return what was used; None where the body does not say, or says nonsense."""
    if dig(told, "promptTokenCount") is None:
        return None
    into = tokens(dig(told, "promptTokenCount"))
    tools = tokens(dig(told, "toolUsePromptTokenCount"))
    out = tokens(dig(told, "candidatesTokenCount"))
    thoughts = tokens(dig(told, "thoughtsTokenCount"))
    into_pictures = _of_pictures(dig(told, "promptTokensDetails"))
    out_pictures = _of_pictures(dig(told, "candidatesTokensDetails"))
    if None in (into, tools, out, thoughts, into_pictures, out_pictures):
        return None
    if images and not elements(dig(told, "candidatesTokensDetails")):
        # Not told apart: counted at the dearer price, for a bill may be lower, never higher.
        out_pictures = out
    return Usage(
        input_text_tokens=max(0, into - into_pictures) + tools,  # type: ignore[operator]
        input_image_tokens=into_pictures,  # type: ignore[arg-type]
        output_text_tokens=max(0, out - out_pictures) + thoughts,  # type: ignore[operator]
        output_image_tokens=out_pictures,  # type: ignore[arg-type]
        images=images,
    ).to_json()


def _of_pictures(details: Any) -> int | None:
    """Return the tokens of pictures among the tokens by modality."""
    counts = [
        tokens(dig(detail, "tokenCount"))
        for detail in elements(details)
        if dig(detail, "modality") == "IMAGE"
    ]
    return None if None in counts else sum(counts)  # type: ignore[arg-type]
