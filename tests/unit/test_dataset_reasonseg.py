"""ReasonSeg: LISA's painting of shapes, splits, texts, files without a target, the mirror."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from images_by_hand import HTML, exif, photograph, saved

from gensight.datasets import reasonseg, scenes
from gensight.datasets._disk import TWIN_MARK
from gensight.datasets._reasonseg import paint, read_annotation
from gensight.errors import ImageError, MissingDataError
from gensight.images import decode_mask
from gensight.measures import overlap
from gensight.records import Prediction
from gensight.twins import reasonseg as twin

SHARED = Path(__file__).resolve().parents[3] / "shared" / "samples" / "reasonseg"
WIDTH, HEIGHT = 80, 60


def box(left, top, right, bottom):
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def shape(label, points, **more):
    fields = {"shape_type": "polygon", "image_name": "x.jpg", "group_id": None, "flags": {}}
    return {"label": label, "labels": [label], "points": points, **fields, **more}


def write(root, split, name, shapes, texts=("the thing",), is_sentence=False, data=None):
    folder = root / split
    folder.mkdir(exist_ok=True)
    document = {"text": list(texts), "is_sentence": is_sentence, "shapes": shapes}
    (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    picture = saved(photograph(HEIGHT, WIDTH), "JPEG") if data is None else data
    (folder / f"{name}.jpg").write_bytes(picture)


@pytest.fixture
def root(tmp_path):
    """Write val and test with two files each; one of test has no shape."""
    write(tmp_path, "val", "a", [shape("target", box(1, 1, 9, 9))], ["one ", "two", "three"], True)
    write(tmp_path, "val", "b", [shape("target", box(2, 2, 8, 8))], ["short"])
    write(tmp_path, "test", "c", [shape("target", box(10, 10, 30, 30))], ["why?", "how?"], True)
    write(tmp_path, "test", "d", [], ["nothing here"])
    (tmp_path / TWIN_MARK).write_text("")
    return tmp_path


def parameters(root, **given):
    return {**reasonseg.DEFAULTS, "root": str(root), "twin": True, **given}


def samples(root, **given):
    chosen = parameters(root, **given)
    found = reasonseg.iter_samples(chosen, range(reasonseg.population(chosen)))
    return {sample.sample_id: sample for sample in found}


def painted(root, shapes):
    write(root, "test", "one", shapes)
    return paint(read_annotation(root / "test" / "one.json"), HEIGHT, WIDTH)


def test_a_shape_covers_its_border(tmp_path):
    """OpenCV's filled outline has (w + 1)(h + 1) pixels, unlike COCO's rasteriser."""
    mask = painted(tmp_path, [shape("target", box(10, 10, 20, 20))])
    assert (mask == 1).sum() == 11 * 11
    assert mask.dtype == np.uint8


def test_points_are_cut_towards_zero(tmp_path):
    mask = painted(tmp_path, [shape("target", box(-0.9, 10.99, 20.99, 20.99))])
    rows, columns = np.nonzero(mask)
    assert (columns.min(), columns.max(), rows.min(), rows.max()) == (0, 20, 10, 20)


def test_flags_are_dropped_and_other_labels_are_target(tmp_path):
    target, flag = shape("Object", box(30, 30, 40, 40)), shape("Flag", [[0, 0], [60, 40]])
    assert (painted(tmp_path, [target, flag]) == 1).sum() == 121
    assert (painted(tmp_path, [shape("flags", [[0, 0], [9, 0]])]) == 1).sum() == 10
    assert not painted(tmp_path, [flag]).any()


def test_smaller_shapes_lie_over_larger_ones_in_any_order(tmp_path):
    ring, hole = shape("target", box(10, 10, 50, 50)), shape("Ignored", box(20, 20, 30, 30))
    core = shape("target", box(24, 24, 26, 26))
    for order in ([ring, hole, core], [core, hole, ring], [hole, core, ring]):
        mask = painted(tmp_path, order)
        assert (mask == 255).sum() == 121 - 9
        assert (mask == 1).sum() == 41 * 41 - 121 + 9
        assert mask[25, 25] == 1


def test_painting_is_lisas(tmp_path):
    """Against a plain transcription of the rule on random shapes, ties included."""
    random = np.random.default_rng(5)
    for _ in range(20):
        shapes = []
        for _ in range(random.integers(1, 6)):
            points = (random.random((random.integers(3, 7), 2)) * [WIDTH, HEIGHT]).tolist()
            shapes.append(shape(random.choice(["target", "ignore", "flag"]).item(), points))
        shapes.append({**shapes[0], "label": "ignore"})
        assert (painted(tmp_path, shapes) == by_the_rule(shapes)).all()


def by_the_rule(shapes):
    areas, kept = [], []
    for one in shapes:
        if one["label"].lower() != "flag":
            alone = np.zeros((HEIGHT, WIDTH), np.uint8)
            stroke(alone, one, 1)
            areas.append(alone.sum())
            kept.append(one)
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for place in list(np.argsort(areas)[::-1].astype(np.int32)):
        stroke(mask, kept[place], 255 if "ignore" in kept[place]["label"].lower() else 1)
    return mask


def stroke(mask, one, value):
    points = np.array([one["points"]], dtype=np.int32)
    cv2.fillPoly(mask, points, value)
    cv2.polylines(mask, points, True, value, 1)


def test_a_sample_has_target_ignored_pixels_and_the_files_bytes(root):
    shapes = [shape("target", box(10, 10, 50, 50)), shape("ignore", box(20, 20, 30, 30))]
    write(root, "test", "c", shapes, [" Which one?\n", "x"], True)
    sample = samples(root)["test/c"]
    assert sample.query == "Which one?"
    assert sample.query_kind == "reasoning"
    assert decode_mask(sample.target_mask).sum() == 41 * 41 - 121
    assert decode_mask(sample.ignore_mask).sum() == 121
    assert not (decode_mask(sample.target_mask) & decode_mask(sample.ignore_mask)).any()
    assert sample.image["bytes"] == (root / "test" / "c.jpg").read_bytes()
    assert (sample.width, sample.height) == (WIDTH, HEIGHT)
    assert sample.cluster_id == "test/c"
    assert sample.stratum == "long"
    assert sample.licence == "reasonseg"


def test_splits(root):
    assert set(samples(root)) == {"test/c", "test/d"}
    assert set(samples(root, split="val")) == {"val/a", "val/b"}
    assert set(samples(root, split="val_test")) == {"val/a", "val/b", "test/c", "test/d"}
    strata = {name: one.stratum for name, one in samples(root, split="val_test").items()}
    assert strata == {"val/a": "long", "val/b": "short", "test/c": "long", "test/d": "short"}


def test_which_text_is_asked(root):
    assert samples(root, split="val")["val/a"].query == "one"
    texts = ["one", "two", "three"]
    for seed in range(6):
        place = int(hashlib.sha256(f"{seed}/val/a".encode()).hexdigest(), 16) % 3
        found = samples(root, split="val", assumed_text="drawn", seed=seed)
        assert found["val/a"].query == texts[place]
    every = samples(root, split="val", assumed_text="all")
    asked = {name: (one.query, one.cluster_id) for name, one in every.items()}
    assert asked == {
        "val/a/0": ("one", "val/a"),
        "val/a/1": ("two", "val/a"),
        "val/a/2": ("three", "val/a"),
        "val/b/0": ("short", "val/b"),
    }


def test_a_file_without_shapes_is_a_sample_without_ground_truth(root):
    sample = samples(root)["test/d"]
    assert sample.target_mask is None
    assert sample.ignore_mask is None
    assert sample.query == "nothing here"
    fields = {"sample_id": "x", "rank": 0, "cluster_id": "x", "variant": "v", "status": "ok"}
    prediction = Prediction(**fields, outcome="ok", mask={"size": [2, 2], "counts": "04"})
    assert overlap.measure(prediction, sample, overlap.DEFAULTS) is None


def test_a_file_with_ignored_shapes_only_has_no_target(root):
    write(root, "test", "d", [shape("ignore", box(10, 10, 20, 20))])
    sample = samples(root)["test/d"]
    assert sample.target_mask is None
    assert decode_mask(sample.ignore_mask).sum() == 121


def test_files_in_cp1252_are_read(root):
    path = root / "test" / "c.json"
    document = {"text": ["the café’s door"], "is_sentence": False, "shapes": []}
    path.write_bytes(json.dumps(document, ensure_ascii=False).encode("cp1252"))
    with pytest.raises(UnicodeDecodeError):
        path.read_text(encoding="utf-8")
    assert samples(root)["test/c"].query == "the café’s door"


def test_ranks_do_not_follow_the_order_of_the_folder(root):
    """Files are taken by name, so writing them in another order changes nothing."""
    before = list(samples(root, split="val_test"))
    for path in sorted((root / "val").iterdir(), reverse=True):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    assert list(samples(root, split="val_test")) == before
    assert [item.id for item in reasonseg.list_items(parameters(root, split="val"))] == [
        "val/a",
        "val/b",
    ]


def test_the_orientation_tag_is_not_applied(root):
    turned = saved(photograph(HEIGHT, WIDTH), "JPEG", exif=b"Exif\0\0" + exif(6))
    write(root, "test", "c", [shape("target", box(10, 10, 20, 20))], data=turned)
    sample = samples(root)["test/c"]
    assert (sample.width, sample.height) == (WIDTH, HEIGHT)
    assert sample.target_mask["size"] == [HEIGHT, WIDTH]


BAD_DOCUMENTS = [
    b"",
    b"{",
    HTML,
    b"\x81\x8d",
    b"[]",
    b'{"text": ["a"], "is_sentence": true}',
    b'{"text": "a", "is_sentence": true, "shapes": []}',
    b'{"text": [], "is_sentence": true, "shapes": []}',
    b'{"text": [" "], "is_sentence": true, "shapes": []}',
    b'{"text": ["a"], "is_sentence": true, "shapes": [{"label": "t"}]}',
    b'{"text": ["a"], "is_sentence": true, "shapes": [{"label": "t", "points": []}]}',
    b'{"text": ["a"], "is_sentence": true, "shapes": [{"label": "t", "points": [[1, 2, 3]]}]}',
    b'{"text": ["a"], "is_sentence": true, "shapes": [{"label": "t", "points": [[1, NaN]]}]}',
    b'{"text": ["a"], "is_sentence": true, "shapes": [{"label": "t", "points": [[1, 1e9]]}]}',
]


@pytest.mark.parametrize("data", BAD_DOCUMENTS)
@pytest.mark.parametrize("text", ["first", "all"])
def test_a_damaged_annotation_stops_its_own_sample_only(root, data, text):
    (root / "test" / "c.json").write_bytes(data)
    chosen = parameters(root, assumed_text=text)
    bad, good = sorted(reasonseg.list_items(chosen), key=lambda item: item.id)
    assert reasonseg.read_item(chosen, good).query == "nothing here"
    with pytest.raises(MissingDataError, match=r"sample test/c: .*c\.json") as error:
        reasonseg.read_item(chosen, bad)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [b"", HTML, saved(photograph(), "JPEG")[:300], None])
def test_an_unreadable_picture_stops_its_own_sample_only(root, data):
    path = root / "test" / "c.jpg"
    path.unlink() if data is None else path.write_bytes(data)
    chosen = parameters(root)
    bad, good = sorted(reasonseg.list_items(chosen), key=lambda item: item.id)
    assert reasonseg.read_item(chosen, good).query == "nothing here"
    with pytest.raises((ImageError, MissingDataError), match=r"sample test/c: .*c\.jpg") as error:
        reasonseg.read_item(chosen, bad)
    assert "\n" not in str(error.value)


def test_a_partial_download_is_refused(root):
    (root / TWIN_MARK).unlink()
    with pytest.raises(MissingDataError, match="2 annotations in test/ where the data set ships"):
        samples(root, twin=False)
    assert "779" in reasonseg.missing_data(parameters(root, twin=False))


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 779),
        ({"split": "val"}, 200),
        ({"split": "val_test", "assumed_text": "drawn"}, 979),
        ({"split": "train"}, 239),
        ({"assumed_text": "all"}, None),
        ({"twin": True}, None),
    ],
)
def test_expected_counts(given, count):
    assert reasonseg.expected_count({**reasonseg.DEFAULTS, "root": "nowhere", **given}) == count


def test_missing_data(root):
    assert reasonseg.missing_data(parameters(root)) is None
    (root / "test" / "c.jpg").unlink()
    assert "1 of 2 pictures are not there" in reasonseg.missing_data(parameters(root))
    shutil.rmtree(root / "test")
    message = reasonseg.missing_data(parameters(root))
    assert "test is not there" in message
    assert message.endswith(f"gensight data twin {root.parent} --overwrite")


def test_the_mirror_that_counts_ignored_pixels_is_refused(tmp_path):
    (tmp_path / TWIN_MARK).write_text("")
    (tmp_path / "data").mkdir()
    row = {
        "image": {"bytes": b"", "path": "x"},
        "text": "a",
        "mask": [[True, False]],
        "image_id": "x",
        "ann_id": "x",
        "img_height": 1,
        "img_width": 2,
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "data" / "test-00000-of-00001.parquet")
    with pytest.raises(MissingDataError, match="ignored pixels as target") as error:
        samples(tmp_path)
    assert "\n" not in str(error.value)
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "data" / "test-00000-of-00001.parquet")
    with pytest.raises(MissingDataError, match="test is not there"):
        samples(tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="the sample files are not here")
def test_sample_files(tmp_path):
    shutil.copytree(SHARED / "val", tmp_path / "val")
    (tmp_path / TWIN_MARK).write_text("")
    found = samples(tmp_path, split="val")
    assert set(found) == {"val/785", "val/40083", "val/196141"}
    assert found["val/196141"].target_mask is None
    assert found["val/785"].ignore_mask is not None
    assert found["val/40083"].ignore_mask is None
    assert {found[name].stratum for name in ("val/785", "val/40083")} == {"long", "short"}
    target, ignored = (
        decode_mask(code) for code in (found["val/785"].target_mask, found["val/785"].ignore_mask)
    )
    # The two-point flag runs from (5, 5) to (60, 40), outside of both.
    assert not target[5:41, 5:61].any()
    assert not ignored[5:41, 5:61].any()
    assert (ignored.sum(), target.sum() > 20000) == (45 * 53, True)


def test_the_twin_holds_the_scenes(tmp_path):
    drawn = list(scenes.iter_samples({**scenes.DEFAULTS, "width": 192, "height": 144}, range(4)))
    twin.write(tmp_path, drawn)
    found = samples(tmp_path, split="val_test", assumed_text="all")
    masks = {sample.query: decode_mask(sample.target_mask) for sample in drawn}
    assert {one.stratum for one in found.values()} == {"long", "short"}
    for sample in found.values():
        target = decode_mask(sample.target_mask)
        (mask,) = (mask for query, mask in masks.items() if query in sample.query)
        assert (target & mask).sum() / (target | mask).sum() > 0.98
    assert any(one.ignore_mask for one in found.values())
    with pytest.raises(MissingDataError, match="synthetic twin"):
        samples(tmp_path, twin=False)
