"""Numeric arrays inside a Parquet row: raw bytes with dtype and shape (depth, normals)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight.errors import ImageError


def encode_array(array: np.ndarray) -> dict[str, Any]:
    """Return {"bytes", "dtype", "shape"} of a number or bool array: C order, little-endian."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"only numbers and booleans can be stored, not {array.dtype}")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"bytes": little.tobytes(), "dtype": array.dtype.name, "shape": list(array.shape)}


def decode_array(stored: Mapping[str, Any]) -> np.ndarray:
    """Return the array of `encode_array`; read-only, since it shares the stored bytes."""
    dtype = np.dtype(stored["dtype"]).newbyteorder("<")
    shape = tuple(stored["shape"])
    if len(stored["bytes"]) != math.prod(shape) * dtype.itemsize:
        raise ImageError(
            f"an array of {dtype.name} {shape} does not have {len(stored['bytes'])} bytes"
        )
    return np.frombuffer(stored["bytes"], dtype).reshape(shape)
