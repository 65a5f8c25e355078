"""Gain between floor and ceiling: its value, its joint interval, and where there is none."""

import numpy as np
import pytest

from gensight import metrics
from gensight.statistics import ColumnParts, Design, gain

N = 120
SAMPLES = [f"s{place:03}" for place in range(N)]
PICTURES = [f"p{place // 2:03}" for place in range(N)]
DESIGN = Design.of("toy", PICTURES)


def rows(parts):
    return ColumnParts(parts, SAMPLES, PICTURES)


IOU = np.random.default_rng(0).beta(2, 1, N)
MODEL, BETTER = (rows({"iou": np.clip(IOU + more, 0, 1)}) for more in (0.0, 0.1))


def test_gain_lies_between_floor_and_ceiling():
    giou = metrics.load("giou")
    floor = rows({"iou": np.full(N, 0.2) + 0.1 * np.sin(np.arange(N))})
    ceiling = rows({"iou": np.full(N, 0.9)})
    low, model, high = (giou.aggregate(m.parts) for m in (floor, MODEL, ceiling))
    found = gain(giou, MODEL, floor, ceiling, DESIGN)
    assert found.value == pytest.approx((model - low) / (high - low))
    assert found.interval.low < found.value < found.interval.high
    assert found.interval.method == "joint percentile"
    # A model that is its own floor or ceiling has no uncertainty at all.
    assert gain(giou, floor, floor, ceiling, DESIGN)[1][:2] == (0, 0)
    top = gain(giou, ceiling, floor, ceiling, DESIGN)
    assert (top.value, *top.interval[:2]) == (1, 1, 1)


def test_gain_interval_is_that_of_the_delta_method():
    giou = metrics.load("giou")
    rng = np.random.default_rng(3)
    floor = {"iou": np.clip(0.1 + 0.05 * rng.normal(size=N), 0, 1)}
    ceiling = {"iou": np.clip(0.95 - 0.02 * rng.random(N), 0, 1)}
    found = gain(giou, MODEL, *(rows(p) for p in (floor, ceiling)), DESIGN)
    f, c, x = (
        np.reshape(v, (60, 2)).mean(axis=1)
        for v in (floor["iou"], ceiling["iou"], MODEL.parts["iou"])
    )
    slopes = (x - f - found.value * (c - f)) / (c.mean() - f.mean())
    half = 2.000995 * slopes.std(ddof=1) / np.sqrt(60)
    assert (found.interval.high - found.interval.low) / 2 == pytest.approx(half, rel=0.04)


def test_gain_without_room_has_no_interval():
    giou = metrics.load("giou")
    m = MODEL
    assert gain(giou, m, m, m, DESIGN) == (None, (None, None, "none"))
    near = rows({"iou": m.parts["iou"] + np.random.default_rng(0).normal(0, 0.2, N)})
    found = gain(giou, BETTER, m, near, DESIGN)
    assert found.value is not None
    assert found.interval == (None, None, "none")
    lost = m._replace(parts={"iou": np.full(N, np.nan)})
    assert gain(giou, m, lost, near, DESIGN).value is None
    assert gain(metrics.load("half_error_items"), m, m, near, DESIGN).value is None
