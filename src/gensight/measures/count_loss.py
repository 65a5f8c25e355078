"""Where counted things are lost: merged, not decoded, misplaced or never marked.

Protocol: PROTOCOLS 5.1, from the marks of the extractor `dots` and the true places. Marks are
matched to places as in `count_match`, the pairs with the smallest sum of distances where there is a
choice (assumed); every place without a mark is booked once, in this order:

    merged      the place lies so near another (`assumed_separable_px` at the work size, also
                through chains) that two dots there would be one blob, and such a blob there may be:
                a place of its cluster has a mark, or the decoder turned one down. Where that was is
                not known, so each turned-down mark stands for the largest cluster that is left
                without any mark, for all but one of its places
    undecoded   the decoder saw a red mark there or elsewhere and turned it down for its shape (too
                long, too ragged, a ring): as many as were turned down, so this is an upper bound
    misplaced   a mark that belongs to no place stands for it: a dot beside its thing
    unmarked    nothing explains it: the model did not mark it

and `extra` are the marks left over that belong to no place. So marks - places = extra - merged -
undecoded - unmarked. An answer without any mark has all its places in `unmarked`, a failed one in
`unanswered`.

Smaller outlines that fall to the decoder's area limit are specks more often than dots and are not
counted as undecoded (assumed). `assumed_separable_px` is 8: the smallest dot of the oracle has a
radius of 3 px, and two of them that far apart still show a gap at the work size.

Parts that say how hard the picture was (`gensight.failures.diagnostics`): `input_red_share`, and
the quartiles of the distance to the nearest other place, `nearest_low_px`, `nearest_neighbour_px`
(the median) and `nearest_high_px`, at the work size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gensight import images
from gensight.failures.diagnostics import input_red_share, nearest_neighbour_px, not_separable
from gensight.measures import Parts, PartsByFit, complete, count_match, required
from gensight.records import Prediction, Sample
from gensight.truths import true_count

VERSION = 1
# Modules whose versions count as its own: it computes with their rules.
USES = {"extractors": ["dots"], "measures": ["count_match"]}
FAILURE_POLICIES = ("unanswered",)
DEFAULTS: dict[str, Any] = {
    "failure": "unanswered",
    "gate_share": 0.02,
    "assumed_lone_gate_share": 0.02,
    "assumed_separable_px": 8.0,
    "long_side_px": 1024,
}
LOSSES = ("merged", "undecoded", "misplaced", "unmarked", "unanswered")
# Limits of the decoder that turn down marks for their shape.
SHAPE_LIMITS = ("n_rejected_circularity", "n_rejected_inertia", "n_rejected_colour")
QUARTILES = {"nearest_low_px": 25, "nearest_neighbour_px": 50, "nearest_high_px": 75}
WHITE = (255, 255, 255)


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Book every place of a sample; None where its places are not known.

    Parts, in things: places, matched, merged, undecoded, misplaced, unmarked, unanswered (0) and
    extra; and those of the picture.
    """
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    required(prediction.points, sample.sample_id, "points", "dots")
    places = _places(sample, checked["long_side_px"])
    if places is None:
        return None
    matching = {name: checked[name] for name in ("gate_share", "assumed_lone_gate_share")}
    by_fit = count_match.measure(prediction, sample, matching)
    matched = (by_fit or {None: {}})[None]
    turned_down = _turned_down(prediction)
    hidden = 0
    # A matching with distances costs more than the count of one, and few places are that near.
    if not_separable(places, checked["assumed_separable_px"]):
        has_mark = _places_with_mark(prediction, sample, places, checked["gate_share"])
        hidden = hidden_places(places, has_mark, checked["assumed_separable_px"], turned_down)
    booked = book(
        missed=int(matched["missed"]),
        false_points=int(matched["false_points"]),
        hidden=hidden,
        turned_down=turned_down,
    )
    parts = {"places": float(len(places)), "matched": matched["matched"], "unanswered": 0.0}
    return {None: parts | booked | _picture(sample, places)}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Book every place of an answer that could not be read as unanswered."""
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    places = _places(sample, checked["long_side_px"])
    if places is None:
        return None
    n = float(len(places))
    parts: Parts = {"places": n, "matched": 0.0, "extra": 0.0, **dict.fromkeys(LOSSES, 0.0)}
    return {None: parts | {"unanswered": n} | _picture(sample, places)}


def book(*, missed: int, false_points: int, hidden: int, turned_down: int) -> Parts:
    """Return how many missed places each cause explains, and the marks left over.

    >>> book(missed=5, false_points=2, hidden=1, turned_down=1)["unmarked"]
    1.0
    """
    left = missed
    booked = {}
    causes = {"merged": hidden, "undecoded": turned_down, "misplaced": false_points}
    for cause, most in causes.items():
        booked[cause] = float(min(left, most))
        left -= min(left, most)
    return booked | {"unmarked": float(left), "extra": false_points - booked["misplaced"]}


def hidden_places(
    places: np.ndarray, has_mark: np.ndarray, separable_px: float, turned_down: int
) -> int:
    """Return how many places (n, 2) without a mark may show in the blob of a neighbour.

    `has_mark` is bool (n,). A cluster with a mark hides its other places; of the clusters without
    one, the largest hide all but one of theirs, one cluster for each turned-down mark.

    >>> pair = np.array([[0.0, 0.0], [5.0, 0.0]])
    >>> hidden_places(pair, np.array([True, False]), 8, 0)
    1
    >>> hidden_places(pair, np.array([False, False]), 8, 0)
    0
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial.distance import cdist

    n_clusters, cluster = connected_components(cdist(places, places) < separable_px)
    sizes = np.bincount(cluster, minlength=n_clusters)
    marked = np.bincount(cluster[has_mark], minlength=n_clusters)
    bare = np.sort(sizes[marked == 0])[::-1][:turned_down]
    return int((sizes - marked)[marked > 0].sum() + (bare - 1).sum())


