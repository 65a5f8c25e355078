"""Google: generateContent of the Gemini API, in words and in pictures, under both versions."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from fakes.billing import Asked, Fault, Painted, Price, Used, text_tokens
from fakes.chat import answered
from fakes.faults import Answer, retry_after_s
from fakes.server import Fake
from fakes.wire import Raw

PATH = re.compile(r"/(?:v1|v1beta)/models/([^:/]+):generateContent")
PICTURE_TOKENS = {"gemini-2.5-flash-image": 258, "gemini-3-pro-image": 560}
OTHER_PICTURE_TOKENS = 1090
#: Output tokens of a picture by the asked size, 1K if none is.
IMAGE_TOKENS: Mapping[str, Mapping[str, int]] = {
    "gemini-2.5-flash-image": {"1K": 1290},
    "gemini-3.1-flash-image": {"512": 747, "0.5K": 747, "1K": 1120, "2K": 1680, "4K": 2520},
    "gemini-3-pro-image": {"1K": 1120, "2K": 1120, "4K": 2000},
}
THOUGHTS = 96
#: Requests for these are answered by another model.
ROUTED = {"gemini-3.5-flash": "gemini-3.6-flash"}
TYPES = "type.googleapis.com/google.rpc."
ERRORS = {
    "wait_429": (429, "RESOURCE_EXHAUSTED"),
    "quota_429": (429, "RESOURCE_EXHAUSTED"),
    "quota_402": (402, "RESOURCE_EXHAUSTED"),
    "error_500": (500, "INTERNAL"),
    "overloaded_503": (503, "UNAVAILABLE"),
    "overloaded_529": (529, "UNAVAILABLE"),
    "timeout_504": (504, "DEADLINE_EXCEEDED"),
    # A wrong key is an invalid argument here, told apart by the reason in the details.
    "auth_401": (401, "UNAUTHENTICATED"),
    "gone_404": (404, "NOT_FOUND"),
    "bad_request_400": (400, "INVALID_ARGUMENT"),
    "refused_400": (400, "INVALID_ARGUMENT"),
    "credit_400": (400, "FAILED_PRECONDITION"),
}


class GoogleFake(Fake):
    """POST /{v1|v1beta}/models/{model}:generateContent."""

    PRICES: ClassVar[Mapping[str, Price]] = {
        "gemini-2.5-flash-image": Price(0.30, 0.30, 2.50, 30.0),
        "gemini-3.1-flash-image": Price(0.50, 0.50, 3.0, 60.0),
        "gemini-3-pro-image": Price(2.0, 2.0, 12.0, 120.0),
        "gemini-3.5-flash": Price(1.5, 1.5, 9.0),
        "gemini-3.6-flash": Price(0.75, 0.75, 3.75),
        "gemini-3.8-flash": Price(0.75, 0.75, 3.75),
        "gemini-3.1-pro-preview": Price(2.0, 2.0, 12.0),
    }

    def secret(self, raw: Raw) -> str:
        return raw.headers.get("x-goog-api-key", "")

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        found = PATH.fullmatch(raw.path)
        if found is None or not isinstance(data, dict):
            return {}
        config = _either(data, "generationConfig", {})
        parts = [part for content in data.get("contents", []) for part in content["parts"]]
        modalities = [name.upper() for name in _either(config, "responseModalities", [])]
        return {
            "operation": "generate",
            "model": found[1],
            "texts": tuple(part["text"] for part in parts if "text" in part),
            "wants_image": "IMAGE" in modalities,
            "max_tokens": _either(config, "maxOutputTokens", None),
        }

    def shapes(self, asked: Asked) -> set[str]:
        common = {"refused_200", "truncated", "wrong_model"}
        if asked.wants_image:
            return common | {"no_image", "text_only", "thought_image", "two_images"}
        return common

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        if fault.name == "refused_200":
            return self._refusal(asked, fault)
        parts, finish = _parts(asked, painted, fault)
        used = self._used(asked, parts)
        candidate: dict[str, Any] = {"finishReason": finish, "index": 0}
        if parts:
            candidate["content"] = {"role": "model", "parts": parts}
        if finish == "NO_IMAGE":
            candidate["finishMessage"] = "Unable to show the generated image."
        body = _body(asked, used, fault, candidates=[candidate])
        return Answer(200, body, used.usd(self.prices[asked.model]))

    def _refusal(self, asked: Asked, fault: Fault) -> Answer:
        """A refusal is charged for the prompt, whose tokens it tells: only errors are free.

        Source: ai.google.dev, Gemini API billing (requests that fail with 400 or 500 cost nothing).
        """
        used = Used(text_in=text_tokens(asked.text), image_in=_picture_tokens(asked))
        told: dict[str, Any]
        if fault.options.get("stage") == "input":
            reason = fault.options.get("reason", "PROHIBITED_CONTENT")
            told = {"promptFeedback": {"blockReason": reason}}
        else:
            reason = fault.options.get("reason", "IMAGE_SAFETY" if asked.wants_image else "SAFETY")
            refused = {"finishReason": reason, "finishMessage": "refused by a fake", "index": 0}
            told = {"candidates": [refused]}
        return Answer(200, _body(asked, used, fault, **told), used.usd(self.prices[asked.model]))

    def _used(self, asked: Asked, parts: list[dict[str, Any]]) -> Used:
        config = _either(asked.body, "generationConfig", {})
        size = _either(_either(config, "imageConfig", {}), "imageSize", "1K")
        table = IMAGE_TOKENS.get(asked.model, {})
        shown = [part for part in parts if not part.get("thought")]
        budget = _either(_either(config, "thinkingConfig", {}), "thinkingBudget", None)
        return Used(
            text_in=text_tokens(asked.text),
            image_in=_picture_tokens(asked),
            text_out=sum(text_tokens(part.get("text")) for part in shown),
            image_out=sum(table.get(size, 1120) for part in shown if "inlineData" in part),
            thoughts=THOUGHTS if budget != 0 and asked.model != "gemini-2.5-flash-image" else 0,
        )

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        status, word = ERRORS[name]
        told = {
            "code": status,
            "message": options.get("message", f"{name}: said by a fake"),
            "status": options.get("code", word),
        }
        if details := _details(name, asked, options):
            told["details"] = details
        return Answer(status, {"error": told})

    def reply_headers(self) -> dict[str, str]:
        return {
            "server-timing": "gfet4t7; dur=1204",
            "vary": "Origin, X-Origin, Referer",
            "x-content-type-options": "nosniff",
        }


def _either(data: Mapping[str, Any], name: str, default: Any) -> Any:
    """Return a value under its camel-case or its snake-case name; the SDK sends both kinds."""
    snake = re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
    return data.get(name, data.get(snake, default))


def _picture_tokens(asked: Asked) -> int:
    return len(asked.pictures) * PICTURE_TOKENS.get(asked.model, OTHER_PICTURE_TOKENS)


def _picture(data: bytes, **more: Any) -> dict[str, Any]:
    kind = "image/jpeg" if data.startswith(b"\xff\xd8") else "image/png"
    return {"inlineData": {"mimeType": kind, "data": base64.b64encode(data).decode()}, **more}


def _parts(asked: Asked, painted: Painted, fault: Fault) -> tuple[list[dict[str, Any]], str]:
    """Return the parts of an answer in order, and why it ends."""
    text = painted.text or ""
    if fault.name == "truncated":
        half = text[: len(text) // 2]
        return [{"text": half}] if half else [], "MAX_TOKENS"
    if not asked.wants_image or fault.name == "text_only" or painted.image is None:
        return [{"text": text}] if text else [], "STOP"
    if fault.name == "no_image":
        return [], "NO_IMAGE"
    parts = [_picture(painted.image)]
    if fault.name == "two_images":
        parts = [_picture(_first_draft(painted.image)), {"text": "And better:"}, *parts]
    if fault.name == "thought_image":
        thought = {"text": "I draw it once, and then again.", "thought": True}
        parts = [thought, _picture(_first_draft(painted.image), thought=True), *parts]
    return parts, "STOP"


def _first_draft(picture: bytes) -> bytes:
    """Return a picture that is not the answer: the same with a comment behind its end."""
    return picture + b"draft"


def _body(asked: Asked, used: Used, fault: Fault, **told: Any) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "promptTokenCount": used.input,
        "totalTokenCount": used.input + used.output,
        "promptTokensDetails": _details_of(TEXT=used.text_in, IMAGE=used.image_in),
    }
    if used.text_out or used.image_out:
        usage["candidatesTokenCount"] = used.text_out + used.image_out
        usage["candidatesTokensDetails"] = _details_of(TEXT=used.text_out, IMAGE=used.image_out)
    if used.thoughts:
        usage["thoughtsTokenCount"] = used.thoughts
    model = answered(asked, fault)
    return {
        **told,
        "usageMetadata": usage,
        "modelVersion": ROUTED.get(model, model),
        "responseId": asked.key[:22],
    }


def _details_of(**counts: int) -> list[dict[str, Any]]:
    return [{"modality": name, "tokenCount": n} for name, n in counts.items() if n]


def _details(name: str, asked: Asked, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    details: list[dict[str, Any]] = []
    if name in ("wait_429", "quota_429"):
        window = "Day" if name == "quota_429" else "Minute"
        quota = options.get("quota", f"GenerateRequestsPer{window}PerProjectPerModel")
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_paid_requests",
            "quotaId": quota,
            "quotaDimensions": {"location": "global", "model": asked.model},
            "quotaValue": "1000",
        }
        details.append({"@type": f"{TYPES}QuotaFailure", "violations": [violation]})
    wait_s = retry_after_s(options) if name == "wait_429" else options.get("retry_after_s")
    if wait_s is not None:
        # Like the API: seconds with a fraction where there is one.
        whole = math.ceil(1000 * wait_s) / 1000
        details.append({"@type": f"{TYPES}RetryInfo", "retryDelay": f"{whole:g}s"})
    if name == "auth_401":
        details.append(
            {"@type": f"{TYPES}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        )
    return details
