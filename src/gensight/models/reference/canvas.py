"""What a reference model reads from a turn and how it hands a picture back.

The input is the first picture of the turn, its orientation tag applied and white under its alpha,
as a viewer would see it. Everything is painted at the work size: the input scaled to a long side
of 1024 px.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models import Outcome, Reply, Turn
from gensight.truths import truth_of

if TYPE_CHECKING:
    from gensight.records import Sample

WHITE = (255, 255, 255)


def random_of(name: str) -> np.random.Generator:
    """Return the random numbers that belong to a name, the same on every machine."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def input_bytes(turn: Turn) -> bytes:
    """Return the first picture of a turn.

    Raises:
        GensightError: the turn shows no picture.
    """
    for part in turn.parts:
        if part.kind == "image" and part.image is not None:
            return part.image
    raise GensightError("reference models answer turns that show a picture; this prompt shows none")


def work_size(turn: Turn) -> tuple[int, int]:
    """Return (width, height) of the input at long side 1024, from its header alone."""
    return images.fit_long_side(*images.inspect(input_bytes(turn)).upright_size)


def work_picture(turn: Turn) -> np.ndarray:
    """Return the input at the work size: uint8 (height, width, 3) RGB."""
    picture = images.decode_rgb(input_bytes(turn), matte=WHITE)
    height, width = picture.shape[:2]
    return images.resize_picture(picture, *images.fit_long_side(width, height))


def picture_reply(array: np.ndarray) -> Reply:
    """Return a reply holding one picture (uint8 or uint16, grey or RGB) as PNG."""
    return Reply(outcome=Outcome.OK, images=(images.encode_png(array),))


def known_truth(turn: Turn) -> Sample:
    """Return the turn's truth.

    Raises:
        GensightError: the turn carries none.
    """
    if turn.truth is None:
        raise GensightError("this reference model paints the truth, and the turn carries none")
    return turn.truth


def truth_field(truth: Sample, name: str) -> Any:
    """Return a column of the truth; `target_count` may also be the number of points.

    Raises:
        GensightError: it is missing; the message names the sample and the column.
    """
    value = truth_of(truth, name)
    if value is None:
        raise GensightError(
            f"sample '{truth.sample_id}': {name} is missing, so a reference model cannot answer; "
            "ask for an answer form of the benchmark's own task"
        )
    return value
