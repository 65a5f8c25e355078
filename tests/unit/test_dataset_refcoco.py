"""RefCOCO: sentences, objects, splits and sizes of the original files."""

from __future__ import annotations

import hashlib
import json
import random
import shutil

import numpy as np
import pytest
from images_by_hand import HTML, exif, photograph, saved
from pycocotools import mask as coco
from refcoco_files import (
    ANNOTATIONS,
    HEIGHT,
    PICTURES,
    REFS,
    SHARED,
    WIDTH,
    by_reference,
    decoded,
    expected_mask,
    instances,
    one_line,
    parameters,
    python2_pickle,
    reference_rows,
    samples,
    write_root,
)

from gensight.datasets import refcoco, scenes
from gensight.datasets._coco import read_instances
from gensight.datasets._disk import TWIN_MARK
from gensight.datasets._pickles import load_plain
from gensight.errors import GensightError, ImageError, MissingDataError, SpecError
from gensight.images import decode_mask
from gensight.twins import refcoco as twin


@pytest.fixture
def root(tmp_path):
    return write_root(tmp_path)


def test_a_sample_is_a_photograph_a_sentence_and_a_mask(root):
    found = by_reference(root)
    assert set(found) == {"1", "2", "3"}
    for reference, ann_id in (("1", 11), ("2", 12), ("3", 13)):
        sample = found[reference]
        image_id = ANNOTATIONS[ann_id][0]
        assert sample.cluster_id == str(image_id)
        assert sample.sample_id.startswith(f"{image_id}/{reference}/")
        sentences = REFS[int(reference)][2]
        assert sample.query == sentences[int(sample.sample_id.split("/")[2])].strip().lower()
        assert (decode_mask(sample.target_mask) == expected_mask(ann_id)).all()
        assert sample.image["bytes"] == (root / "train2014" / PICTURES[image_id]).read_bytes()
        assert (sample.width, sample.height) == (WIDTH, HEIGHT)
        assert sample.ignore_mask is None
        assert sample.label_flag is None
        assert sample.licence == "coco_flickr"
        assert sample.query_kind == "referring"


def test_polygons_follow_coco_and_overlapping_parts_are_joined(root):
    found = by_reference(root)
    assert decode_mask(found["1"].target_mask).sum() == 100
    # Added up instead of joined, the 25 pixels of both parts would be 2 and fall out.
    stairs = decode_mask(found["2"].target_mask)
    assert stairs.sum() == 100 + 225 - 25
    assert stairs[16, 16]
    line = decode_mask(found["3"].target_mask)
    assert [tuple(pixel) for pixel in np.argwhere(line)] == [(5, 0), (6, 0), (7, 0)]


def test_every_sentence_or_one_of_each_reference(root):
    every = {name.split("/")[2]: one.query for name, one in samples(root, unit="sentence").items()}
    assert len(every) == 6
    # Stripped and in lower case, as LISA does, and otherwise as it stands.
    assert (every["101"], every["103"], every["105"]) == (
        "the  left box",
        "small box",
        "stairs right",
    )
    drawn = by_reference(root)
    for reference, sample in drawn.items():
        sentences = sorted(REFS[int(reference)][2])
        place = int(hashlib.sha256(f"0/{reference}".encode()).hexdigest(), 16) % len(sentences)
        assert sample.sample_id.endswith(f"/{sentences[place]}")
    others = [by_reference(root, seed=seed)["1"].sample_id for seed in range(12)]
    assert {name.split("/")[2] for name in others} == {"101", "102", "103"}


def test_what_is_drawn_does_not_depend_on_the_order_in_the_file(root):
    before = samples(root)
    rows = reference_rows()
    random.Random(3).shuffle(rows)
    for row in rows:
        row["sentences"].reverse()
    (root / "refcoco" / "refs(unc).p").write_bytes(python2_pickle(rows))
    assert samples(root) == before


def test_raw_and_cleaned_sentences(root):
    cleaned, raw = by_reference(root), by_reference(root, assumed_phrase="raw")
    assert cleaned["3"].query == "line"
    assert raw["3"].query == "line!"
    assert cleaned["3"].knobs == raw["3"].knobs == {"sent": "line", "raw": "line!"}


