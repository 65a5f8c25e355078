"""NYU Depth V2: the .mat, Marigold's archive and its folder, written by hand."""

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

from gensight.datasets import _depth, nyuv2
from gensight.datasets._disk import in_rank_order
from gensight.errors import GensightError, MissingDataError, SpecError
from gensight.specs import declared

SIZE = (480, 640)
BOX = (45, 471, 41, 601)
SCENES = ["kitchen_0004", "kitchen_0004", "office_0005", "dining_room_0013"]


@cache
def frame(number):
    """Return the picture, raw depth and in-painted depth (metres, float32) of a frame."""
    raw = depth_ramp(*SIZE, 0.5 + 0.1 * number, 9).astype(np.float32)
    filled = raw + np.float32(0.25)
    raw[:, :20] = 0
    return picture(*SIZE, seed=number), raw, filled


def millimetres(depth_m):
    return np.rint(depth_m.astype(np.float64) * 1000).astype(np.uint16)


def marigold_files(numbers=(1, 2, 3, 4)):
    files = {}
    for number in numbers:
        pixels, raw, _ = frame(number)
        names = (
            f"test/{SCENES[number - 1]}/{kind}_{number:04d}.png"
            for kind in ("rgb", "depth", "filled")
        )
        depth = png(millimetres(raw))
        files |= dict(zip(names, (png(pixels), depth, depth), strict=True))
    return files


def archive_at(root, files=None, **options):
    write_tar(root / "nyu_labeled_extracted.tar", files or marigold_files(), **options)
    mark_as_twin(root)
    return root


def folder_at(root, files=None):
    for name, data in (files or marigold_files()).items():
        put(root, name, data)
    mark_as_twin(root)
    return root


def mat_at(root, test_numbers=(1, 2, 3, 4), factor=1.0):
    """Write HDF5 behind the 512 bytes that MATLAB puts first, with MATLAB's axes reversed."""
    h5py = pytest.importorskip("h5py")
    from scipy.io import savemat

    root.mkdir(parents=True, exist_ok=True)
    frames = [frame(number) for number in (1, 2, 3, 4)]
    path = root / "nyu_depth_v2_labeled.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["images"] = np.stack([pixels.transpose(2, 1, 0) for pixels, _, _ in frames])
        file["rawDepths"] = np.stack([raw.T for _, raw, _ in frames]) * np.float32(factor)
        file["depths"] = np.stack([filled.T for _, _, filled in frames])
        references = np.empty((1, 4), dtype=h5py.ref_dtype)
        for place, name in enumerate(SCENES):
            text = file.create_dataset(
                f"#refs#/{place}", data=np.array([[ord(letter)] for letter in name], np.uint16)
            )
            references[0, place] = text.ref
        file["scenes"] = references
    numbers = np.array(test_numbers, np.uint16)[:, None]
    savemat(root / "splits.mat", {"testNdxs": numbers, "trainNdxs": np.array([[2]], np.uint16)})
    mark_as_twin(root)
    return root


@pytest.mark.parametrize("build", [archive_at, folder_at, mat_at])
def test_picture_depth_and_box(tmp_path, build):
    """Axes, units, and where the truth counts, for each layout."""
    found = samples_by_id(nyuv2, parameters_of(nyuv2, build(tmp_path)))
    assert sorted(found) == [f"nyuv2_{number:04d}" for number in (1, 2, 3, 4)]
    for number in (1, 4):
        sample = found[f"nyuv2_{number:04d}"]
        depth_m, valid, pixels = decoded(sample)
        expected_pixels, raw, _ = frame(number)
        np.testing.assert_array_equal(pixels, expected_pixels)
        np.testing.assert_allclose(depth_m, raw, atol=0.00051)
        assert bounds(valid) == BOX
        assert (sample.min_depth_m, sample.max_depth_m, sample.licence) == (1e-3, 10, "nyuv2")
        assert sample.cluster_id == f"nyuv2_{SCENES[number - 1]}"


def test_shown_unchanged_bytes_are_the_files_own(tmp_path):
    files = marigold_files((1,))
    sample = only_sample(nyuv2, archive_at(tmp_path, files))
    shown = files["test/kitchen_0004/rgb_0001.png"]
    assert sample.image == {"bytes": shown, "path": "nyuv2_0001.png"}


def test_layouts_name_the_same_samples(tmp_path):
    """Ids, ranks and clusters do not tell the layouts apart, so numbers can be paired."""
    told = {}
    for build in (archive_at, folder_at, mat_at):
        root = build(tmp_path / build.__name__)
        found = samples_by_id(nyuv2, parameters_of(nyuv2, root))
        told[build] = [(row.sample_id, row.rank, row.cluster_id) for row in found.values()]
    assert told[archive_at] == told[folder_at] == told[mat_at]


