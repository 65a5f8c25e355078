"""What the segmentation data sets share: pictures as stored, sizes that agree, samples of masks.

A mask refers to the stored raster, so the orientation tag of a picture is not applied: a benchmark
on these data sets sets `exif: ignore` (PROTOCOLS SEG-3). Nothing is resized. A sample whose target
has no pixel outside the ignored ones has no `target_mask` and is scored as `no_ground_truth`: none
of these data sets asks for what is not there, so an empty target is a gap of the annotation.

Listing reads annotations and no picture. A picture that cannot be read, or whose size is not the
annotation's, stops its own sample only, with one line that names the file and the sample.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gensight.datasets._disk import Item
from gensight.errors import AbsentDataError, ImageError, MissingDataError
from gensight.images import EXTENSIONS, PictureInfo, encode_mask, inspect
from gensight.images.kinds import check_complete
from gensight.records import Sample


@dataclass(frozen=True)
class StoredPicture:
    """A picture file: its bytes untouched, and the facts of its header."""

    path: Path
    data: bytes
    info: PictureInfo

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the stored raster, in pixels."""
        return self.info.height, self.info.width


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        AbsentDataError: there is no such file.
        MissingDataError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise AbsentDataError(f"{path} is not there; the download is partial") from None
    except OSError as error:
        raise MissingDataError(f"{path}: cannot be read: {error.strerror}") from error


def file_state(path: Path) -> tuple[int, int]:
    """Return what changes with a file's content: its time of change in ns, and its size in bytes.

    Raises:
        AbsentDataError: there is no such file.
    """
    try:
        state = path.stat()
    except OSError:
        raise AbsentDataError(f"{path} is not there; the download is partial") from None
    return state.st_mtime_ns, state.st_size


def read_picture(path: Path) -> StoredPicture:
    """Read a picture file without decoding it.

    Raises:
        MissingDataError: the file is not there.
        ImageError: it is empty, cut off, too large, or no picture.
    """
    data = read_bytes(path)
    try:
        info = inspect(data)
        check_complete(data, info)
    except ImageError as error:
        raise ImageError(f"{path}: {error}") from error
    return StoredPicture(path, data, info)


def check_size(picture: StoredPicture, width: int, height: int, annotation: object) -> None:
    """Refuse a picture whose stored size is not the annotation's.

    Raises:
        MissingDataError: width or height differ, as after a resize or an upright save.
    """
    found = (picture.info.width, picture.info.height)
    if found != (width, height):
        raise MissingDataError(
            f"{picture.path}: the picture is {found[0]}x{found[1]}, but {annotation} says "
            f"{width}x{height}; get the files as shipped, not resized or turned"
        )


def stable_index(number: int, *key: object) -> int:
    """Return an index below `number` that follows from the key alone, on every machine alike."""
    digest = hashlib.sha256("/".join(map(str, key)).encode()).hexdigest()
    return int(digest, 16) % number


def segmentation_sample(
    item: Item,
    picture: StoredPicture,
    target: np.ndarray | None,
    *,
    query: str,
    query_kind: str,
    licence: str,
    ignored: np.ndarray | None = None,
    twin: np.ndarray | None = None,
    label_flag: bool | None = None,
    knobs: dict[str, str] | None = None,
) -> Sample:
    """Return the sample of a picture and its bool (H, W) masks; an empty mask counts as none.

    Raises:
        MissingDataError: a mask has another size than the picture.
    """
    for mask in (target, ignored, twin):
        if mask is not None and mask.shape != picture.shape:
            height, width = mask.shape
            check_size(picture, width, height, "its mask")
    if target is not None and ignored is not None:
        target = target & ~ignored
    return Sample(
        sample_id=item.id,
        rank=0,
        cluster_id=item.cluster_id,
        stratum=item.stratum,
        label_flag=label_flag,
        licence=licence,
        image={"bytes": picture.data, "path": f"{item.id}.{EXTENSIONS[picture.info.kind]}"},
        width=picture.info.width,
        height=picture.info.height,
        query=query,
        query_kind=query_kind,
        target_mask=_coded(target),
        twin_mask=_coded(twin),
        ignore_mask=_coded(ignored),
        knobs=knobs or {},
    )


def _coded(mask: np.ndarray | None) -> dict[str, object] | None:
    return None if mask is None or not mask.any() else encode_mask(mask)
