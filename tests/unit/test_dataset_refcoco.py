"""RefCOCO: the original files and their mirrors, sentences, masks, flags and what is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import shutil
import struct
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from images_by_hand import HTML, exif, photograph, saved
from pycocotools import mask as coco

from gensight.datasets import refcoco, scenes
from gensight.datasets._coco import read_instances, segmentation_mask
from gensight.datasets._disk import TWIN_MARK
from gensight.datasets._pickles import load_plain
from gensight.errors import GensightError, ImageError, MissingDataError, SpecError
from gensight.images import decode_mask
from gensight.twins import refcoco as twin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples"
WIDTH, HEIGHT = 64, 48
BOX = [10.0, 10.0, 20.0, 10.0, 20.0, 20.0, 10.0, 20.0]
OVERLAPPING = [BOX, [15.0, 15.0, 30.0, 15.0, 30.0, 30.0, 15.0, 30.0]]
# 5 zeros down the first column, then 3 ones: rows 5 to 7 of column 0.
RUNS = {"size": [HEIGHT, WIDTH], "counts": [5, 3, HEIGHT * WIDTH - 8]}

PICTURES = {7: "COCO_train2014_000000000007.jpg", 8: "COCO_train2014_000000000008.jpg"}
ANNOTATIONS = {
    11: (7, [BOX], 100.0),
    12: (7, OVERLAPPING, 300.0),
    13: (8, RUNS, 3.0),
}
# ref_id: (ann_id, split, sentences with their ids)
REFS = {
    1: (11, "val", {101: "the  Left box", 102: "box", 103: "small box "}),
    2: (12, "val", {104: "the stairs", 105: "Stairs right"}),
    3: (13, "val", {106: "line"}),
    4: (11, "testA", {107: "box in A"}),
    5: (12, "testB", {108: "stairs in B"}),
}


def python2_pickle(value) -> bytes:
    """Write protocol 2 as Python 2 does: with 8-bit strings, which Python 3 never writes."""
    return b"\x80\x02" + _opcodes(value) + b"."


def _opcodes(value) -> bytes:
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return b"J" + struct.pack("<i", value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            data = value.encode()
            return b"U" + bytes([len(data)]) + data
        case list():
            return b"](" + b"".join(map(_opcodes, value)) + b"e"
        case dict():
            return b"}(" + b"".join(_opcodes(k) + _opcodes(v) for k, v in value.items()) + b"u"
    raise AssertionError(value)


def reference_rows():
    rows = []
    for ref_id, (ann_id, split, sentences) in REFS.items():
        rows.append(
            {
                "sent_ids": list(sentences),
                # The suffix names no file, as in the original.
                "file_name": PICTURES[ANNOTATIONS[ann_id][0]].replace(".jpg", f"_{ref_id}.jpg"),
                "ann_id": ann_id,
                "ref_id": ref_id,
                "image_id": ANNOTATIONS[ann_id][0],
                "split": split,
                "category_id": 1,
                "sentences": [
                    {"tokens": sent.split(), "raw": f"{sent}!", "sent_id": number, "sent": sent}
                    for number, sent in sentences.items()
                ],
            }
        )
    return rows


def instances():
    return {
        "images": [
            {"id": number, "file_name": name, "width": WIDTH, "height": HEIGHT}
            for number, name in PICTURES.items()
        ],
        "annotations": [
            {"id": n, "image_id": i, "category_id": 1, "iscrowd": 0, "segmentation": s, "area": a}
            for n, (i, s, a) in ANNOTATIONS.items()
        ],
        "categories": [{"id": 1, "name": "thing", "supercategory": "thing"}],
    }


@pytest.fixture
def root(tmp_path):
    """Write a data set of two photographs and three objects, marked so that its size is legal."""
    for name, folder in {"refcoco": "unc", "refcoco+": "unc", "refcocog": "umd"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "instances.json").write_text(json.dumps(instances()))
        (tmp_path / name / f"refs({folder}).p").write_bytes(python2_pickle(reference_rows()))
    (tmp_path / "train2014").mkdir()
    for number, name in PICTURES.items():
        data = saved(photograph(HEIGHT, WIDTH, seed=number), "JPEG")
        (tmp_path / "train2014" / name).write_bytes(data)
    (tmp_path / TWIN_MARK).write_text("")
    return tmp_path


def parameters(root, **given):
    return {**refcoco.DEFAULTS, "root": str(root), "twin": True, **given}


def samples(root, **given):
    chosen = parameters(root, **given)
    found = refcoco.iter_samples(chosen, range(refcoco.population(chosen)))
    return {sample.sample_id: sample for sample in found}


def by_reference(root, **given):
    return {name.split("/")[1]: one for name, one in samples(root, **given).items()}


def one_line(error) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


def decoded(code):
    """Decode with pycocotools, whose conversion NumPy 2 has deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return coco.decode(code).astype(bool)


