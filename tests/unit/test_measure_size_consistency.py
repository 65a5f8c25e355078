"""Consistency across sizes: by hand, and on the road from cells of several sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gensight.errors import RecordError
from gensight.measures import size_consistency
from gensight.metrics import size_consistency as plain
from gensight.metrics import size_consistency_above_strangers as above
from gensight.records import Prediction, Sample

SAMPLE = Sample(sample_id="a", rank=0, cluster_id="a")


def unit(*degrees: float) -> np.ndarray:
    """Return unit vectors of the plane at some angles, float32 (n, 2)."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


class Vectors:
    """A grid at 0 degrees, and what other prompts have: the same sample's angle, and others'."""

    def __init__(self, *found: tuple[float | None, list[float]], own: float | None = 0.0) -> None:
        self.own, self.found = own, found

    def of(self, prediction: Prediction) -> np.ndarray | None:
        return None if self.own is None else unit(self.own)[0]

    def companions(self, prediction: Prediction) -> list[tuple[np.ndarray | None, np.ndarray]]:
        return [
            (None if same is None else unit(same)[0], unit(*others) if others else np.zeros((0, 2)))
            for same, others in self.found
        ]


def parts_of(vectors: Vectors) -> dict[str, float]:
    prediction = Prediction(
        sample_id="a",
        rank=0,
        cluster_id="a",
        variant="strict",
        status="ok",
        outcome="ok",
        text="{}",
    )
    found = size_consistency.measure(prediction, SAMPLE, {"features": vectors})
    assert found is not None
    return found[None]


def test_cosines_by_hand():
    parts = parts_of(Vectors((0.0, [90.0]), (60.0, [90.0, 60.0])))
    assert parts["companion_cosine"] == pytest.approx((1 + 0.5) / 2, abs=1e-6)
    assert parts["above_strangers"] == pytest.approx(((1 - 0) + (0.5 - 0.25)) / 2, abs=1e-6)
    assert parts["sizes"] == 2
    assert plain.value(parts) == pytest.approx(0.75, abs=1e-6)
    assert above.value(parts) == parts["above_strangers"]


def test_one_drawing_for_everything_is_consistent_and_scores_nothing():
    parts = parts_of(Vectors((0.0, [0.0, 0.0]), (0.0, [0.0])))
    assert plain.value(parts) == pytest.approx(1)
    assert above.value(parts) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    "found",
    [
        [(0.0, [0.0, 0.0]), (None, [60.0] * 3)],  # its own grid is missing at the second size
        [(0.0, [0.0] * 9), (60.0, [60.0] * 3)],  # most of the others' are
    ],
)
def test_failures_at_a_size_give_and_take_nothing(found):
    assert above.value(parts_of(Vectors(*found))) == pytest.approx(0, abs=1e-6)


def test_sizes_without_a_grid_are_left_out():
    assert parts_of(Vectors((None, [0.0]), (60.0, [])))["sizes"] == 1
    lonely = parts_of(Vectors((None, [0.0])))
    assert lonely == {"grid": 1.0}
    assert plain.value(lonely) is None and above.value(lonely) is None


def test_an_answer_that_is_no_grid_says_nothing():
    assert size_consistency.failed(SAMPLE, {}) == {None: {"grid": 0.0}}
    columns = {"grid": [0.0, 1.0], "companion_cosine": [math.nan, 0.5]}
    assert plain.aggregate(columns) == 0.5


def test_a_grid_without_a_vector_names_its_sample():
    with pytest.raises(RecordError, match="sample a: the prediction is ok but has no vector"):
        parts_of(Vectors((0.0, []), own=None))
