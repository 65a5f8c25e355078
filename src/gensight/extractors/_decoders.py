"""The eight dot decoders of ProbeGen A.1 and Table 7: from red masks to places.

| decoder | mask | what counts |
|---|---|---|
| `red_open_cc` | red | components after an opening |
| `red_wide_open_cc` | red by wide limits | the same |
| `area_window` | red | components whose pixel area lies in a window |
| `peak_dt` | red | local maxima of the distance to the unmarked pixels |
| `circularity` | red | outer outlines that are round enough |
| `diff_red_open_cc` | red and changed | components after an opening |
| `blobdetector` | red | blobs by area, circularity and inertia |
| `diff_red_blob` | red and changed | the same |

The paper prints names, shape models and errors; kernel, window, floor and peak rule are lost and
named `assumed_`. `wide` is read as wider limits of red, since a wider opening would count less
where Table 7 counts more. A peak must reach a share of the largest distance in its own component:
one of the whole picture would let one red sign hide every dot, and the paper says that the decoder
splits single dots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from gensight.extractors._blobs import blob_centres, rejections
from gensight.extractors._pair import by_place
from gensight.extractors._red import Marks

DECODER_DEFAULTS: dict[str, Any] = {
    "assumed_opening_px": 3,
    "assumed_window_min_area": 12,
    "assumed_window_max_area": 800,
    "assumed_contour_min_circularity": 0.6,
    "assumed_peak_share": 0.5,
    "assumed_peak_window_px": 3,
}

Points = list[dict[str, float]]
Facts = dict[str, float]
Settings = Mapping[str, Any]
Decoder = Callable[[Marks, Settings], tuple[Points, Facts]]


def _red_open_cc(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    red = marks.red(settings)
    return _opened_components(red, settings), {"n_red_components": component_count(red)}


def _red_wide_open_cc(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    red = marks.widely_red(settings)
    return _opened_components(red, settings), {"n_red_components": component_count(red)}


def _diff_red_open_cc(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    gated = marks.gated(settings)
    return _opened_components(gated, settings), _gate_facts(marks, gated, settings)


def _area_window(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    least, most = settings["assumed_window_min_area"], settings["assumed_window_max_area"]
    found = _components(marks.red(settings))
    kept = [place for place, area in found if least <= area <= most]
    rejected = float(len(found) - len(kept))
    return by_place(kept), {"n_red_components": float(len(found)), "n_rejected_area": rejected}


def _peak_dt(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    red = marks.red(settings)
    places = [place for place, _ in _components(distance_peaks(red, settings))]
    return by_place(places), {"n_red_components": component_count(red)}


def _circularity(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    red = marks.red(settings)
    contours, _ = cv2.findContours(red, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    least = settings["assumed_contour_min_circularity"]
    places = [place for place, roundness in map(_roundness, contours) if roundness >= least]
    return by_place(places), {
        "n_red_components": float(len(contours)),
        "n_rejected_circularity": float(len(contours) - len(places)),
    }


def _blobdetector(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    red = marks.red(settings)
    facts = {"n_red_components": component_count(red), **rejections(red, settings)}
    return blob_centres(red, settings), facts


def _diff_red_blob(marks: Marks, settings: Settings) -> tuple[Points, Facts]:
    gated = marks.gated(settings)
    facts = {**_gate_facts(marks, gated, settings), **rejections(gated, settings)}
    return blob_centres(gated, settings), facts


DECODERS: dict[str, Decoder] = {
    "red_open_cc": _red_open_cc,
    "red_wide_open_cc": _red_wide_open_cc,
    "area_window": _area_window,
    "peak_dt": _peak_dt,
    "circularity": _circularity,
    "diff_red_open_cc": _diff_red_open_cc,
    "blobdetector": _blobdetector,
    "diff_red_blob": _diff_red_blob,
}
# Those that compare the answer with the input picture.
GATED = ("diff_red_open_cc", "diff_red_blob")


def component_count(mask: np.ndarray) -> float:
    """Return the number of 8-connected components of a 0/255 mask."""
    return float(cv2.connectedComponents(mask)[0] - 1)


def distance_peaks(mask: np.ndarray, settings: Settings) -> np.ndarray:
    """Return 255 where the Euclidean distance to the unmarked pixels has a local maximum.

    A peak is a largest value of its window, from a share of the largest of its component. Flat
    ridges have several peaks (ProbeGen A.3: single dots are split).
    """
    distance = cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    window = np.ones((settings["assumed_peak_window_px"],) * 2, np.uint8)
    highest = (mask > 0) & (distance == cv2.dilate(distance, window))
    count, labels = cv2.connectedComponents(mask)
    largest = np.zeros(count, np.float32)
    np.maximum.at(largest, labels[highest], distance[highest])
    high_enough = distance >= settings["assumed_peak_share"] * largest[labels]
    return (highest & high_enough).astype(np.uint8) * 255


def _opened_components(mask: np.ndarray, settings: Settings) -> Points:
    kernel = np.ones((settings["assumed_opening_px"],) * 2, np.uint8)
    opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel)
    return by_place([place for place, _ in _components(opened)])


def _components(mask: np.ndarray) -> list[tuple[dict[str, float], int]]:
    """Return the centroid and the pixel area of every 8-connected component."""
    _, _, stats, centres = cv2.connectedComponentsWithStats(mask)
    areas = stats[1:, cv2.CC_STAT_AREA].tolist()
    places = [{"x": x, "y": y} for x, y in centres[1:].tolist()]
    return list(zip(places, areas, strict=True))


def _roundness(contour: np.ndarray) -> tuple[dict[str, float], float]:
    """Return the middle of an outline and its circularity, 0 where it encloses nothing."""
    moments = cv2.moments(contour)
    area = moments["m00"]
    if area == 0:
        return {"x": float(contour[0, 0, 0]), "y": float(contour[0, 0, 1])}, 0.0
    place = {"x": moments["m10"] / area, "y": moments["m01"] / area}
    return place, 4 * math.pi * area / cv2.arcLength(contour, closed=True) ** 2


def _gate_facts(marks: Marks, gated: np.ndarray, settings: Settings) -> Facts:
    return {
        "n_red_components": component_count(marks.red(settings)),
        "n_after_diff": component_count(gated),
    }
