"""DIODE's validation split, written by hand in its true format."""

from __future__ import annotations

import json
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
    mark_as_twin,
    needs_samples,
    npy,
    only_sample,
    parameters_of,
    picture,
    png,
    put,
    samples_by_id,
    write_tar,
)

from gensight.datasets import diode
from gensight.datasets._disk import in_rank_order
from gensight.errors import MissingDataError, SpecError
from gensight.images import decode_array, decode_mask
from gensight.measures.depth_fit import align
from gensight.specs import declared

SIZE = (768, 1024)
INDOORS = "indoors/scene_00019/scan_00183/00019_00183_indoors_000_010"
INDOORS_TOO = "indoors/scene_00019/scan_00184/00019_00184_indoors_010_010"
OUTDOOR = "outdoor/scene_00022/scan_00193/00022_00193_outdoor_020_000"
STEMS = [INDOORS, INDOORS_TOO, OUTDOOR]
SHOWN = {stem: png(picture(*SIZE, seed=place)) for place, stem in enumerate(STEMS)}


def id_of(stem):
    return f"diode_{stem.split('/')[-1]}"


def depth(stem):
    return depth_ramp(*SIZE, 1.0, 40 if stem == OUTDOOR else 8).astype(np.float32)


def mask():
    marked = np.ones(SIZE, np.float32)
    marked[:, 500:520] = 0
    return marked


def files_of(stems=STEMS):
    files = {}
    for stem in stems:
        files[f"{stem}.png"] = SHOWN[stem]
        files[f"{stem}_depth.npy"] = npy(depth(stem)[:, :, None])
        files[f"{stem}_depth_mask.npy"] = npy(mask())
    return files


def folder_at(root, stems=STEMS, below="val/"):
    for name, data in files_of(stems).items():
        put(root, f"{below}{name}", data)
    mark_as_twin(root)
    return root


def archive_at(root, stems=STEMS):
    write_tar(root / "diode_val.tar", files_of(stems))
    mark_as_twin(root)
    return root


def unfolded_at(root, stems=STEMS):
    return folder_at(root, stems, below="")


@pytest.mark.parametrize("build", [folder_at, unfolded_at, archive_at])
def test_picture_depth_mask_and_part(tmp_path, build):
    found = samples_by_id(diode, parameters_of(diode, build(tmp_path)))
    assert sorted(found) == sorted(id_of(stem) for stem in STEMS)
    for stem in (INDOORS_TOO, OUTDOOR):
        sample = found[id_of(stem)]
        depth_m, valid, pixels = decoded(sample)
        np.testing.assert_array_equal(depth_m, depth(stem))
        np.testing.assert_array_equal(valid, mask() > 0)
        np.testing.assert_array_equal(pixels, picture(*SIZE, seed=STEMS.index(stem)))
        assert sample.image == {"bytes": SHOWN[stem], "path": f"{sample.sample_id}.png"}
        assert sample.stratum == stem.split("/")[0]
        assert (sample.min_depth_m, sample.max_depth_m, sample.licence) == (0.6, 350, "diode")


def test_the_mask_alone_decides(tmp_path):
    """Depths past 0.6 and 350 m stay in; a masked infinity or zero never counts in the fit."""
    root = folder_at(tmp_path, [INDOORS])
    depth_m = depth(INDOORS)
    depth_m[10, :6] = [0.2, 0.6, 350, 900, np.inf, 0]
    put(root, f"val/{INDOORS}_depth.npy", npy(depth_m[:, :, None]))
    sample = only_sample(diode, root)
    # Not `decoded`: its mask is what a fit uses, and differs here from the stored one.
    found_m, valid = decode_array(sample.target_depth_m), decode_mask(sample.valid_mask)
    assert valid[10, :6].all()
    caps = {"min_depth_m": sample.min_depth_m, "max_depth_m": sample.max_depth_m}
    fits = align(255 - found_m.clip(0, 100), found_m, valid=valid, caps_limit_truth=False, **caps)
    assert fits["depth"]["n_valid"] == np.count_nonzero(mask()) - 2


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float32, np.float64])
def test_masks_of_any_number_type(tmp_path, dtype):
    root = folder_at(tmp_path, [INDOORS])
    put(root, f"val/{INDOORS}_depth_mask.npy", npy(mask().astype(dtype)))
    np.testing.assert_array_equal(decoded(only_sample(diode, root))[1], mask() > 0)


