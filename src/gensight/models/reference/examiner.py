"""A scripted judge: points for being like the drawing of the sample. It is a stand-in for a VLM.

So that judging, re-asking and second looks can be seen at work without a network, on replies whose
faults are known. It reads no rubric and recognises nothing: it compares the judged picture with
`target_image`, both at 32 x 32, by

- `colour`: 1 - the mean Lab distance of the pixels / 50, at least 0;
- `overlap`: intersection over union of what stands out from the border;
- `detail`: how far the edges correlate, at least 0;

and gives each dimension that share of its points which one of them, or their mean, says. By a rule,
from numbers drawn per sample and repeat, it is off by one point in 2 of 10 scores, and 4 % of its
replies are an apology in prose.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas
from gensight.models.reference.floors import require_form

if TYPE_CHECKING:
    from gensight.records import Sample

SIDE_PX = 32
# Lab distance at which two pictures have nothing in common, and from which a pixel stands out; both
# by eye.
UNLIKE = 50.0
STANDS_OUT = 15.0
OFF_BY_ONE = 0.2
APOLOGIES = 0.04
APOLOGY = "I am sorry, but I would rather describe this picture than put points on it."
# What a dimension goes by; all others go by the mean.
LOOKS_AT = {
    "structure_proportion": "overlap",
    "detail_quality": "detail",
    "palette_contrast": "colour",
}


class Examiner:
    """Answers the questions of a judge."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the points in the form that the rubric asks for.

        Raises:
            GensightError: the turn asks for something else, or the sample has no drawing.
        """
        require_form("examiner", turn, ("text",))
        form = turn.answer_form
        if form.get("content") != "judgement":
            raise GensightError(
                "reference method 'examiner' judges answers and does nothing else; name it under "
                "`models` of a judge, not of a run"
            )
        truth = canvas.known_truth(turn)
        drawing = canvas.truth_field(truth, "target_image")["bytes"]
        random = canvas.random_of(f"examiner {truth.sample_id} {turn.repeat}")
        if random.random() < APOLOGIES:
            return Reply(outcome=Outcome.OK, text=APOLOGY)
        found = likeness(*(_small(data) for data in (_judged(turn), drawing)))
        return Reply(
            outcome=Outcome.OK, text=_told(_points(form["dimensions"], found, random), form)
        )


def likeness(shown: np.ndarray, drawing: np.ndarray) -> dict[str, float]:
    """Return how alike two uint8 (32, 32, 3) RGB pictures are, 0 to 1, in each way and on average.

    Equal pictures are alike in every way, flat ones too.
    """
    first, second = _lab(shown), _lab(drawing)
    colour = max(0.0, 1 - float(np.linalg.norm(first - second, axis=2).mean()) / UNLIKE)
    both, either = (
        _foreground(first) & _foreground(second),
        _foreground(first) | _foreground(second),
    )
    overlap = float(both.sum() / either.sum()) if either.any() else 1.0
    found = {"colour": colour, "overlap": overlap, "detail": _correlation(first, second)}
    return {**found, "mean": math.fsum(found.values()) / len(found)}


def _judged(turn: Turn) -> bytes:
    """Return the picture that is judged, among those that the turn shows."""
    pictures = [part.image for part in turn.parts if part.image is not None]
    named = dict(zip(turn.answer_form.get("pictures", ()), pictures, strict=False))
    return named.get("answer") or canvas.input_bytes(turn)


def _small(data: bytes) -> np.ndarray:
    return images.resize_picture(images.decode_rgb(data, matte=canvas.WHITE), SIDE_PX, SIDE_PX)


def _lab(picture: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)


def _foreground(lab: np.ndarray) -> np.ndarray:
    border = np.concatenate([lab[0], lab[-1], lab[1:-1, 0], lab[1:-1, -1]])
    return np.linalg.norm(lab - np.median(border, axis=0), axis=2) > STANDS_OUT


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return how far the edges of two Lab pictures correlate; 1 where both have none, else >= 0."""
    steps = [np.hypot(*np.gradient(lab[..., 0].astype(np.float64))) for lab in (first, second)]
    if np.array_equal(*steps):
        return 1.0
    centred = [step - step.mean() for step in steps]
    scale = math.sqrt(float((centred[0] ** 2).sum() * (centred[1] ** 2).sum()))
    return max(0.0, float((centred[0] * centred[1]).sum()) / scale) if scale > 0 else 0.0


def _points(
    dimensions: Mapping[str, int], found: Mapping[str, float], random: np.random.Generator
) -> dict[str, int]:
    """Return whole points by dimension, halves upwards, now and then off by one."""
    points = {}
    for name, most in dimensions.items():
        share = found[LOOKS_AT.get(name, "mean")]
        is_off, is_more = random.random(2) < (OFF_BY_ONE, 0.5)
        off = (1 if is_more else -1) if is_off else 0
        points[name] = min(most, max(0, math.floor(share * most + 0.5) + off))
    return points


def _told(points: Mapping[str, int], form: Mapping[str, Any]) -> str:
    """Return points as the rubric wants them written."""
    if form["reply"] == "score_line":
        return f"{form['line']}: {next(iter(points.values()))}"
    reason = "likeness to the sample's own drawing"
    scores = {
        n: {"score": p, "reason": reason} if form["reasons"] else p for n, p in points.items()
    }
    notes = dict.fromkeys(form["notes"][:1], "a stand-in looked, and saw no subject")
    return json.dumps({**notes, **scores})
