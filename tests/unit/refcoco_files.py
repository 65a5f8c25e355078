"""RefCOCO's files written by hand, and its masks by pycocotools alone."""

from __future__ import annotations

import json
import struct
import warnings
from pathlib import Path

from images_by_hand import photograph, saved
from pycocotools import mask as coco

from gensight.datasets import refcoco
from gensight.datasets._disk import TWIN_MARK

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


def write_root(root):
    """Write a data set of two photographs and three objects, marked so that its size is legal."""
    for name, folder in {"refcoco": "unc", "refcoco+": "unc", "refcocog": "umd"}.items():
        (root / name).mkdir()
        (root / name / "instances.json").write_text(json.dumps(instances()))
        (root / name / f"refs({folder}).p").write_bytes(python2_pickle(reference_rows()))
    (root / "train2014").mkdir()
    for number, name in PICTURES.items():
        data = saved(photograph(HEIGHT, WIDTH, seed=number), "JPEG")
        (root / "train2014" / name).write_bytes(data)
    (root / TWIN_MARK).write_text("")
    return root


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
