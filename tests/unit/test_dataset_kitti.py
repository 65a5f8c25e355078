"""KITTI's Eigen test split with annotated depth, written by hand in its true format."""

from __future__ import annotations

import shutil
from functools import cache

import numpy as np
import pytest
from depth_by_hand import (
    BROKEN,
    SAMPLES,
    bounds,
    check_broken,
    check_ranks,
    check_refusals,
    decoded,
    depth_ramp,
    depth_scenes,
    ids_in_rank_order,
    mark_as_twin,
    needs_samples,
    only_sample,
    parameters_of,
    picture,
    png,
    put,
    samples_by_id,
    write_tar,
)

from gensight.datasets import kitti
from gensight.datasets._disk import in_rank_order
from gensight.errors import GensightError, MissingDataError, SpecError

SIZE = (375, 1242)
KB_ROWS, KB_COLUMNS = slice(23, 375), slice(13, 1229)
LIST = "eigen_test_files_with_gt.txt"
FRAMES = [
    ("2011_09_26_drive_0002_sync", "0000000069"),
    ("2011_09_26_drive_0002_sync", "0000000054"),
    ("2011_09_29_drive_0071_sync", "0000000069"),
]
UNTOLD = ("2011_09_26_drive_0002_sync", "0000000075")


def names(frame):
    drive, number = frame
    return (
        f"{drive[:10]}/{drive}/image_02/data/{number}.png",
        f"{drive}/proj_depth/groundtruth/image_02/{number}.png",
    )


@cache
def sparse():
    """Return units of 1/256 m, uint16: one pixel in five, chosen without a pattern."""
    raw = np.rint(depth_ramp(*SIZE, 3, 70) * 256).astype(np.uint16)
    raw[np.random.default_rng(0).random(SIZE) > 0.2] = 0
    return raw


def dense(size=SIZE):
    return np.full(size, 20 * 256, np.uint16)


@cache
def shown_png(seed):
    return png(picture(*SIZE, seed=seed))


def files_of(frames=FRAMES, truth=None):
    files = {}
    for seed, frame in enumerate(frames):
        shown, told = names(frame)
        files[shown] = shown_png(seed)
        files[told] = png(sparse() if truth is None else truth)
    return files


def list_at(root, frames=FRAMES):
    lines = [f"{names(frame)[0]} {names(frame)[1]} 721.5377" for frame in frames]
    put(root, LIST, "\n".join([f"{names(UNTOLD)[0]} None 721.5377", *lines]))
    mark_as_twin(root)
    return root


def folder_at(root, frames=FRAMES, truth=None):
    for name, data in files_of(frames, truth).items():
        put(root, name, data)
    return list_at(root, frames)


def downloads_at(root, frames=FRAMES):
    """Lay the two downloads side by side, as they unpack; the truths of some drives are in val."""
    files = files_of(frames)
    for frame in frames:
        shown, told = names(frame)
        part = "val" if "0002" in told else "train"
        put(root, f"raw/{shown}", files[shown])
        put(root, f"data_depth_annotated/{part}/{told}", files[told])
    return list_at(root, frames)


def archive_at(root, frames=FRAMES):
    write_tar(root / "kitti_eigen_split_test.tar", files_of(frames))
    return list_at(root, frames)


@pytest.mark.parametrize("build", [folder_at, downloads_at, archive_at])
def test_picture_and_truth_are_cropped_before_prompting(tmp_path, build):
    """Frames of one number on two drives are two samples; a line without truth is none."""
    found = samples_by_id(kitti, parameters_of(kitti, build(tmp_path)))
    assert sorted(found) == sorted(f"kitti_{drive}_{number}" for drive, number in FRAMES)
    for seed, (drive, number) in enumerate(FRAMES):
        sample = found[f"kitti_{drive}_{number}"]
        depth_m, valid, pixels = decoded(sample)
        expected = sparse()[KB_ROWS, KB_COLUMNS]
        np.testing.assert_array_equal(pixels, picture(*SIZE, seed=seed)[KB_ROWS, KB_COLUMNS])
        np.testing.assert_array_equal(depth_m, (expected / 256).astype(np.float32))
        box = np.zeros((352, 1216), bool)
        box[117:321, 43:1172] = True
        np.testing.assert_array_equal(valid, (expected > 0) & box)
        assert (sample.width, sample.height) == (1216, 352)
        assert (sample.min_depth_m, sample.max_depth_m, sample.licence) == (1e-5, 80, "kitti")
        assert sample.cluster_id == f"kitti_{drive}"


def test_a_crop_is_written_alike_every_time(tmp_path):
    root = folder_at(tmp_path, FRAMES[:1])
    first, second = only_sample(kitti, root), only_sample(kitti, root)
    assert first.image["bytes"] == second.image["bytes"]
    assert first.image["path"] == f"{first.sample_id}.png"


