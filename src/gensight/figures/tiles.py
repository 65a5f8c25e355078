"""The pictures of a gallery row: input, raw output, what was extracted, and the truth.

Masks and dots lie over the input, so that a shifted answer is seen as shifted. Depth is shown in
metres under one colour scale per row, logarithmic and set by the truth, after the same linear fit
that the score uses. A tile whose picture is missing says why in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cv2
import matplotlib
import numpy as np

from gensight import images
from gensight.errors import ImageError
from gensight.figures import style
from gensight.records import Prediction, Sample
from gensight.truths import known_normals, true_count, valid_depth

TILE_LONG_SIDE = 400
NOT_IN_ARCHIVE = "output not in this archive"
NO_PICTURE = "no picture returned"
NO_TRUTH = "no usable truth"
DEPTH_COLOURS = "viridis_r"
_INVALID_RGB = (221, 221, 221)
_MASK_OPACITY = 0.55
_VERMILION = tuple(int(style.VERMILION[place : place + 2], 16) for place in (1, 3, 5))


@dataclass(frozen=True, kw_only=True)
class GalleryItem:
    """One row of a gallery, loaded.

    `output` is the answer's picture as returned, None where the archive holds none; `extracted`
    the prediction of the variant shown, None where it was not kept. `orient_source` says whether
    the benchmark applies the input's EXIF tag. `rule` and `rule_text` say why it was chosen.
    `settings` are those of the scorer's measure, so that a row shows what the score saw.
    """

    model_label: str
    sample_id: str
    input_png: bytes
    output: bytes | None
    extracted: Prediction | None
    truth: Sample
    score: str
    rule: str = "median"
    rule_text: str = ""
    orient_source: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tile:
    """A uint8 RGB picture with a line below it, or no picture and the words in its place."""

    picture: np.ndarray | None
    words: str = ""


def row_tiles(task: str, item: GalleryItem, fit: str | None) -> list[Tile]:
    """Return the four tiles of a row: input, raw output, extracted, truth.

    `fit` names the alignment under which depth is shown (`depth` or `disparity`).
    """
    source = _shrunk(
        images.decode_rgb(item.input_png, matte=(255, 255, 255), orient=item.orient_source)
    )
    extracted, truth = _extracted_and_truth(task, item, source, fit)
    return [
        Tile(source, item.truth.query or ""),
        _output_tile(task, item, source),
        extracted,
        truth,
    ]


def _extracted_and_truth(
    task: str, item: GalleryItem, source: np.ndarray, fit: str | None
) -> tuple[Tile, Tile]:
    if task == "segmentation":
        return _segmentation(item, source)
    if task == "counting":
        return _counting(item, source)
    return _depth(item, fit) if task == "depth" else _normals(item)


def _output_tile(task: str, item: GalleryItem, source: np.ndarray) -> Tile:
    if item.output is None:
        silent = item.extracted is not None and item.extracted.status == "no_output"
        return Tile(None, NO_PICTURE if silent else NOT_IN_ARCHIVE)
    try:
        picture = images.decode_rgb(item.output, matte=source if task == "counting" else (0, 0, 0))
    except ImageError as error:
        return Tile(None, f"unreadable: {error}")
    height, width = picture.shape[:2]
    return Tile(_shrunk(picture), f"{width} × {height}")


def _unread(item: GalleryItem, column: str) -> Tile | None:
    """Return the tile of a prediction without this column, or None where it is there."""
    prediction = item.extracted
    if prediction is None:
        return Tile(None, "prediction not in this archive")
    if prediction.status != "ok" or getattr(prediction, column) is None:
        words = f"{prediction.status}: {prediction.reason or f'no {column}'}"
        return Tile(None, words.replace("_", " "))
    return None


def _segmentation(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = _unread(item, "mask")
    if extracted is None:
        extracted = _mask_tile(source, images.decode_mask(item.extracted.mask))
    if item.truth.target_mask is None:
        return extracted, Tile(None, NO_TRUTH)
    return extracted, _mask_tile(source, images.decode_mask(item.truth.target_mask))


def _mask_tile(source: np.ndarray, mask: np.ndarray) -> Tile:
    """Tint a mask over the pale grey input, its outline solid."""
    height, width = source.shape[:2]
    fitted = images.resize_mask(mask, width, height)
    outline = fitted & ~cv2.erode(fitted.view(np.uint8), np.ones((5, 5), np.uint8)).view(np.bool_)
    picture = _pale(images.to_grey(source)[:, :, None].repeat(3, axis=2))
    tint = (1 - _MASK_OPACITY) * picture[fitted] + _MASK_OPACITY * np.array(_VERMILION)
    picture[fitted] = np.round(tint).astype(np.uint8)
    picture[outline] = _VERMILION
    return Tile(picture, f"{100 * mask.mean():.1f} % of the picture")


def _counting(item: GalleryItem, source: np.ndarray) -> tuple[Tile, Tile]:
    extracted = _unread(item, "count")
    if extracted is None:
        prediction = item.extracted
        work = (prediction.work_width or 1, prediction.work_height or 1)
        extracted = _dots_tile(source, prediction.points or [], work, prediction.count)
    sample, count = item.truth, true_count(item.truth)
    if count is None:
        return extracted, Tile(None, NO_TRUTH)
    size = (sample.width, sample.height)
    return extracted, _dots_tile(source, sample.target_points or [], size, count)


def _dots_tile(
    source: np.ndarray, points: list[dict[str, float]], size: tuple[int, int], count: int
) -> Tile:
    """Draw points, given in pixels of a picture of this size (width, height), over the input."""
    picture = _pale(source)
    height, width = source.shape[:2]
    # cv2 takes fixed-point coordinates with four binary digits: dots are not snapped to pixels.
    centres = np.array([(point["x"], point["y"]) for point in points], np.float64).reshape(-1, 2)
    for x, y in images.move_points(centres, size, (width, height)).tolist():
        centre = (round(x * 16), round(y * 16))
        for radius, colour in ((7, (255, 255, 255)), (5, _VERMILION)):
            cv2.circle(picture, centre, radius * 16, colour, -1, cv2.LINE_AA, 4)
    return Tile(picture, f"{count} dot{'' if count == 1 else 's'}")


def _depth(item: GalleryItem, fit: str | None) -> tuple[Tile, Tile]:
    sample = item.truth
    if sample.target_depth_m is None:
        return Tile(None, NO_TRUTH), Tile(None, NO_TRUTH)
    truth_m = images.decode_array(sample.target_depth_m)
    caps_limit_truth = item.settings.get("caps_limit_truth", True)
    usable = valid_depth(sample, truth_m, caps_limit_truth=caps_limit_truth)
    if np.count_nonzero(usable) < 2:
        return Tile(None, NO_TRUTH), Tile(None, NO_TRUTH)
    near, far = (float(bound) for bound in np.percentile(truth_m[usable], (1, 99)))
    truth = Tile(_depth_colours(truth_m, usable, near, far), f"{near:.1f} (bright) to {far:.1f} m")
    extracted = _unread(item, "grey")
    if extracted is None:
        # Fits that have no line of their own (monotone, signed) are shown under the one in depth.
        linear = "disparity" if fit == "disparity" else "depth"
        highest = sample.max_depth_m or float(truth_m[usable].max())
        aligned_m = _aligned(item, truth_m.shape, linear, highest)
        everywhere = np.ones(truth_m.shape, np.bool_)
        picture = _depth_colours(aligned_m, everywhere, near, far)
        extracted = Tile(picture, f"aligned in {linear}")
    return extracted, truth


def _aligned(item: GalleryItem, shape: tuple[int, ...], fit: str, highest_m: float) -> np.ndarray:
    """Return the grey map in metres on the truth's grid, under the line that the score uses."""
    from gensight.measures import depth_fit

    parts = depth_fit.measure(item.extracted, item.truth, item.settings)
    grey = images.decode_grey(item.extracted.grey["bytes"], matte=(0, 0, 0), orient=False)
    levels = grey.astype(np.float32) / (257 if grey.dtype == np.uint16 else 1)
    fitted = images.resize_depth(levels, shape[1], shape[0])
    line = parts[fit]["scale"] * fitted + parts[fit]["shift"]
    if fit == "disparity":
        line = 1 / np.maximum(line, 1 / highest_m)
    return np.clip(line, item.truth.min_depth_m or 0, highest_m)


