"""Counts from pictures: the three-stage dot decoder.

Protocol: ProbeGen 3.4, A.1 and A.2 (`diff_red_blob`, the adopted row of Table 8): (i) saturated red
in two hue ranges, (ii) a gate that keeps what changed against the input, (iii) OpenCV's
SimpleBlobDetector with area, circularity and inertia limits. All at the work size, to which input
and answer are resized plainly whatever size came back; the input shows through transparency.

What the paper lost is a parameter named `assumed_`: hue ranges and value floor of (i), threshold
and norm of (ii) (largest channel difference), and the detector's levels, repeatability, distance,
convexity and colour (PROTOCOLS CNT-1). Areas are contour areas: a drawn disc of radius 2 falls
below the floor of 12 (CNT-3); touching dots count 0.

Degenerate cases: a picture without red marks is a valid 0. A picture of one grey level (range
below 16) is flagged `degenerate_output`; the percentile rule of masks would call a white page with
one drawing on it degenerate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from gensight.errors import GensightError, ImageError
from gensight.extractors import Answer, Reading
from gensight.extractors._reading import (
    COMMON_DEFAULTS,
    read_variants,
    resolve,
    work_size,
)
from gensight.images import decode_rgb, resize_picture, to_grey

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "variants": ["diff_red_blob"],
    **COMMON_DEFAULTS,
    "saturation_floor": 160,
    "min_area": 12,
    "max_area": 1500,
    "min_circularity": 0.6,
    "min_inertia_ratio": 0.5,
    # Hue runs over 0..179 (OpenCV); the two ranges straddle the wrap.
    "assumed_hue_low_min": 0,
    "assumed_hue_low_max": 10,
    "assumed_hue_high_min": 170,
    "assumed_hue_high_max": 179,
    "assumed_value_floor": 100,
    "assumed_diff_threshold": 30,
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
    "flat_range": 16,
}
CHOICES = {"variants": ["diff_red_blob"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Count the red dots that the answer added (one variant, `diff_red_blob`).

    `points` are blob centres in work-size pixels, sorted by y, then x. An unreadable input is the
    sample's fault, not the answer's: it raises GensightError.
    """
    settings = resolve("dots", parameters)
    return read_variants(answer, settings, "input", _read)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    size = work_size(answer, settings)
    source = _decode_source(answer)
    marked = resize_picture(decode_rgb(answer.image, matte=source), *size)
    red = red_pixels(marked, settings)
    changed = changed_pixels(marked, resize_picture(source, *size), settings)
    gated = cv2.bitwise_and(red, changed)
    points = blob_centres(gated, settings)
    columns = {
        "count": len(points),
        "points": points,
        "degenerate_output": _grey_range(marked) < settings["flat_range"],
        "facts": _facts(red, gated, settings),
    }
    return {"diff_red_blob": columns}


def red_pixels(rgb: np.ndarray, settings: Mapping[str, Any]) -> np.ndarray:
    """Return 255 where a uint8 RGB (H, W, 3) pixel is saturated red, else 0, as uint8 (H, W)."""
    hsv = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)
    floors = settings["saturation_floor"], settings["assumed_value_floor"]
    ranges = [
        (settings["assumed_hue_low_min"], settings["assumed_hue_low_max"]),
        (settings["assumed_hue_high_min"], settings["assumed_hue_high_max"]),
    ]
    low, high = (cv2.inRange(hsv, (start, *floors), (end, 255, 255)) for start, end in ranges)
    return cv2.bitwise_or(low, high)


def changed_pixels(
    marked: np.ndarray, source: np.ndarray, settings: Mapping[str, Any]
) -> np.ndarray:
    """Return 255 where any channel of two RGB (H, W, 3) differs by more than the threshold."""
    red, green, blue = cv2.split(cv2.absdiff(marked, source))
    largest = cv2.max(cv2.max(red, green), blue)
    return cv2.threshold(largest, settings["assumed_diff_threshold"], 255, cv2.THRESH_BINARY)[1]


def blob_centres(binary: np.ndarray, settings: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return the centres {"x", "y"} of the blobs of a 0/255 mask, sorted by y, then x."""
    found = _detector(settings).detect(binary)
    points = [{"x": float(blob.pt[0]), "y": float(blob.pt[1])} for blob in found]
    return sorted(points, key=lambda point: (point["y"], point["x"]))


def rejections(binary: np.ndarray, settings: Mapping[str, Any]) -> dict[str, float]:
    """Count the outlines that fall to each limit, in the detector's own order of tests.

    Outlines are those of components and of their holes, as the detector sees them; one that fails
    several limits counts for the first. A ring falls to `colour`: its centre is not marked.
    """
    counts = dict.fromkeys(("area", "circularity", "inertia", "colour"), 0)
    contours, _ = cv2.findContours(binary, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    for contour in contours:
        failed = _failed_limit(contour, binary, settings)
        if failed is not None:
            counts[failed] += 1
    return {f"n_rejected_{limit}": float(count) for limit, count in counts.items()}


def _failed_limit(
    contour: np.ndarray, binary: np.ndarray, settings: Mapping[str, Any]
) -> str | None:
    moments = cv2.moments(contour)
    area = moments["m00"]
    if not settings["min_area"] <= area < settings["max_area"]:
        return "area"
    circularity = 4 * math.pi * area / cv2.arcLength(contour, closed=True) ** 2
    if circularity < settings["min_circularity"]:
        return "circularity"
    if _inertia_ratio(moments) < settings["min_inertia_ratio"]:
        return "inertia"
    column, row = round(moments["m10"] / area), round(moments["m01"] / area)
    return None if binary[row, column] == settings["assumed_blob_colour"] else "colour"


def _inertia_ratio(moments: Mapping[str, float]) -> float:
    """Return the ratio of the smaller to the larger principal second moment (1 for a disc)."""
    spread = math.hypot(2 * moments["mu11"], moments["mu20"] - moments["mu02"])
    total = moments["mu20"] + moments["mu02"]
    return (total - spread) / (total + spread)


def _facts(red: np.ndarray, gated: np.ndarray, settings: Mapping[str, Any]) -> dict[str, float]:
    return {
        "n_red_components": float(cv2.connectedComponents(red)[0] - 1),
        "n_after_diff": float(cv2.connectedComponents(gated)[0] - 1),
        **rejections(gated, settings),
    }


def _detector(settings: Mapping[str, Any]) -> cv2.SimpleBlobDetector:
    """Build the detector with every parameter set: its defaults differ between versions."""
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
    return cv2.SimpleBlobDetector_create(parameters)


def _decode_source(answer: Answer) -> np.ndarray:
    if answer.source is None:
        raise GensightError("the dot decoder compares with the input picture: give `source`")
    try:
        # The input's own transparency has nothing behind it: white, as it is sent to models.
        return decode_rgb(answer.source, matte=(255, 255, 255), orient=answer.orient_source)
    except ImageError as error:
        raise GensightError(f"the sample's input picture cannot be read: {error}") from error


def _grey_range(rgb: np.ndarray) -> float:
    low, high, _, _ = cv2.minMaxLoc(to_grey(rgb))
    return high - low