def expected_mask(ann_id):
    """Rasterise with pycocotools alone."""
    segmentation = ANNOTATIONS[ann_id][1]
    codes = coco.frPyObjects(segmentation, HEIGHT, WIDTH)
    return decoded(coco.merge(codes if isinstance(codes, list) else [codes]))


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
    with pytest.raises(MissingDataError) as error:
        samples(root)
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
    assert "lichengunc/refer" in message
    (root / "refcoco" / "refs(unc).p").unlink()
    assert "refs(unc).p is not there" in refcoco.missing_data(parameters(root))
    assert "refcoco+" in refcoco.missing_data(parameters(root / "no", variant="refcoco_plus"))


# Each pickle asks for something that is not plain; the first ones would write a file.
def evil(path: Path) -> dict[str, bytes]:
    class Command:
        def __reduce__(self):
            return (Path.write_text, (path, "it ran"))

    class State:
        pass

    return {
        "a call": pickle.dumps([Command()], protocol=2),
        "a call in protocol 4": pickle.dumps([Command()], protocol=4),
        "eval": b"cbuiltins\neval\n(S'1+1'\ntR.",
        "eval of Python 2": b"c__builtin__\neval\n(S'1+1'\ntR.",
        "an instance": b"(ios\nsystem\n.",
        "stacked names": b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        "a persistent id": b"Psomething\n.",
        "a persistent object": b"\x80\x02K\x01Q.",
        "an extension": b"\x80\x02\x82\x01.",
        "a tuple": pickle.dumps([(1, 2)], protocol=2),
        "a set": pickle.dumps({1, 2}, protocol=4),
        "an array": pickle.dumps(np.zeros(2), protocol=2),
        "bytes of Python 3": pickle.dumps(b"abc", protocol=2),
    }


@pytest.mark.parametrize("name", evil(Path("unused")))
def test_pickles_of_anything_but_plain_values_are_refused(tmp_path, name):
    mark, path = tmp_path / "mark", tmp_path / "refs(unc).p"
    path.write_bytes(evil(mark)[name])
    with pytest.raises(MissingDataError) as error:
        load_plain(path)
    assert not mark.exists()
    assert str(path) in one_line(error)


def test_the_same_call_does_run_in_an_open_unpickler(tmp_path):
    """The refused pickle is a live one, so that its refusal proves something."""
    mark = tmp_path / "mark"
    pickle.loads(evil(mark)["a call"])
    assert mark.read_text() == "it ran"


@pytest.mark.parametrize("data", [b"", b"\x80\x02](", HTML, b"\x80\x02U\x05ab", b"\x80\x02h\x05."])
def test_damaged_pickles_end_in_one_line(tmp_path, data):
    path = tmp_path / "refs(unc).p"
    path.write_bytes(data)
    with pytest.raises(MissingDataError, match="not a whole pickle") as error:
        load_plain(path)
    one_line(error)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(PLAIN, st.integers(0, 5))
