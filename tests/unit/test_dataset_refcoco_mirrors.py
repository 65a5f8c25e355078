"""RefCOCO in Parquet mirrors, and the labels that Ref-L4's review found wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from images_by_hand import HTML
from refcoco_files import (
    by_reference,
    expected_mask,
    instances,
    one_line,
    reference_rows,
    samples,
    write_root,
)

from gensight.errors import MissingDataError, SpecError
from gensight.images import decode_mask


@pytest.fixture
def root(tmp_path):
    return write_root(tmp_path)


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
    original = tuple(as_mirrored(samples(root, unit=unit)) for unit in ("ref", "sentence"))
    write_mirror(root, "refcoco", mirror_rows({}))
    assert samples(root, layout="mirror") == original[0]
    assert as_mirrored(samples(root)) == as_mirrored(original[0])
    without_originals(root, "refcoco")
    assert (samples(root), samples(root, unit="sentence")) == original


def as_mirrored(found):
    """The samples, without the word that a picture has no other object: a mirror cannot say it."""
    return {name: replace(one, other_masks=one.other_masks or None) for name, one in found.items()}


def test_a_mirror_knows_the_other_objects_that_are_referred_to(root):
    """Once each, and nothing is claimed of a picture that has no other."""
    without_originals(root, "refcoco")
    rows = mirror_rows({})
    again = {**rows[1], "ref_id": 9, "raw_anns": rows[1]["raw_anns"]}
    write_mirror(root, "refcoco", [*rows, again])
    found = by_reference(root)
    for reference, ann_id in (("1", 12), ("2", 11), ("9", 11)):
        (other,) = found[reference].other_masks
        assert (decode_mask(other) == expected_mask(ann_id)).all()
    assert found["3"].other_masks is None


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
