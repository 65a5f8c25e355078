"""A synthetic twin of the exported validation frames of ScanNet, with their list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gensight import images
from gensight.atomic import write_bytes, write_text
from gensight.datasets._disk import TWIN_MARK
from gensight.records import Sample
from gensight.twins._scene_depth import in_units, resized, without_border

LIST = "scannet_val_sampled_list_800_1.txt"
# The first two are scans of one space.
SCANS = ("scene0406_00", "scene0406_02", "scene0088_02", "scene0645_02")


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write depth scenes in turn as frames of the scans: JPEG, and depth in millimetres."""
    lines = []
    for place, scene in enumerate(scenes):
        pixels, depth_m = resized(scene, 640, 480)
        scan, frame = SCANS[place % len(SCANS)], f"{100 * (place // len(SCANS)):06d}"
        colour, depth = f"{scan}/color/{frame}.jpg", f"{scan}/depth/{frame}.png"
        write_bytes(root / colour, images.encode_jpeg(pixels, quality=95))
        raw = without_border(in_units(depth_m, 1000))
        write_bytes(root / depth, images.encode_png(raw))
        lines.append(f"{colour} {depth}\n")
    write_text(root / LIST, "".join(lines))
    write_text(root / TWIN_MARK, "synthetic twin of scannet\n")
