"""The oracle: paints the truth in the form the prompt declares, and nothing else.

Its score is the ceiling of the interface: work size, 8-bit grey, binarisers, dot decoder. With a
disturbance it shows what a known fault costs (see `disturbances`); answers in text stay as they
are, since a disturbance is one of pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas, disturbances, paint
from gensight.truths import known_normals, truth_of, valid_depth

if TYPE_CHECKING:
    from gensight.records import Sample


class Oracle:
    """Answers every turn with its truth, disturbed if the generation block says so."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.settings = settings

    def answer(self, turn: Turn) -> Reply:
        """Paint or write the truth of the turn's sample.

        Raises:
            GensightError: the sample has no truth for the declared form of answer.
        """
        truth = known_truth(turn)
        if turn.answer_form["kind"] == "text":
            return Reply(outcome=Outcome.OK, text=truth_as_text(truth, turn.answer_form["content"]))
        painted = self._paint(turn, truth)
        name = self.settings["disturbance"]
        if name is None:
            return canvas.picture_reply(painted)
        return disturbances.disturbed_reply(painted, name, turn)

    def _paint(self, turn: Turn, truth: Sample) -> np.ndarray:
        kind = turn.answer_form["kind"]
        if kind == "mask":
            return _mask(turn, truth)
        if kind == "depth":
            return _depth(turn, truth, self.settings)
        if kind == "normals":
            return _normals(turn, truth)
        if kind == "dots":
            return _dots(turn, truth)
        raise GensightError(f"oracle: answer form '{kind}' cannot be painted")


def known_truth(turn: Turn) -> Sample:
    """Return the turn's truth.

    Raises:
        GensightError: the turn carries none.
    """
    if turn.truth is None:
        raise GensightError("this reference model paints the truth, and the turn carries none")
    return turn.truth


def truth_field(truth: Sample, name: str) -> Any:
    """Return a column of the truth; `target_count` may also be the number of points.

    Raises:
        GensightError: it is missing; the message names the sample and the column.
    """
    value = truth_of(truth, name)
    if value is None:
        raise GensightError(
            f"sample '{truth.sample_id}': {name} is missing, so a reference model cannot answer; "
            "ask for an answer form of the benchmark's own task"
        )
    return value


def truth_as_text(truth: Sample, content: str) -> str:
    """Return the truth as text: a count, or a tight box.

    A box is "[left, top, right, bottom]" in per mille of the picture's width and height with one
    decimal, from outer pixel edge to outer pixel edge; "none" for an empty mask.

    Raises:
        GensightError: the truth has no such text.
    """
    if content == "integer":
        return str(truth_field(truth, "target_count"))
    if content == "bounding_box":
        return box_text(images.decode_mask(truth_field(truth, "target_mask")))
    raise GensightError(f"oracle: there is no true answer to a text of content '{content}'")


def box_text(mask: np.ndarray) -> str:
    """Return the tight box of a boolean mask as text, "none" if it is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return "none"
    height, width = mask.shape
    edges = (columns[0] / width, rows[0] / height)
    edges += ((columns[-1] + 1) / width, (rows[-1] + 1) / height)
    return "[" + ", ".join(f"{1000 * edge:.1f}" for edge in edges) + "]"


def _mask(turn: Turn, truth: Sample) -> np.ndarray:
    mask = images.decode_mask(truth_field(truth, "target_mask"))
    return paint.paint_mask(images.resize_mask(mask, *canvas.work_size(turn)), turn.answer_form)


def _depth(turn: Turn, truth: Sample, settings: Mapping[str, Any]) -> np.ndarray:
    depth_m = images.decode_array(truth_field(truth, "target_depth_m"))
    nearness = paint.nearness_of(depth_m, valid_depth(truth, depth_m), settings["depth_code"])
    resized = images.resize_depth(nearness, *canvas.work_size(turn))
    return paint.paint_nearness(resized, turn.answer_form["near"], settings["bit_depth"])


def _normals(turn: Turn, truth: Sample) -> np.ndarray:
    normals = images.decode_array(truth_field(truth, "target_normals")).astype(np.float32)
    filled = paint.fill_from_nearest(normals, known_normals(truth, normals))
    resized = paint.resize_channels(filled, *canvas.work_size(turn))
    return paint.paint_normals(resized, turn.answer_form)


def _dots(turn: Turn, truth: Sample) -> np.ndarray:
    """Mark the true points; where a data set has counts only, dots on a grid carry the count."""
    picture = canvas.work_picture(turn)
    height, width = picture.shape[:2]
    if truth.target_points is None:
        points = paint.grid_points(truth_field(truth, "target_count"), width, height)
    else:
        listed = [(point["x"], point["y"]) for point in truth.target_points]
        centres = np.array(listed, dtype=np.float64).reshape(-1, 2)
        points = images.move_points(centres, (truth.width, truth.height), (width, height))
    return paint.paint_dots(picture, points, tuple(turn.answer_form["colour"]))
