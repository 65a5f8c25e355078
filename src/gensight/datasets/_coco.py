"""Annotation files in COCO's JSON, and the three ways in which they write one mask.

A `segmentation` is a list of polygons [x1, y1, x2, y2, ...] (parts of one object), one run-length
code {"size": [height, width], "counts": ...}, or a list of such codes; counts are a list of runs or
the packed characters as str or bytes. Parts are joined by union: refer.py and LISA add them up,
which gives 2 where parts overlap, and such pixels then fall out of LISA's histogram of 0 and 1. The
rasteriser is COCO's own (PROTOCOLS SEG-2). Anything else is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gensight.datasets._segmentation import read_bytes
from gensight.errors import ImageError, MissingDataError
from gensight.images import decode_mask, polygons_to_mask

# Two corners and fewer enclose nothing.
LEAST_NUMBERS = 6


@dataclass(frozen=True)
class Instances:
    """The pictures, annotations and category names of a COCO file, by their ids."""

    path: Path
    pictures: Mapping[int, Mapping[str, Any]]
    annotations: Sequence[Mapping[str, Any]]
    categories: Mapping[int, str]


def read_json(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises:
        MissingDataError: the file is not there, is no UTF-8, or is no whole JSON.
    """
    data = read_bytes(path)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MissingDataError(
            f"{path}: not a whole JSON file ({error}); download it again"
        ) from error


def read_instances(path: Path) -> Instances:
    """Return the parts of a COCO file.

    Raises:
        MissingDataError: it is not COCO's: a list or an id is missing.
    """
    document = read_json(path)
    try:
        return Instances(
            path,
            {int(picture["id"]): picture for picture in document["images"]},
            document["annotations"],
            {int(one["id"]): str(one["name"]) for one in document["categories"]},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MissingDataError(
            f"{path}: not COCO's instances: images, annotations and categories with ids are "
            f"needed ({type(error).__name__}: {error})"
        ) from error


def segmentation_mask(segmentation: Any, height: int, width: int) -> np.ndarray:
    """Return a `segmentation` as bool (H, W); no part gives an empty mask.

    Polygon parts with fewer than three corners enclose nothing and are left out.

    Raises:
        MissingDataError: it is written in none of COCO's ways, or for another size.
    """
    if isinstance(segmentation, Mapping):
        return _from_runs(segmentation, height, width)
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str | bytes):
        raise _unknown(segmentation)
    if segmentation and all(isinstance(part, Mapping) for part in segmentation):
        masks = [_from_runs(part, height, width) for part in segmentation]
        return np.logical_or.reduce(masks)
    polygons = [_checked_polygon(part, height, width) for part in segmentation]
    return polygons_to_mask([p for p in polygons if len(p) >= LEAST_NUMBERS], height, width)


def area_share(annotation: Mapping[str, Any], height: int, width: int) -> float:
    """Return the share of the picture that an annotation covers: its `area`, else its pixels."""
    area = annotation.get("area")
    if area is None:
        area = int(segmentation_mask(annotation["segmentation"], height, width).sum())
    return float(area) / (height * width)


def _from_runs(code: Mapping[str, Any], height: int, width: int) -> np.ndarray:
    if "size" not in code or not isinstance(code.get("counts"), str | bytes | list):
        raise _unknown(code)
    size = list(code["size"])
    if size != [height, width]:
        raise MissingDataError(
            f"a mask is coded for {size[::-1]} (width, height) where its picture is "
            f"{[width, height]}"
        )
    try:
        return decode_mask(code)
    except (ImageError, ValueError, TypeError, OverflowError) as error:
        raise MissingDataError(f"the run-length code of a mask is damaged: {error}") from error


def _checked_polygon(part: Any, height: int, width: int) -> list[float]:
    """Return the numbers of one polygon, which lies on the picture or at most a side beside it."""
    if _is_number(part):
        raise MissingDataError(
            "the mask is one flat list of numbers, in which the parts of an object cannot be told "
            "apart; get a file whose segmentation is a list of polygons"
        )
    if not isinstance(part, Sequence) or not all(map(_is_number, part)) or len(part) % 2:
        raise _unknown(part)
    limits = (width, height)
    # The rasteriser walks along every edge, so a stray corner would cost memory without end.
    if any(not -limits[i % 2] <= number <= 2 * limits[i % 2] for i, number in enumerate(part)):
        raise MissingDataError(f"a polygon lies outside of its picture of {width}x{height}")
    return [float(number) for number in part]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _unknown(segmentation: Any) -> MissingDataError:
    shown = repr(segmentation)
    return MissingDataError(
        f"a mask is written in no known way ({type(segmentation).__name__}: {shown[:40]}); a list "
        f"of polygons, or run lengths with size and counts, are read"
    )
