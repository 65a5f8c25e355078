"""What the depth data sets share: units, caps, boxes, and the checks of every sample.

Caps are those of Marigold's evaluation and strict: a depth counts where min < depth < max. Crops
and boxes limit where a depth counts, never which size it has: a truth is never resized, and a
sparse one never interpolated. What a data set excludes is written into `valid_mask`.

A truth without any valid pixel is legal and is scored as `no_ground_truth` (PROTOCOLS DEP-2). A
truth in another unit is not: its largest depth would lie below LEAST_M or above LARGEST_M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np

from gensight import images
from gensight.datasets._disk import Item, Parameters, check_count, root_of
from gensight.datasets._members import Store, Stretch, open_store, read_list
from gensight.errors import GensightError, ImageError, MissingDataError
from gensight.records import Sample

# Millimetres taken for metres pass the upper limit; metres stored as if they were millimetres stay
# under the lower one. No scene of these data sets is that near or that far as a whole.
LEAST_M = 0.1
LARGEST_M = 1000.0
MATTE = (255, 255, 255)


def listed_pairs(
    parameters: Parameters,
    archive: str,
    frames: int,
    item_of: Callable[[Store, Sequence[str]], Item],
    *,
    words: Sequence[int] = (2,),
    no_truth: str | None = None,
) -> list[Item]:
    """Return the frames of `list_file` whose picture and depth are here, in the order of the list.

    The files lie in `archive` or, without one, below the root. A line has so many `words`, first
    the picture and its depth, or `no_truth`: such a line is left out. `item_of` makes an item of
    both names; its place holds None for a file that is not there.

    Raises:
        MissingDataError: the list or files are not there.
        SpecError: the list is not one.
    """
    root = root_of(parameters, parameters["list_file"])
    store = open_store(root / archive if (root / archive).exists() else root)
    lines = read_list(root / parameters["list_file"], words)
    items = [item_of(store, line[:2]) for line in lines if line[1] != no_truth]
    items = [item for item in items if None not in item.place]
    check_count(parameters, len(items), frames, "listed frames with picture and depth")
    return items


def needs_package(name: str, what: str) -> None:
    """Refuse where an optional package is not installed.

    Raises:
        GensightError: it is not; the message says how to get it.
    """
    if find_spec(name) is None:
        raise GensightError(f"{what} needs {name}: pip install 'gensight[data]'")


def read_picture(place: Stretch) -> tuple[bytes, np.ndarray]:
    """Return a picture's bytes as stored, and its pixels, uint8 (H, W, 3), not turned by EXIF.

    Truths refer to the stored raster, so the tag of the file is not applied.

    Raises:
        ImageError: the file is empty, cut off, or no picture; the message names it.
    """
    data = place.read()
    try:
        return data, images.decode_rgb(data, matte=MATTE, orient=False)
    except ImageError as error:
        raise ImageError(f"{place}: {error}") from error


def read_depth_png(place: Stretch, units_per_metre: float) -> np.ndarray:
    """Return the metres (H, W), float32, of a 16-bit grey PNG; 0 stays 0 and means no depth.

    Raises:
        ImageError: the file is no readable picture.
        MissingDataError: it is not grey of 16 bits, as where a viewer has saved it again.
    """
    data = place.read()
    try:
        info = images.inspect(data)
        raw = images.decode_grey(data, matte=(0, 0, 0), orient=False)
    except ImageError as error:
        raise ImageError(f"{place}: {error}") from error
    if (info.bit_depth, info.colour, info.had_alpha) != (16, "grey", False):
        raise MissingDataError(
            f"{place}: depth is stored as 16-bit grey, this is {info.bit_depth}-bit {info.colour}; "
            f"the file was converted: download it again"
        )
    return (raw / units_per_metre).astype(np.float32)


def between(depth_m: np.ndarray, min_m: float, max_m: float) -> np.ndarray:
    """Return where min < depth < max, as bool; both strict, so the caps themselves are out."""
    return (depth_m > min_m) & (depth_m < max_m)


def box_mask(shape: tuple[int, int], rows: slice, columns: slice) -> np.ndarray:
    """Return a bool (H, W) that is true in these rows and columns."""
    inside = np.zeros(shape, np.bool_)
    inside[rows, columns] = True
    return inside


def check_size(place: object, shape: tuple[int, ...], wanted: tuple[int, int]) -> None:
    """Refuse an array that has not the height and width in which the data set ships.

    Raises:
        MissingDataError: it has another shape.
    """
    if tuple(shape) != wanted:
        raise MissingDataError(
            f"{place}: {_size(shape)} pixels, {_size(wanted)} as shipped; a truth is never "
            f"resized: get the files as shipped"
        )


def check_equal_sizes(picture: tuple[int, ...], depth: tuple[int, ...]) -> None:
    """Refuse a picture and a truth of different height or width.

    Raises:
        MissingDataError: they differ.
    """
    if picture[:2] != depth[:2]:
        raise MissingDataError(
            f"the picture is {_size(picture)}, its depth {_size(depth)}; they must be equal, and a "
            f"truth is never resized: get the files as shipped"
        )


def check_unit(place: object, depth_m: np.ndarray) -> None:
    """Refuse a truth whose depths cannot be metres; one without any depth passes.

    Raises:
        MissingDataError: the largest finite depth is under LEAST_M or over LARGEST_M.
    """
    known = depth_m[np.isfinite(depth_m) & (depth_m > 0)]
    if known.size and not LEAST_M <= known.max() <= LARGEST_M:
        raise MissingDataError(
            f"{place}: the largest depth is {known.max():.4g} m; the file has another unit than "
            f"the data set ships"
        )


def depth_sample(
    item: Item,
    picture: tuple[bytes, np.ndarray],
    depth_m: np.ndarray,
    valid: np.ndarray,
    *,
    caps_m: tuple[float, float],
    licence: str,
) -> Sample:
    """Return the sample of a picture (bytes and pixels), its depth (H, W) and where that counts.

    Raises:
        MissingDataError: picture and depth differ in size.
    """
    data, pixels = picture
    check_equal_sizes(pixels.shape, depth_m.shape)
    height, width = depth_m.shape
    return Sample(
        sample_id=item.id,
        rank=0,
        cluster_id=item.cluster_id,
        licence=licence,
        image={"bytes": data, "path": f"{item.id}.{images.EXTENSIONS[images.inspect(data).kind]}"},
        width=width,
        height=height,
        target_depth_m=images.encode_array(depth_m.astype(np.float32, copy=False)),
        valid_mask=images.encode_mask(valid),
        min_depth_m=caps_m[0],
        max_depth_m=caps_m[1],
    )


def _size(shape: tuple[int, ...]) -> str:
    """Return a shape as people say it: width x height."""
    return f"{shape[1]}x{shape[0]}" if len(shape) > 1 else f"an array of shape {shape}"