@pytest.mark.parametrize(
    ("cluster", "clusters"),
    [
        ("recording", {"nyuv2_kitchen_0004", "nyuv2_office_0005", "nyuv2_dining_room_0013"}),
        ("scene_type", {"nyuv2_kitchen", "nyuv2_office", "nyuv2_dining_room"}),
        ("image", {f"nyuv2_{number:04d}" for number in (1, 2, 3, 4)}),
    ],
)
def test_clusters(tmp_path, cluster, clusters):
    items = nyuv2.list_items(parameters_of(nyuv2, archive_at(tmp_path), cluster=cluster))
    assert {item.cluster_id for item in items} == clusters


def test_the_split_counts_from_one(tmp_path):
    """testNdxs 2 and 4 are the second and the fourth frame, and 0 and 5 do not exist."""
    found = samples_by_id(nyuv2, parameters_of(nyuv2, mat_at(tmp_path, (4, 2))))
    assert sorted(found) == ["nyuv2_0002", "nyuv2_0004"]
    np.testing.assert_array_equal(decoded(found["nyuv2_0002"])[2], frame(2)[0])
    np.testing.assert_array_equal(decoded(found["nyuv2_0004"])[0], frame(4)[1])
    for outside in (0, 5):
        with pytest.raises(MissingDataError, match=f"frame {outside} .*from 1"):
            nyuv2.population(parameters_of(nyuv2, mat_at(tmp_path, (1, outside))))


def test_filled_is_the_mats_alone(tmp_path):
    """The files called filled hold raw depth: asking for in-painted truth there is refused."""
    sample = only_sample(nyuv2, mat_at(tmp_path / "mat", (1,)), truth="filled")
    np.testing.assert_array_equal(decoded(sample)[0], frame(1)[2])
    assert (frame(1)[1][:, :20] == 0).all()
    for build in (archive_at, folder_at):
        parameters = parameters_of(nyuv2, build(tmp_path / build.__name__), truth="filled")
        with pytest.raises(SpecError, match=r"truth.*nyu_depth_v2_labeled\.mat"):
            nyuv2.population(parameters)


def test_both_caps_are_out(tmp_path):
    raw = np.full(SIZE, 5000, np.uint16)
    levels = [0, 1, 2, 9999, 10000, 10001]
    raw[100, 100:106] = levels
    files = marigold_files((1,)) | {"test/kitchen_0004/depth_0001.png": png(raw)}
    depth_m, valid, _ = decoded(only_sample(nyuv2, archive_at(tmp_path, files)))
    assert valid[100, 100:106].tolist() == [False, False, True, True, False, False]
    np.testing.assert_array_equal(depth_m[100, 100:106], np.float32(np.array(levels) / 1000))


def test_a_truth_without_a_valid_pixel_is_legal(tmp_path):
    files = marigold_files((1,)) | {"test/kitchen_0004/depth_0001.png": png(np.zeros(SIZE, "u2"))}
    assert not decoded(only_sample(nyuv2, archive_at(tmp_path, files)))[1].any()


def test_ranks(tmp_path):
    root = archive_at(tmp_path)
    check_ranks(nyuv2, parameters_of(nyuv2, root))
    first = samples_by_id(nyuv2, parameters_of(nyuv2, root))
    archive_at(tmp_path, dict(reversed(marigold_files().items())), start="")
    assert list(samples_by_id(nyuv2, parameters_of(nyuv2, root)).items()) == list(first.items())


@pytest.mark.parametrize("build", [archive_at, folder_at, mat_at])
def test_refusals(tmp_path, build):
    check_refusals(nyuv2, build(tmp_path))


@pytest.mark.parametrize("kind", ["rgb", "depth"])
@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files_are_named(tmp_path, kind, fault):
    root = folder_at(tmp_path, marigold_files((1,)))
    path = root / f"test/kitchen_0004/{kind}_0001.png"
    check_broken(nyuv2, root, path, *BROKEN[fault], "nyuv2_0001")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (png(picture(*SIZE)), "16-bit grey, this is 8-bit rgb"),
        (png(np.full(SIZE, 90, np.uint8)), "16-bit grey, this is 8-bit grey"),
        (png(np.full((240, 320), 2000, np.uint16)), "320x240 pixels, 640x480 as shipped"),
        (png(np.full(SIZE, 9, np.uint16)), "another unit"),
    ],
    ids=["colours", "8 bits", "resized", "metres for millimetres"],
)
def test_wrong_truths_are_named(tmp_path, data, word):
    root = folder_at(tmp_path, marigold_files((1,)))
    path = root / "test/kitchen_0004/depth_0001.png"
    check_broken(nyuv2, root, path, data, word, "nyuv2_0001")


def test_an_archives_member_is_named(tmp_path):
    files = marigold_files((1,)) | {"test/kitchen_0004/rgb_0001.png": b""}
    with pytest.raises(GensightError, match=r"nyuv2_0001: .*\.tar: test/kitchen_0004/rgb_0001"):
        only_sample(nyuv2, archive_at(tmp_path, files))


def test_millimetres_in_the_mat_are_refused(tmp_path):
    with pytest.raises(MissingDataError, match=r"nyuv2_0001: .*frame 1.*another unit"):
        only_sample(nyuv2, mat_at(tmp_path, (1,), factor=1000))


