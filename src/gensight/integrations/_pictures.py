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
        GensightError: none of these, or a picture or array that is no mask.
    """
    if isinstance(value, Mapping) and "counts" in value:
        return images.decode_mask(value)
    if isinstance(value, np.ndarray):
        return _two_levels(value)
    try:
        return images.read_mask(_bytes_of(value))
    except (ImageError, OSError) as error:
        raise GensightError(f"the true mask cannot be read: {error}") from None


def _two_levels(array: np.ndarray) -> np.ndarray:
    foreground = array != 0
    if array.ndim != 2 or np.unique(array[foreground]).size > 1:
        raise GensightError("a true mask is an array (height, width) of 0 and one other level")
    return foreground


def _bytes_of(value: Any) -> bytes:
    if isinstance(value, str | Path):
        return Path(value).read_bytes()
    if not hasattr(value, "save"):
        kind = type(value).__name__
        raise GensightError(f"a true mask is a path, picture, array or COCO RLE, not a {kind}")
    stream = io.BytesIO()
    value.save(stream, "PNG")
    return stream.getvalue()
