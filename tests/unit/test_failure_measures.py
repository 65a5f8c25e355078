"""The extractor of failure classes, and the two failure tables that never mix."""

import json
import math

import numpy as np
import pytest
from images_by_hand import RGB_ALPHA, UNREADABLE, png, saved
from spine_rows import prediction, sample

from gensight import extractors, images, measures, metrics
from gensight.datasets.photographs import load_photograph
from gensight.errors import GensightError, RecordError, SpecError
from gensight.extractors import Answer
from gensight.failures import format_valid
from gensight.failures.thresholds import THRESHOLDS
from gensight.measures import failure_class, failure_truth

COFFEE = load_photograph("coffee")
SOURCE = saved(COFFEE, "PNG")
HEIGHT, WIDTH = COFFEE.shape[:2]


def read(image, task="segmentation", **parameters):
    answer = Answer(image=image, source=SOURCE, source_width=WIDTH, source_height=HEIGHT)
    module = extractors.load("failure_class")
    (reading,) = module.extract(answer, {"task": task, **parameters})
    return reading


def test_a_reading_has_the_class_and_the_features_that_decided():
    reading = read(SOURCE)
    assert (reading.variant, reading.status) == ("blind", "ok")
    assert reading.fields["failure_blind"] == "copy"
    assert reading.fields["degenerate_output"] is False
    assert reading.fields["facts"]["ssim"] == pytest.approx(1)
    assert all(isinstance(value, float) for value in reading.fields["facts"].values())
    parameters = json.loads(reading.fields["parameters"])
    assert parameters["task"] == "segmentation"
    assert set(THRESHOLDS) < set(parameters)


def test_the_task_decides_what_is_right():
    assert read(SOURCE, "counting").fields["failure_blind"] == "unmarked_copy"
    assert read(SOURCE, "counting").fields["matte"] == "input"
    assert read(SOURCE, "depth").fields["matte"] == "black"
    with pytest.raises(SpecError, match=r"parameters\.task: 'normals' is not known"):
        read(SOURCE, "normals")


def test_thresholds_are_parameters():
    strict = read(SOURCE, copy_lab_difference=-1.0)
    assert strict.fields["failure_blind"] == "filter"


def test_transparency_shows_black_in_drawings():
    """A white disc on nothing is a mask."""
    rows, columns = np.mgrid[:100, :150]
    inside = (columns - 75) ** 2 + (rows - 50) ** 2 < 30**2
    pixels = np.full((100, 150, 4), 255, np.uint8)
    pixels[..., 3] = inside * 255
    image = png((150, 100), 8, RGB_ALPHA, pixels.reshape(100, -1))
    assert read(image).fields["failure_blind"] == "ok"


@pytest.mark.parametrize("case", UNREADABLE)
def test_an_unreadable_picture_is_a_class_of_its_own(case):
    reading = read(UNREADABLE[case])
    assert (reading.status, reading.reason) == ("ok", None)
    assert reading.fields["failure_blind"] == "unreadable"
    assert reading.detail


def test_an_answer_without_a_picture_has_no_class():
    reading = read(None)
    assert (reading.status, reading.reason) == ("no_output", "no_image")
    assert "failure_blind" not in reading.fields


def test_the_input_is_needed():
    answer = Answer(image=SOURCE, source_width=4, source_height=4)
    with pytest.raises(GensightError, match="give `source`"):
        extractors.load("failure_class").extract(answer, {})
    broken = Answer(image=SOURCE, source=b"", source_width=4, source_height=4)
    with pytest.raises(GensightError, match="input picture cannot be read"):
        extractors.load("failure_class").extract(broken, {})


def hits(by_fit):
    return {fit for fit, parts in by_fit.items() if parts["hit"] == 1}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ok", {"ok"}),
        ("drift:local", {"drift", "drift:local"}),
        ("wrong_format:cutout", {"wrong_format", "wrong_format:cutout"}),
        ("unreadable", {"unreadable"}),
        ("unmarked_copy", {"unmarked_copy"}),
    ],
)
def test_an_answer_counts_for_its_class_and_its_detail(name, expected):
    by_fit = failure_class.measure(prediction(0, failure_blind=name), sample(0), {})
    assert tuple(by_fit) == failure_class.FITS
    assert hits(by_fit) == expected


@pytest.mark.parametrize(("count", "expected"), [(0, "ok"), (3, "unmarked_copy")])
def test_nothing_to_mark_and_nothing_marked_is_right(count, expected):
    read_as = prediction(0, failure_blind="unmarked_copy")
    by_fit = failure_class.measure(read_as, sample(0, target_count=count), {})
    assert hits(by_fit) == {expected}


def test_answers_without_a_picture():
    assert hits(failure_class.failed(sample(0), {})) == {"no_output"}


def test_a_prediction_without_a_class_names_the_extractor():
    with pytest.raises(RecordError, match="extractor 'failure_class'"):
        failure_class.measure(prediction(0), sample(0), {})


def column(module, rows, fit):
    """Return the parts of a fit over rows, as the summaries give them to a metric."""
    names = {name for row in rows for name in row[fit]}
    return {name: [row[fit].get(name, math.nan) for row in rows] for name in names}


def test_shares_of_a_table():
    names = ["ok", "ok", "copy", "drift:local", None]
    rows = [
        failure_class.failed(sample(0), {})
        if name is None
        else failure_class.measure(prediction(0, failure_blind=name), sample(0), {})
        for name in names
    ]
    share, right = metrics.load("class_share"), metrics.load("right_share")
    found = {fit: share.aggregate(column(failure_class, rows, fit)) for fit in failure_class.FITS}
    assert {fit: value for fit, value in found.items() if value} == {
        "ok": 40,
        "copy": 20,
        "drift": 20,
        "drift:local": 20,
        "no_output": 20,
    }
    coarse = [value for fit, value in found.items() if ":" not in fit]
    assert math.fsum(coarse) == pytest.approx(100)
    assert right.aggregate(column(failure_class, rows, "ok")) == 40
    assert right.aggregate(column(failure_class, rows, "copy")) is None
    assert (right.HIGHER_IS_BETTER, share.HIGHER_IS_BETTER) == (True, False)