@pytest.mark.parametrize(
    ("given", "shape", "box"),
    [
        # The boxes of 375 x 1242 in the pixels of the picture that is shown.
        ({}, (352, 1216), (117, 321, 43, 1172)),
        ({"box": "garg"}, (352, 1216), (143, 349, 43, 1172)),
        ({"box": "none"}, (352, 1216), (0, 352, 0, 1216)),
        ({"crop_order": "after"}, SIZE, (124, 342, 44, 1197)),
        ({"crop_order": "after", "box": "garg"}, SIZE, (153, 371, 44, 1197)),
        ({"crop_order": "after", "box": "none"}, SIZE, (23, 375, 13, 1229)),
        ({"kb_crop": False}, SIZE, (124, 342, 44, 1197)),
        ({"kb_crop": False, "box": "garg"}, SIZE, (153, 371, 44, 1197)),
        ({"kb_crop": False, "box": "none"}, SIZE, (0, 375, 0, 1242)),
    ],
)
def test_boxes(tmp_path, given, shape, box):
    root = folder_at(tmp_path, FRAMES[:1], dense())
    sample = only_sample(kitti, root, **given)
    _, valid, _ = decoded(sample)
    assert valid.shape == shape
    assert bounds(valid) == box
    own = files_of(FRAMES[:1], dense())[names(FRAMES[0])[0]]
    assert (sample.image["bytes"] == own) == (shape == SIZE)


@pytest.mark.parametrize(
    ("box", "cropped", "rows", "columns"),
    [
        ("eigen", True, (140, 344), (56, 1185)),
        ("eigen", False, (124, 342), (44, 1197)),
        ("garg", True, (166, 372), (56, 1185)),
        ("garg", False, (153, 371), (44, 1197)),
    ],
)
def test_the_published_boxes_in_full_coordinates(box, cropped, rows, columns):
    """Of the crop, moved to where the crop lies, and of the whole picture: they differ."""
    inner = kitti.crop_of(*SIZE) if cropped else (slice(0, 375), slice(0, 1242))
    size = (inner[0].stop - inner[0].start, inner[1].stop - inner[1].start)
    found = kitti.box_of(box, *size)
    for part, within, expected in zip(found, inner, (rows, columns), strict=True):
        assert (within.start + part.start, within.start + part.stop) == expected


@pytest.mark.parametrize(
    ("size", "rows", "columns"),
    [
        ((375, 1242), (23, 375), (13, 1229)),
        ((370, 1226), (18, 370), (5, 1221)),
        ((376, 1241), (24, 376), (12, 1228)),
        ((374, 1238), (22, 374), (11, 1227)),
        ((352, 1216), (0, 352), (0, 1216)),
        # Half a pixel is cut off, not rounded.
        ((375, 1243), (23, 375), (13, 1229)),
    ],
)
def test_the_crop_of_every_size(size, rows, columns):
    found = kitti.crop_of(*size)
    assert found == (slice(*rows), slice(*columns))


@pytest.mark.parametrize("size", [(351, 1242), (375, 1215)])
def test_smaller_pictures_cannot_be_cropped(tmp_path, size):
    root = folder_at(tmp_path, FRAMES[:1])
    put(root, names(FRAMES[0])[0], png(picture(*size)))
    put(root, names(FRAMES[0])[1], png(dense(size)))
    with pytest.raises(MissingDataError, match="smaller than the benchmark crop"):
        only_sample(kitti, root)


def test_both_caps_are_out(tmp_path):
    raw = dense()
    levels = [0, 1, 80 * 256 - 1, 80 * 256, 80 * 256 + 1, 65535]
    raw[200, 200:206] = levels
    root = folder_at(tmp_path, FRAMES[:1], raw)
    depth_m, valid, _ = decoded(only_sample(kitti, root, crop_order="after"))
    assert valid[200, 200:206].tolist() == [False, True, True, False, False, False]
    np.testing.assert_array_equal(depth_m[200, 200:206], np.float32(np.array(levels) / 256))


def test_a_sparse_truth_is_never_interpolated(tmp_path):
    """Every depth of the sample is one of the file, as many and where they were."""
    root = folder_at(tmp_path, FRAMES[:1])
    depth_m, valid, _ = decoded(only_sample(kitti, root, kb_crop=False, box="none"))
    assert np.count_nonzero(valid) == np.count_nonzero(sparse())
    np.testing.assert_array_equal(depth_m * 256, sparse())
    put(root, names(FRAMES[0])[1], png(np.zeros(SIZE, np.uint16)))
    assert not decoded(only_sample(kitti, root))[1].any()