def test_plain_values_come_back_from_every_protocol(tmp_path_factory, value, protocol):
    path = tmp_path_factory.mktemp("pickles") / "one.p"
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    assert load_plain(path) == value
    path.write_bytes(python2_pickle(value))
    assert load_plain(path) == value


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=24))
def test_no_bytes_end_in_a_traceback(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("pickles") / "one.p"
    path.write_bytes(data)
    try:
        load_plain(path)
    except MissingDataError as error:
        assert "\n" not in str(error)


def test_a_list_that_holds_itself_does_not_hang(tmp_path):
    path = tmp_path / "one.p"
    path.write_bytes(b"\x80\x02]q\x00h\x00a.")
    value = load_plain(path)
    assert value[0] is value


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


@pytest.mark.parametrize("text", ["", "{}", "[]", "<html>", '{"images": [1]}', '{"images": 3}'])
def test_damaged_instances_are_named(tmp_path, text):
    path = tmp_path / "instances.json"
    path.write_text(text)
    with pytest.raises(MissingDataError, match=r"instances\.json") as error:
        read_instances(path)
    one_line(error)


@pytest.mark.parametrize("counts", ["list", "str", "bytes"])
def test_run_lengths_in_every_form(counts):
    packed = coco.frPyObjects({"size": [10, 10], "counts": [5, 3, 92]}, 10, 10)["counts"]
    forms = {"list": [5, 3, 92], "str": packed.decode(), "bytes": packed}
    mask = segmentation_mask({"size": [10, 10], "counts": forms[counts]}, 10, 10)
    assert [tuple(pixel) for pixel in np.argwhere(mask)] == [(5, 0), (6, 0), (7, 0)]


def test_a_list_of_run_lengths_is_joined():
    codes = [{"size": [4, 4], "counts": [0, 2, 14]}, {"size": [4, 4], "counts": [1, 2, 13]}]
    assert segmentation_mask(codes, 4, 4)[:, 0].tolist() == [True, True, True, False]
    assert segmentation_mask(codes, 4, 4).sum() == 3


CORNERS = st.lists(st.tuples(st.floats(0, 40), st.floats(0, 30)), min_size=3, max_size=9)


@settings(max_examples=60, deadline=None)
@given(st.lists(CORNERS, min_size=1, max_size=3))
def test_polygons_are_pycocotools_polygons(parts):
    polygons = [[number for corner in part for number in corner] for part in parts]
    expected = decoded(coco.merge(coco.frPyObjects(polygons, 30, 40)))
    assert (segmentation_mask(polygons, 30, 40) == expected).all()


def test_parts_that_enclose_nothing_are_left_out():
    assert segmentation_mask([BOX, [1.0, 1.0, 5.0, 5.0], []], 30, 40).sum() == 100
    assert segmentation_mask([], 30, 40).sum() == 0


@pytest.mark.parametrize(
    ("segmentation", "words"),
    [
        (BOX, "one flat list of numbers"),
        ("abc", "no known way"),
        (None, "no known way"),
        ([["a"] * 6], "no known way"),
        ([[1.0] * 7], "no known way"),
        ([[1.0, 1.0, float("nan"), 2.0, 3.0, 3.0]], "no known way"),
        ([[1.0, 1.0, 1e9, 2.0, 3.0, 3.0]], "outside"),
        ({"counts": [900]}, "no known way"),
        ({"size": [30, 30], "counts": None}, "no known way"),
        ({"size": [20, 45], "counts": [900]}, "coded for"),
        ({"size": [30, 30], "counts": [899]}, "damaged"),
        ({"size": [30, 30], "counts": [-1, 901]}, "damaged"),
        ({"size": [30, 30], "counts": "~~~"}, "damaged"),
        ({"size": [30, 30], "counts": ["a"]}, "damaged"),
    ],
)
def test_other_codings_are_refused(segmentation, words):
    with pytest.raises(MissingDataError, match=words) as error:
        segmentation_mask(segmentation, 30, 30)
    one_line(error)


def test_an_annotation_without_a_pixel_is_no_ground_truth(root):
    document = instances()
    document["annotations"][2]["segmentation"] = []
    (root / "refcoco" / "instances.json").write_text(json.dumps(document))
    assert by_reference(root)["3"].target_mask is None


# Mirrors


def mirror_rows(split_names):
    by_id = {one["id"]: one for one in instances()["annotations"]}
    pictures = {one["id"]: one for one in instances()["images"]}
    rows = []
    for row in reference_rows():
        picture = pictures[row["image_id"]]
        rows.append(
            {
                **row,
                "split": split_names.get(row["split"], row["split"]),
                "raw_anns": json.dumps(by_id[row["ann_id"]]),
                "raw_image_info": json.dumps(picture),
                "image_path": f"coco/train2014/{picture['file_name']}",
                "captions": [one["sent"] for one in row["sentences"]],
            }
        )
    return rows


def write_mirror(root, folder, rows, name="all-00000-of-00001.parquet"):
    (root / folder / "data").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), root / folder / "data" / name)


