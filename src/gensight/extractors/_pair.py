"""An answer beside the input picture it was asked about, both at one size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight.errors import GensightError, ImageError
from gensight.extractors import Answer
from gensight.images import decode_rgb, resize_picture, to_grey

WHITE = (255, 255, 255)


class MissingSourceError(GensightError):
    """The answer must be compared with the input picture, and that was not given."""


def decode_pair(
    answer: Answer, size: tuple[int, int] | None, *, needs_source: bool = True
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return answer and input as uint8 RGB (H, W, 3), the input showing through transparency.

    Both are resized plainly to `size` (width, height), or the input to the answer's own size where
    that is None. An input that is neither needed nor there is None, and white shows through.

    Raises:
        ImageError: the answer cannot be read.
        GensightError: the input cannot be read, which is not the answer's fault.
        MissingSourceError: the input is needed and missing.
    """
    if answer.source is None and not needs_source:
        marked = decode_rgb(answer.image, matte=WHITE)
        return (marked if size is None else resize_picture(marked, *size)), None
    source = _decode_source(answer)
    marked = decode_rgb(answer.image, matte=source)
    width, height = size or (marked.shape[1], marked.shape[0])
    return resize_picture(marked, width, height), resize_picture(source, width, height)


def changed_pixels(
    marked: np.ndarray, source: np.ndarray, settings: Mapping[str, Any]
) -> np.ndarray:
    """Return 255 where any channel of two RGB (H, W, 3) differs by more than the threshold."""
    red, green, blue = cv2.split(cv2.absdiff(marked, source))
    largest = cv2.max(cv2.max(red, green), blue)
    return cv2.threshold(largest, settings["assumed_diff_threshold"], 255, cv2.THRESH_BINARY)[1]


def grey_range(rgb: np.ndarray) -> float:
    """Return the distance of the darkest and the brightest grey of an RGB picture."""
    low, high, _, _ = cv2.minMaxLoc(to_grey(rgb))
    return high - low


def by_place(points: list[dict[str, float]]) -> list[dict[str, float]]:
    """Return points sorted by y, then x."""
    return sorted(points, key=lambda point: (point["y"], point["x"]))


def _decode_source(answer: Answer) -> np.ndarray:
    if answer.source is None:
        raise MissingSourceError("the answer is compared with the input picture: give `source`")
    try:
        # The input's own transparency has nothing behind it: white, as it is sent to models.
        return decode_rgb(answer.source, matte=WHITE, orient=answer.orient_source)
    except ImageError as error:
        raise GensightError(f"the sample's input picture cannot be read: {error}") from error
