"""Files that an external command made: only those in the folder of their turn, and arrays.

floats (H, W)               a map: stretched to a grey picture of 16 bits, smallest value 0
bool, uint8, uint16 (H, W)  a grey picture as it is; bool as 0 and 255
uint8, uint16 (H, W, 3)     an RGB picture as it is
numbers (N,)                a list, as text: JSON, or the number alone where there is one
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from gensight.errors import AnswerError
from gensight.images import encode_png
from gensight.models._grey import stretched


def read_inside(folder: Path, name: Any) -> bytes:
    """Return the bytes of a file in a folder.

    Raises:
        AnswerError: it is not there, or lies elsewhere.
    """
    path = (folder / str(name)).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise AnswerError(f"{name}: lies outside the folder of its turn")
    if not path.is_file():
        raise AnswerError(f"{name}: was told and not written")
    return path.read_bytes()


def text_of_array(content: bytes) -> str | None:
    """Return a list of numbers, NPY, as text; None where the array is no list."""
    array = _array(content)
    if array.ndim != 1:
        return None
    numbers = array.tolist()
    return json.dumps(numbers[0] if len(numbers) == 1 else numbers)


def picture_of_array(content: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return an array, NPY, as PNG, and the facts that a stretch loses: `min` and `max`.

    Raises:
        AnswerError: it has another shape or kind of numbers.
    """
    array = _array(content)
    if array.ndim == 2 and array.dtype.kind == "f":
        picture, low, high = stretched(array)
        return picture, {"min": low, "max": high}
    if array.dtype == bool:
        array = array.astype(np.uint8) * np.uint8(255)
    try:
        return encode_png(array), {}
    except ValueError as error:
        raise AnswerError(f"what it made is no picture: {error}") from None


def _array(content: bytes) -> np.ndarray:
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise AnswerError(f"what it made is no NPY array: {error}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.size == 0:
        raise AnswerError("what it made is an array without numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise AnswerError(f"NaN or infinity in an array of {array.dtype}")
    return array
