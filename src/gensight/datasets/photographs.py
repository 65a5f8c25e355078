"""Real photographs that scikit-image ships: one with metric depth, others to handle as files.

`motorcycle` is the left view of the Middlebury 2014 stereo scene Motorcycle (Scharstein et al.,
High-Resolution Stereo Datasets with Subpixel-Accurate Ground Truth, GCPR 2014) as the scikit-image
wheel holds it: 741 x 500 pixels with the disparity of the left view. The calibration of these
reduced pictures is documented there (`skimage.data.stereo_motorcycle`): focal length 994.978 px,
baseline 193.001 mm, principal points 31.086 px apart in x. A disparity d is a z-depth of
focal * baseline / (d + 31.086). Pixels whose disparity is not finite are invalid and hold 0.
The right view has no disparity of its own in the wheel, so the data set has one sample.

Nothing is downloaded and the picture's bytes are the file's. scikit-image names no licence for the
pair apart from its own; it states that the pictures are part of the Middlebury benchmark.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gensight.errors import MissingDataError, SpecError
from gensight.images import decode_rgb, encode_array, encode_mask
from gensight.records import Sample

VERSION = 1
DEFAULTS = {"photograph": "motorcycle"}
# What tables print beside the numbers of a task.
FACTS = {
    "depth": "truth in metres from disparity and calibration, valid from 0.1 to 10 m, no crop; "
    "clipped after alignment",
}

FOCAL_PX = 994.978
BASELINE_M = 0.193001
PRINCIPAL_POINT_OFFSET_PX = 31.086
MIN_DEPTH_M = 0.1
MAX_DEPTH_M = 10.0
LICENCE = "middlebury"

LEFT_VIEW = "motorcycle_left.png"
DISPARITY = "motorcycle_disp.npz"
SHA256 = {
    LEFT_VIEW: "db18e9c4157617403c3537a6ba355dfeafe9a7eabb6b9b94cb33f6525dd49179",
    DISPARITY: "2e49c8cebff3fa20359a0cc6880c82e1c03bbb106da81a177218281bc2f113d7",
}
PHOTOGRAPHS = {
    "astronaut": "astronaut.png",
    "chelsea": "chelsea.png",
    "coffee": "coffee.png",
    "hubble": "hubble_deep_field.jpg",
    "motorcycle": LEFT_VIEW,
    "motorcycle_right": "motorcycle_right.png",
    "retina": "retina.jpg",
    "rocket": "rocket.jpg",
}


def population(parameters: Mapping[str, Any]) -> int:
    """Return the number of samples: one photograph."""
    return 1


def iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]:
    """Yield the depth sample of the photograph; the only rank is 0.

    Raises:
        SpecError: another photograph or another rank is asked for.
        MissingDataError: the installed scikit-image does not hold the files.
    """
    photograph = parameters.get("photograph", "motorcycle")
    if photograph != "motorcycle":
        raise SpecError(
            f"photographs: parameters.photograph: {photograph!r} has no depth; use motorcycle"
        )
    for rank in ranks:
        if rank != 0:
            raise SpecError(f"photographs: rank {rank} does not exist; motorcycle has one, rank 0")
        yield _motorcycle()


def depth_from_disparity(disparity_px: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return z-depth in metres (float32, 0 where invalid) and the bool valid mask, both (H, W)."""
    valid = np.isfinite(disparity_px)
    shifted_px = np.where(valid, disparity_px, 1.0) + PRINCIPAL_POINT_OFFSET_PX
    depth_m = np.where(valid, FOCAL_PX * BASELINE_M / shifted_px, 0.0)
    return depth_m.astype(np.float32), valid


def read_photograph(name: str) -> bytes:
    """Return the bytes of a photograph's file as shipped.

    Raises:
        SpecError: the name is not one of PHOTOGRAPHS.
        MissingDataError: the installed scikit-image does not hold the file.
    """
    if name not in PHOTOGRAPHS:
        known = ", ".join(PHOTOGRAPHS)
        raise SpecError(f"photographs: there is no photograph {name!r}; there are {known}")
    return _read(PHOTOGRAPHS[name])


def load_photograph(name: str) -> np.ndarray:
    """Return a photograph as uint8 (H, W, 3) RGB; raises as `read_photograph` does."""
    return decode_rgb(read_photograph(name), matte=(255, 255, 255))


def _motorcycle() -> Sample:
    picture = _read(LEFT_VIEW)
    with np.load(io.BytesIO(_read(DISPARITY))) as archive:
        depth_m, valid = depth_from_disparity(archive["arr_0"].astype(np.float64))
    sample_id = "photographs_motorcycle_depth_000000"
    height, width = depth_m.shape
    return Sample(
        sample_id=sample_id,
        rank=0,
        cluster_id="photographs_motorcycle",
        population_n=1,
        licence=LICENCE,
        image={"bytes": picture, "path": f"{sample_id}.png"},
        width=width,
        height=height,
        target_depth_m=encode_array(depth_m),
        valid_mask=encode_mask(valid),
        min_depth_m=MIN_DEPTH_M,
        max_depth_m=MAX_DEPTH_M,
    )


def _folder() -> Path | None:
    """Return scikit-image's data folder without importing it."""
    package = find_spec("skimage")
    return Path(package.origin).parent / "data" if package and package.origin else None


def _read(file_name: str) -> bytes:
    folder = _folder()
    path = folder / file_name if folder else Path(file_name)
    if not path.is_file():
        raise MissingDataError(
            f"photographs: {file_name} is not in the installed scikit-image; "
            "install the wheel: pip install 'scikit-image>=0.26,<0.28'"
        )
    data = path.read_bytes()
    expected = SHA256.get(file_name)
    if expected is not None and hashlib.sha256(data).hexdigest() != expected:
        raise MissingDataError(
            f"photographs: {path} is not the file that scikit-image ships; "
            "reinstall it: pip install --force-reinstall 'scikit-image>=0.26,<0.28'"
        )
    return data
