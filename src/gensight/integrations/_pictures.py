"""The bytes of pictures as harnesses hand them over, and what it means when they cannot."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gensight import images
from gensight.errors import GensightError, ImageError


class LostPictureError(GensightError):
    """A picture that was made is not where it should be: no model's failure, so never scored."""


def from_file(path: str) -> bytes:
    """Return the bytes of a picture that a model or solver wrote.

    Raises:
        LostPictureError: it cannot be read there.
    """
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise LostPictureError(f"{path}: {error}") from None


def from_data_uri(text: str) -> bytes:
    """Return the bytes of a picture in a data URI; none, which nobody can read, if it is broken.

    Raises:
        LostPictureError: the picture lies elsewhere, and nothing is fetched.
    """
    head, _, data = text.partition(",")
    if not head.startswith("data:"):
        raise LostPictureError(f"{text[:60]}: is no data URI, and nothing is fetched")
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return b""


def true_mask(value: Any) -> np.ndarray:
    """Return a truth as bool (H, W): a path, PIL picture, array of two levels or COCO RLE.

    Raises:
        GensightError: none of these, or a picture that is no mask.
    """
    try:
        if isinstance(value, np.ndarray) and value.dtype == np.bool_:
            return value
        if isinstance(value, Mapping) and "counts" in value:
            return images.decode_mask(value)
        return images.read_mask(_bytes_of(value))
    except (ImageError, OSError) as error:
        raise GensightError(f"the true mask cannot be read: {error}") from None


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return images.encode_png(value)
    if isinstance(value, str | Path):
        return Path(value).read_bytes()
    if hasattr(value, "save"):
        stream = io.BytesIO()
        value.save(stream, "PNG")
        return stream.getvalue()
    raise GensightError(
        f"the true mask is a {type(value).__name__}; give a path, a picture, an array or COCO RLE"
    )