def _places_with_mark(
    prediction: Prediction, sample: Sample, places: np.ndarray, gate_share: float
) -> np.ndarray:
    """Return which of two or more places (n, 2) are matched, bool (n,).

    As many as `count_match` matches, and of all such matchings the one with the least distance:
    a mark between a place and its neighbours belongs to the nearest of them.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    has_mark = np.zeros(len(places), np.bool_)
    marks = np.array([(p["x"], p["y"]) for p in prediction.points or []], np.float64)
    if not len(marks):
        return has_mark
    distances = cdist(marks, places)
    if sample.target_instances:
        allowed = _inside(marks, prediction, sample)
    else:
        long_side = max(prediction.work_width or 0, prediction.work_height or 0)
        allowed = distances <= np.maximum(gate_share * long_side, nearest_neighbour_px(places) / 2)
    # One forbidden pair costs more than all others together, so as many as can be are allowed.
    forbidden = distances.max() * min(distances.shape) + 1
    rows, columns = linear_sum_assignment(np.where(allowed, distances, forbidden))
    has_mark[columns[allowed[rows, columns]]] = True
    return has_mark


def _inside(marks: np.ndarray, prediction: Prediction, sample: Sample) -> np.ndarray:
    """Return which marks (m, 2) lie in which instances, bool (m, n)."""
    instances = [images.decode_mask(rle) for rle in sample.target_instances or []]
    work = (prediction.work_width or 0, prediction.work_height or 0)
    moved = images.move_points(marks, work, instances[0].shape[::-1])
    return np.array(
        [[count_match.matches_in_masks(mark[None], [one]) for one in instances] for mark in moved],
        np.bool_,
    )


def _turned_down(prediction: Prediction) -> int:
    facts = prediction.facts or {}
    return int(sum(facts.get(name, 0.0) for name in SHAPE_LIMITS))


def _places(sample: Sample, long_side_px: int) -> np.ndarray | None:
    """Return the true places (n, 2) as x, y at the work size, None where they are not known."""
    size = images.fit_long_side(sample.width, sample.height, long_side_px)
    if sample.target_points:
        points = np.array([(p["x"], p["y"]) for p in sample.target_points], np.float64)
        return images.move_points(points, (sample.width, sample.height), size)
    if sample.target_instances:
        masks = [images.decode_mask(rle) for rle in sample.target_instances]
        centres = np.array([np.argwhere(mask).mean(axis=0)[::-1] for mask in masks])
        return images.move_points(centres, masks[0].shape[::-1], size)
    return np.zeros((0, 2)) if true_count(sample) == 0 else None


def _picture(sample: Sample, places: np.ndarray) -> Parts:
    """Return what makes the picture hard; distances only where there are two places."""
    rgb = images.decode_rgb(sample.image["bytes"], matte=WHITE, orient=False)
    parts = {"input_red_share": input_red_share(rgb)}
    nearest = nearest_neighbour_px(places)
    if nearest.size:
        parts |= {name: float(np.percentile(nearest, q)) for name, q in QUARTILES.items()}
    return parts