def disc(column, radius=16):
    rows, columns = np.mgrid[:96, :128]
    return (rows - 48) ** 2 + (columns - column) ** 2 <= radius**2


def asked(target, **masks):
    encoded = {
        name: [images.encode_mask(one) for one in mask]
        if isinstance(mask, list)
        else images.encode_mask(mask)
        for name, mask in masks.items()
    }
    return sample(0, width=128, height=96, target_mask=images.encode_mask(target), **encoded)


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (disc(30), "ok"),
        (np.kron(disc(30), np.ones((3, 3), bool)), "ok"),
        (disc(39), "drift"),
        (disc(100), "wrong_object"),
        (~disc(30), "inverted"),
        (disc(64), "missed"),
    ],
)
def test_masks_are_classed_on_the_targets_grid(mask, expected):
    said = prediction(0, mask=images.encode_mask(mask))
    by_fit = failure_truth.measure(said, asked(disc(30), twin_mask=disc(100)), {})
    assert tuple(by_fit) == failure_truth.FITS
    assert hits(by_fit) == {expected}


@pytest.mark.parametrize(
    ("others", "mask", "expected"),
    [
        # The mask is the third of the others, and the twin another one.
        ({"twin_mask": disc(100), "other_masks": [disc(100), disc(64)]}, disc(64), "wrong_object"),
        ({"twin_mask": disc(100)}, disc(64), "missed"),
        # With all the others known, the twin alone decides nothing.
        ({"twin_mask": disc(64), "other_masks": []}, disc(64), "missed"),
        ({"other_masks": []}, disc(64), "missed"),
        # Ignored pixels take no part on either side.
        (
            {"other_masks": [disc(64) | disc(100)], "ignore_mask": disc(100)},
            disc(64),
            "wrong_object",
        ),
        ({"other_masks": [disc(64), disc(100)]}, np.zeros((96, 128), bool), "missed"),
        # The target's own class goes before that of another thing.
        ({"other_masks": [disc(30)]}, disc(30), "ok"),
    ],
)
def test_every_other_instance_may_be_the_wrong_object(others, mask, expected):
    said = prediction(0, mask=images.encode_mask(mask))
    by_fit = failure_truth.measure(said, asked(disc(30), **others), {})
    assert tuple(by_fit) == failure_truth.FITS
    assert hits(by_fit) == {expected}


def test_other_instances_of_another_size_go_to_the_targets_grid():
    large = np.kron(disc(100), np.ones((2, 2), bool))
    said = prediction(0, mask=images.encode_mask(disc(100)))
    assert hits(failure_truth.measure(said, asked(disc(30), other_masks=[large]), {})) == {
        "wrong_object"
    }


def test_where_no_other_instance_is_known_the_wrong_object_is_not_defined():
    said = prediction(0, mask=images.encode_mask(disc(100)))
    unknown, known = asked(disc(30)), asked(disc(30), other_masks=[disc(100)])
    rows = [failure_truth.measure(said, unknown, {}), failure_truth.failed(unknown, {})]
    for by_fit, expected in zip(rows, ("missed", "no_answer"), strict=True):
        assert set(failure_truth.FITS) - set(by_fit) == {"wrong_object"}
        assert hits(by_fit) == {expected}
    rows.append(failure_truth.measure(said, known, {}))
    share = metrics.load("truth_class_share").aggregate
    # The share is over the one sample whose other instances are known, not over all three.
    parts = {"hit": [by_fit.get("wrong_object", {}).get("hit", math.nan) for by_fit in rows]}
    assert share(parts) == 100
    assert share({"hit": [math.nan, math.nan]}) is None
    assert share(column(failure_truth, rows, "missed")) == pytest.approx(100 / 3)


def test_masks_without_truth_and_failed_masks():
    assert failure_truth.failed(sample(0), {}) is None
    everything = asked(disc(30), ignore_mask=np.ones((96, 128), bool))
    assert failure_truth.failed(everything, {}) is None
    assert (
        failure_truth.measure(prediction(0, mask=images.encode_mask(disc(30))), everything, {})
        is None
    )
    by_fit = failure_truth.failed(asked(disc(30)), {})
    assert hits(by_fit) == {"no_answer"}
    assert metrics.load("truth_right_share").aggregate(column(failure_truth, [by_fit], "ok")) == 0
    share = metrics.load("truth_class_share").aggregate
    assert share(column(failure_truth, [by_fit], "no_answer")) == 100


def test_the_two_tables_have_metrics_of_their_own():
    by_measure = {}
    for name in ("class_share", "right_share", "truth_class_share", "truth_right_share"):
        by_measure.setdefault(metrics.load(name).MEASURE, []).append(name)
    assert by_measure == {
        "failure_class": ["class_share", "right_share"],
        "failure_truth": ["truth_class_share", "truth_right_share"],
    }


def test_policies_are_checked():
    for name in ("failure_class", "failure_truth", "mask_loss", "count_loss"):
        with pytest.raises(SpecError, match="'silence' is not known"):
            measures.load(name).failed(sample(0), {"failure": "silence"})


def test_a_class_makes_a_reading_valid_or_not():
    fields = read(SOURCE).fields
    assert not format_valid(prediction(0, **fields))
    assert not format_valid(prediction(0, **read(b"").fields))
