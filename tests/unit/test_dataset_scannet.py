"""ScanNet's exported frames and .sens recordings, written by hand in their true formats."""

from __future__ import annotations

import io
import shutil

import numpy as np
import pytest
from depth_by_hand import (
    BROKEN,
    SAMPLES,
    check_broken,
    check_ranks,
    check_refusals,
    decoded,
    depth_ramp,
    depth_scenes,
    ids_in_rank_order,
    jpeg,
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
from images_by_hand import exif, read_by_pillow
from PIL import Image

from gensight.datasets import scannet
from gensight.datasets._disk import in_rank_order
from gensight.errors import MissingDataError, SpecError

SIZE = (480, 640)
LIST = "scannet_val_sampled_list_800_1.txt"
FRAMES = ["scene0406_02 000300", "scene0406_00 000100", "scene0088_02 001100"]


def raw_depth(seed=0):
    """Return millimetres, uint16, with a hole."""
    raw = np.rint(depth_ramp(*SIZE, 600 + seed, 7000)).astype(np.uint16)
    raw[:50, :70] = 0
    return raw


def names(frame):
    scan, number = frame.split()
    return f"{scan}/color/{number}.jpg", f"{scan}/depth/{number}.png"


def files_of(frames=FRAMES):
    files = {}
    for seed, frame in enumerate(frames):
        colour, depth = names(frame)
        files[colour] = jpeg(picture(*SIZE, seed=seed))
        files[depth] = png(raw_depth(seed))
    return files


def list_at(root, frames=FRAMES):
    put(root, LIST, "\n".join(" ".join(names(frame)) for frame in frames))
    mark_as_twin(root)
    return root


def folder_at(root, frames=FRAMES):
    for name, data in files_of(frames).items():
        put(root, name, data)
    return list_at(root, frames)


def archive_at(root):
    write_tar(root / "scannet_val_sampled_800_1.tar", files_of())
    return list_at(root)


@pytest.mark.parametrize("build", [folder_at, archive_at])
def test_picture_and_depth(tmp_path, build):
    found = samples_by_id(scannet, parameters_of(scannet, build(tmp_path)))
    assert sorted(found) == sorted(f"scannet_{frame.replace(' ', '_')}" for frame in FRAMES)
    for seed, frame in enumerate(FRAMES):
        sample = found[f"scannet_{frame.replace(' ', '_')}"]
        depth_m, valid, pixels = decoded(sample)
        np.testing.assert_array_equal(depth_m, (raw_depth(seed) / 1000).astype(np.float32))
        np.testing.assert_array_equal(valid, raw_depth(seed) > 1)
        shown = files_of()[names(frame)[0]]
        np.testing.assert_array_equal(pixels, read_by_pillow(shown))
        assert sample.image == {"bytes": shown, "path": f"{sample.sample_id}.jpg"}
        assert (sample.min_depth_m, sample.max_depth_m, sample.licence) == (1e-3, 10, "scannet")


@pytest.mark.parametrize(
    ("cluster", "clusters"),
    [
        ("space", {"scannet_scene0406", "scannet_scene0088"}),
        ("scan", {"scannet_scene0406_02", "scannet_scene0406_00", "scannet_scene0088_02"}),
        ("image", {f"scannet_{frame.replace(' ', '_')}" for frame in FRAMES}),
    ],
)
def test_clusters(tmp_path, cluster, clusters):
    items = scannet.list_items(parameters_of(scannet, folder_at(tmp_path), cluster=cluster))
    assert {item.cluster_id for item in items} == clusters


def test_both_caps_are_out_and_nothing_is_cropped(tmp_path):
    root = folder_at(tmp_path, FRAMES[:1])
    raw = np.full(SIZE, 5000, np.uint16)
    raw[0, :6] = [0, 1, 2, 9999, 10000, 65535]
    put(root, names(FRAMES[0])[1], png(raw))
    valid = decoded(only_sample(scannet, root))[1]
    assert valid[0, :6].tolist() == [False, False, True, True, False, False]
    assert np.count_nonzero(valid) == valid.size - 4


def test_pictures_are_not_turned(tmp_path):
    """The depth belongs to the stored raster, whatever the picture's orientation tag says."""
    root = folder_at(tmp_path, FRAMES[:1])
    stream = io.BytesIO()
    upright = Image.fromarray(picture(*SIZE))
    upright.save(stream, "JPEG", quality=90, exif=b"Exif\0\0" + exif(6))
    put(root, names(FRAMES[0])[0], stream.getvalue())
    sample = only_sample(scannet, root)
    assert (sample.width, sample.height) == (640, 480)
    assert sample.image["bytes"] == stream.getvalue()


def test_a_large_picture_is_refused_and_the_truth_not_resized(tmp_path):
    root = folder_at(tmp_path, FRAMES[:1])
    path = root / names(FRAMES[0])[0]
    data = jpeg(picture(968, 1296))
    check_broken(scannet, root, path, data, r"1296x968.*export_frames", "scannet_scene0406_02")


@pytest.mark.parametrize("place", [0, 1], ids=["picture", "depth"])
@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files_are_named(tmp_path, place, fault):
    root = folder_at(tmp_path, FRAMES[:1])
    path = root / names(FRAMES[0])[place]
    check_broken(scannet, root, path, *BROKEN[fault], "scannet_scene0406_02_000300")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (png(np.full(SIZE, 7, np.uint16)), "another unit"),
        (png(np.full(SIZE, 7, np.uint8)), "16-bit grey"),
        (png(np.full((240, 320), 700, np.uint16)), "320x240 pixels, 640x480 as shipped"),
    ],
    ids=["unit", "8 bits", "resized"],
)
def test_wrong_truths_are_named(tmp_path, data, word):
    root = folder_at(tmp_path, FRAMES[:1])
    path = root / names(FRAMES[0])[1]
    check_broken(scannet, root, path, data, word, "scannet_scene0406_02_000300")