def _depth_colours(depth_m: np.ndarray, valid: np.ndarray, near: float, far: float) -> np.ndarray:
    """Colour metres by their logarithm, near bright and far dark; no depth is light grey."""
    logarithm = np.log(np.clip(np.where(valid, depth_m, far), near, far) / near)
    share = logarithm / max(np.log(far / near), 1e-9)
    coloured = matplotlib.colormaps[DEPTH_COLOURS](share, bytes=True)[:, :, :3].copy()
    coloured[~valid] = _INVALID_RGB
    return _shrunk(coloured)


def _normals(item: GalleryItem) -> tuple[Tile, Tile]:
    extracted = _unread(item, "normals")
    if extracted is None:
        stored = item.extracted.normals["bytes"]
        extracted = Tile(_shrunk(images.decode_rgb(stored, matte=(0, 0, 0), orient=False)))
    if item.truth.target_normals is None:
        return extracted, Tile(None, NO_TRUTH)
    normals = images.decode_array(item.truth.target_normals).astype(np.float64)
    known = known_normals(item.truth, normals)
    colours = np.round((np.nan_to_num(normals) + 1) * 127.5).clip(0, 255).astype(np.uint8)
    colours[~known] = _INVALID_RGB
    return extracted, Tile(_shrunk(colours))


def _shrunk(picture: np.ndarray) -> np.ndarray:
    height, width = picture.shape[:2]
    if max(height, width) <= TILE_LONG_SIDE:
        return picture
    size = images.fit_long_side(width, height, TILE_LONG_SIDE)
    return images.resize_picture(np.ascontiguousarray(picture), *size)


def _pale(picture: np.ndarray) -> np.ndarray:
    """Return a faded copy, over which marks stand out whatever the picture's colours."""
    return np.ascontiguousarray((picture / 2 + 110).astype(np.uint8))
