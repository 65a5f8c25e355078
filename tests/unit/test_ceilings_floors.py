"""The floors of every kind of benchmark, on the road that everyone takes, and what they must be."""

from __future__ import annotations

import numpy as np
import pytest
from ceiling_road import (
    absrel_percent,
    answer_form,
    area_share,
    benchmark,
    counted,
    held_out,
    iou,
    open_reference,
    scene_samples,
    travel,
)

from gensight.measures import count_match, depth_fit, normal_angle

SMALL = {"width": 384, "height": 288}
MASKS, DEPTHS, COUNTS = "scenes_segmentation", "scenes_depth", "scenes_counting"


@pytest.fixture(scope="module")
def masks():
    return scene_samples("segmentation", range(10))


@pytest.fixture(scope="module")
def depths():
    return scene_samples("depth", range(5), **SMALL)


@pytest.fixture(scope="module")
def crowds():
    return scene_samples("counting", range(8), **SMALL)


def fitted(method, task, n):
    first = benchmark(f"scenes_{task}")["held_out"]["first_rank"]
    samples = scene_samples(task, range(first, first + n), **SMALL)
    return open_reference(method, held_out(samples))


def test_salience_is_no_understanding(masks):
    """PROTOCOLS 4.1: below 35 gIoU; and it does see, so it is above what cannot."""
    salient = np.mean([iou(sample, MASKS, open_reference("salient")) for sample in masks])
    oracle = np.mean([iou(sample, MASKS) for sample in masks])
    white = np.mean([iou(sample, MASKS, open_reference("constant")) for sample in masks])
    assert white < salient < 0.35 < 0.99 < oracle


def test_a_white_picture_earns_the_share_of_the_target_and_a_black_one_nothing(masks):
    for sample in masks[:4]:
        for level, expected in ((255, area_share(sample)), (0, 0.0)):
            arrived = travel(sample, MASKS, open_reference("constant", level=level))
            assert arrived.parts[None]["iou"] == pytest.approx(expected)
            assert arrived.prediction.degenerate_output


def test_an_ellipse_in_the_middle_is_a_low_floor(masks):
    model = fitted("prior_centre", "segmentation", 6)
    assert 0 < np.mean([iou(sample, MASKS, model) for sample in masks]) < 0.2


def test_an_echo_is_no_mask(masks):
    assert np.mean([iou(sample, MASKS, open_reference("echo")) for sample in masks]) < 0.2


def test_a_constant_picture_scores_as_a_failed_answer(depths):
    settings = {"answer_form": answer_form("depth")}
    for sample in depths:
        failed = depth_fit.failed(sample, settings)
        constant = travel(sample, DEPTHS, open_reference("constant")).parts
        assert list(constant) == list(failed)
        for fit, parts in failed.items():
            for name in ("absrel", "delta1", "rmse_m", "n_valid"):
                assert constant[fit][name] == pytest.approx(parts[name], rel=1e-6)


@pytest.mark.parametrize("method", ["prior_ramp", "echo_grey", "prior_mean"])
def test_depth_floors_lie_between_the_oracle_and_the_constant(depths, method):
    """They beat a constant, far from the oracle; the scenes are no ramps (PROTOCOLS 4.1)."""
    is_fitted = method == "prior_mean"
    model = fitted(method, "depth", 4) if is_fitted else open_reference(method)
    constant = open_reference("constant")
    floor, flat, true = (
        [absrel_percent(sample, DEPTHS, each) for sample in depths]
        for each in (model, constant, None)
    )
    mean = {
        fit: [np.mean([row[fit] for row in rows]) for rows in (true, floor, flat)]
        for fit in ("depth", "monotone")
    }
    assert 10 * mean["depth"][0] < mean["depth"][1] < mean["depth"][2]
    assert mean["monotone"][1] >= 0.5 * mean["monotone"][2]


@pytest.mark.parametrize("method", ["echo", "constant"])
def test_who_marks_nothing_counts_nothing(crowds, method):
    for sample in crowds:
        error, f1 = counted(sample, COUNTS, open_reference(method))
        assert error == -sample.target_count
        assert f1 == (0.0 if sample.target_count else 1.0)


def test_failing_beats_neither_silence_nor_the_median(crowds):
    """PROTOCOLS 1.4, through the decoder: the grid of the prior is read as its count."""
    others = held_out(scene_samples("counting", range(500, 507), **SMALL))
    settings = count_match.settings_from({}, others)
    median = float(np.median([sample.target_count for sample in others]))
    assert settings["failure_constant"] == median
    prior = open_reference("prior_median", others)
    for sample in crowds:
        failed = count_match.failed(sample, settings)[None]
        arrived = travel(sample, COUNTS, prior)
        assert arrived.prediction.count == median
        for error in (arrived.parts[None]["absolute_error"], sample.target_count):
            assert failed["absolute_error"] >= error
        assert arrived.parts[None]["localised_f1"] < 0.7


def test_failed_normals_face_the_viewer_and_a_grey_picture_is_no_better_than_chance():
    settings = {"answer_form": answer_form("normals")}
    for sample in scene_samples("normals", range(2), **SMALL):
        failed = normal_angle.failed(sample, settings)[None]
        constant = travel(sample, "scenes_normals", open_reference("constant")).parts[None]
        true = travel(sample, "scenes_normals").parts[None]
        assert true["mean_angle_deg"] < 1.5
        assert min(failed["mean_angle_deg"], constant["mean_angle_deg"]) > 20