def without_originals(root, folder):
    for path in [*(root / folder).glob("refs*.p"), root / folder / "instances.json"]:
        path.unlink()


def test_a_mirror_gives_the_samples_of_the_original(root):
    original = samples(root), samples(root, unit="sentence")
    write_mirror(root, "refcoco", mirror_rows({}))
    assert samples(root, layout="mirror") == original[0]
    assert samples(root) == original[0]
    without_originals(root, "refcoco")
    assert (samples(root), samples(root, unit="sentence")) == original


def test_test_of_a_mirror_is_test_a_and_validation_is_val(root):
    """The mirror's names are read; testB stays what it is."""
    without_originals(root, "refcoco")
    write_mirror(root, "refcoco", mirror_rows({"testA": "test", "val": "validation"}))
    assert set(by_reference(root)) == {"1", "2", "3"}
    assert set(by_reference(root, split="testA")) == {"4"}
    assert set(by_reference(root, split="testB")) == {"5"}
    assert set(by_reference(root, split="test")) == {"4", "5"}
    without_originals(root, "refcocog")
    rows = [row for row in mirror_rows({"testA": "test"}) if row["split"] != "testB"]
    write_mirror(root, "refcocog", rows)
    assert set(by_reference(root, variant="refcocog", split="test")) == {"4"}


def test_two_versions_of_one_file(root):
    without_originals(root, "refcoco")
    write_mirror(root, "refcoco", mirror_rows({}), "val-1.parquet")
    once = samples(root)
    write_mirror(root, "refcoco", mirror_rows({}), "val-2.parquet")
    assert samples(root) == once
    rows = mirror_rows({})
    rows[0]["sentences"][0]["sent"] = "something else"
    write_mirror(root, "refcoco", rows, "val-2.parquet")
    with pytest.raises(MissingDataError, match=r"val-2\.parquet: reference 1 is another") as error:
        samples(root)
    one_line(error)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"question_id": "1", "answer": ["a"], "segmentation": [1.0], "iscrowd": 0},
            "mixes the references of UNC and Google",
        ),
        ({"text": "a", "mask": [[True]]}, "it lacks ref_id, ann_id"),
    ],
)
def test_known_faulty_mirrors_are_refused(root, row, words):
    without_originals(root, "refcoco")
    write_mirror(root, "refcoco", [row])
    with pytest.raises(MissingDataError, match=words) as error:
        samples(root)
    one_line(error)


def test_a_mirror_that_is_no_parquet_or_not_there(root):
    with pytest.raises(MissingDataError, match="holds no Parquet file"):
        samples(root, layout="mirror")
    (root / "refcoco" / "data.parquet").write_bytes(HTML)
    with pytest.raises(MissingDataError, match="not a whole Parquet file") as error:
        samples(root, layout="mirror")
    one_line(error)
    with pytest.raises(SpecError, match="no Google split"):
        samples(root, layout="mirror", split_by="google")


# Label flags


def reviewed():
    """A file of Ref-L4: the ids of its rows are its own, COCO's are the original ones."""
    rows = [(11, "the left box", 0), (11, "box", 1), (11, "small box", 1), (12, "the stairs", 1)]
    return {
        "images": [
            {"id": 900 + place, "original_id": 7, "caption": caption}
            for place, (_, caption, _) in enumerate(rows)
        ],
        "annotations": [
            {
                "id": 13 + place,
                "image_id": 900 + place,
                "original_id": ann_id,
                "caption_quality": quality,
            }
            for place, (ann_id, _, quality) in enumerate(rows)
        ],
    }