@pytest.mark.parametrize(
    ("part", "count", "shipped"), [("indoors", 2, 325), ("outdoor", 1, 446), ("all", 3, 771)]
)
def test_parts(tmp_path, part, count, shipped):
    parameters = parameters_of(diode, folder_at(tmp_path), part=part)
    assert diode.population(parameters) == count
    assert diode.expected_count(parameters) == shipped
    strata = {item.stratum for item in diode.list_items(parameters)}
    assert strata == ({"indoors", "outdoor"} if part == "all" else {part})


@pytest.mark.parametrize(
    ("cluster", "clusters"),
    [
        ("scan", {"diode_scan_00183", "diode_scan_00184", "diode_scan_00193"}),
        ("scene", {"diode_scene_00019", "diode_scene_00022"}),
        ("image", {id_of(stem) for stem in STEMS}),
    ],
)
def test_clusters(tmp_path, cluster, clusters):
    items = diode.list_items(parameters_of(diode, folder_at(tmp_path), cluster=cluster))
    assert {item.cluster_id for item in items} == clusters


def test_a_list_file_restricts(tmp_path):
    root = folder_at(tmp_path)
    put(root, "few.txt", f"{OUTDOOR}.png {OUTDOOR}_depth.npy {OUTDOOR}_depth_mask.npy\n\n")
    parameters = parameters_of(diode, root, list_file="few.txt")
    assert [item.id for item in diode.list_items(parameters)] == [id_of(OUTDOOR)]
    assert diode.expected_count(parameters) == 1
    assert diode.list_items({**parameters, "part": "indoors"}) == []
    (root / "GENSIGHT_TWIN").unlink()
    real = {**parameters, "twin": False}
    assert diode.population(real) == 1
    (root / f"val/{OUTDOOR}_depth_mask.npy").unlink()
    with pytest.raises(MissingDataError, match=r"0 pictures .* where the data set ships 1"):
        diode.population(real)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("diode_meta.json", json.dumps({"val": {}}), "612 of the 771"),
        ("list.txt", "indoors/scene_00019/00183.png\n", "is no picture of DIODE"),
        ("list.txt", f"{INDOORS}.png a b c\n", "line 1 has 4 words"),
        ("list.txt", b"\xff\xfe\x00", "not text"),
        ("val", None, r"list_file: cannot be read"),
    ],
    ids=["the devkit's index", "another name", "too many words", "bytes", "a folder"],
)
def test_other_list_files_are_refused(tmp_path, name, text, word):
    root = folder_at(tmp_path, [INDOORS])
    if text is not None:
        put(root, name, text)
    with pytest.raises(SpecError, match=word) as caught:
        diode.population(parameters_of(diode, tmp_path, list_file=name))
    assert name in str(caught.value)


@pytest.mark.parametrize("value", [3, ["few.txt"], None])
def test_a_list_file_is_a_name(value):
    with pytest.raises(SpecError, match=r"p\.list_file: expected str, got") as caught:
        declared.merged("b.yaml", "p", "datasets", "diode", {"list_file": value})
    assert "\n" not in str(caught.value)


def test_ranks(tmp_path):
    check_ranks(diode, parameters_of(diode, folder_at(tmp_path)))


def test_refusals(tmp_path):
    check_refusals(diode, folder_at(tmp_path, [INDOORS]))


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_pictures_are_named(tmp_path, fault):
    root = folder_at(tmp_path, [INDOORS])
    sample_id = id_of(INDOORS)
    check_broken(diode, root, root / f"val/{INDOORS}.png", *BROKEN[fault], sample_id)