def test_archives_that_are_cut_off_or_compressed_are_refused(tmp_path):
    root = archive_at(tmp_path)
    path = root / "nyu_labeled_extracted.tar"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(MissingDataError, match=r"nyu_labeled_extracted\.tar.*again"):
        nyuv2.population(parameters_of(nyuv2, root))
    archive_at(root, mode="w:gz")
    with pytest.raises(MissingDataError, match=r"uncompressed.*unpack"):
        nyuv2.population(parameters_of(nyuv2, root))


def test_faulty_mat_files_are_named(tmp_path):
    h5py = pytest.importorskip("h5py")
    root = mat_at(tmp_path)
    path, splits = root / "nyu_depth_v2_labeled.mat", root / "splits.mat"
    with h5py.File(path, "r+") as file:
        del file["rawDepths"]
    with pytest.raises(MissingDataError, match=r"nyuv2_000\d: .*labeled\.mat.*rawDepths"):
        next(nyuv2.iter_samples(parameters_of(nyuv2, root), [0]))
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(MissingDataError, match=r"labeled\.mat.*download it again"):
        nyuv2.population(parameters_of(nyuv2, root))
    for data in (b"", b"testNdxs" * 40):
        splits.write_bytes(data)
        with pytest.raises(MissingDataError, match=r"splits\.mat: not the split"):
            nyuv2.population(parameters_of(nyuv2, root))
    splits.unlink()
    assert "splits.mat is not there" in nyuv2.missing_data(parameters_of(nyuv2, root))


def test_without_h5py_the_message_says_what_to_install(tmp_path, monkeypatch):
    root = mat_at(tmp_path)
    monkeypatch.setattr(_depth, "find_spec", lambda name: None)
    assert "pip install 'gensight[data]'" in nyuv2.missing_data(parameters_of(nyuv2, root))


def test_an_asked_layout_is_not_replaced_by_another(tmp_path):
    root = archive_at(mat_at(tmp_path))
    by_layout = {
        layout: samples_by_id(nyuv2, parameters_of(nyuv2, root, layout=layout))["nyuv2_0001"]
        for layout in ("auto", "marigold_tar", "mat")
    }
    assert by_layout["auto"] == by_layout["marigold_tar"] != by_layout["mat"]
    assert "test" in nyuv2.missing_data(parameters_of(nyuv2, root, layout="folder"))


def test_declared_literals():
    found = declared.constants("datasets", "nyuv2")
    assert found["DEFAULTS"] == nyuv2.DEFAULTS
    assert {"seed", "twin"} < set(found["DEFAULTS"])
    assert found["FACTS"]["depth"] == nyuv2.FACTS["depth"]
    assert declared.has_function("datasets", "nyuv2", "population")


def test_the_twin_is_read_as_the_real_one(tmp_path):
    from gensight.twins import nyuv2 as twin

    twin.write(tmp_path, depth_scenes(3))
    check_ranks(nyuv2, parameters_of(nyuv2, tmp_path))
    found = samples_by_id(nyuv2, parameters_of(nyuv2, tmp_path))
    assert {row.cluster_id for row in found.values()} == {"nyuv2_kitchen_0004", "nyuv2_office_0005"}
    depth_m, valid, _ = decoded(found["nyuv2_0001"])
    assert (depth_m[:8] == 0).all()
    assert valid.any()


@needs_samples
def test_the_published_list_is_the_official_split(tmp_path):
    """654 frames of 215 recordings and 16 types; splits.mat names the same, counted from 1."""
    from gensight.datasets._nyu_mat import split_frames

    lines = (SAMPLES / "splits/nyu_test_654.txt").read_text().splitlines()
    for name in (word for line in lines for word in line.split()[:2]):
        put(tmp_path, name, b"")
    parameters = parameters_of(nyuv2, tmp_path, twin=False)
    items = nyuv2.list_items(parameters)
    assert len(items) == nyuv2.expected_count(parameters) == nyuv2.population(parameters) == 654
    assert len({item.cluster_id for item in items}) == 215
    types = nyuv2.list_items({**parameters, "cluster": "scene_type"})
    assert len({item.cluster_id for item in types}) == 16
    ranked = [item.id for item in in_rank_order(nyuv2.list_items, parameters)]
    assert ranked == ids_in_rank_order([item.id for item in items], 0)
    frames = split_frames(SAMPLES / "nyuv2/splits.mat")
    assert [item.id for item in items] == [f"nyuv2_{number:04d}" for number in frames]
    (tmp_path / lines[0].split()[1]).unlink()
    with pytest.raises(MissingDataError, match="653 test frames where the data set ships 654"):
        nyuv2.population(parameters)


@needs_samples
def test_an_archive_in_marigolds_layout(tmp_path):
    shutil.copy(SAMPLES / "nyuv2/marigold_layout_mini.tar", tmp_path / "nyu_labeled_extracted.tar")
    mark_as_twin(tmp_path)
    sample = only_sample(nyuv2, tmp_path)
    depth_m, valid, _ = decoded(sample)
    assert (sample.sample_id, sample.cluster_id) == ("nyuv2_0001", "nyuv2_kitchen_0004")
    assert 0.5 < depth_m[valid].min() < depth_m[valid].max() < 10
