"""Ark (ByteDance): Seedream's pictures and Seed's words; also BytePlus, which speaks the same."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any, ClassVar

from PIL import Image, ImageDraw

from fakes.billing import Asked, Fault, Painted, Price
from fakes.chat import CREATED, ChatFake, answered
from fakes.faults import Answer
from fakes.painters import png
from fakes.wire import Raw

SIDES = {"1K": 1024, "2K": 2048, "4K": 4096}
PIXELS_OF_TOKEN = 256
MOST_PICTURES = 14


class ArkFake(ChatFake):
    """What is at /api/v3: pictures are charged by the piece, and those that fail are not."""

    PREFIX = "/api/v3"
    IMAGES = "/images/generations"
    PRICES: ClassVar[Mapping[str, Price]] = {
        "doubao-seedream-4-0-250828": Price(picture=0.03),
        "doubao-seedream-4-5-251128": Price(picture=0.04),
        "doubao-seedream-5-0-260128": Price(picture=0.035),
        "doubao-seed-2-1-pro-260628": Price(0.86, 0.86, 4.31),
        "doubao-seed-2-1-pro-260915": Price(0.86, 0.86, 4.31),
    }
    ERRORS: ClassVar[Mapping[str, tuple[int, str, str | None]]] = {
        "wait_429": (429, "TooManyRequests", "RateLimitExceeded.EndpointIPMExceeded"),
        "quota_429": (429, "TooManyRequests", "QuotaExceeded"),
        "quota_402": (403, "Forbidden", "AccountOverdueError"),
        "credit_400": (403, "Forbidden", "AccountOverdueError"),
        "error_500": (500, "InternalServerError", "InternalServiceError"),
        "overloaded_503": (503, "ServiceUnavailable", "ServerOverloaded"),
        "overloaded_529": (529, "ServiceUnavailable", "ServerOverloaded"),
        "timeout_504": (504, "GatewayTimeout", "RequestTimeout"),
        "auth_401": (401, "Unauthorized", "AuthenticationError"),
        "gone_404": (404, "NotFound", "InvalidEndpointOrModel.NotFound"),
        "bad_request_400": (400, "BadRequest", "InvalidParameter"),
        "refused_400": (400, "BadRequest", "InputImageSensitiveContentDetected"),
    }

    def describe(self, raw: Raw, data: Any) -> dict[str, Any]:
        if raw.path == self.PREFIX + self.IMAGES and isinstance(data, dict):
            return {
                "operation": "images",
                "model": data.get("model", ""),
                "texts": (data.get("prompt", ""),),
                "wants_image": True,
            }
        return super().describe(raw, data)

    def objection(self, asked: Asked) -> str | None:
        if asked.operation == "images" and len(asked.pictures) > MOST_PICTURES:
            return "image"
        return None

    def shapes(self, asked: Asked) -> set[str]:
        if asked.operation == "images":
            return {"refused_200", "no_image", "two_images", "wrong_model"}
        return super().shapes(asked)

    def success(self, asked: Asked, painted: Painted, fault: Fault) -> Answer:
        if asked.operation != "images":
            return super().success(asked, painted, fault)
        width, height = _size(asked.body.get("size", "2K"))
        pictures = [painted.image] * (2 if fault.name == "two_images" else 1)
        data = [self._picture(asked, picture, f"{width}x{height}") for picture in pictures]
        if fault.name == "refused_200" or painted.image is None:
            code = fault.options.get("reason", "OutputImageSensitiveContentDetected")
            data = [{"error": {"code": code, "message": "refused by a fake"}}]
        if fault.name == "no_image":
            data = []
        made = sum("error" not in item for item in data)
        tokens = made * width * height // PIXELS_OF_TOKEN
        body = {
            "model": answered(asked, fault),
            "created": CREATED,
            "data": data,
            "usage": {"generated_images": made, "output_tokens": tokens, "total_tokens": tokens},
        }
        return Answer(200, body, made * self.prices[asked.model].picture if made else None)

    def _picture(self, asked: Asked, picture: bytes | None, size: str) -> dict[str, Any]:
        if asked.body.get("response_format", "url") != "b64_json":
            return {"url": f"https://ark.invalid/{asked.key[:16]}.jpeg?expires=86400", "size": size}
        data = picture or b""
        if asked.body.get("watermark", True):
            data = _stamped(data)
        return {"b64_json": base64.b64encode(data).decode(), "size": size}

    def reply_headers(self) -> dict[str, str]:
        return {"x-request-id": "021790000000000fake", "server": "istio-envoy"}


def _size(asked: str) -> tuple[int, int]:
    if asked in SIDES:
        return SIDES[asked], SIDES[asked]
    width, _, height = asked.partition("x")
    return int(width), int(height)


def _stamped(data: bytes) -> bytes:
    """Return a picture with the mark that is left in its corner unless one declines it."""
    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    width, height = picture.size
    corner = (width * 3 // 4, height * 7 // 8, width, height)
    ImageDraw.Draw(picture).rectangle(corner, fill=(127, 127, 127))
    return png(picture)
