"""Fitted floors: what one can answer without seeing the sample at all (PROTOCOLS 1.1, 1.2, 1.4).

Fitted on the held-out samples of the benchmark only. Every cluster (scene, recording, picture) has
one vote, shared by its samples. Of the sample that is asked about nothing is read but its cluster,
whose held-out samples are left out of the answer, its query, since samples with the same one answer
alone where there are enough (see `fits`), and in one case its picture.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas, fits, marks, paint, painted
from gensight.models.reference.floors import require_form
from gensight.truths import truth_of

if TYPE_CHECKING:
    from gensight.records import Sample

#: How a count can be answered.
COUNT_FORMS = ("dots", "boxes", "text")


class Prior:
    """A model fitted on held-out samples; the fit is made at the first answer and kept.

    `fit_digest` covers the truth it is fitted on, with its clusters and queries, so a change of any
    held-out truth changes it, on every machine alike.
    """

    method = ""
    fields: tuple[str, ...] = ()

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample]) -> None:
        self.settings = settings
        self.held_out = checked_held_out(self.method, held_out)
        self.fit_digest = truth_digest(self.method, self.held_out, self.fields)


class CentrePrior(Prior):
    """Paints a centred ellipse of the picture's aspect with the median area share of the query."""

    method = "prior_centre"
    fields = ("target_mask",)

    @cached_property
    def shares(self) -> fits.ValueFit:
        """The shares of their pictures that held-out targets cover."""
        return fits.area_shares(self.held_out)

    def answer(self, turn: Turn) -> Reply:
        """Return the ellipse in the declared colours, or as a tint, at the work size."""
        require_form(self.method, turn, ("mask", "overlay"))
        share = self.shares.median(turn.truth)
        return painted.mask_reply(centred_ellipse(share, *canvas.work_size(turn)), turn)


class MedianPrior(Prior):
    """Answers the query's median count: marks on a regular grid over the input, or a number."""

    method = "prior_median"
    fields = ("target_count",)

    @cached_property
    def counts(self) -> fits.ValueFit:
        """The held-out counts."""
        return fits.counts(self.held_out)

    def answer(self, turn: Turn) -> Reply:
        """Return the count in the declared form, halves rounded up."""
        require_form(self.method, turn, COUNT_FORMS)
        return count_reply(fits.whole(self.counts.median(turn.truth)), turn)


class MeanPrior(Prior):
    """Answers the mean: a log-depth map, a map of normals, or a count."""

    method = "prior_mean"
    fields = (
        "target_depth_m",
        "valid_mask",
        "min_depth_m",
        "max_depth_m",
        "target_count",
        "target_normals",
    )

    @cached_property
    def log_depths(self) -> fits.MapFit:
        """The held-out log depths."""
        return fits.log_depths(self.held_out)

    @cached_property
    def normals(self) -> fits.MapFit:
        """The held-out normals."""
        return fits.normal_maps(self.held_out)

    @cached_property
    def counts(self) -> fits.ValueFit:
        """The held-out counts."""
        return fits.counts(self.held_out)

    def answer(self, turn: Turn) -> Reply:
        """Return the mean in the declared form at the work size."""
        kind = require_form(self.method, turn, ("depth", "normals", *COUNT_FORMS))
        if kind == "depth":
            return canvas.picture_reply(self._paint_depth(turn))
        if kind == "normals":
            mean = self.normals.mean(turn.truth)
            resized = paint.resize_channels(mean, *canvas.work_size(turn))
            return canvas.picture_reply(paint.paint_normals(resized, turn.answer_form))
        return count_reply(fits.whole(self.counts.mean(turn.truth)), turn)

    def _paint_depth(self, turn: Turn) -> np.ndarray:
        depth_m = np.exp(self.log_depths.mean(turn.truth)[..., 0])
        everywhere = np.ones(depth_m.shape, dtype=bool)
        nearness = paint.nearness_of(depth_m, everywhere, self.settings["depth_code"])
        resized = images.resize_depth(nearness, *canvas.work_size(turn))
        return paint.paint_nearness(resized, turn.answer_form["near"], self.settings["bit_depth"])


def checked_held_out(method: str, held_out: Sequence[Sample]) -> list[Sample]:
    """Return the held-out samples ordered by id, so that their order cannot matter.

    Raises:
        SpecError: there is none, or one of them is evaluated.
    """
    if not held_out:
        raise SpecError(
            f"reference method '{method}' is fitted on held-out samples and the benchmark has "
            "none; set `held_out` in the benchmark's YAML or leave the model out of the run"
        )
    for sample in held_out:
        if sample.role != "held_out":
            raise SpecError(
                f"sample '{sample.sample_id}' has role '{sample.role}': "
                f"'{method}' may be fitted on held-out samples only"
            )
    return sorted(held_out, key=lambda sample: sample.sample_id)


def truth_digest(method: str, held_out: Sequence[Sample], fields: Sequence[str]) -> str:
    """Return the sha256 of everything a fit reads from its samples."""
    read = [
        [s.sample_id, s.cluster_id, s.query, *(truth_of(s, name) for name in fields)]
        for s in held_out
    ]
    text = json.dumps(
        [method, read], sort_keys=True, default=lambda data: hashlib.sha256(data).hexdigest()
    )
    return hashlib.sha256(text.encode()).hexdigest()


def count_reply(count: int, turn: Turn) -> Reply:
    """Return a count as a number, or as marks on a regular grid in the declared form.

    Raises:
        SpecError: the turn asks for a text that is not a whole number.
    """
    form = turn.answer_form
    if form["kind"] == "text":
        if form["content"] != "integer":
            raise SpecError(f"a count prior has no answer to a text of content '{form['content']}'")
        return Reply(outcome=Outcome.OK, text=str(count))
    points = marks.grid_points(count, *canvas.work_size(turn))
    return canvas.picture_reply(painted.paint_count(turn, points))


def centred_ellipse(area_share: float, width: int, height: int) -> np.ndarray:
    """Return the bool (height, width) ellipse that covers this share of the picture.

    Beyond pi/4 of the picture it meets the borders and grows on inside them, so the share holds
    (up to pixels tied for the last place) from 0 (empty) to 1 (full).
    """
    # Whole numbers, so that opposite pixels tie exactly and the ellipse is symmetric.
    x = (2 * np.arange(width, dtype=np.int64) + 1 - width) * height
    y = (2 * np.arange(height, dtype=np.int64) + 1 - height) * width
    radius = x[None, :] ** 2 + y[:, None] ** 2
    pixels = round(area_share * radius.size)
    if pixels == 0:
        return np.zeros(radius.shape, dtype=bool)
    return radius <= np.partition(radius, pixels - 1, axis=None)[pixels - 1]
