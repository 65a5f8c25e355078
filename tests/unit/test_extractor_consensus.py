"""What several answers say together, for every kind of reading."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from images_by_hand import photograph

from gensight import extractors, images
from gensight.errors import GensightError
from gensight.extractors import Answer, Reading, integer, mask
from gensight.extractors._consensus import MERGEABLE, merged
from gensight.records import Prediction

RNG = np.random.default_rng(0)
FAILED = Reading(variant="v", status="no_output", reason="no_image", fields={"work_width": 64})
INVALID = Reading(variant="v", status="invalid", reason="prose", fields={})


def ok(**fields):
    return Reading(variant="v", fields=fields)


def of(column, values, name):
    return merged(name, [ok(**{column: value}) for value in values]).fields[column]


def random_masks(count, shape=(20, 30)):
    return [RNG.random(shape) < 0.5 for _ in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_masks_vote_by_strict_majority(count):
    masks = random_masks(count)
    found = images.decode_mask(of("mask", [images.encode_mask(m) for m in masks], "mask"))
    assert (found == (np.sum(masks, axis=0) * 2 > count)).all()


def test_masks_of_several_sizes_meet_at_the_first_one_s():
    small = np.zeros((24, 32), bool)
    small[6:18, 8:24] = True
    large = np.kron(small, np.ones((4, 4))).astype(bool)
    other = np.ones((48, 64), bool)
    encoded = [images.encode_mask(m) for m in (small, large, other)]
    assert (images.decode_mask(of("mask", encoded, "mask")) == small).all()
    assert images.decode_mask(of("mask", encoded[1:], "overlay")).shape == large.shape


def picture(array):
    return {"bytes": images.encode_png(array), "path": None}


def pixels(stored):
    return images.decode_colour(stored["bytes"], matte=(0, 0, 0))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_depth_is_the_median_of_each_pixel(count, dtype):
    greys = [RNG.integers(0, np.iinfo(dtype).max + 1, (6, 8)).astype(dtype) for _ in range(count)]
    stored = of("grey", [picture(grey) for grey in greys], "depth")
    found = images.decode_grey(stored["bytes"], matte=(0, 0, 0))
    assert found.dtype == dtype
    assert (found == np.floor(np.median(greys, axis=0) + 0.5)).all()


def test_depth_of_mixed_depths_is_merged_in_sixteen_bits():
    low, high = np.full((4, 4), 100, np.uint8), np.full((4, 4), 30_000, np.uint16)
    found = images.decode_grey(
        of("grey", [picture(low), picture(high), picture(low)], "depth")["bytes"], matte=(0, 0, 0)
    )
    assert (found == 100 * 257).all()


def test_normals_are_the_median_of_each_channel():
    colours = [RNG.integers(0, 256, (6, 8, 3)).astype(np.uint8) for _ in range(3)]
    found = pixels(of("normals", [picture(colour) for colour in colours], "normals"))
    assert (found == np.median(colours, axis=0)).all()


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([3], 3), ([3, 5, 100], 5), ([2, 3], 3), ([2, 4], 3), ([0, 0, 1, 1], 1), ([7, 7, 0, 0], 4)],
)
def test_counts_have_their_median_rounded_half_up(counts, expected):
    for order in itertools.permutations(counts):
        assert of("count", order, "integer") == expected


def dots(count, x=0.0):
    return ok(count=count, points=[{"x": x + place, "y": 1.0} for place in range(count)])


def test_places_are_those_of_the_first_answer_with_the_merged_count():
    readings = [dots(1), dots(3, 10), dots(3, 20), dots(5)]
    assert merged("dots", readings).fields["points"] == readings[1].fields["points"]


def test_places_are_missing_where_no_answer_has_the_merged_count():
    fields = merged("dots", [dots(2), dots(4)]).fields
    assert (fields["count"], fields["points"]) == (3, None)
    assert "points" not in merged("integer", [ok(count=2), ok(count=4)]).fields


def box(left, top, right, bottom, score=1.0):
    return {"left": left, "top": top, "right": right, "bottom": bottom, "score": score}


def test_boxes_that_most_answers_have_are_kept_with_median_edges():
    readings = [
        ok(boxes=[box(10, 10, 50, 50), box(200, 200, 260, 260)], count=2, points=[]),
        ok(boxes=[box(12, 9, 52, 51), box(400, 10, 440, 60)], count=2, points=[]),
        ok(boxes=[box(202, 198, 262, 258), box(11, 11, 49, 50)], count=2, points=[]),
    ]
    fields = merged("boxes", readings).fields
    assert fields["boxes"] == [
        box(11.0, 10.0, 50.0, 50.0, 1.0),
        box(201.0, 199.0, 261.0, 259.0, 2 / 3),
    ]
    assert fields["count"] == 2
    assert fields["points"] == [{"x": 30.0, "y": 29.5}, {"x": 230.5, "y": 228.5}]


def test_one_answer_s_boxes_are_never_joined():
    twice = [box(10, 10, 50, 50), box(12, 10, 52, 50)]
    fields = merged("boxes", [ok(boxes=twice), ok(boxes=twice)]).fields
    assert fields["boxes"] == twice


def test_no_box_is_common_to_answers_that_disagree():
    readings = [ok(boxes=[box(0, 0, 10, 10)]), ok(boxes=[box(50, 50, 60, 60)])]
    fields = merged("boxes", readings).fields
    assert (fields["boxes"], fields["count"], fields["points"]) == ([], 0, [])


def test_keypoints_that_most_answers_name_are_kept():
    def points(**places):
        return [{"name": name, "x": x, "y": y} for name, (x, y) in places.items()]

    found = of(
        "keypoints",
        [
            points(nose=(10, 10), chin=(5, 5)),
            points(nose=(14, 90)),
            points(chin=(9, 7), nose=(12, 20), ear=(1, 1)),
        ],
        "keypoints",
    )
    assert found == points(nose=(12, 20), chin=(7, 6))


def test_the_commonest_text_is_kept_as_first_written():
    assert of("text", ["Cat", " dog", "DOG ", "ｄｏｇ", "cat"], "text") == " dog"
    assert of("text", ["cat", "dog"], "text") == "cat"


def test_failed_answers_have_no_vote():
    reading = merged("integer", [FAILED, ok(count=4), INVALID, ok(count=9), ok(count=5)])
    assert (reading.status, reading.reason, reading.fields["count"]) == ("ok", None, 5)
    assert reading.fields["facts"] == {"n_merged": 3, "n_repeats": 5}


def test_one_voter_is_enough_and_none_is_a_failure():
    assert merged("integer", [INVALID, ok(count=4)]).fields["count"] == 4
    reading = merged("integer", [INVALID, FAILED])
    assert (reading.status, reading.reason) == ("invalid", "prose")
    assert reading.fields["facts"] == {"n_merged": 0, "n_repeats": 2}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [([True], True), ([True, False], False), ([True, True, False], True), ([None, None], False)],
)
def test_most_voters_decide_whether_the_output_is_degenerate(flags, expected):
    readings = [ok(count=1, degenerate_output=flag) for flag in flags]
    assert merged("dots", readings).fields["degenerate_output"] is expected


def test_real_readings_merge_to_a_row_of_predictions():
    columns = {field.name for field in dataclasses.fields(Prediction)}
    variants = mask.CHOICES["variants"]
    repeats = []
    for seed in range(3):
        data = images.encode_png(photograph(seed=seed))
        answer = Answer(image=data, source_width=64, source_height=48)
        repeats.append(mask.extract(answer, {"variants": variants}))
    for readings in zip(*repeats, strict=True):
        reading = merged("mask", readings)
        assert reading.variant == readings[0].variant
        assert set(reading.fields) <= columns
        decoded = [images.decode_mask(r.fields["mask"]) for r in readings]
        found = images.decode_mask(reading.fields["mask"])
        assert (found == (np.sum(decoded, axis=0) >= 2)).all()


def test_the_same_answer_twice_says_the_same():
    (reading,) = integer.extract(Answer(text="12", source_width=8, source_height=8), {})
    twice = merged("integer", [reading, reading])
    assert twice.fields["count"] == 12
    assert twice.fields["parameters"] == reading.fields["parameters"]


def test_extractors_that_read_nothing_of_the_answer_cannot_be_merged():
    assert set(MERGEABLE) <= set(extractors.names())
    with pytest.raises(GensightError, match="cannot be merged by extractor 'timing'"):
        merged("timing", [Reading(variant="timing")])