def test_splits_are_chosen_as_refer_does(root):
    assert set(by_reference(root, split="testA")) == {"4"}
    assert set(by_reference(root, split="testB")) == {"5"}
    assert set(by_reference(root, split="test")) == {"4", "5"}
    assert set(by_reference(root, variant="refcocog", split="test")) == {"4", "5"}
    assert set(by_reference(root, variant="refcoco_plus", split="testA")) == {"4"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"variant": "refcocog", "split": "testA"}, "split: refcocog by umd has no split 'testA'"),
        ({"variant": "refcocog", "split_by": "unc"}, "split_by: refcocog has no split by 'unc'"),
        ({"variant": "refcoco_plus", "split_by": "google"}, "allowed: unc"),
        ({"variant": "refcocog", "split_by": "google", "split": "test"}, "allowed: train, val"),
    ],
)
def test_a_split_that_does_not_exist_is_named(root, given, words):
    with pytest.raises(SpecError) as error:
        samples(root, **given)
    assert words in one_line(error)


def test_the_twin_mask_is_another_object_of_the_same_picture(root):
    found = by_reference(root)
    assert (decode_mask(found["1"].twin_mask) == expected_mask(12)).all()
    assert (decode_mask(found["2"].twin_mask) == expected_mask(11)).all()
    assert found["3"].twin_mask is None
    rows = [row for row in reference_rows() if row["ref_id"] != 2]
    rows.append({**rows[0], "ref_id": 9})
    (root / "refcoco" / "refs(unc).p").write_bytes(python2_pickle(rows))
    found = by_reference(root)
    # Another reference to the same object is no twin.
    assert found["1"].twin_mask is None
    assert found["9"].twin_mask is None


def test_the_stratum_is_the_band_of_the_area(root):
    strata = {name: sample.stratum for name, sample in by_reference(root).items()}
    # 100, 300 and 3 of 3,072 pixels.
    assert strata == {"1": "area 1-5 %", "2": "area 5-20 %", "3": "area < 1 %"}
    bands = [refcoco.area_band(share, [0.01, 0.05, 0.2]) for share in (0.0099, 0.01, 0.2, 1.0)]
    assert bands == ["area < 1 %", "area 1-5 %", "area >= 20 %", "area >= 20 %"]
    assert refcoco.area_band(0.3, [0.25]) == "area >= 25 %"
    assert refcoco.area_band(0.3, []) == "area"


def test_without_an_area_the_pixels_count(root):
    document = instances()
    for annotation in document["annotations"]:
        del annotation["area"]
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    strata = {name: sample.stratum for name, sample in by_reference(root).items()}
    assert strata == {"1": "area 1-5 %", "2": "area 5-20 %", "3": "area < 1 %"}


def test_a_picture_of_another_size_is_refused_by_name(root):
    path = root / "train2014" / PICTURES[8]
    path.write_bytes(saved(photograph(HEIGHT * 2, WIDTH * 2), "JPEG"))
    chosen = parameters(root)
    (item,) = (item for item in refcoco.list_items(chosen) if item.cluster_id == "8")
    with pytest.raises(MissingDataError) as error:
        refcoco.read_item(chosen, item)
    message = one_line(error)
    assert "sample 8/3/106" in message
    assert "128x96" in message
    assert "its entry in instances.json says 64x48" in message
    assert path.name in message


def test_the_orientation_tag_is_not_applied(root):
    """Masks refer to the stored raster, so a turned tag changes neither size nor bytes."""
    path = root / "train2014" / PICTURES[8]
    turned = saved(photograph(HEIGHT, WIDTH), "JPEG", exif=b"Exif\0\0" + exif(6))
    path.write_bytes(turned)
    sample = by_reference(root)["3"]
    assert (sample.width, sample.height) == (WIDTH, HEIGHT)
    assert sample.target_mask["size"] == [HEIGHT, WIDTH]
    assert sample.image["bytes"] == turned


@pytest.mark.parametrize("data", [b"", HTML, saved(photograph(), "JPEG")[:400], None])
def test_an_unreadable_picture_stops_its_own_sample_only(root, data):
    path = root / "train2014" / PICTURES[8]
    path.unlink() if data is None else path.write_bytes(data)
    chosen = parameters(root)
    items = refcoco.list_items(chosen)
    assert len(items) == 3
    good, bad = items[:2], items[2]
    assert all(refcoco.read_item(chosen, item).target_mask for item in good)
    with pytest.raises((ImageError, MissingDataError)) as error:
        refcoco.read_item(chosen, bad)
    message = one_line(error)
    assert "sample 8/3/106" in message
    assert path.name in message


