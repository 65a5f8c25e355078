"""OpenAI: images (edits, generations), responses with and without the image tool, chat."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

from fakes.billing import Asked, Fault, Painted, Price, Used, picture_tokens, text_tokens
from fakes.chat import CREATED, PICTURE_TOKENS, ChatFake, answered, said
from fakes.faults import Answer
from fakes.wire import Raw

IMAGES = {"/v1/images/edits": "edit", "/v1/images/generations": "generate"}
#: Output tokens of a picture of 1024 x 1024 by quality.
IMAGE_TOKENS = {"low": 272, "medium": 1056, "high": 4160}
IMAGE_TOKENS_2 = {"low": 667, "medium": 2333, "high": 6333}
#: Parameters that an endpoint does not have.
FORBIDDEN = {
    "edit": ("moderation", "seed", "temperature", "response_format"),
    "generate": ("seed", "temperature", "response_format", "input_fidelity"),
}
STEPS = 16
#: What the image tool draws with if it is not told: a spec must pin it.
DEFAULT_TOOL_MODEL = "gpt-image-2.6-sunburst"


class OpenAIFake(ChatFake):
    """What is at /v1 of OpenAI."""

    PREFIX = "/v1"
    REASONING_FIELD = None
    PRICES: ClassVar[Mapping[str, Price]] = {
        "gpt-image-1": Price(5.0, 10.0, 0.0, 40.0),
        "gpt-image-1.5": Price(5.0, 8.0, 10.0, 32.0),
        "gpt-image-2": Price(5.0, 8.0, 0.0, 30.0),
        "gpt-image-2-2026-04-21": Price(5.0, 8.0, 0.0, 30.0),
        "gpt-5.4": Price(2.5, 2.5, 15.0),
        "gpt-5.6-sol": Price(4.0, 4.0, 20.0),
        "gpt-6-astra": Price(10.0, 10.0, 50.0),
    }

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        if raw.path in IMAGES and isinstance(data, dict):
            flat = _flat(data)
            return {
                "operation": IMAGES[raw.path],
                "model": flat.get("model", ""),
                "texts": (flat.get("prompt", ""),),
                "wants_image": True,
            }
        if raw.path == "/v1/responses" and isinstance(data, dict):
            return {
                "operation": "responses",
                "model": data.get("model", ""),
                "texts": tuple(_input_texts(data)),
                "wants_image": _image_tool(data) is not None,
                "max_tokens": data.get("max_output_tokens"),
            }
        return super().describe(raw, data)

    def objection(self, asked: Asked) -> str | None:
        if asked.operation in FORBIDDEN:
            return _image_objection(asked)
        data = asked.body
        tool = _image_tool(data)
        if tool is not None and not self.knows(tool.get("model", DEFAULT_TOOL_MODEL)):
            return "tools[0].model"
        if asked.operation == "chat" and "max_tokens" in data:
            return "max_tokens"
        effort = data.get("reasoning_effort") or (data.get("reasoning") or {}).get("effort")
        is_warm = data.get("temperature", 1) != 1
        if asked.model.startswith("gpt-5.6") and is_warm:
            return "temperature"
        if asked.model.startswith("gpt-6") and "temperature" in data and effort != "none":
            return "temperature"
        return None

    def shapes(self, asked: Asked) -> set[str]:
        if asked.operation in FORBIDDEN:
            return {"two_images", "no_image"}
        if asked.operation == "responses" and asked.wants_image:
            return {
                "refused_200", "no_image", "text_only", "two_images", "truncated", "wrong_model"
            }  # fmt: skip
        return super().shapes(asked)

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        if asked.operation in FORBIDDEN:
            return self._images(asked, painted, fault)
        if asked.operation == "responses":
            return self._response(asked, painted, fault)
        return super().success(asked, painted, fault)

    def error(self, name: str, asked: Asked, options: Mapping[str, Any]) -> Answer:
        answer = super().error(name, asked, options)
        if name == "refused_400" and asked.operation in FORBIDDEN:
            answer.body["error"] |= {
                "type": "image_generation_user_error",
                "code": options.get("code", "moderation_blocked"),
                "moderation_details": _moderation(options),
            }
        return answer

    # Pictures -------------------------------------------------------------------------------------

    def _images(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        flat = _flat(asked.body)
        pictures = [painted.image] * int(flat.get("n", 1)) if painted.image else []
        if fault.name == "two_images":
            pictures = [painted.image, painted.image]
        if fault.name == "no_image":
            pictures = []
        used = _image_used(asked, asked.model, flat, max(len(pictures), 1))
        body = {
            "created": CREATED,
            "background": "opaque",
            "data": [{"b64_json": _coded(picture)} for picture in pictures],
            "output_format": flat.get("output_format", "png"),
            "quality": _quality(flat),
            "size": _size(flat),
            "usage": _image_usage(used),
        }
        return Answer(200, body, used.usd(self.prices[asked.model]))

    # Responses ------------------------------------------------------------------------------------

    def _response(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        tool = _image_tool(asked.body)
        text, _ = said(asked, painted, fault)
        if tool is not None and fault.name != "text_only":
            text = ""
        used = self.used(asked, text, fault)
        usd = used.usd(self.prices[asked.model])
        output = _items(asked, text, used, fault)
        body = _response_body(asked, output, used, fault)
        calls = _calls(asked, painted, tool, fault) if tool is not None else []
        if calls:
            output[1:1] = calls
            model = tool.get("model", DEFAULT_TOOL_MODEL)
            drawn = _image_used(asked, model, tool, sum("result" in call for call in calls))
            body["tool_usage"] = {
                "image_gen": _image_usage(drawn),
                "web_search": {"num_requests": 0},
            }
            usd += drawn.usd(self.prices[model])
        return Answer(200, body, usd)


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a JSON or a multipart body, the first value of each."""
    if "fields" in data:
        return {name: values[0] for name, values in data["fields"].items()}
    return dict(data)


