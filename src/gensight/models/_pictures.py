"""Pictures on their way to a provider: their type, their form on the wire, the size to ask for.

The bytes go out as they are. Their type is read from them, never from a name.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

from gensight.images import inspect
from gensight.providers.sizes import allowed_sides


class SentFile(NamedTuple):
    """A picture as one part of a multipart body: file name, bytes, MIME type."""

    name: str
    data: bytes
    mime: str


def mime_of(data: bytes) -> str:
    """Return the MIME type of a picture by its first bytes.

    Raises:
        ImageError: the bytes are no PNG, JPEG or WebP picture.
    """
    return f"image/{inspect(data).kind}"


def data_uri(data: bytes) -> str:
    """Return a picture as a data URI, base64 of its bytes; ImageError as `mime_of`."""
    return f"data:{mime_of(data)};base64,{base64.b64encode(data).decode('ascii')}"


def sent_file(data: bytes, number: int) -> SentFile:
    """Return a picture as a file named by its place, counted from 1; ImageError as `mime_of`."""
    mime = mime_of(data)
    return SentFile(f"picture_{number}.{mime.removeprefix('image/')}", data, mime)


def decoded(text: object) -> bytes | None:
    """Return the bytes of a picture in base64; None where it is none, or is empty."""
    if not isinstance(text, str):
        return None
    try:
        return base64.b64decode(text, validate=True) or None
    except (binascii.Error, ValueError):
        return None


def size_like(data: bytes) -> str:
    """Return the size to ask for so that the answer has a picture's size: `WIDTHxHEIGHT`.

    `allowed_sides` says how; ImageError as `mime_of`.
    """
    width, height = allowed_sides(*inspect(data).upright_size)
    return f"{width}x{height}"
