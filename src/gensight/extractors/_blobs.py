"""OpenCV's SimpleBlobDetector with every parameter set, and an account of what it rejects.

Source: ProbeGen 3.4 (iii) and Table 8. What the paper does not print (levels, repeatability,
distance, convexity, colour) is named `assumed_` (PROTOCOLS CNT-1). Areas are contour areas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import cv2
import numpy as np

from gensight.errors import SpecError
from gensight.extractors._pair import by_place

BLOB_DEFAULTS: dict[str, Any] = {
    "min_area": 12,
    "max_area": 1500,
    "min_circularity": 0.6,
    "min_inertia_ratio": 0.5,
    # One level: the mask is binary, and OpenCV 5 then insists on a repeatability of 1.
    "assumed_min_threshold": 127,
    "assumed_max_threshold": 128,
    "assumed_threshold_step": 1,
    "assumed_min_repeatability": 1,
    "assumed_min_distance_px": 1,
    "assumed_blob_colour": 255,
    "assumed_filter_by_convexity": False,
    "assumed_min_convexity": 0.95,
    "assumed_max_convexity": 1e6,
    # No upper limits (small discs measure a circularity above 1).
    "assumed_max_circularity": 1e6,
    "assumed_max_inertia_ratio": 1e6,
}
LIMITS = ("min_area", "max_area", "min_circularity", "min_inertia_ratio")
# Below this spread of the second moments OpenCV calls an outline a disc.
ROUND_SPREAD = 1e-2


class Outline(NamedTuple):
    """What the detector tests of one outline: area in px, two shape ratios, colour at its centre.

    Without an area there is no shape.
    """

    area: float
    circularity: float
    inertia_ratio: float
    colour: int


def blob_centres(binary: np.ndarray, settings: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return the centres {"x", "y"} of the blobs of a 0/255 mask, sorted by y, then x."""
    found = blobs(binary, settings)
    return by_place([{"x": float(blob.pt[0]), "y": float(blob.pt[1])} for blob in found])


def blobs(binary: np.ndarray, settings: Mapping[str, Any]) -> tuple[cv2.KeyPoint, ...]:
    """Return OpenCV's key points of a 0/255 mask: centre `pt`, diameter `size` in px."""
    return tuple(_detector(settings).detect(binary))


def outlines(binary: np.ndarray) -> list[Outline]:
    """Return the outlines of components and of their holes, as the detector sees them."""
    contours, _ = cv2.findContours(binary, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    return [_outline(contour, binary) for contour in contours]


def rejections(binary: np.ndarray, settings: Mapping[str, Any]) -> dict[str, float]:
    """Count the outlines that fall to each limit, in the detector's own order of tests.

    One that fails several limits counts for the first. A ring falls to `colour`: its centre is not
    marked.
    """
    counts = dict.fromkeys(("area", "circularity", "inertia", "colour"), 0)
    limits = _limits(settings)
    for outline in outlines(binary):
        failed = _failed_limit(outline, limits)
        if failed is not None:
            counts[failed] += 1
    return {f"n_rejected_{limit}": float(count) for limit, count in counts.items()}


def accepted(found: list[Outline], settings: Mapping[str, Any]) -> int:
    """Count the outlines that pass every limit: the detector's count where `counts_by_limits`."""
    _detector(settings)  # It refuses some limits, with or without a picture.
    limits = _limits(settings)
    return sum(_failed_limit(outline, limits) is None for outline in found)


def counts_by_limits(settings: Mapping[str, Any]) -> bool:
    """Say whether the four limits alone decide: everything else is as in the defaults."""
    return all(settings[k] == v for k, v in BLOB_DEFAULTS.items() if k not in LIMITS)


def _outline(contour: np.ndarray, binary: np.ndarray) -> Outline:
    moments = cv2.moments(contour)
    area = moments["m00"]
    if area == 0:
        return Outline(0.0, 0.0, 0.0, 0)
    circularity = 4 * math.pi * area / cv2.arcLength(contour, closed=True) ** 2
    column, row = round(moments["m10"] / area), round(moments["m01"] / area)
    return Outline(area, circularity, _inertia_ratio(moments), int(binary[row, column]))


def _limits(settings: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits as the detector keeps them, in single precision."""
    limits = {name: float(np.float32(settings[name])) for name in LIMITS}
    return limits | {"colour": settings["assumed_blob_colour"]}


def _failed_limit(outline: Outline, limits: Mapping[str, float]) -> str | None:
    in_range = limits["min_area"] <= outline.area < limits["max_area"]
    if not in_range or outline.area == 0:
        return "area"
    if outline.circularity < limits["min_circularity"]:
        return "circularity"
    if outline.inertia_ratio < limits["min_inertia_ratio"]:
        return "inertia"
    return None if outline.colour == limits["colour"] else "colour"


def _inertia_ratio(moments: Mapping[str, float]) -> float:
    """Return the ratio of the smaller to the larger principal second moment (1 for a disc)."""
    spread = math.hypot(2 * moments["mu11"], moments["mu20"] - moments["mu02"])
    if spread <= ROUND_SPREAD:
        return 1.0
    total = moments["mu20"] + moments["mu02"]
    return (total - spread) / (total + spread)


def _detector(settings: Mapping[str, Any]) -> cv2.SimpleBlobDetector:
    """Build the detector with every parameter set: its defaults differ between versions.

    Raises:
        SpecError: OpenCV refuses a parameter, such as a least area of 0.
    """
    parameters = cv2.SimpleBlobDetector_Params()
    parameters.minThreshold = settings["assumed_min_threshold"]
    parameters.maxThreshold = settings["assumed_max_threshold"]
    parameters.thresholdStep = settings["assumed_threshold_step"]
    parameters.minRepeatability = settings["assumed_min_repeatability"]
    parameters.minDistBetweenBlobs = settings["assumed_min_distance_px"]
    parameters.filterByColor = True
    parameters.blobColor = settings["assumed_blob_colour"]
    parameters.filterByArea = True
    parameters.minArea, parameters.maxArea = settings["min_area"], settings["max_area"]
    parameters.filterByCircularity = True
    parameters.minCircularity = settings["min_circularity"]
    parameters.maxCircularity = settings["assumed_max_circularity"]
    parameters.filterByInertia = True
    parameters.minInertiaRatio = settings["min_inertia_ratio"]
    parameters.maxInertiaRatio = settings["assumed_max_inertia_ratio"]
    parameters.filterByConvexity = settings["assumed_filter_by_convexity"]
    parameters.minConvexity = settings["assumed_min_convexity"]
    parameters.maxConvexity = settings["assumed_max_convexity"]
    parameters.collectContours = False
    try:
        return cv2.SimpleBlobDetector_create(parameters)
    except cv2.error as error:
        reason = " ".join(error.err.split())
        raise SpecError(f"blob detector: OpenCV refuses these parameters: {reason}") from None
