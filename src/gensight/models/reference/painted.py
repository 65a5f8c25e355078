"""The truth of a sample painted at the work size, one painter per form of answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models import Reply, Turn
from gensight.models.reference import canvas, marks, paint
from gensight.models.reference.canvas import truth_field
from gensight.truths import MASK_ALONE, known_normals, valid_depth

if TYPE_CHECKING:
    from gensight.records import Sample

EDGES = ("left", "top", "right", "bottom")


def paint_count(turn: Turn, points: np.ndarray) -> np.ndarray:
    """Paint points (n, 2), in pixels of the work size, as the dots or boxes that a turn asks for.

    Dots lie on the input, or alone on white if the form says `canvas: flat`.
    """
    form = turn.answer_form
    picture = canvas.work_picture(turn)
    if form["kind"] == "boxes":
        return marks.paint_boxes(picture, marks.squares_around(points), form["colour"])
    if form.get("canvas") == "flat":
        picture = np.full_like(picture, 255)
    colours = [form["colour"]]
    if form.get("alternate") is not None:
        pair = (form["colour"], form["alternate"])
        colours = [pair[int(second)] for second in marks.takes_turns(points)]
    return marks.paint_dots(picture, points, colours)


def mask_reply(mask: np.ndarray, turn: Turn) -> Reply:
    """Return a bool (H, W) mask of the work size as the mask or the tint that a turn asks for."""
    form = turn.answer_form
    if form["kind"] == "overlay":
        picture = canvas.work_picture(turn)
        return canvas.picture_reply(marks.paint_tint(picture, mask, form["colour"]))
    return canvas.picture_reply(paint.paint_mask(mask, form))


def _mask(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    return paint.paint_mask(_work_mask(turn, truth), turn.answer_form)


def _overlay(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    mask = _work_mask(turn, truth)
    return marks.paint_tint(canvas.work_picture(turn), mask, turn.answer_form["colour"])


def _work_mask(turn: Turn, truth: Sample) -> np.ndarray:
    mask = images.decode_mask(truth_field(truth, "target_mask"))
    return images.resize_mask(mask, *canvas.work_size(turn))


def _depth(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    depth_m = images.decode_array(truth_field(truth, "target_depth_m"))
    if MASK_ALONE in truth.tags:
        # What lies beyond the caps counts, and predictions are clipped to them.
        depth_m = np.clip(depth_m, truth.min_depth_m, truth.max_depth_m)
    nearness = paint.nearness_of(depth_m, valid_depth(truth, depth_m), settings["depth_code"])
    resized = images.resize_depth(nearness, *canvas.work_size(turn))
    return paint.paint_nearness(resized, turn.answer_form["near"], settings["bit_depth"])


def _normals(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    normals = images.decode_array(truth_field(truth, "target_normals")).astype(np.float32)
    filled = paint.fill_from_nearest(normals, known_normals(truth, normals))
    resized = paint.resize_channels(filled, *canvas.work_size(turn))
    return paint.paint_normals(resized, turn.answer_form)


def _dots(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    return paint_count(turn, _true_points(turn, truth))


def _true_points(turn: Turn, truth: Sample) -> np.ndarray:
    """Return the true points; where a data set has counts only, a grid carries the count."""
    size = canvas.work_size(turn)
    if truth.target_points is None:
        return marks.grid_points(truth_field(truth, "target_count"), *size)
    return _moved(truth, [(point["x"], point["y"]) for point in truth.target_points], size)


def _boxes(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    """Frame the true boxes, else the counted instances, else squares around the true points."""
    if truth.target_boxes is not None:
        boxes = [[box[edge] for edge in EDGES] for box in truth.target_boxes]
    elif truth.target_instances is not None:
        boxes = [_tight(images.decode_mask(mask)) for mask in truth.target_instances]
    else:
        return paint_count(turn, _true_points(turn, truth))
    scale = np.tile(np.array(canvas.work_size(turn)) / (truth.width, truth.height), 2)
    scaled = np.array(boxes, np.float64).reshape(-1, 4) * scale
    return marks.paint_boxes(canvas.work_picture(turn), scaled, turn.answer_form["colour"])


def _tight(mask: np.ndarray) -> list[int]:
    """Return left, top, right and bottom edges of a mask that is not empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]


def _keypoints(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    named, colours = truth_field(truth, "target_keypoints"), turn.answer_form["colours"]
    for point in named:
        if point["name"] not in colours:
            raise GensightError(
                f"sample '{truth.sample_id}': the prompt declares no colour for the keypoint "
                f"'{point['name']}' (it has: {', '.join(colours)})"
            )
    places = [(point["x"], point["y"]) for point in named]
    points = _moved(truth, places, canvas.work_size(turn))
    picture = canvas.work_picture(turn)
    return marks.paint_dots(picture, points, [colours[point["name"]] for point in named])


def _writing(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    return marks.paint_writing(canvas.work_picture(turn), truth_field(truth, "target_text"))


def _moved(truth: Sample, places: list[tuple[float, float]], size: tuple[int, int]) -> np.ndarray:
    centres = np.array(places, np.float64).reshape(-1, 2)
    return images.move_points(centres, (truth.width, truth.height), size)


Painter = Callable[[Turn, "Sample", Mapping[str, Any]], np.ndarray]

PAINTERS: dict[str, Painter] = {
    "mask": _mask,
    "overlay": _overlay,
    "depth": _depth,
    "normals": _normals,
    "dots": _dots,
    "boxes": _boxes,
    "keypoints": _keypoints,
    "writing": _writing,
}
