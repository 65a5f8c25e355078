"""The counting design, and the truth of counting samples."""

from __future__ import annotations

import collections

import cv2
import numpy as np
import pytest

from gensight.datasets.scenes import iter_samples
from gensight.datasets.scenes.counting import count_bin, count_design, draw_wanted, kinds
from gensight.datasets.scenes.randomness import stream
from gensight.datasets.scenes.samples import inner_point
from gensight.images import decode_mask, decode_rgb

NAME = ("test", 5)


@pytest.fixture(scope="module")
def design():
    return np.array([count_design(NAME, scene) for scene in range(300)])


def test_counts_follow_the_protocol(design):
    """A tenth zero, a tenth 15, 20, 30 or 50, the rest even over 1..12, in every 100 scenes."""
    for block in range(3):
        found = collections.Counter(design[100 * block : 100 * (block + 1), 0].tolist())
        assert found[0] == 10
        assert sum(found[k] for k in (15, 20, 30, 50)) == 10
        assert all(found[k] in (6, 7) for k in range(1, 13))
        assert sum(found.values()) == 100


def test_count_and_total_hardly_correlate(design):
    for block in range(3):
        count, others = design[100 * block : 100 * (block + 1)].T
        assert abs(np.corrcoef(count, others)[0, 1]) < 0.02
        assert np.corrcoef(count, count + others)[0, 1] < 0.3
    assert design[:, 1].min() >= 1


def test_kinds_hold_the_count_and_a_near_miss_for_each_word():
    red_scenes = 0
    for scene in range(150):
        wanted = draw_wanted(NAME, "main", scene, {})
        everything = kinds(stream("kinds", scene), "main", wanted)
        inside = [kind for kind in everything if wanted.matches(*kind)]
        outside = [kind for kind in everything if not wanted.matches(*kind)]
        assert (len(inside), len(outside)) == (wanted.count, wanted.others)
        if wanted.shape and wanted.colour:
            assert any(shape == wanted.shape for shape, _ in outside)
            assert any(colour == wanted.colour for _, colour in outside)
        assert wanted.is_red_scene == any(colour == "red" for _, colour in everything)
        red_scenes += wanted.is_red_scene
    assert red_scenes == 50


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0"), (1, "1-5"), (5, "1-5"), (6, "6-10"), (11, "11-20"), (21, "21-50"), (50, "21-50"),
     (51, ">50")],
)  # fmt: skip
def test_count_bins(count, expected):
    assert count_bin(count) == expected


@pytest.fixture(scope="module")
def samples():
    return [
        *iter_samples({"task": "counting", "seed": 3}, range(8)),
        *iter_samples({"task": "counting", "split": "ood"}, range(2)),
        *iter_samples({"task": "counting", "knobs": {"count": 0, "objects": 5}}, [0, 1]),
    ]


def test_points_and_instances(samples):
    """As many masks and points as counted; each point inside its own mask and no other."""
    for sample in samples:
        masks = [decode_mask(rle) for rle in sample.target_instances]
        assert len(masks) == len(sample.target_points) == sample.target_count
        assert sample.stratum == count_bin(sample.target_count)
        for index, point in enumerate(sample.target_points):
            row, column = round(point["y"]), round(point["x"])
            assert [bool(mask[row, column]) for mask in masks] == [
                other == index for other in range(len(masks))
            ]


def test_zero_counts_have_other_things(samples):
    for sample in samples[-2:]:
        assert sample.target_count == 0
        assert sample.target_points == []
        assert sample.knobs["objects"] == "5"


def test_red_passes_the_colour_gate_in_tagged_scenes_only(samples):
    """The hue gate of a red-dot decoder finds a region of 12 pixels iff the scene is tagged."""
    assert {"red_scene" in sample.tags for sample in samples} == {True, False}
    for sample in samples:
        rgb = decode_rgb(sample.image["bytes"], matte=(0, 0, 0))
        hue, saturation, value = np.moveaxis(cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV), -1, 0)
        red = ((hue <= 10) | (hue >= 170)) & (saturation >= 160) & (value >= 100)
        areas = cv2.connectedComponentsWithStats(red.astype(np.uint8))[2][1:, cv2.CC_STAT_AREA]
        assert bool((areas >= 12).any()) == ("red_scene" in sample.tags)


def test_inner_point_of_a_ring_lies_on_the_ring():
    rows, columns = np.mgrid[:41, :41]
    radius = np.hypot(rows - 20, columns - 20)
    assert inner_point(radius <= 10) == {"x": 20.0, "y": 20.0}
    ring = (radius <= 15) & (radius >= 10)
    point = inner_point(ring)
    assert ring[int(point["y"]), int(point["x"])]
    assert np.hypot(point["x"] - 20, point["y"] - 20) == pytest.approx(10)
