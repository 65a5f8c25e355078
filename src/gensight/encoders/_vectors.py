"""Vectors of unit length, made a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from gensight.encoders._pictures import checked
from gensight.errors import GensightError

PICTURES_AT_ONCE = 8
TEXTS_AT_ONCE = 64

Item = TypeVar("Item")
#: Makes the vectors of a batch, (n, d).
Embed = Callable[[list[Item]], np.ndarray]


def unit(rows: np.ndarray, where: str) -> np.ndarray:
    """Return the rows of (n, d) divided by their lengths, float32.

    Raises:
        GensightError: a row holds NaN or infinity, or is zero: it has no direction, and a cosine
            with it would be a number that means nothing.
    """
    exact = np.asarray(rows, np.float64)
    broken = int(np.count_nonzero(~np.isfinite(exact).all(axis=1)))
    if broken:
        raise GensightError(
            f"{where}: {broken} of {len(exact)} vectors hold NaN or infinity; take settings.dtype: "
            f"float32, or load the weights again"
        )
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    if not lengths.all():
        raise GensightError(
            f"{where}: {int(np.count_nonzero(lengths == 0))} of {len(exact)} vectors are zero; "
            f"check settings.model: its weights make nothing of a picture or text"
        )
    return (exact / lengths).astype(np.float32)


def in_batches(items: Sequence[Item], size: int, embed: Embed[Item], dimensions: int) -> np.ndarray:
    """Return what `embed` makes of all items, (n, dimensions), asking for `size` at a time.

    The last batch is filled up with its last item: libraries take other sums for other shapes, and
    so a vector hangs neither on how many are asked for nor on what else is. No items: (0, d).
    """
    made = [np.zeros((0, dimensions), np.float32)]
    for start in range(0, len(items), size):
        batch = list(items[start : start + size])
        full = batch + batch[-1:] * (size - len(batch))
        made.append(embed(full)[: len(batch)])
    return np.concatenate(made)


def picture_vectors(
    where: str, pictures: Sequence[np.ndarray], embed: Embed[np.ndarray], dimensions: int
) -> np.ndarray:
    """Return what `Encoder.pictures` returns, of an encoder that embeds batches of pictures."""
    return unit(in_batches(checked(pictures, where), PICTURES_AT_ONCE, embed, dimensions), where)


def text_vectors(
    where: str, texts: Sequence[str], embed: Embed[str], dimensions: int
) -> np.ndarray:
    """Return what `Encoder.texts` returns, of an encoder that embeds batches of texts."""
    return unit(in_batches(texts, TEXTS_AT_ONCE, embed, dimensions), where)