def _image_objection(asked: Asked) -> str | None:
    flat = _flat(asked.body)
    for name in FORBIDDEN[asked.operation or ""]:
        if name in flat:
            return name
    if asked.model.startswith("gpt-image-2") and "input_fidelity" in flat:
        return "input_fidelity"
    width, height = map(int, _size(flat).split("x"))
    if width % STEPS or height % STEPS or not 1 / 3 <= width / height <= 3:
        return "size"
    if not 1 <= int(flat.get("n", 1)) <= 10:
        return "n"
    needs_picture = asked.operation == "edit"
    if needs_picture and not 1 <= len(asked.pictures) <= 16:
        return "image"
    return None


def _input_texts(data: Mapping[str, Any]) -> list[str]:
    given = data.get("input", [])
    found = [data["instructions"]] if data.get("instructions") else []
    if isinstance(given, str):
        return [*found, given]
    for item in given:
        content = item.get("content", [])
        if isinstance(content, str):
            found.append(content)
            continue
        found += [part["text"] for part in content if part.get("type") == "input_text"]
    return found


def _image_tool(data: Mapping[str, Any]) -> dict[str, Any] | None:
    tools = [tool for tool in data.get("tools") or () if tool.get("type") == "image_generation"]
    return tools[0] if tools else None


def _size(asked: Mapping[str, Any]) -> str:
    size = asked.get("size", "auto")
    return "1024x1024" if size == "auto" else size


def _quality(asked: Mapping[str, Any]) -> str:
    quality = asked.get("quality", "auto")
    return "high" if quality == "auto" else quality


def _image_used(asked: Asked, model: str, told: Mapping[str, Any], n: int) -> Used:
    width, height = map(int, _size(told).split("x"))
    table = IMAGE_TOKENS_2 if model.startswith("gpt-image-2") else IMAGE_TOKENS
    each = round(table[_quality(told)] * width * height / 1024**2)
    return Used(
        text_in=text_tokens(asked.text),
        image_in=sum(picture_tokens(data, PICTURE_TOKENS) for data in asked.pictures),
        image_out=each * n,
    )


def _image_usage(used: Used) -> dict[str, Any]:
    return {
        "input_tokens": used.input,
        "input_tokens_details": {"image_tokens": used.image_in, "text_tokens": used.text_in},
        "output_tokens": used.output,
        "output_tokens_details": {"image_tokens": used.image_out, "text_tokens": used.text_out},
        "total_tokens": used.input + used.output,
    }


def _coded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def _moderation(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"moderation_stage": options.get("stage", "input"), "categories": ["violence"]}


def _items(asked: Asked, text: str, used: Used, fault: Fault) -> list[dict[str, Any]]:
    """Return the reasoning and the message of a response; a picture's call comes between them."""
    reasoning = {"id": f"rs_{asked.key[:24]}", "type": "reasoning", "summary": []}
    content: dict[str, Any] = {
        "type": "output_text", "text": text, "annotations": [], "logprobs": []
    }  # fmt: skip
    if fault.name == "refused_200" and not asked.wants_image:
        content = {"type": "refusal", "refusal": "I cannot help with that."}
    is_cut = fault.name == "truncated"
    message = {
        "id": f"msg_{asked.key[:24]}",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if is_cut else "completed",
        "content": [content],
    }
    if is_cut and not text:
        return [reasoning]
    return [reasoning, message]


def _calls(
    asked: Asked, painted: Painted, tool: Mapping[str, Any], fault: Fault
) -> list[dict[str, Any]]:
    """Return the calls of the image tool: none if the model only talked or ran out of tokens."""
    if fault.name in ("text_only", "no_image", "truncated") or not painted.image:
        return []
    call = {
        "id": f"ig_{asked.key[:24]}",
        "type": "image_generation_call",
        "action": "edit" if asked.pictures else "generate",
        "background": "opaque",
        "output_format": tool.get("output_format", "png"),
        "quality": _quality(tool),
        "size": _size(tool),
        "revised_prompt": f"Carefully: {asked.text}",
    }
    if fault.name == "refused_200":
        error = {
            "code": "moderation_blocked",
            "message": "refused by a fake",
            "param": None,
            "type": "image_generation_user_error",
            "moderation_details": _moderation(fault.options),
        }
        return [{**call, "status": "failed", "error": error}]
    n = 2 if fault.name == "two_images" else 1
    return [
        {**call, "id": f"{call['id']}{i}", "status": "completed", "result": _coded(painted.image)}
        for i in range(n)
    ]


def _response_body(
    asked: Asked, output: list[dict[str, Any]], used: Used, fault: Fault
) -> dict[str, Any]:
    is_cut = fault.name == "truncated"
    return {
        "id": f"resp_{asked.key[:32]}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if is_cut else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "instructions": asked.body.get("instructions"),
        "max_output_tokens": asked.max_tokens,
        "model": answered(asked, fault),
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "medium", "summary": None},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": asked.body.get("tool_choice", "auto"),
        "tools": asked.body.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": used.input,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": used.output,
            "output_tokens_details": {"reasoning_tokens": used.thoughts},
            "total_tokens": used.input + used.output,
        },
        "metadata": {},
    }