@pytest.mark.parametrize(
    "line",
    [
        "scene0406_02/color/000300.jpg scene0406_02/depth/000301.png",
        "scene0406_02/color/000300.jpg scene0406_01/depth/000300.png",
        "scene0406_02/depth/000300.png scene0406_02/color/000300.jpg",
        "scene0406_02/color/000300.jpg",
    ],
    ids=["another frame", "another scan", "swapped", "one word"],
)
def test_lists_that_pair_other_frames_are_refused(tmp_path, line):
    put(folder_at(tmp_path), LIST, line)
    with pytest.raises(SpecError, match=LIST):
        scannet.population(parameters_of(scannet, tmp_path))


def test_ranks(tmp_path):
    check_ranks(scannet, parameters_of(scannet, folder_at(tmp_path)))


@pytest.mark.parametrize("build", [folder_at, archive_at])
def test_refusals(tmp_path, build):
    check_refusals(scannet, build(tmp_path))


def test_the_twin_is_read_as_the_real_one(tmp_path):
    from gensight.twins import scannet as twin

    twin.write(tmp_path, depth_scenes(5))
    found = samples_by_id(scannet, parameters_of(scannet, tmp_path))
    assert len(found) == 5
    assert len({row.cluster_id for row in found.values()}) == 3
    for sample in found.values():
        depth_m, valid, _ = decoded(sample)
        assert valid.any()
        assert (depth_m[:8] == 0).all()


@needs_samples
def test_the_published_list(tmp_path):
    """800 frames of 129 spaces; one file less is a partial download."""
    text = (SAMPLES / "splits/scannet_val_800.txt").read_text()
    put(tmp_path, LIST, text)
    for name in text.split():
        put(tmp_path, name, b"")
    parameters = parameters_of(scannet, tmp_path, twin=False)
    items = scannet.list_items(parameters)
    assert len(items) == scannet.expected_count(parameters) == 800
    assert len({item.cluster_id for item in items}) == 129
    scans = scannet.list_items({**parameters, "cluster": "scan"})
    assert len({item.cluster_id for item in scans}) == 271
    ranked = [item.id for item in in_rank_order(scannet.list_items, parameters)]
    assert ranked == ids_in_rank_order([item.id for item in items], 0)
    (tmp_path / text.split()[7]).unlink()
    with pytest.raises(MissingDataError, match="799 listed frames"):
        scannet.population(parameters)


@needs_samples
def test_a_real_frame_of_the_same_coding(tmp_path):
    """A 7-Scenes pair is coded as an exported ScanNet frame: JPEG, uint16 millimetres."""
    colour, depth = names(FRAMES[0])
    for name, source in ((colour, "color.jpg"), (depth, "depth.png")):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copyfile(SAMPLES / f"rgbd_16bit_png/frame-000000.{source}", tmp_path / name)
    list_at(tmp_path, FRAMES[:1])
    depth_m, valid, _ = decoded(only_sample(scannet, tmp_path))
    # Counted apart from this code; the sensor's 65535 stands for no depth there.
    assert np.count_nonzero(valid) == 273_943
    assert depth_m[valid].min() == pytest.approx(0.80, abs=0.01)
    assert depth_m[valid].max() == pytest.approx(3.49, abs=0.01)