def test_a_partial_download_is_refused(root):
    (root / TWIN_MARK).unlink()
    with pytest.raises(MissingDataError) as error:
        refcoco.list_items(parameters(root, twin=False))
    assert "3 references in refcoco/unc/val where the data set ships 3811" in one_line(error)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 3811),
        ({"variant": "refcoco_plus"}, 3805),
        ({"variant": "refcocog"}, 2573),
        ({"unit": "sentence"}, 10834),
        ({"variant": "refcoco_plus", "unit": "sentence"}, 10758),
        ({"variant": "refcocog", "unit": "sentence"}, 4896),
        ({"split": "testA"}, 1975),
        ({"split": "testB", "unit": "sentence"}, 5095),
        ({"split_by": "google", "unit": "sentence"}, None),
        ({"twin": True}, None),
    ],
)
def test_expected_counts(given, count):
    chosen = {**refcoco.DEFAULTS, "root": "nowhere", **given}
    assert refcoco.expected_count(chosen) == count


def test_missing_data_says_what_to_get(root):
    assert refcoco.missing_data(parameters(root)) is None
    (root / "train2014" / PICTURES[8]).unlink()
    message = refcoco.missing_data(parameters(root))
    assert message.startswith("1 of 2 pictures are not there")
    assert message.endswith(f"gensight data twin {root.parent} --overwrite")
    (root / "refcoco" / "refs(unc).p").unlink()
    assert "refs(unc).p is not there" in refcoco.missing_data(parameters(root))
    (root / "refcoco+").rename(root / "elsewhere")
    assert "refcoco+ is not there" in refcoco.missing_data(parameters(root, variant="refcoco_plus"))


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.pop("split"),
        lambda row: row.pop("sentences"),
        lambda row: row.update(sentences=[]),
        lambda row: row.update(ann_id=999),
        lambda row: row.update(ann_id=[11]),
        lambda row: row.update(image_id=999),
        lambda row: row["sentences"][0].pop("raw"),
    ],
)
def test_a_reference_that_lacks_a_part_is_named(root, change):
    rows = reference_rows()
    change(rows[1])
    (root / "refcoco" / "refs(unc).p").write_bytes(python2_pickle(rows))
    with pytest.raises(MissingDataError, match="reference 1 is not as shipped") as error:
        samples(root)
    one_line(error)


def test_an_annotation_without_a_pixel_is_no_ground_truth(root):
    document = instances()
    document["annotations"][2]["segmentation"] = []
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    assert by_reference(root)["3"].target_mask is None


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_sample_files(tmp_path):
    shutil.copytree(SHARED / "refcoco", tmp_path / "refcoco")
    (tmp_path / TWIN_MARK).write_text("")
    document = read_instances(tmp_path / "refcoco" / "instances.json")
    (tmp_path / "train2014").mkdir()
    for number, picture in document.pictures.items():
        source = SHARED / "coco" / "val2017" / f"{number:012d}.jpg"
        shutil.copy(source, tmp_path / "train2014" / picture["file_name"])
    found = samples(tmp_path, unit="sentence") | samples(tmp_path, unit="sentence", split="test")
    assert len(found) >= 3
    by_id = {one["id"]: one for one in document.annotations}
    refs = {row["ref_id"]: row for row in load_plain(tmp_path / "refcoco" / "refs(unc).p")}
    for name, sample in found.items():
        reference = refs[int(name.split("/")[1])]
        parts = by_id[reference["ann_id"]]["segmentation"]
        expected = decoded(coco.merge(coco.frPyObjects(parts, sample.height, sample.width)))
        assert (decode_mask(sample.target_mask) == expected).all()
        picture = [one for one in by_id.values() if one["image_id"] == reference["image_id"]]
        assert len(sample.other_masks) == len(picture) - 1
        assert sample.target_mask not in sample.other_masks


def test_the_twin_holds_the_scenes(tmp_path):
    drawn = list(scenes.iter_samples({**scenes.DEFAULTS, "width": 192, "height": 144}, range(4)))
    twin.write(tmp_path, drawn)
    masks = {sample.query: decode_mask(sample.target_mask) for sample in drawn}
    for asked in ({}, {"variant": "refcoco_plus", "split": "testB"}, {"variant": "refcocog"}):
        found = samples(tmp_path, unit="sentence", **asked)
        assert len(found) == 2 * len(drawn)
        for sample in found.values():
            target = decode_mask(sample.target_mask)
            whole = [mask for query, mask in masks.items() if query.endswith(sample.query)]
            assert max((target & mask).sum() / (target | mask).sum() for mask in whole) > 0.98
            assert sample.twin_mask != sample.target_mask
            # The other target of the scene, and the crowd along the lower border.
            *others, crowd = sample.other_masks
            assert others == ([] if sample.twin_mask is None else [sample.twin_mask])
            assert decode_mask(crowd)[-12:].all()
            assert decode_mask(crowd).sum() == 12 * 192
    with pytest.raises(MissingDataError, match="synthetic twin"):
        samples(tmp_path, twin=False)
    with pytest.raises(GensightError, match="at least one scene"):
        twin.write(tmp_path, [])
