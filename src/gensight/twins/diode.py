"""A synthetic twin of the validation split of DIODE."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gensight import images
from gensight.atomic import write_bytes, write_text
from gensight.datasets._disk import TWIN_MARK
from gensight.records import Sample
from gensight.twins._scene_depth import resized, without_border

# Both parts, and in each more than one picture of a scan.
SCANS = (
    ("indoors", "00019", "00183"),
    ("outdoor", "00022", "00193"),
    ("indoors", "00020", "00184"),
    ("outdoor", "00023", "00198"),
)


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write depth scenes in turn as pictures of both parts, with float32 depths and masks."""
    for place, scene in enumerate(scenes):
        pixels, depth_m = resized(scene, 1024, 768)
        depth_m = without_border(depth_m)
        part, scene_name, scan = SCANS[place % len(SCANS)]
        folder = root / f"val/{part}/scene_{scene_name}/scan_{scan}"
        stem = f"{scene_name}_{scan}_{part}_{10 * (place // len(SCANS)):03d}_000"
        write_bytes(folder / f"{stem}.png", images.encode_png(pixels))
        write_bytes(folder / f"{stem}_depth.npy", _stored(depth_m[:, :, None]))
        write_bytes(folder / f"{stem}_depth_mask.npy", _stored((depth_m > 0).astype(np.float32)))
    write_text(root / TWIN_MARK, "synthetic twin of diode\n")


def _stored(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
