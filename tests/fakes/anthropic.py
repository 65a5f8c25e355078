"""Anthropic: messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fakes.billing import Asked, Fault, Painted, Price, Used, picture_tokens, text_tokens
from fakes.chat import answered, said
from fakes.faults import Answer, retry_after_s
from fakes.server import Fake
from fakes.wire import Raw

PICTURE_TOKENS = 1446
THINKING_TOKENS = 64
REQUEST_ID = "req_011CSHoEeqs5C35K2UUqR7Fy"
#: Models that take no sampling parameters.
FIXED_SAMPLING = ("claude-opus-4-7", "claude-opus-5")
SAMPLING = ("temperature", "top_p", "top_k")
ERRORS: Mapping[str, tuple[int, str, str | None]] = {
    "wait_429": (429, "rate_limit_error", None),
    "quota_429": (429, "rate_limit_error", "enforced_spend_limit_reached"),
    "quota_402": (402, "billing_error", None),
    "credit_400": (400, "invalid_request_error", None),
    "error_500": (500, "api_error", None),
    "overloaded_503": (503, "overloaded_error", None),
    "overloaded_529": (529, "overloaded_error", None),
    "timeout_504": (504, "timeout_error", None),
    "auth_401": (401, "authentication_error", None),
    "gone_404": (404, "not_found_error", None),
    "bad_request_400": (400, "invalid_request_error", None),
    "refused_400": (400, "invalid_request_error", None),
}
#: What a person reads where type and status do not say enough.
MESSAGES = {
    "credit_400": "Your credit balance is too low to access the Anthropic API.",
    "refused_400": "Output blocked by content filtering policy",
}


class AnthropicFake(Fake):
    """POST /v1/messages."""

    PRICES: ClassVar[Mapping[str, Price]] = {
        "claude-opus-4-7": Price(5.0, 5.0, 25.0),
        "claude-opus-5": Price(5.0, 5.0, 25.0),
        "claude-opus-5-5": Price(4.0, 4.0, 20.0),
    }

    def secret(self, raw: Raw) -> str:
        # The SDK sends the key as a bearer's token; the service takes both.
        return raw.headers.get("x-api-key") or super().secret(raw)

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        if raw.path != "/v1/messages" or not isinstance(data, dict):
            return {}
        return {
            "operation": "messages",
            "model": data.get("model", ""),
            "texts": tuple(_texts(data)),
            "max_tokens": data.get("max_tokens"),
        }

    def objection(self, asked: Asked) -> str | None:
        if asked.max_tokens is None:
            return "max_tokens"
        if asked.model.startswith(FIXED_SAMPLING):
            return next((name for name in SAMPLING if name in asked.body), None)
        return None

    def shapes(self, asked: Asked) -> set[str]:
        return {"refused_200", "truncated", "wrong_model"}

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        """A refusal is charged for the tokens it tells, as any answer (assumed)."""
        text, _ = said(asked, painted, fault)
        is_thinking = (asked.body.get("thinking") or {}).get("type") in ("adaptive", "enabled")
        used = Used(
            text_in=text_tokens(asked.text),
            image_in=sum(picture_tokens(data, PICTURE_TOKENS) for data in asked.pictures),
            # Even an empty answer has a token or two.
            text_out=text_tokens(text) + 2,
            thoughts=THINKING_TOKENS if is_thinking else 0,
        )
        reason = {"refused_200": "refusal", "truncated": "max_tokens"}.get(fault.name, "end_turn")
        if fault.name == "truncated" and asked.max_tokens:
            used = used._replace(text_out=max(asked.max_tokens - used.thoughts, used.text_out))
        body = _message(asked, text, reason, used, fault)
        return Answer(200, body, used.usd(self.prices[asked.model]))

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        status, kind, code = ERRORS[name]
        told: dict[str, Any] = {
            "type": kind,
            "message": options.get("message", MESSAGES.get(name, f"{name}: said by a fake")),
        }
        if code := options.get("code", code):
            told["details"] = {"error_code": code}
        wait_s = retry_after_s(options) if name == "wait_429" else options.get("retry_after_s")
        headers = {} if wait_s is None else {"retry-after": f"{wait_s:g}"}
        body = {"type": "error", "error": told, "request_id": REQUEST_ID}
        return Answer(status, body, headers=headers)

    def reply_headers(self) -> dict[str, str]:
        limits = {}
        for kind, most in (
            ("requests", 4000), ("tokens", 2_400_000), ("input-tokens", 2_000_000),
            ("output-tokens", 400_000),
        ):  # fmt: skip
            name = f"anthropic-ratelimit-{kind}"
            limits[f"{name}-limit"] = str(most)
            limits[f"{name}-remaining"] = str(most - 1)
            limits[f"{name}-reset"] = "2026-11-29T12:00:01Z"
        return {
            **limits,
            "request-id": REQUEST_ID,
            "anthropic-organization-id": "organization-of-nobody",
            "cf-ray": "8f0000000000-NRT",
        }


def _message(asked: Asked, text: str, reason: str, used: Used, fault: Fault) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if used.thoughts and reason != "refusal":
        thought = {"type": "thinking", "thinking": "I count: 3, no, more.", "signature": "EqQBCkYI"}
        content.append(thought)
    if text:
        content.append({"type": "text", "text": text, "citations": None})
    details = None
    if reason == "refusal":
        category = fault.options.get("reason", "cyber")
        details = {"type": "refusal", "category": category, "explanation": "refused by a fake"}
    return {
        "id": f"msg_{asked.key[:24]}",
        "type": "message",
        "role": "assistant",
        "model": answered(asked, fault),
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": details,
        "usage": {
            "input_tokens": used.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": used.output,
            "output_tokens_details": {"thinking_tokens": used.thoughts},
            "service_tier": "standard",
        },
    }


def _texts(data: Mapping[str, Any]) -> list[str]:
    found = []
    for content in (data.get("system"), *(turn["content"] for turn in data.get("messages", []))):
        if isinstance(content, str):
            found.append(content)
            continue
        found += [block["text"] for block in content or () if block.get("type") == "text"]
    return found
