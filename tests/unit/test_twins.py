"""Synthetic twins: each is read back by the module of its data set, and never taken for it."""

import hashlib

import numpy as np
import pytest

from gensight import datasets
from gensight.datasets import scenes
from gensight.datasets._disk import TWIN_MARK
from gensight.errors import GensightError, MissingDataError
from gensight.images import decode_array, decode_mask, decode_rgb
from gensight.twins import SCENES, TASKS, write_twin

N = 8
READINGS = [(name, {}) for name in TASKS if name != "refcoco"]
READINGS += [("refcoco", {"variant": name}) for name in ("refcoco", "refcoco_plus", "refcocog")]
QUICK = {"pixmo_points": "counting", "dram": "segmentation"}


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twins")
    assert write_twin(folder, N) == list(TASKS)
    return folder


def reading(folder, name, **given):
    module = datasets.load(name)
    root = folder / module.FOLDER
    return module, {**module.DEFAULTS, "twin": True, "root": str(root), **given}


def samples_of(folder, name, **given):
    module, parameters = reading(folder, name, **given)
    return list(module.iter_samples(parameters, range(module.population(parameters))))


@pytest.mark.parametrize(("name", "given"), READINGS)
def test_a_twin_is_read_by_the_module_of_its_data_set(twins, name, given):
    module, parameters = reading(twins, name, **given)
    assert module.missing_data(parameters) is None
    samples = samples_of(twins, name, **given)
    assert len(samples) == N
    assert len({sample.sample_id for sample in samples}) == N
    assert [sample.rank for sample in samples] == list(range(N))
    for sample in samples:
        assert sample.licence == module.LICENCE
        pixels = decode_rgb(sample.image["bytes"], matte=(255, 255, 255))
        assert pixels.shape == (sample.height, sample.width, 3)
        assert pixels.std() > 5
        check(TASKS[name], sample)


def check(task, sample):
    """Check that a sample has a truth that a model could be scored by."""
    size = (sample.height, sample.width)
    if task == "depth":
        depth_m, valid = decode_array(sample.target_depth_m), decode_mask(sample.valid_mask)
        assert depth_m.shape == valid.shape == size
        assert 0.05 < valid.mean() <= 1
        assert np.isfinite(depth_m[valid]).all()
        assert depth_m[valid].min() > sample.min_depth_m
        assert depth_m[valid].max() > 1.2 * depth_m[valid].min()
    elif task == "segmentation":
        mask = decode_mask(sample.target_mask)
        assert mask.shape == size
        assert mask.mean() < 1
        assert sample.query
    else:
        assert sample.target_count == len(sample.target_points)
        assert all(0 <= p["x"] <= sample.width for p in sample.target_points)
        assert all(0 <= p["y"] <= sample.height for p in sample.target_points)


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task == "segmentation"])
def test_most_masks_of_a_twin_hold_something(twins, name):
    filled = [decode_mask(s.target_mask).any() for s in samples_of(twins, name)]
    assert sum(filled) > N / 2


def test_counts_of_the_twin_are_those_of_the_scenes(twins):
    truths = scenes.iter_samples({**SCENES, "task": "counting"}, range(N))
    by_picture = {hashlib.sha256(t.image["bytes"]).hexdigest(): t for t in truths}
    for sample in samples_of(twins, "pixmo_points"):
        truth = by_picture.pop(sample.cluster_id)
        assert (sample.target_count, sample.query) == (truth.target_count, truth.query)
        found = [(p["x"], p["y"]) for p in sample.target_points]
        expected = [(p["x"], p["y"]) for p in truth.target_points]
        np.testing.assert_allclose(np.reshape(found, (-1, 2)), np.reshape(expected, (-1, 2)))
    assert not by_picture


@pytest.mark.parametrize("name", TASKS)
def test_a_twin_is_not_taken_for_the_data_set(twins, name):
    module, parameters = reading(twins, name, twin=False)
    with pytest.raises(MissingDataError, match="synthetic twin"):
        list(module.iter_samples(parameters, [0]))
    assert "synthetic twin" in module.missing_data(parameters)


@pytest.mark.parametrize("name", TASKS)
def test_the_data_set_is_not_taken_for_a_twin(twins, name):
    module, parameters = reading(twins, name)
    mark = twins / module.FOLDER / TWIN_MARK
    kept = mark.read_bytes()
    mark.unlink()
    try:
        with pytest.raises(MissingDataError, match="no synthetic twin"):
            list(module.iter_samples(parameters, [0]))
    finally:
        mark.write_bytes(kept)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_the_same_number_of_scenes_gives_the_same_bytes(tmp_path):
    for name in ("first", "second"):
        write_twin(tmp_path / name, 2)
    first = contents(tmp_path / "first")
    assert len({path.split("/")[0] for path in first}) == len(TASKS)
    assert first == contents(tmp_path / "second")


def test_files_that_are_no_twin_are_never_touched(tmp_path):
    real = tmp_path / "pixmo_points"
    real.mkdir()
    (real / "mine.txt").write_text("the data set itself")
    for overwrite in (False, True):
        with pytest.raises(GensightError, match="is no twin"):
            write_twin(tmp_path, 1, overwrite=overwrite, tasks=QUICK)
    assert contents(tmp_path).keys() == {"pixmo_points/mine.txt"}


@pytest.mark.parametrize("name", ["file/below", "file", "x" * 300])
def test_a_place_that_cannot_be_written_is_one_line(tmp_path, name):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(GensightError, match="twins cannot be written there") as caught:
        write_twin(tmp_path / name, 1, tasks=QUICK)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_twin_is_replaced_only_where_that_is_asked_for(tmp_path):
    (tmp_path / "dram").mkdir()
    assert write_twin(tmp_path, 2, tasks=QUICK) == list(QUICK)
    with pytest.raises(GensightError, match="--overwrite"):
        write_twin(tmp_path, 1, tasks=QUICK)
    assert len(samples_of(tmp_path, "pixmo_points")) == 2
    write_twin(tmp_path, 1, overwrite=True, tasks=QUICK)
    assert len(samples_of(tmp_path, "pixmo_points")) == 1
    assert len(list((tmp_path / "pixmo_points/images").iterdir())) == 1
