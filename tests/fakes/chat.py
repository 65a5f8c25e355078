"""The chat protocol of OpenAI, as OpenAI itself and four other services speak it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fakes.billing import OK, Asked, Fault, Painted, Price, Used, picture_tokens, text_tokens
from fakes.faults import Answer, retry_after_s
from fakes.server import Fake
from fakes.wire import Raw

CREATED = 1_790_000_000
PICTURE_TOKENS = 1229
REASONING_TOKENS = 48
ERRORS: Mapping[str, tuple[int, str, str | None]] = {
    "wait_429": (429, "requests", "rate_limit_exceeded"),
    "quota_429": (429, "insufficient_quota", "credit_balance_exhausted"),
    "quota_402": (402, "insufficient_quota", "credit_balance_exhausted"),
    "error_500": (500, "server_error", None),
    "overloaded_503": (503, "server_error", "overloaded"),
    "overloaded_529": (529, "server_error", "overloaded"),
    "timeout_504": (504, "server_error", "timeout"),
    "auth_401": (401, "invalid_request_error", "invalid_api_key"),
    "gone_404": (404, "invalid_request_error", "model_not_found"),
    "bad_request_400": (400, "invalid_request_error", "unsupported_value"),
    "refused_400": (400, "invalid_request_error", "content_policy_violation"),
    "credit_400": (400, "insufficient_quota", "credit_balance_exhausted"),
}


class ChatFake(Fake):
    """POST .../chat/completions, and the errors of every service that speaks like OpenAI."""

    ERRORS: ClassVar[Mapping[str, tuple[int, str, str | None]]] = ERRORS
    #: Where the reasoning is shown, if it is: OpenAI itself never shows it.
    REASONING_FIELD: ClassVar[str | None] = "reasoning_content"
    CHAT = "/chat/completions"

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        if raw.path != self.PREFIX + self.CHAT or not isinstance(data, dict):
            return {}
        return {
            "operation": "chat",
            "model": data.get("model", ""),
            "texts": tuple(_texts(data.get("messages", []))),
            "max_tokens": data.get("max_completion_tokens") or data.get("max_tokens"),
        }

    def shapes(self, asked: Asked) -> set[str]:
        return {"refused_200", "truncated", "wrong_model"}

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        text, finish = said(asked, painted, fault)
        used = self.used(asked, text, fault)
        usd = used.usd(self.prices.get(asked.model, Price()))
        return Answer(200, self._completion(asked, text, finish, used, fault), usd)

    def used(self, asked: Asked, text: str, fault: Fault) -> Used:
        """Return the tokens of a request and of a reply in words."""
        thoughts = REASONING_TOKENS if thinks(asked.body) else 0
        words = text_tokens(text)
        if fault.name == "truncated" and asked.max_tokens:
            words, thoughts = min(words, asked.max_tokens), max(asked.max_tokens - words, 0)
        return Used(
            text_in=text_tokens(asked.text),
            image_in=sum(picture_tokens(data, PICTURE_TOKENS) for data in asked.pictures),
            text_out=words,
            thoughts=thoughts,
        )

    def _completion(
        self, asked: Asked, text: str, finish: str, used: Used, fault: Fault
    ) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if fault.name == "refused_200":
            refusal = None if finish == "content_filter" else "I cannot help with that."
            message |= {"content": None, "refusal": refusal}
        if self.REASONING_FIELD and used.thoughts:
            message[self.REASONING_FIELD] = "Let me look at the picture first: 3 of them? No."
        return {
            "id": f"chatcmpl-{asked.key[:24]}",
            "object": "chat.completion",
            "created": CREATED,
            "model": answered(asked, fault),
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
            ],
            "usage": {
                "prompt_tokens": used.input,
                "completion_tokens": used.output,
                "total_tokens": used.input + used.output,
                "prompt_tokens_details": {
                    "cached_tokens": 0,
                    "image_tokens": used.image_in,
                    "text_tokens": used.text_in,
                },
                "completion_tokens_details": {"reasoning_tokens": used.thoughts},
            },
            "service_tier": "default",
            "system_fingerprint": "fp_5e1f00d",
        }

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        status, kind, code = self.ERRORS[name]
        told = {
            "message": options.get("message", f"{name}: said by a fake"),
            "type": kind,
            "param": options.get("param", "temperature" if name == "bad_request_400" else None),
            "code": options.get("code", code),
        }
        return Answer(status, {"error": told}, headers=hints(name, options))

    def reply_headers(self) -> dict[str, str]:
        return {
            "x-request-id": "req_8f3c0a7b5d",
            "x-ratelimit-limit-requests": "500",
            "x-ratelimit-remaining-requests": "499",
            "x-ratelimit-reset-requests": "120ms",
            "x-ratelimit-limit-tokens": "2000000",
            "x-ratelimit-remaining-tokens": "1998000",
            "x-ratelimit-reset-tokens": "6m0s",
            "openai-processing-ms": "812",
            "openai-version": "2020-10-01",
            "openai-organization": "org-of-nobody",
            "set-cookie": "__cf_bm=nobodys-business; path=/; HttpOnly",
        }


def said(asked: Asked, painted: Painted, fault: Fault) -> tuple[str, str]:
    """Return the words of an answer and why it ends: cut in the middle if it is truncated."""
    text = painted.text or ""
    if fault.name == "truncated":
        return text[: len(text) // 2], "length"
    if fault.name == "refused_200":
        return "", fault.options.get("reason", "stop")
    return text, "stop"


def thinks(data: Any) -> bool:
    """Say whether a request leaves a model its reasoning."""
    if not isinstance(data, dict):
        return False
    effort = data.get("reasoning_effort") or (data.get("reasoning") or {}).get("effort")
    kind = (data.get("thinking") or {}).get("type")
    return effort not in ("none", "minimal") and kind != "disabled"


def answered(asked: Asked, fault: Fault) -> str:
    """Return the id of the model that says it answered."""
    if fault.name == "wrong_model":
        return fault.options.get("model", "another-model-1")
    return asked.model


def hints(name: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that say when to come again; empty where nothing is said."""
    wait_s = retry_after_s(options) if name == "wait_429" else options.get("retry_after_s")
    if wait_s is None:
        return {}
    return {"retry-after": f"{wait_s:g}", "retry-after-ms": f"{1000 * wait_s:.0f}"}


