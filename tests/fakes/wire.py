"""What comes in over a socket: JSON and multipart bodies, and the pictures inside them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

PICTURE_STARTS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
DATA_URI = re.compile(r"data:(image/[a-z+.-]+);base64,")
#: The shortest text that can be a picture: the start of a PNG alone is as long.
SHORTEST_PICTURE = 16


class Raw(NamedTuple):
    """A request as it came: path and query apart, lower-case header names, the body."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""


class Body(NamedTuple):
    """A parsed body: the data with pictures told by their digests, and the pictures in order."""

    data: Any
    pictures: tuple[bytes, ...]


def parse(raw: Raw) -> Body | None:
    """Return what a body says; None if it is neither JSON nor multipart.

    A multipart body becomes {"fields": {name: [value, ...]}}, a file in it a mapping of file name,
    content type, size and sha256.
    """
    pictures: list[bytes] = []
    kind = raw.headers.get("content-type", "")
    if kind.startswith("multipart/form-data"):
        fields: dict[str, list[Any]] = {}
        for name, value in _parts(raw.body, kind):
            fields.setdefault(name, []).append(_told(value, pictures))
        return Body({"fields": fields}, tuple(pictures))
    if not raw.body:
        return Body(None, ())
    try:
        return Body(_told(json.loads(raw.body), pictures), tuple(pictures))
    except ValueError:
        return None


def key_of(raw: Raw, body: Body) -> str:
    """Return the digest of what is asked for: no header, no boundary, no order of JSON keys."""
    asked = json.dumps([raw.method, raw.path, raw.query, body.data], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class _File(NamedTuple):
    name: str
    kind: str | None
    data: bytes


def _parts(body: bytes, content_type: str) -> list[tuple[str, Any]]:
    boundary = re.search(r'boundary="?([^";]+)"?', content_type)
    if boundary is None:
        return []
    found = []
    for piece in body.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, data = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        data = data.removesuffix(b"\r\n")
        text = head.decode("utf-8", "replace")
        name = re.search(r'\bname="([^"]*)"', text)
        file_name = re.search(r'filename="([^"]*)"', text)
        kind = re.search(r"(?i)content-type: *(\S+)", text)
        if name is None:
            continue
        file = file_name and _File(file_name[1], kind and kind[1], data)
        found.append((name[1], file or data.decode("utf-8", "replace")))
    return found


def _told(value: Any, pictures: list[bytes]) -> Any:
    """Return data with its pictures replaced, and collect them."""
    if isinstance(value, _File):
        pictures.append(value.data)
        return {"filename": value.name, "type": value.kind, **_digest(value.data)}
    if isinstance(value, dict):
        return {name: _told(item, pictures) for name, item in value.items()}
    if isinstance(value, list):
        return [_told(item, pictures) for item in value]
    if not isinstance(value, str):
        return value
    data = picture_in(value)
    if data is None:
        return value
    pictures.append(data)
    digest = _digest(data)
    head = DATA_URI.match(value)
    return f"{head[0] if head else ''}<{digest['bytes']} bytes, sha256 {digest['sha256']}>"


#: From the alphabet of base64 that is safe in addresses to the usual one.
URL_SAFE = str.maketrans("-_", "+/")


def picture_in(text: str) -> bytes | None:
    """Return the picture that a text holds as base64 or as a data URI, if it does."""
    head = DATA_URI.match(text)
    coded = text[head.end() :] if head else text
    # google-genai writes the alphabet that is safe in addresses; the service takes both.
    coded = coded.translate(URL_SAFE)
    if len(coded) < SHORTEST_PICTURE:
        return None
    try:
        start = base64.b64decode(coded[:SHORTEST_PICTURE], validate=True)
        if not start.startswith(PICTURE_STARTS):
            return None
        return base64.b64decode(coded, validate=True)
    except (binascii.Error, ValueError):
        return None


def _digest(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