@pytest.mark.parametrize(
    ("ending", "data", "word"),
    [
        (".png", png(picture(384, 512)), "512x384 pixels, 1024x768 as shipped"),
        ("_depth.npy", b"", "cannot be read as .npy"),
        ("_depth.npy", npy(depth(INDOORS))[:5000], "cannot be read as .npy"),
        ("_depth.npy", npy(np.array([{"a": 1}], object)), "cannot be read as .npy"),
        ("_depth.npy", npy(depth(INDOORS).astype(np.uint16)), "no plain array of the type"),
        ("_depth.npy", npy(depth(INDOORS)[:, :, None] * 1000), "another unit"),
        ("_depth.npy", npy(depth(INDOORS).T), "768x1024 pixels"),
        ("_depth.npy", npy(np.zeros(5, np.float32)), "an array of shape"),
        ("_depth_mask.npy", npy(mask()[:, :, None]), "1024x768 .*as shipped"),
        ("_depth_mask.npy", npy(mask()[:-1]), "1024x767 pixels"),
    ],
    ids=[
        "small picture",
        "empty",
        "cut off",
        "objects",
        "whole numbers",
        "millimetres",
        "transposed",
        "one axis",
        "mask with channel",
        "mask too low",
    ],
)
def test_wrong_files_are_named(tmp_path, ending, data, word):
    root = folder_at(tmp_path, [INDOORS])
    sample_id = id_of(INDOORS)
    check_broken(diode, root, root / f"val/{INDOORS}{ending}", data, word, sample_id)


def test_a_mask_without_a_pixel_is_legal(tmp_path):
    root = folder_at(tmp_path, [INDOORS])
    put(root, f"val/{INDOORS}_depth_mask.npy", npy(np.zeros(SIZE, np.float32)))
    assert not decoded(only_sample(diode, root))[1].any()


def test_the_twin_is_read_as_the_real_one(tmp_path):
    from gensight.twins import diode as twin

    twin.write(tmp_path, depth_scenes(5))
    found = samples_by_id(diode, parameters_of(diode, tmp_path))
    assert sorted(row.stratum for row in found.values()) == ["indoors"] * 3 + ["outdoor"] * 2
    assert len({row.cluster_id for row in found.values()}) == 4
    for sample in found.values():
        depth_m, valid, _ = decoded(sample)
        assert valid.any()
        assert (depth_m[valid] > 0).all()


@needs_samples
def test_the_published_lists_and_the_devkits_index(tmp_path):
    """771 pictures in 20 scans and 6 scenes; what the devkit's index knows of them is refused."""
    lines = (SAMPLES / "splits/diode_val_all_771.txt").read_text().splitlines()
    names = [line.split() for line in lines]
    for name in (word for line in names for word in line):
        put(tmp_path, f"val/{name}", b"")
    parameters = parameters_of(diode, tmp_path, twin=False)
    items = diode.list_items(parameters)
    assert len(items) == diode.expected_count(parameters) == 771
    assert len({item.cluster_id for item in items}) == 20
    by_scene = diode.list_items({**parameters, "cluster": "scene"})
    assert len({item.cluster_id for item in by_scene}) == 6
    for part, count in (("indoors", 325), ("outdoor", 446)):
        assert diode.population({**parameters, "part": part}) == count
    ranked = [item.id for item in in_rank_order(diode.list_items, parameters)]
    assert ranked == ids_in_rank_order([item.id for item in items], 0)
    index = json.loads((SAMPLES / "diode/diode_meta.json").read_text())["val"]
    known = {
        stem
        for part in index.values()
        for scans in part.values()
        for stems in scans.values()
        for stem in stems
    }
    for picture_name, *_ in names:
        if picture_name.split("/")[-1].removesuffix(".png") not in known:
            (tmp_path / "val" / picture_name).unlink()
    with pytest.raises(MissingDataError, match=r"612 pictures .* where the data set ships 771"):
        diode.population(parameters)


@needs_samples
def test_a_folder_in_diodes_layout(tmp_path):
    shutil.copytree(SAMPLES / "diode/val", tmp_path / "val", copy_function=shutil.copyfile)
    mark_as_twin(tmp_path)
    depth_m, valid, _ = decoded(only_sample(diode, tmp_path))
    assert 0.5 < depth_m[valid].min() < depth_m[valid].max() < 10
