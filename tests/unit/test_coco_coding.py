"""COCO annotation files: polygons and run lengths against pycocotools, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco
from refcoco_files import BOX, SHARED, decoded, one_line

from gensight.datasets._coco import read_instances, segmentation_mask
from gensight.errors import MissingDataError


@pytest.mark.parametrize("text", ["", "{}", "[]", "<html>", '{"images": [1]}', '{"images": 3}'])
def test_damaged_instances_are_named(tmp_path, text):
    path = tmp_path / "instances.json"
    path.write_text(text)
    with pytest.raises(MissingDataError, match=r"instances\.json") as error:
        read_instances(path)
    one_line(error)


@pytest.mark.parametrize("counts", ["list", "str", "bytes"])
def test_run_lengths_in_every_form(counts):
    packed = coco.frPyObjects({"size": [10, 10], "counts": [5, 3, 92]}, 10, 10)["counts"]
    forms = {"list": [5, 3, 92], "str": packed.decode(), "bytes": packed}
    mask = segmentation_mask({"size": [10, 10], "counts": forms[counts]}, 10, 10)
    assert [tuple(pixel) for pixel in np.argwhere(mask)] == [(5, 0), (6, 0), (7, 0)]


def test_a_list_of_run_lengths_is_joined():
    codes = [{"size": [4, 4], "counts": [0, 2, 14]}, {"size": [4, 4], "counts": [1, 2, 13]}]
    assert segmentation_mask(codes, 4, 4)[:, 0].tolist() == [True, True, True, False]
    assert segmentation_mask(codes, 4, 4).sum() == 3


CORNERS = st.lists(st.tuples(st.floats(0, 40), st.floats(0, 30)), min_size=3, max_size=9)


@settings(max_examples=60, deadline=None)
@given(st.lists(CORNERS, min_size=1, max_size=3))
def test_polygons_are_pycocotools_polygons(parts):
    polygons = [[number for corner in part for number in corner] for part in parts]
    expected = decoded(coco.merge(coco.frPyObjects(polygons, 30, 40)))
    assert (segmentation_mask(polygons, 30, 40) == expected).all()


def test_parts_that_enclose_nothing_are_left_out():
    assert segmentation_mask([BOX, [1.0, 1.0, 5.0, 5.0], []], 30, 40).sum() == 100
    assert segmentation_mask([], 30, 40).sum() == 0


@pytest.mark.parametrize(
    ("segmentation", "words"),
    [
        (BOX, "one flat list of numbers"),
        ("abc", "no known way"),
        (None, "no known way"),
        ([["a"] * 6], "no known way"),
        ([[1.0] * 7], "no known way"),
        ([[1.0, 1.0, float("nan"), 2.0, 3.0, 3.0]], "no known way"),
        ([[1.0, 1.0, 1e9, 2.0, 3.0, 3.0]], "outside"),
        ({"counts": [900]}, "no known way"),
        ({"size": [30, 30], "counts": None}, "no known way"),
        ({"size": [20, 45], "counts": [900]}, "coded for"),
        ({"size": [30, 30], "counts": [899]}, "damaged"),
        ({"size": [30, 30], "counts": [-1, 901]}, "damaged"),
        ({"size": [30, 30], "counts": "~~~"}, "damaged"),
        ({"size": [30, 30], "counts": ["a"]}, "damaged"),
    ],
)
def test_other_codings_are_refused(segmentation, words):
    with pytest.raises(MissingDataError, match=words) as error:
        segmentation_mask(segmentation, 30, 30)
    one_line(error)


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_run_lengths_of_real_annotations():
    path = SHARED / "coco" / "panoptic" / "panoptic_coco_detection_format.json"
    document = json.loads(path.read_text())
    sizes = {one["id"]: (one["height"], one["width"]) for one in document["images"]}
    for annotation in document["annotations"]:
        code = annotation["segmentation"]
        expected = decoded({**code, "counts": code["counts"].encode()})
        found = segmentation_mask(code, *sizes[annotation["image_id"]])
        assert (found == expected).all()
        assert found.sum() == annotation["area"]
