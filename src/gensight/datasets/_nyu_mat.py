"""The labelled NYU Depth V2 file: MATLAB v7.3, which is HDF5 with every axis reversed.

Frame i of `images` is (3, width, height) and of `rawDepths` and `depths` (width, height); each is
transposed here. `scenes` holds references to arrays of UTF-16 codes. `rawDepths` is what the sensor
measured, 0 where it measured nothing; `depths` is in-painted and never 0. Frames are numbered from
1, as in `splits.mat` (MATLAB v5), which names the 654 of the test split in `testNdxs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gensight.datasets._depth import needs_package
from gensight.errors import MissingDataError

FILE = "nyu_depth_v2_labeled.mat"
SPLITS = "splits.mat"
DEPTH_KEYS = {"raw": "rawDepths", "filled": "depths"}


def split_frames(path: Path) -> list[int]:
    """Return the frame numbers of the test split, from 1 and ascending.

    Raises:
        MissingDataError: the file is no MATLAB file, or holds no such split.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        split = loadmat(path)
    except (MatReadError, NotImplementedError, ValueError, TypeError, OSError) as error:
        raise MissingDataError(f"{path}: not the split as shipped: {error}") from error
    if "testNdxs" not in split:
        raise MissingDataError(f"{path}: holds no testNdxs; it is not the split as shipped")
    return sorted(int(number) for number in split["testNdxs"].ravel())


def scene_names(path: Path, frames: list[int]) -> list[str]:
    """Return the scene folder of each frame, as `kitchen_0004`.

    Raises:
        MissingDataError: h5py or a key is missing, or a frame is not in the file.
    """
    with _opened(path) as file:
        references = file["scenes"][()].ravel()
        _check_frames(path, frames, len(references))
        return [_text(file, references[number - 1]) for number in frames]


def read_frame(path: Path, number: int, truth: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the picture, uint8 (H, W, 3), and the depth in metres, float32 (H, W), of a frame.

    Raises:
        MissingDataError: h5py or a key is missing, the file is cut off, or the types differ.
    """
    with _opened(path) as file:
        images, depths = file["images"], file[DEPTH_KEYS[truth]]
        _check_frames(path, [number], min(len(images), len(depths)))
        if images.dtype != np.uint8 or depths.dtype != np.float32:
            raise MissingDataError(
                f"{path}: images are {images.dtype}, depths {depths.dtype}; the file ships "
                f"uint8 and float32"
            )
        # MATLAB stores columns first, so what it calls (H, W, 3, N) is read as (N, 3, W, H).
        return images[number - 1].transpose(2, 1, 0), depths[number - 1].T


def _text(file: Any, reference: Any) -> str:
    return "".join(chr(code) for code in file[reference][()].ravel())


def _check_frames(path: Path, frames: list[int], held: int) -> None:
    outside = [number for number in frames if not 1 <= number <= held]
    if outside:
        raise MissingDataError(
            f"{path}: frame {outside[0]} is asked for, numbered from 1, but the file holds {held}"
        )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open the file, and say of any fault in it which file it is."""
    needs_package("h5py", f"reading {path.name}")
    import h5py

    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError) as error:
        reason = str(error).strip("'\"").splitlines()[0]
        raise MissingDataError(
            f"{path}: not the file as shipped ({reason}); download it again"
        ) from error