def test_picture_and_truth_of_two_sizes_are_refused(tmp_path):
    root = folder_at(tmp_path, FRAMES[:1], dense((370, 1226)))
    with pytest.raises(MissingDataError, match="1242x375, its depth 1226x370"):
        only_sample(kitti, root)


@pytest.mark.parametrize(("cluster", "count"), [("drive", 2), ("image", 3)])
def test_clusters(tmp_path, cluster, count):
    items = kitti.list_items(parameters_of(kitti, folder_at(tmp_path), cluster=cluster))
    assert len({item.cluster_id for item in items}) == count


@pytest.mark.parametrize("place", [0, 1], ids=["picture", "truth"])
@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files_are_named(tmp_path, place, fault):
    root = folder_at(tmp_path, FRAMES[:1])
    path = root / names(FRAMES[0])[place]
    check_broken(kitti, root, path, *BROKEN[fault], f"kitti_{FRAMES[0][0]}_{FRAMES[0][1]}")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (png(dense().astype(np.uint8)), "16-bit grey, this is 8-bit grey"),
        (png(np.full(SIZE, 20, np.uint16)), "another unit"),
    ],
    ids=["8 bits", "metres"],
)
def test_wrong_truths_are_named(tmp_path, data, word):
    root = folder_at(tmp_path, FRAMES[:1])
    path = root / names(FRAMES[0])[1]
    check_broken(kitti, root, path, data, word, "kitti_2011_09_26_drive_0002_sync_0000000069")


@pytest.mark.parametrize(
    "line",
    [
        f"{names(FRAMES[0])[0]} {names(FRAMES[1])[1]} 721.5377",
        f"{names(FRAMES[0])[0]} {names(FRAMES[2])[1]} 721.5377",
        names(FRAMES[0])[0].replace("image_02", "image_03") + f" {names(FRAMES[0])[1]} 721.5377",
        names(FRAMES[0])[0],
    ],
    ids=["another frame", "another drive", "the right camera", "one word"],
)
def test_lists_of_other_frames_are_refused(tmp_path, line):
    put(folder_at(tmp_path), LIST, line)
    with pytest.raises(SpecError, match=LIST):
        kitti.population(parameters_of(kitti, tmp_path))


def test_ranks(tmp_path):
    check_ranks(kitti, parameters_of(kitti, folder_at(tmp_path)))


@pytest.mark.parametrize("build", [folder_at, archive_at])
def test_refusals(tmp_path, build):
    check_refusals(kitti, build(tmp_path))


def test_the_twin_is_read_as_the_real_one(tmp_path):
    from gensight.twins import kitti as twin

    twin.write(tmp_path, depth_scenes(3))
    lines = (tmp_path / LIST).read_text().splitlines()
    assert len(lines) == 4
    assert sum("None" in line for line in lines) == 1
    found = samples_by_id(kitti, parameters_of(kitti, tmp_path))
    assert len(found) == 3
    assert len({row.cluster_id for row in found.values()}) == 2
    for sample in found.values():
        depth_m, valid, _ = decoded(sample)
        assert 0.05 < np.count_nonzero(depth_m) / depth_m.size < 0.2
        assert valid.any()


@needs_samples
def test_the_published_list(tmp_path):
    """697 lines, 45 of them without truth: 652 frames of 28 drives."""
    text = (SAMPLES / "splits/kitti_eigen_697.txt").read_text()
    lines = [line.split() for line in text.splitlines()]
    assert len(lines) == 697
    put(tmp_path, LIST, text)
    for name in (word for line in lines for word in line[:2] if word != "None"):
        put(tmp_path, name, b"")
    parameters = parameters_of(kitti, tmp_path, twin=False)
    items = kitti.list_items(parameters)
    assert len(items) == kitti.expected_count(parameters) == 652
    assert len({item.cluster_id for item in items}) == 28
    ranked = [item.id for item in in_rank_order(kitti.list_items, parameters)]
    assert ranked == ids_in_rank_order([item.id for item in items], 0)
    (tmp_path / next(line[1] for line in lines if line[1] != "None")).unlink()
    with pytest.raises(GensightError, match="651 listed frames"):
        kitti.population(parameters)


@needs_samples
def test_a_real_picture_and_its_lidar(tmp_path):
    """A KITTI picture and a sweep projected into it; its pixels were counted apart from ours."""
    for name, source in zip(names(FRAMES[0]), ("000008", "000008_sparse_depth"), strict=True):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copyfile(SAMPLES / f"kitti/{source}.png", tmp_path / name)
    list_at(tmp_path, FRAMES[:1])
    depth_m, valid, _ = decoded(only_sample(kitti, tmp_path))
    assert valid.shape == (352, 1216)
    assert np.count_nonzero(valid) == 14_002
    assert depth_m[valid].min() == pytest.approx(2.9, abs=0.06)
    assert depth_m[valid].max() == pytest.approx(76.6, abs=0.06)
