"""The ceiling of every kind of benchmark: what the oracle scores on the road that everyone takes.

On synthetic twins in the true formats, on the built-in scenes, and on outlines in the sizes and
area bands of real data sets. Sample files, crowds and floors have files of their own; the numbers
are those of docs/ceilings.md.
"""

from __future__ import annotations

import numpy as np
import pytest
from ceiling_pictures import bands, mask_sample, outline
from ceiling_road import (
    COUNTING,
    DEPTH,
    SEGMENTATION,
    absrel_percent,
    answer_form,
    area_share,
    benchmark,
    counted,
    iou,
    open_reference,
    read_samples,
    scene_samples,
    travel,
)

from gensight import datasets, images
from gensight.measures import depth_fit
from gensight.truths import valid_depth
from gensight.twins import write_twin

N = 4
#: PROTOCOLS "Decided": masks of at least 1 % of the picture, and the mean on scenes.
LEAST_SHARE, LEAST_IOU, LEAST_MEAN_IOU = 0.01, 0.98, 0.99
DISPARITY = open_reference("oracle", depth_code="disparity")


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twins")
    write_twin(folder, N)
    return folder


def twin_samples(twins, name):
    module = benchmark(name)["dataset"]["module"]
    return read_samples(name, twins / datasets.load(module).FOLDER)


def check_masks(samples, name):
    ious = {sample.sample_id: iou(sample, name) for sample in samples}
    assert np.mean(list(ious.values())) >= LEAST_MEAN_IOU
    large = [sample for sample in samples if area_share(sample) >= LEAST_SHARE]
    assert large
    assert min(ious[sample.sample_id] for sample in large) >= LEAST_IOU


@pytest.mark.parametrize("name", SEGMENTATION)
def test_true_masks_of_a_twin_come_back(twins, name):
    samples = twin_samples(twins, name)
    assert len(samples) == N
    check_masks(samples, name)


@pytest.mark.parametrize("name", DEPTH)
def test_true_depth_of_a_twin_costs_less_than_one_percent_in_its_own_space(twins, name):
    samples = twin_samples(twins, name)
    assert len(samples) == N
    linear, inverse = (
        [absrel_percent(sample, name, model) for sample in samples] for model in (None, DISPARITY)
    )
    own = {"depth": linear, "disparity": inverse, "signed": linear}
    for fit, found in own.items():
        assert np.mean([numbers[fit] for numbers in found]) < 1
    # The same true depth in the other code: nothing but the space is wrong.
    for one, other in zip(linear, inverse, strict=True):
        assert one["disparity"] > one["depth"] + 3
        assert other["depth"] > other["disparity"] + 3
        assert max(one["monotone"], other["monotone"]) < 2


@pytest.mark.parametrize("name", DEPTH)
def test_a_constant_picture_scores_as_a_failed_answer(twins, name):
    """Sparse or dense, with caps or without: no information is no information."""
    sample, *_ = twin_samples(twins, name)
    settings = {"answer_form": answer_form("depth")}
    settings |= benchmark(name)["scorers"]["depth"].get("settings", {})
    failed = depth_fit.failed(sample, settings)
    constant = absrel_percent(sample, name, open_reference("constant"))
    assert constant == pytest.approx({fit: 100 * parts["absrel"] for fit, parts in failed.items()})
    assert min(constant.values()) > 10


@pytest.mark.parametrize("name", COUNTING)
def test_true_points_of_a_twin_are_counted_exactly(twins, name):
    samples = twin_samples(twins, name)
    assert len(samples) == N
    assert [counted(sample, name) for sample in samples] == [(0, 1.0)] * N


def test_the_road_is_that_of_the_benchmarks(twins):
    """Kinds are told apart by the shipped files, and their settings reach the measure."""
    for name, task in ((SEGMENTATION, "segmentation"), (DEPTH, "depth"), (COUNTING, "counting")):
        assert {benchmark(each)["task"] for each in name} == {task}
    sample, *_ = twin_samples(twins, "diode")
    within = valid_depth(sample, images.decode_array(sample.target_depth_m), caps_limit_truth=False)
    assert travel(sample, "diode").parts["depth"]["n_valid"] == np.count_nonzero(within)


@pytest.mark.parametrize(("size", "n"), [((512, 384), 8), ((640, 480), 4)])
def test_true_masks_of_scenes_come_back(size, n):
    width, height = size
    samples = scene_samples("segmentation", range(n), width=width, height=height)
    check_masks(samples, "scenes_segmentation")


#: Picture size: the least IoU in each area band, from below 0.1 % of the picture to over 20 %.
#: Up to the work size a mask survives whole. Larger pictures keep the outline at 1024 px only.
LEAST_IOU_BY_BAND = {
    (640, 480): (1.0, 1.0, 1.0, 1.0, 1.0),
    (1024, 683): (1.0, 1.0, 1.0, 1.0, 1.0),
    (1654, 1170): (0.90, 0.97, 0.99, 0.995, 0.997),
    (2560, 1707): (0.90, 0.96, 0.98, 0.99, 0.997),
}


@pytest.mark.parametrize("size", LEAST_IOU_BY_BAND)
def test_the_ceiling_of_masks_falls_with_their_share_and_the_size_of_the_picture(size):
    for least, (low, high) in zip(LEAST_IOU_BY_BAND[size], bands(), strict=True):
        share = np.sqrt(max(low, 0.0004) * min(high, 0.5))
        sample = mask_sample(outline(*size, share, seed=1))
        assert low <= area_share(sample) < high
        parts = travel(sample, "refcoco").parts[None]
        assert least <= parts["iou"] <= 1
        # At the work size nothing is resized twice: cIoU there has no such ceiling.
        assert parts["intersection_work"] == parts["union_work"]


def test_depth_costs_what_eight_bits_and_the_edges_cost():
    """The steps of 8 bits are known, a quarter of one on average; 16 bits leave the edges.

    Where the farthest is thirty times as far as the nearest, a single scene may cost 2 %.
    """
    fine = open_reference("oracle", bit_depth=16)
    costs = []
    for sample in scene_samples("depth", range(6), width=384, height=288):
        depth_m = images.decode_array(sample.target_depth_m).astype(float)
        step = 100 * np.ptp(depth_m) / 255 / 4 * np.mean(1 / depth_m)
        eight, edges = (
            absrel_percent(sample, "scenes_depth", model)["depth"] for model in (None, fine)
        )
        assert max(edges, 0.9 * step) < eight < 1.1 * (edges + step)
        assert eight < (1 if depth_m.max() < 12 * depth_m.min() else 2)
        costs.append(eight)
    assert np.mean(costs) < 1


def test_true_normals_come_back():
    for sample in scene_samples("normals", range(3), width=384, height=288):
        parts = travel(sample, "scenes_normals").parts[None]
        assert parts["median_angle_deg"] < 0.5
        assert parts["mean_angle_deg"] < 1.5
        assert parts["within_11"] > 0.97
