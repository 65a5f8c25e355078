"""Whether a grid, seen by an encoder, is found among candidates: rank, hits and cosines.

Protocol: PixelBench, "Text-to-Pixel metrics", "Image-to-Pixel metrics" and "SigLIP Retrieval
Scores". The candidates are a gallery of unit vectors of the same encoder: the labels of a
vocabulary, as texts, or the benchmark's own sources, as pictures. The paper's rank is one more than
the number of candidates nearer than the target. Ours (PROTOCOLS, "Decided") lets ties count against
the model: a candidate is nearer unless its cosine lies more than `TIE_TOLERANCE` below the
target's, and so is one whose cosine is no number.

`pool` takes the whole gallery (`all`) or the rows of the benchmark's own concepts (`narrow`: 100 of
the 500 labels); `target` says by which name the right row is found, the sample's true text
(`label`) or the sample itself (`sample`). With `hyponyms` the tolerant hit (PROTOCOLS 1.6) lets a
kind of the target stand for it, as "fire truck" for "truck"; the map is `gensight.vocabulary`'s.

Scoring hands the vectors over as the setting `features` (`Features`), which no YAML gives.

Failure `miss`: no hit, cosines 0, and no rank, since the mean reciprocal rank is one of valid
answers. A sample whose target is not in the pool has no truth. A vector that is not finite, or
zero, is ranked behind every other candidate, is no hit and has cosines 0. A pool of one candidate
is always hit by a finite vector and has no mismatched cosine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from gensight import vocabulary
from gensight.errors import RecordError, SpecError
from gensight.measures import Parts, PartsByFit, complete
from gensight.records import Prediction, Sample

VERSION = 1
FAILURE_POLICIES = ("miss",)
DEFAULTS: dict[str, Any] = {
    "failure": "miss",
    "pool": "all",
    "target": "label",
    "hyponyms": False,
}
CHOICES = {"pool": ["narrow", "all"], "target": ["label", "sample"]}
# Two cosines of float32 vectors this near are equal: PROTOCOLS, "Decided".
TIE_TOLERANCE = 1e-6


class Features(Protocol):
    """Vectors of one encoder, all of unit length: a cell's answers and a gallery.

    `names` (m), `narrow` (bool, m) and `vectors` (float32, m x d) are the gallery's rows in order.
    """

    names: Sequence[str]
    narrow: np.ndarray
    vectors: np.ndarray

    def of(self, prediction: Prediction) -> np.ndarray | None:
        """Return the vector of an answer, float32 (d,), None where it has none."""

    def reduced(self, sample_id: str) -> np.ndarray | None:
        """Return that of the sample's own picture in as many cells as the answer, if known."""


def measure(
    prediction: Prediction, sample: Sample, settings: Mapping[str, Any]
) -> PartsByFit | None:
    """Rank the target among the pool; None where the pool does not hold it.

    Parts: hit (0 or 1), rank (from 1), paired_cosine, candidates (their number),
    mismatched_cosine, the mean over the pool's other rows, where there are any, ceiling_cosine,
    the target's with its own picture reduced to as many cells, where that is known, and, with
    `hyponyms`, tolerant_hit (0 or 1).

    Raises:
        RecordError: the answer has no vector, one of another length than the gallery's, or the
            pool holds the target twice.
    """
    checked, pool = _pool(settings)
    place = _place(sample, checked, pool.names)
    if place is None:
        return None
    found = cosines(_vector(prediction, sample, checked["features"]), pool.vectors)
    parts = {"rank": float(rank_of(found, place)), **_cosine_parts(found, place)}
    parts["hit"] = float(is_hit(found, [place]))
    parts |= _ceiling(sample, checked["features"], pool.vectors[place])
    if checked["hyponyms"]:
        accepted = [place, *_places_of_kinds(sample, pool.names)]
        parts["tolerant_hit"] = float(is_hit(found, accepted))
    return {None: parts}


def failed(sample: Sample, settings: Mapping[str, Any]) -> PartsByFit | None:
    """Score a failed answer as a miss with cosines of 0; None where the pool lacks the target.

    The ceiling is the sample's, not the answer's, and stays what it is.
    """
    checked, pool = _pool(settings)
    place = _place(sample, checked, pool.names)
    if place is None:
        return None
    parts = {"hit": 0.0, "paired_cosine": 0.0, "candidates": float(len(pool.names))}
    if len(pool.names) > 1:
        parts["mismatched_cosine"] = 0.0
    if checked["hyponyms"]:
        parts["tolerant_hit"] = 0.0
    return {None: parts | _ceiling(sample, checked["features"], pool.vectors[place])}


