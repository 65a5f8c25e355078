"""Samples: determinism, rank independence, twins, knobs as a factorial, splits, bad parameters."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gensight.datasets import available, load
from gensight.datasets.scenes import DEFAULTS, VERSION, iter_samples
from gensight.datasets.scenes.composition import SHAPE_POOLS
from gensight.datasets.scenes.parameters import CROWDED_TASKS, LEVELS, TASKS, locate, parse
from gensight.datasets.scenes.scene import build
from gensight.datasets.scenes.textures import HELD_OUT_FAMILY, draw_texture
from gensight.errors import GensightError, SpecError
from gensight.images import decode_array, decode_mask, inspect

SMALL = {"width": 256, "height": 192}
LEAST = {"width": 384, "height": 288}


def some(task, ranks, **extra):
    size = LEAST if task in CROWDED_TASKS else SMALL
    return list(iter_samples({**DEFAULTS, **size, "task": task, **extra}, ranks))


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_depends_on_its_rank_alone(task):
    """Order, subsets and repetition change nothing, to the byte."""
    forwards = some(task, [0, 1, 2, 3])
    backwards = some(task, [3, 1])
    assert [sample.rank for sample in backwards] == [3, 1]
    assert backwards == [forwards[3], forwards[1]]
    assert forwards[0].image["bytes"] != forwards[2].image["bytes"]


@pytest.mark.parametrize("task", TASKS)
def test_common_columns(task):
    for sample in some(task, [0, 501], split="ood"):
        assert re.fullmatch(r"scenes_0_ood_[a-z]+_\d{6}", sample.sample_id)
        assert re.fullmatch(r"[a-z0-9_]+", sample.cluster_id)
        assert sample.image["path"] == f"{sample.sample_id}.png"
        info = inspect(sample.image["bytes"])
        assert (info.kind, info.width, info.height) == ("png", sample.width, sample.height)
        assert sample.role == "evaluated"
        assert sample.population_n is None
        assert sample.licence == "gensight"
        assert set(LEVELS) | {"objects"} <= set(sample.knobs)
        assert all(isinstance(level, str) for level in sample.knobs.values())
        assert sample.stratum


def test_twins_share_a_picture_and_swap_masks():
    samples = some("segmentation", range(8))
    for even, odd in zip(samples[::2], samples[1::2], strict=True):
        assert even.image["bytes"] == odd.image["bytes"]
        assert even.cluster_id == odd.cluster_id
        assert even.target_mask == odd.twin_mask
        assert odd.target_mask == even.twin_mask
        target, twin = decode_mask(even.target_mask), decode_mask(even.twin_mask)
        assert target.any()
        assert twin.any()
        assert not (target & twin).any()
        assert even.query != odd.query
        assert {even.query_kind, odd.query_kind} == {"referring", "reasoning"}
    assert len({sample.cluster_id for sample in samples}) == 4


def test_tasks_share_their_scenes():
    """All tasks but the crowded ones ask about the same pictures, and so do those two."""
    rooms = [task for task in TASKS if task not in CROWDED_TASKS]
    for alike in (rooms, CROWDED_TASKS):
        samples = [s for task in alike for s in some(task, [0, 2 if task == "segmentation" else 1])]
        assert len({(s.image["bytes"], s.cluster_id) for s in samples}) == 2


def test_depth_and_normals_columns():
    (depth,), (normals,) = some("depth", [0]), some("normals", [0])
    metres = decode_array(depth.target_depth_m)
    assert (metres.dtype, metres.shape) == (np.float32, (192, 256))
    assert depth.min_depth_m < metres.min() < metres.max() < depth.max_depth_m
    assert decode_mask(depth.valid_mask).all()
    directions = decode_array(normals.target_normals)
    assert (directions.dtype, directions.shape) == (np.float32, (192, 256, 3))


LOOKS = [
    {"contrast": "low"},
    {"texture": "rich"},
    {"light": "dark"},
    {"blur": 2},
    {"palette": "shifted"},
    {"style": "flat"},
    {"style": "line"},
]


@pytest.mark.parametrize("knob", LOOKS, ids=lambda knob: "-".join(map(str, *knob.items())))
def test_looks_change_the_picture_and_nothing_else(knob):
    """Common random numbers: the same geometry, queries and masks under another look."""
    for base, changed in zip(
        some("segmentation", [0, 3]), some("segmentation", [0, 3], knobs=knob), strict=True
    ):
        assert base.image["bytes"] != changed.image["bytes"]
        assert (base.query, base.target_mask, base.twin_mask) == (
            changed.query, changed.target_mask, changed.twin_mask,
        )  # fmt: skip
        assert {**base.knobs, **{name: str(level) for name, level in knob.items()}} == changed.knobs


def test_fewer_objects_are_the_first_ones():
    parameters = [parse({**DEFAULTS, "knobs": {"objects": n, "depth_ratio": 4}}) for n in (5, 8)]
    few, many = (build(one, 0, locate(one, 0).knobs).layout for one in parameters)
    for label in range(1, 6):
        np.testing.assert_array_equal(
            few.stage.solids[label].centre, many.stage.solids[label].centre
        )


def test_lists_of_levels_are_crossed():
    """Each scene under every combination, on consecutive ranks, queries changing fastest."""
    knobs = {"blur": [0, 2], "style": ["photo", "flat"]}
    crossed = some("segmentation", range(10), knobs=knobs)
    levels = [(sample.knobs["style"], sample.knobs["blur"]) for sample in crossed]
    assert len(set(levels[:8])) == 4
    assert levels[:2] == levels[8:]
    assert len({sample.cluster_id for sample in crossed[:8]}) == 1
    assert crossed[8].cluster_id != crossed[0].cluster_id
    fixed = some("segmentation", [1], knobs={"blur": 2, "style": "flat"})[0]
    (same,) = [s for s in crossed[:8] if s.knobs == fixed.knobs and s.query == fixed.query]
    assert same.image["bytes"] == fixed.image["bytes"]


def test_seeds_and_splits_differ():
    main, other, ood = (
        some("depth", [0], **extra)[0] for extra in ({}, {"seed": 1}, {"split": "ood"})
    )
    assert len({main.image["bytes"], other.image["bytes"], ood.image["bytes"]}) == 3
    assert len({main.cluster_id, other.cluster_id, ood.cluster_id}) == 3


def test_held_out_shapes_and_texture_stay_in_their_split():
    shapes = {"main": set(), "ood": set()}
    families = {"main": set(), "ood": set()}
    for split in shapes:
        parameters = parse({"task": "depth", "split": split, **SMALL})
        for rank in range(4):
            address = locate(parameters, rank)
            layout = build(parameters, address.scene, address.knobs).layout
            shapes[split] |= {plan.shape for plan in layout.plans}
        random = np.random.default_rng(0)
        families[split] = {draw_texture(random, split, 1.0).family for _ in range(50)}
    assert not shapes["main"] & {"cone", "capsule"}
    assert shapes["ood"] & {"cone", "capsule"}
    assert set(SHAPE_POOLS["main"]) == {"sphere", "box", "cylinder"}
    assert HELD_OUT_FAMILY not in families["main"]
    assert families["ood"] == {HELD_OUT_FAMILY}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"task": "captions"}, ("task", "captions", "segmentation")),
        ({"split": "test"}, ("split", "ood")),
        ({"colour": 1}, ("colour", "knobs")),
        ({"seed": "fresh"}, ("seed", "whole number")),
        ({"width": 12}, ("width", "128")),
        ({"knobs": {"blurr": 1}}, ("knobs", "blurr", "blur")),
        ({"knobs": {"style": "cubist"}}, ("knobs.style", "cubist", "line")),
        ({"knobs": {"blur": True}}, ("knobs.blur",)),
        ({"knobs": {"objects": 99}}, ("knobs.objects", "3..16")),
        ({"knobs": {"style": ["flat", "flat"]}}, ("knobs.style", "once")),
        ({"knobs": {"style": []}}, ("knobs.style",)),
        ({"knobs": {"count": 3}}, ("count", "occlusion")),
        ({"task": "counting", "width": 256, "height": 192}, ("256 x 192", "knobs.objects")),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(SpecError) as caught:
        list(iter_samples({"task": "segmentation", **parameters}, [0]))
    message = str(caught.value)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_negative_ranks_do_not_exist():
    with pytest.raises(SpecError, match="rank -1"):
        some("depth", [-1])


def test_impossible_knobs_end_with_advice(monkeypatch):
    """When no attempt succeeds the message names the scene and what to relax."""
    monkeypatch.setattr("gensight.datasets.scenes.scene.ATTEMPTS", 1)
    parameters = {"width": 128, "height": 128, "knobs": {"objects": 16, "occlusion": "none"}}
    with pytest.raises(GensightError, match="fewer objects"):
        list(iter_samples({**DEFAULTS, **parameters}, range(0, 12)))


def test_load_finds_modules_by_name():
    assert load("scenes").VERSION == VERSION
    assert {"scenes", "photographs"} <= set(available())
    with pytest.raises(SpecError, match="did you mean 'scenes'"):
        load("scene")