def _texts(messages: Any) -> list[str]:
    found = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            found.append(content)
            continue
        found += [part["text"] for part in content or () if part.get("type") == "text"]
    return found


class MoonshotFake(ChatFake):
    """Kimi: temperature, top_p and n are fixed, and it always thinks."""

    PREFIX = "/v1"
    PRICES: ClassVar[Mapping[str, Price]] = {"kimi-k3": Price(3.0, 3.0, 15.0)}
    ERRORS: ClassVar[Mapping[str, tuple[int, str, str | None]]] = {
        **ERRORS,
        "wait_429": (429, "rate_limit_reached_error", None),
        "quota_429": (429, "exceeded_current_quota_error", None),
        "quota_402": (402, "exceeded_current_quota_error", None),
        "overloaded_503": (503, "engine_overloaded_error", None),
        "gone_404": (404, "resource_not_found_error", None),
        "auth_401": (401, "invalid_authentication_error", None),
        "refused_400": (400, "content_filter", None),
    }

    def objection(self, asked: Asked) -> str | None:
        fixed = {"temperature": 1, "top_p": 0.95, "n": 1}
        wrong = [name for name, value in fixed.items() if asked.body.get(name, value) != value]
        return wrong[0] if wrong else None


class DeepSeekFake(ChatFake):
    """DeepSeek: text only, and 402 where the money is used up."""

    PRICES: ClassVar[Mapping[str, Price]] = {"deepseek-v4-pro": Price(1.32, 1.32, 3.96)}
    ERRORS: ClassVar[Mapping[str, tuple[int, str, str | None]]] = {
        **ERRORS,
        "quota_429": (402, "unknown_error", "invalid_request_error"),
        "quota_402": (402, "unknown_error", "invalid_request_error"),
    }

    def objection(self, asked: Asked) -> str | None:
        return "messages" if asked.pictures else None


class VllmFake(ChatFake):
    """A server of one's own: it charges nothing and has whatever model it is asked for."""

    PREFIX = "/v1"

    def handle(self, raw: Raw, time_s: float) -> tuple[Answer | None, Fault]:
        """Say that it is well to whoever asks, which is nothing that a provider would bill."""
        if (raw.method, raw.path) == ("GET", "/health"):
            return Answer(200, b""), OK
        return super().handle(raw, time_s)

    def knows(self, model: str) -> bool:
        return bool(model)
