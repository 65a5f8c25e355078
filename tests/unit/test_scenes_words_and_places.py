"""Boxes, keypoints and one-word answers of scenes, against the same facts read another way."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight.datasets.scenes import DEFAULTS, iter_samples
from gensight.datasets.scenes.parameters import locate, parse
from gensight.datasets.scenes.places import named_places, tight_box
from gensight.datasets.scenes.reading import NUMBERS, ask, said_by
from gensight.datasets.scenes.scene import build
from gensight.images import decode_mask

SMALL = {"width": 256, "height": 192}
CROWDS = {"width": 384, "height": 288, "knobs": {"objects": 6, "count": [0, 4, 9]}}


def some(task, ranks, **extra):
    return list(iter_samples({**DEFAULTS, "task": task, **extra}, ranks))


def ellipse(width, height, centre, radii):
    rows, columns = np.indices((height, width))
    x, y = (columns - centre[0]) / radii[0], (rows - centre[1]) / radii[1]
    return x * x + y * y <= 1


def test_boxes_are_tight_around_what_counting_counts():
    detection, counting = (some(task, range(6), **CROWDS) for task in ("detection", "counting"))
    for boxed, counted in zip(detection, counting, strict=True):
        assert boxed.image["bytes"] == counted.image["bytes"]
        assert (boxed.query, boxed.stratum) == (counted.query, counted.stratum)
        assert boxed.cluster_id == counted.cluster_id
        assert len(boxed.target_boxes) == counted.target_count
        union = np.zeros((counted.height, counted.width), bool)
        for box, rle in zip(boxed.target_boxes, counted.target_instances, strict=True):
            mask = decode_mask(rle)
            left, top, right, bottom = (int(box[e]) for e in ("left", "top", "right", "bottom"))
            assert mask[top:bottom, left:right].sum() == mask.sum()
            for side in (mask[top], mask[bottom - 1], mask[:, left], mask[:, right - 1]):
                assert side.any()
            union |= mask
        np.testing.assert_array_equal(decode_mask(boxed.target_mask), union)
    assert {sample.target_count for sample in counting} == {0, 4, 9}


def test_keypoints_lie_on_the_named_thing_of_segmentation():
    places, masks = (
        some("keypoints", range(6), **SMALL),
        some("segmentation", range(0, 12, 2), **SMALL),
    )
    for sample, other in zip(places, masks, strict=True):
        assert sample.image["bytes"] == other.image["bytes"]
        assert (sample.query, sample.target_mask) == (other.query, other.target_mask)
        mask = decode_mask(sample.target_mask)
        assert sample.target_boxes == [tight_box(mask)]
        listed = {point["name"]: point for point in sample.target_keypoints}
        assert set(listed) <= {"middle", "left", "right", "top", "bottom"}
        middle = listed["middle"]
        assert mask[round(middle["y"]), round(middle["x"])]
        rows, columns = np.nonzero(mask)
        for name, axis, edge in [
            ("left", "x", columns.min()),
            ("right", "x", columns.max()),
            ("top", "y", rows.min()),
            ("bottom", "y", rows.max()),
        ]:
            assert name not in listed or listed[name][axis] == edge
    assert sum(len(sample.target_keypoints) for sample in places) > 2 * len(places)


@given(st.integers(6, 30), st.integers(6, 30))
def test_extremes_of_an_ellipse_are_on_its_axes(a, b):
    mask = ellipse(100, 80, (50, 40), (a, b))
    points = {point["name"]: (point["x"], point["y"]) for point in named_places(mask)}
    assert points == {
        "middle": (50, 40),
        "left": (50 - a, 40),
        "right": (50 + a, 40),
        "top": (50, 40 - b),
        "bottom": (50, 40 + b),
    }


@pytest.mark.parametrize(
    ("slope", "labelled"),
    [(0.0, {"top", "bottom"}), (0.02, set()), (0.06, set()), (0.5, {"top", "bottom"})],
)
def test_an_edge_that_leans_a_little_has_no_extreme(slope, labelled):
    """A bar with a level upper edge has its middle; a leaning one needs to lean visibly."""
    rows, columns = np.indices((120, 160))
    offset = np.round(slope * (columns - 40))
    mask = (columns >= 40) & (columns < 120) & (rows - offset >= 30) & (rows - offset < 60)
    names = {point["name"] for point in named_places(mask)}
    assert names & {"top", "bottom"} == labelled


def test_answers_are_what_the_scene_is_made_of():
    parameters = parse({**DEFAULTS, "task": "reading", **SMALL})
    attributes = set()
    for rank, sample in enumerate(some("reading", range(12), **SMALL)):
        address = locate(parameters, rank)
        scene = build(parameters, address.scene, address.knobs)
        (query,) = [q for q in scene.queries if q.text in sample.query][:1]
        plan = scene.layout.plans[query.target]
        hangs = -(query.target + 1) in scene.layout.stage.solids
        facts = {
            "colour": plan.colour,
            "shape": plan.shape,
            "support": "hanging" if hangs else "standing",
        }
        assert sample.target_text == facts[sample.stratum]
        assert re.search(rf"\b{sample.target_text}\b", sample.query.rsplit(query.text, 1)[1])
        assert sample.stratum not in said_by(query)
        attributes.add(sample.stratum)
    assert len(attributes) >= 2


def test_when_everything_is_said_the_number_is_asked_for():
    from dataclasses import replace

    from gensight.datasets.scenes.expressions import Clause, Expression

    parameters = parse({**DEFAULTS, "task": "reading", **SMALL})
    address = locate(parameters, 0)
    scene = build(parameters, 0, address.knobs)
    said = Expression(tuple(Clause(kind, "", 0, 0) for kind in ("colour", "shape", "support")))
    queries = tuple(replace(query, expression=said) for query in scene.queries)
    question = ask(replace(scene, queries=queries), 0, "main")
    assert question.attribute == "number"
    assert NUMBERS.index(question.answer) == len(scene.layout.plans)