def cosines(vector: np.ndarray, gallery: np.ndarray) -> np.ndarray:
    """Return the cosines of a vector (d,) with the rows of a gallery (m, d), float64 (m,).

    Of vectors of any length; NaN where one of the two is zero or not finite. Sums run in one fixed
    order, so equal inputs give equal bits.

    >>> cosines(np.array([2.0, 0.0]), np.array([[1.0, 0.0], [0.0, 3.0], [0.0, 0.0]])).tolist()
    [1.0, 0.0, nan]
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return (_unit(gallery) * _unit(vector[None])).sum(axis=1)


def rank_of(found: np.ndarray, place: int) -> int:
    """Return 1 + the number of other candidates that are not surely farther than the target's.

    `found` are cosines (m,); ties, and cosines that are no number, count against the target.

    >>> rank_of(np.array([0.9, 0.5, 0.5, float("nan")]), 1)
    4
    """
    farther = found < found[place] - TIE_TOLERANCE
    return len(found) - int(np.count_nonzero(farther))


def is_hit(found: np.ndarray, accepted: Sequence[int]) -> bool:
    """Say whether one of the accepted rows is nearer than every other row, by cosines (m,).

    The accepted may tie with each other, the others with none of them.

    >>> is_hit(np.array([0.2, 0.9, 0.9]), [0, 1]), is_hit(np.array([0.2, 0.9, 0.8]), [0, 1])
    (False, True)
    """
    numbers = [found[place] for place in accepted if not np.isnan(found[place])]
    if not numbers:
        return False
    others = np.delete(found, accepted)
    return bool((others < max(numbers) - TIE_TOLERANCE).all())


class _Pool:
    """The rows of a gallery that take part."""

    def __init__(self, features: Features, rows: Iterable[bool] | None) -> None:
        self.names, self.vectors = list(features.names), np.asarray(features.vectors)
        if rows is not None:
            kept = np.flatnonzero(np.asarray(rows, np.bool_))
            self.names, self.vectors = [self.names[row] for row in kept], self.vectors[kept]


def _pool(settings: Mapping[str, Any]) -> tuple[dict[str, Any], _Pool]:
    checked = complete(settings, DEFAULTS, FAILURE_POLICIES)
    for key, allowed in CHOICES.items():
        if checked[key] not in allowed:
            raise SpecError(
                f"settings.{key}: '{checked[key]}' is not known; allowed: {', '.join(allowed)}"
            )
    if checked["hyponyms"] and checked["target"] != "label":
        raise SpecError("settings.hyponyms: only labels have kinds; set target to 'label'")
    features = checked.get("features")
    if features is None:
        raise SpecError("measure retrieval: no features; name an encoder and a gallery to score by")
    return checked, _Pool(features, features.narrow if checked["pool"] == "narrow" else None)


def _place(sample: Sample, settings: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Return the row of a sample's target, None where there is none."""
    wanted = sample.target_text if settings["target"] == "label" else sample.sample_id
    places = [place for place, name in enumerate(names) if name == wanted]
    if len(places) > 1:
        raise RecordError(
            f"sample {sample.sample_id}: the gallery holds '{wanted}' {len(places)} times;"
            " its names must differ"
        )
    return places[0] if places else None


def _places_of_kinds(sample: Sample, names: Sequence[str]) -> list[int]:
    kinds = set(vocabulary.kinds_of(sample.target_text))
    return [place for place, name in enumerate(names) if name in kinds]


def _vector(prediction: Prediction, sample: Sample, features: Features) -> np.ndarray:
    vector = features.of(prediction)
    if vector is None:
        raise RecordError(
            f"sample {sample.sample_id}: the prediction is ok but the features hold no vector of"
            " it; make them again from these predictions"
        )
    length = np.asarray(features.vectors).shape[1]
    if vector.shape != (length,):
        raise RecordError(
            f"sample {sample.sample_id}: its vector is {vector.shape}, the gallery's have"
            f" {length} numbers; both must come from one encoder"
        )
    return vector


def _cosine_parts(found: np.ndarray, place: int) -> Parts:
    """Return the cosine with the target and the mean of those with others; 0 where no number."""
    parts = {"paired_cosine": _number(found[place]), "candidates": float(len(found))}
    others = np.delete(found, place)
    if others.size:
        known = others[~np.isnan(others)]
        parts["mismatched_cosine"] = float(known.mean()) if known.size else 0.0
    return parts


def _ceiling(sample: Sample, features: Features, target: np.ndarray) -> Parts:
    """Return the cosine of a sample's reduced picture with its own row, where there is one."""
    reduced = features.reduced(sample.sample_id)
    return {} if reduced is None else {"ceiling_cosine": _number(cosines(reduced, target[None])[0])}


def _number(value: float) -> float:
    return 0.0 if np.isnan(value) else float(value)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return the rows at unit length, float64: what float32 rounding left of it is made good."""
    wide = np.asarray(vectors, np.float64)
    return wide / np.sqrt((wide * wide).sum(axis=1, keepdims=True))
