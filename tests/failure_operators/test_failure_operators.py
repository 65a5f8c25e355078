"""The confusion set is what it says: closed classes, disjoint splits, hard right answers."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from failure_operators import (
    CLASSES,
    MODULES,
    OPERATORS,
    TASKS,
    cases,
    make,
    plan,
    sources,
    true_class,
)

SPLITS = ("A", "B")
SETS = [(split, task) for split in SPLITS for task in TASKS]
# What cannot happen in a task, or is not told from a right answer there.
NOT_IN = {
    "segmentation": {"unmarked_copy", "colormap", "mask", "flat_regions"},
    "depth": {"unmarked_copy", "inverted", "overlay", "cutout", "colour_mask", "outline", "grey"},
    "counting": {
        *("copy", "inverted", "colour_mask", "outline", "grey", "colormap", "flat_regions"),
    },
}


def digest(found):
    parts = [
        (case.operator, case.severity, case.source, case.input_rgb, case.output_rgb, case.truth)
        for case in found
    ]
    sha = hashlib.sha256()
    for part in parts:
        for value in part:
            sha.update(value.tobytes() if isinstance(value, np.ndarray) else str(value).encode())
    return sha.hexdigest()


def only(split, task, name):
    return [make(o, s, task, source) for o, s, source in plan(split, task) if o.name == name]


@pytest.fixture
def no_shared_folder(monkeypatch):
    monkeypatch.setattr(sources, "SHARED", Path("/nowhere/at/all"))


@pytest.mark.parametrize(("split", "task"), SETS)
def test_every_class_of_a_task_occurs_in_both_splits(split, task):
    found = {true_class(operator, task) for operator, _, _ in plan(split, task)}
    assert found == set(CLASSES) - NOT_IN[task]


@pytest.mark.parametrize(("split", "task"), SETS)
@pytest.mark.parametrize("there", [True, False])
def test_a_third_of_each_set_and_of_its_prefixes_is_hard_and_right(split, task, there, request):
    if not there:
        request.getfixturevalue("no_shared_folder")
    listed = plan(split, task)
    is_hard = [operator.is_hard for operator, _, _ in listed]
    assert sum(is_hard) >= len(listed) / 3
    assert all(sum(is_hard[:end]) >= end / 3 for end in range(1, 90))
    assert all(operator.true_class == "ok" for operator, _, _ in listed if operator.is_hard)


def test_splits_share_no_operator_and_no_source():
    by_split = {
        split: {operator.name for task in TASKS for operator, _, _ in plan(split, task)}
        for split in SPLITS
    }
    assert not by_split["A"] & by_split["B"]
    assert by_split["A"] | by_split["B"] == set(OPERATORS)
    listed = {s: {*sources.SPLITS[s], *sources.SHARED_SPLITS[s]} for s in SPLITS}
    assert not listed["A"] & listed["B"]


def test_names_and_classes_are_a_closed_list():
    count = sum(len(module.OPERATORS) for module in MODULES)
    assert len(OPERATORS) == count  # no name is used twice
    assert {operator.true_class for operator in OPERATORS.values()} <= set(CLASSES)


@pytest.mark.parametrize("name", ["shift", "rotation", "crop_resize", "perspective", "wave"])
def test_severities_begin_where_nobody_sees_a_fault(name):
    severities = OPERATORS[name].severities
    assert min(severities) <= 0.5
    assert max(severities) >= 3.0
    assert list(severities) == sorted(severities)


@pytest.mark.parametrize(("split", "task"), SETS)
def test_shapes_and_types(split, task):
    for case in cases(split, task, limit=24):
        height, width = case.input_rgb.shape[:2]
        assert max(height, width) == 512
        for picture in (case.input_rgb, case.output_rgb):
            assert picture.dtype == np.uint8
            assert picture.ndim == 3
            assert picture.shape[2] == 3
        if task == "counting":
            assert case.truth.shape[1:] == (2,)
            assert ((case.truth >= 0) & (case.truth < [width, height])).all()
        else:
            assert case.truth.shape == (height, width)
            assert case.truth.dtype == (bool if task == "segmentation" else np.float32)


@pytest.mark.parametrize(("split", "task"), SETS)
def test_without_the_shared_folder_the_other_cases_stay(split, task, request):
    everything = Counter((o.name, severity, name) for o, severity, name in plan(split, task))
    request.getfixturevalue("no_shared_folder")
    left = Counter((o.name, severity, name) for o, severity, name in plan(split, task))
    assert left <= everything
    known = sources.SPLITS[split]
    assert all(name in known for _, _, name in left)
    assert left == Counter({key: n for key, n in everything.items() if key[2] in known})


def test_a_limit_gives_the_first_cases():
    some, more = (digest(cases("A", "segmentation", limit=n)) for n in (6, 9))
    assert some != more
    listed = list(cases("A", "segmentation", limit=9))
    assert digest(listed[:6]) == some


def test_bytes_are_the_same_in_another_process():
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from failure_operators import cases\n"
        "from failure_operators.test_failure_operators import digest\n"
        "print(digest(cases('A', 'counting', limit=18)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).resolve().parents[1])],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest(cases("A", "counting", limit=18))


def test_copies_without_a_change_are_the_input():
    for case in only("A", "segmentation", "exact_copy"):
        np.testing.assert_array_equal(case.input_rgb, case.output_rgb)
        assert case.true_class == "copy"
    unmarked = only("A", "counting", "exact_copy")
    assert {case.true_class for case in unmarked} == {"unmarked_copy"}
    assert all(len(case.truth) for case in unmarked)


def test_a_picture_with_nothing_to_mark_is_right_as_it_is():
    for case in only("B", "counting", "none_of_these"):
        assert case.true_class == "ok"
        assert case.truth.shape == (0, 2)


def test_plain_answers_are_the_truth():
    for case in only("A", "segmentation", "plain_answer"):
        np.testing.assert_array_equal(case.output_rgb[..., 0] > 127, case.truth)
    for case in only("A", "depth", "plain_answer"):
        order = np.argsort(case.truth.ravel())[:: case.truth.size // 50]
        assert (np.diff(case.output_rgb[..., 0].ravel()[order].astype(int)) <= 0).all()
    for case in only("B", "counting", "exact_reply"):
        rows, columns = case.truth.round().astype(int)[:, ::-1].T
        np.testing.assert_array_equal(case.output_rgb[rows, columns], [[255, 0, 0]] * len(rows))


def test_shifts_have_the_stated_length():
    for case in only("A", "segmentation", "shift"):
        before = np.argwhere(case.truth).mean(axis=0)
        weight = case.output_rgb[..., 0].astype(float)
        inside = weight.sum() > 0.999 * 255 * case.truth.sum()
        if not inside:
            continue  # part of the target has left the frame
        after = np.array(np.nonzero(weight)).astype(float) * weight[weight > 0]
        moved = np.linalg.norm(after.sum(axis=1) / weight.sum() - before)
        assert moved == pytest.approx(case.severity / 100 * 512, abs=0.05)


def test_stronger_filters_change_more():
    by_source: dict[str, list[tuple[float, float]]] = {}
    for case in only("A", "depth", "sepia"):
        change = np.abs(case.output_rgb.astype(int) - case.input_rgb).mean()
        by_source.setdefault(case.source, []).append((case.severity, change))
    for pairs in by_source.values():
        changes = [change for _, change in sorted(pairs)]
        assert changes == sorted(changes)
    assert max(len(pairs) for pairs in by_source.values()) >= 2


def test_rerendered_scenes_keep_their_layout_and_change_their_look():
    for case in only("A", "segmentation", "new_textures"):
        changed = np.abs(case.output_rgb.astype(int) - case.input_rgb).max(axis=2) > 8
        assert 0.005 < changed.mean() < 1.0


def test_motorcycle_dots_follow_the_disparity_into_the_right_view():
    source = sources.load("B", "motorcycle")
    moved = source.truth("counting") - source.other_view.truth("counting")
    assert (moved[:, 0] > 5).all()
    assert (moved[:, 0] < 60).all()
    assert (moved[:, 1] == 0).all()
