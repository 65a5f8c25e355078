"""A synthetic twin of KITTI: raw pictures, sparse annotated depth, and the list of the split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gensight import images
from gensight.atomic import write_bytes, write_text
from gensight.datasets._disk import TWIN_MARK
from gensight.records import Sample
from gensight.twins._scene_depth import in_units, resized

LIST = "eigen_test_files_with_gt.txt"
DRIVES = ("2011_09_26_drive_0002_sync", "2011_09_29_drive_0071_sync")
FRAMES_EACH = 2
FOCAL_PX = "721.5377"
WIDTH, HEIGHT = 1242, 375
# A lidar of 64 beams: every third row below the sky, every second column: a sixth of those pixels.
FIRST_ROW, ROW_STEP, COLUMN_STEP = 120, 3, 2


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write depth scenes as frames of drives, and one more frame that has no truth."""
    lines = []
    for place, scene in enumerate(scenes):
        pixels, depth_m = resized(scene, WIDTH, HEIGHT)
        drive = DRIVES[place // FRAMES_EACH % len(DRIVES)]
        picture, truth = _names(drive, place)
        write_bytes(root / picture, images.encode_png(pixels))
        write_bytes(root / truth, images.encode_png(_sparse(in_units(depth_m, 256))))
        lines.append(f"{picture} {truth} {FOCAL_PX}\n")
        if place == 0:
            untold, _ = _names(drive, len(scenes))
            write_bytes(root / untold, images.encode_png(pixels))
            lines.append(f"{untold} None {FOCAL_PX}\n")
    write_text(root / LIST, "".join(lines))
    write_text(root / TWIN_MARK, "synthetic twin of kitti\n")


def _names(drive: str, frame: int) -> tuple[str, str]:
    """Return the names of a frame's picture and truth."""
    file = f"{frame:010d}.png"
    return (
        f"{drive[:10]}/{drive}/image_02/data/{file}",
        f"{drive}/proj_depth/groundtruth/image_02/{file}",
    )


def _sparse(raw: np.ndarray) -> np.ndarray:
    """Return a copy that is 0, no measurement, between the beams."""
    hit = np.zeros_like(raw)
    beams = (slice(FIRST_ROW, None, ROW_STEP), slice(None, None, COLUMN_STEP))
    hit[beams] = raw[beams]
    return hit
