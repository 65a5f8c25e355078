"""A synthetic twin of NYU Depth V2 in the layout of Marigold's archive."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from gensight import images
from gensight.atomic import replacing, write_text
from gensight.datasets._disk import TWIN_MARK
from gensight.records import Sample
from gensight.twins._scene_depth import in_units, resized, without_border

ARCHIVE = "nyu_labeled_extracted.tar"
# Two frames of each recording, so that clusters differ from frames.
RECORDINGS = ("kitchen_0004", "office_0005", "dining_room_0013", "kitchen_0011")
FRAMES_EACH = 2


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write depth scenes as test frames 1, 2, ...: picture, raw depth in mm, "filled" depth.

    As in the archive itself, the file called filled holds the raw depth again.
    """
    with replacing(root / ARCHIVE) as path, tarfile.open(path, "w") as archive:
        for place, scene in enumerate(scenes):
            pixels, depth_m = resized(scene, 640, 480)
            depth = images.encode_png(without_border(in_units(depth_m, 1000)))
            folder = RECORDINGS[place // FRAMES_EACH % len(RECORDINGS)]
            files = {"rgb": images.encode_png(pixels), "depth": depth, "filled": depth}
            for kind, data in files.items():
                member = tarfile.TarInfo(f"./test/{folder}/{kind}_{place + 1:04d}.png")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    write_text(root / TWIN_MARK, "synthetic twin of nyuv2\n")