def flags(root, name):
    found = samples(root, unit="sentence", label_flags=name)
    return {key.split("/")[2]: sample.label_flag for key, sample in found.items()}


BY_SENTENCE = {"101": True, "102": False, "103": False, "104": False, "105": None, "106": None}


def test_reviewed_labels_are_matched_by_annotation_and_sentence(root):
    folder = root / "Ref-L4" / "refcocos_annotation_reviewed"
    folder.mkdir(parents=True)
    (folder / "refcoco_val_reviewed.json").write_text(json.dumps(reviewed()))
    inner = "Ref-L4/refcocos_annotation_reviewed"
    for name in (f"{inner}/refcoco_val_reviewed.json", inner, "Ref-L4"):
        assert flags(root, name) == BY_SENTENCE
    with pytest.raises(MissingDataError, match=r"refcoco\+_val_reviewed\.json"):
        samples(root, variant="refcoco_plus", label_flags="Ref-L4")


def test_flags_of_tables(root):
    rows = [
        {"ann_id": one["original_id"], "caption": picture["caption"], **quality(one)}
        for one, picture in zip(reviewed()["annotations"], reviewed()["images"], strict=True)
    ]
    (root / "flags.json").write_text(json.dumps(rows))
    pq.write_table(pa.Table.from_pylist(rows), root / "flags.parquet")
    lines = [f'{row["ann_id"]},"{row["caption"]}",{row["caption_quality"]}' for row in rows]
    (root / "flags.csv").write_text("\n".join(["ann_id,caption,caption_quality", *lines]))
    for name in ("flags.json", "flags.parquet", "flags.csv", str(root / "flags.csv")):
        assert flags(root, name) == BY_SENTENCE


def quality(row):
    return {"caption_quality": row["caption_quality"]}


@pytest.mark.parametrize("column", ["ann_id", "annotation id", "id"])
def test_flags_without_sentences_need_rows_that_agree(root, column):
    (root / "flags.csv").write_text(f"{column},caption_quality\n11,0\n11,0\n12,1\n12,0\n13,1\n")
    assert flags(root, "flags.csv") == {
        **dict.fromkeys(("101", "102", "103"), True),
        **dict.fromkeys(("104", "105"), None),
        "106": False,
    }


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("flags.csv", "ann_id,quality\n1,0\n", "row 0: an annotation id"),
        ("flags.csv", "caption_quality\n0\n", "row 0: an annotation id"),
        ("flags.csv", "ann_id,caption_quality\n1,2\n", "is 0 or 1, not 2"),
        ("flags.json", '{"a": 1}', "list of rows"),
        ("flags.json", "nonsense", "not a whole JSON"),
        ("flags.txt", "", "read from"),
        ("flags.parquet", "nonsense", "not a Parquet file"),
    ],
)
def test_damaged_flags_are_named(root, name, text, words):
    (root / name).write_text(text)
    with pytest.raises(MissingDataError, match=words) as error:
        flags(root, name)
    assert name in one_line(error)


# Other files


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


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_run_lengths_of_real_annotations():
    path = SHARED / "coco" / "panoptic" / "panoptic_coco_detection_format.json"
    document = json.loads(path.read_text())
    sizes = {one["id"]: (one["height"], one["width"]) for one in document["images"]}
    for annotation in document["annotations"]:
        code = annotation["segmentation"]
        expected = decoded({**code, "counts": code["counts"].encode()})
        found = segmentation_mask(code, *sizes[annotation["image_id"]])
        assert (found == expected).all()
        assert found.sum() == annotation["area"]


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
    with pytest.raises(MissingDataError, match="synthetic twin"):
        samples(tmp_path, twin=False)
    with pytest.raises(GensightError, match="at least one scene"):
        twin.write(tmp_path, [])
