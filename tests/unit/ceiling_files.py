"""Real pictures and truths in the layouts of the data sets, from the sample files of the project.

What is real and what is made up to fit a layout stands in SOURCES.md beside them.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from ceiling_pictures import PAPER, mask_sample
from ceiling_road import read_samples, sample_of
from PIL import Image

from gensight import images
from gensight.datasets._coco import segmentation_mask
from gensight.datasets._disk import TWIN_MARK
from gensight.records import Sample

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="the sample files are not here")
VAL = SAMPLES / "coco/val2017"


def copied(source: str, root: Path, name: str) -> None:
    """Copy a sample file, or a folder of them, to a name below a root."""
    place, target = SAMPLES / source, root / name
    for path in [place] if place.is_file() else sorted(place.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(place) if path != place else target
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _refcoco(root: Path) -> list[Sample]:
    copied("refcoco", root, "refcoco")
    for picture in json.loads((root / "refcoco/instances.json").read_text())["images"]:
        name = f"coco/val2017/{picture['id']:012d}.jpg"
        copied(name, root, f"train2014/{picture['file_name']}")
    splits = ("val", "testA")
    return [s for split in splits for s in read_samples("refcoco", root, split=split)]


def _reasonseg(root: Path) -> list[Sample]:
    copied("reasonseg/val", root, "val")
    found = read_samples("reasonseg", root, split="val")
    return [sample for sample in found if sample.target_mask is not None]


def _dram(root: Path) -> list[Sample]:
    copied("dram/labels", root, "labels")
    copied("coco/val2017/000000000785.jpg", root, "test/test_movement/785.jpg")
    (root / "test/dram.txt").write_text("test_movement/785")
    return read_samples("dram", root)


def _manga109(root: Path) -> list[Sample]:
    copied("manga109/COO_MagicianLoad.xml", root, "coo/MagicianLoad.xml")
    page = io.BytesIO()
    Image.new("RGB", (1654, 1170), PAPER).save(page, "JPEG")
    folder = root / "images/MagicianLoad"
    folder.mkdir(parents=True)
    for each in ElementTree.parse(root / "coo/MagicianLoad.xml").iter("page"):
        (folder / f"{int(each.attrib['index']):03d}.jpg").write_bytes(page.getvalue())
    return read_samples("manga109", root, layout="coo_xml")


def _pixmo_points(root: Path) -> list[Sample]:
    copied("pixmo/pixmo_points_format.jsonl", root, "pixmo_points_format.jsonl")
    for path in sorted(VAL.glob("*.jpg")):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        copied(f"coco/val2017/{path.name}", root, f"images/{sha256}.jpg")
    return read_samples("pixmo_points", root)


def _nyuv2(root: Path) -> list[Sample]:
    copied("nyuv2/marigold_layout_mini.tar", root, "nyu_labeled_extracted.tar")
    return read_samples("nyuv2", root)


def _diode(root: Path) -> list[Sample]:
    copied("diode/val", root, "val")
    return read_samples("diode", root)


def _kitti(root: Path) -> list[Sample]:
    drive, file = "2011_09_26_drive_0002_sync", "0000000008.png"
    picture = f"2011_09_26/{drive}/image_02/data/{file}"
    truth = f"{drive}/proj_depth/groundtruth/image_02/{file}"
    copied("kitti/000008.png", root, picture)
    copied("kitti/000008_sparse_depth.png", root, truth)
    (root / "eigen_test_files_with_gt.txt").write_text(f"{picture} {truth} 721.5377\n")
    return read_samples("kitti", root)


def _scannet(root: Path) -> list[Sample]:
    lines = []
    for frame in ("000000", "000006"):
        names = (f"scene0406_02/color/{frame}.jpg", f"scene0406_02/depth/{frame}.png")
        for name, kind in zip(names, ("color.jpg", "depth.png"), strict=True):
            copied(f"rgbd_16bit_png/frame-{frame}.{kind}", root, name)
        lines.append(" ".join(names))
    (root / "scannet_val_sampled_list_800_1.txt").write_text("\n".join(lines) + "\n")
    return read_samples("scannet", root)


READERS: dict[str, Callable[[Path], list[Sample]]] = {
    "refcoco": _refcoco,
    "reasonseg": _reasonseg,
    "dram": _dram,
    "manga109": _manga109,
    "pixmo_points": _pixmo_points,
    "nyuv2": _nyuv2,
    "diode": _diode,
    "kitti": _kitti,
    "scannet": _scannet,
}


def file_samples(name: str, root: Path) -> list[Sample]:
    """Lay the sample files of a benchmark below an empty root and read them by its module."""
    (root / TWIN_MARK).write_text("")
    found = READERS[name](root)
    assert found
    return found


def depth_frames() -> dict[str, Sample]:
    """Return the two frames of NYU Depth V2, with its caps and without its box."""
    folder = SAMPLES / "nyuv2"
    dense = np.round(np.load(folder / "fastdepth_rgb.npy") * 255).astype(np.uint8)
    with Image.open(folder / "bookstore_0001d_00001.jpg") as shown:
        shrunk = np.asarray(shown.convert("RGB"))
    with Image.open(folder / "bookstore_0001d_00001_depth.png") as stored:
        raw_m = np.asarray(stored).astype(np.float32) / 1000
    frames = {
        "nyu_dense": (dense, np.load(folder / "fastdepth_depth.npy")),
        "nyu_raw": (shrunk, raw_m),
    }
    return {
        name: sample_of(
            name,
            picture,
            target_depth_m=images.encode_array(depth_m.astype(np.float32)),
            valid_mask=images.encode_mask((depth_m > 1e-3) & (depth_m < 10)),
            min_depth_m=1e-3,
            max_depth_m=10.0,
        )
        for name, (picture, depth_m) in frames.items()
    }


def person_masks(scale: int = 1) -> list[Sample]:
    """Return the outlines of 14 people in photographs of COCO, drawn `scale` times as large."""
    document = json.loads((SAMPLES / "coco/test_coco.json").read_text())
    sizes = {one["id"]: (one["height"], one["width"]) for one in document["images"]}
    found = []
    for one in document["annotations"]:
        height, width = (scale * side for side in sizes[one["image_id"]])
        polygons = [[scale * number for number in part] for part in one["segmentation"]]
        found.append(mask_sample(segmentation_mask(polygons, height, width), str(one["id"])))
    return found


def panoptic_masks() -> list[Sample]:
    """Return all 50 things and stuffs of two photographs of COCO, large and tiny."""
    path = SAMPLES / "coco/panoptic/panoptic_coco_detection_format.json"
    document = json.loads(path.read_text())
    sizes = {one["id"]: (one["height"], one["width"]) for one in document["images"]}
    return [
        mask_sample(segmentation_mask(one["segmentation"], *sizes[one["image_id"]]), str(place))
        for place, one in enumerate(document["annotations"])
    ]
