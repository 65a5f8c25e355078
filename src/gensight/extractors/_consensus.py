"""Self-consistency: what k answers to one request say together (ProbeGen Appendix D).

The paper names several generations per image and no rule. The rules here, each over the readings
that are `ok`, the voters; one voter is enough for the merged reading to be `ok`:

| column | merged |
|---|---|
| mask | foreground where more than half of the voters have it |
| grey, normals | the median of each pixel and channel; of two middle ones the mean, half up |
| count | the median; between two counts their middle, rounded half up to a whole number |
| points | those of the first voter with exactly that count; missing where there is none |
| boxes | groups found by more than half, the median of each edge, scored by their support |
| keypoints | names found by more than half, the median of each coordinate |
| text | the commonest after folding case and blanks, as first written; the earliest of equals |

Pictures and masks are brought to the size of the first voter. Its other columns are kept; its facts
are not, since they tell of one answer: `n_merged` is the number of voters, `n_repeats` that of
readings. `degenerate_output` is true where that is so of more than half of the voters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any
from unicodedata import normalize

import numpy as np

from gensight import images
from gensight.errors import GensightError
from gensight.extractors import Reading
from gensight.extractors._box_groups import merged_boxes

BLACK = (0, 0, 0)
# Extractors whose readings can be merged; the others do not read what the answer shows.
MERGEABLE = (
    "boxes",
    "coloured_dots",
    "depth",
    "dots",
    "grid",
    "integer",
    "keypoints",
    "mask",
    "normals",
    "overlay",
    "text",
)


def merged(module_name: str, readings: Sequence[Reading]) -> Reading:
    """Return one reading from those of one variant over repeats, in the order of the repeats.

    Without an `ok` reading the first one stands for all.

    Raises:
        GensightError: there is no rule for this extractor.
    """
    if module_name not in MERGEABLE:
        raise GensightError(
            f"answers cannot be merged by extractor '{module_name}'; "
            f"those with a rule: {', '.join(MERGEABLE)}"
        )
    voters = [reading.fields for reading in readings if reading.status == "ok"]
    first = next((reading for reading in readings if reading.status == "ok"), readings[0])
    facts = {"n_merged": float(len(voters)), "n_repeats": float(len(readings))}
    columns = _merged_columns(voters) if voters else {}
    return replace(first, fields={**first.fields, **columns, "facts": facts})


def _merged_columns(voters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, rule in RULES.items():
        if name in voters[0]:
            columns[name] = rule([fields[name] for fields in voters])
    if "boxes" in columns:
        columns |= _middles(columns["boxes"])
    elif "count" in voters[0]:
        columns |= _count(voters)
    if "degenerate_output" in voters[0]:
        flagged = sum(bool(fields["degenerate_output"]) for fields in voters)
        columns["degenerate_output"] = 2 * flagged > len(voters)
    return columns


def _mask(masks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    decoded = [images.decode_mask(mask) for mask in masks]
    height, width = decoded[0].shape
    votes = np.zeros((height, width), np.int64)
    for mask in decoded:
        votes += images.resize_mask(mask, width, height)
    return images.encode_mask(2 * votes > len(decoded))


def _grey(pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return _median_picture([images.decode_grey(p["bytes"], matte=BLACK) for p in pictures])


def _colour(pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return _median_picture([images.decode_colour(p["bytes"], matte=BLACK) for p in pictures])


def _median_picture(decoded: list[np.ndarray]) -> dict[str, Any]:
    """Return the median of pictures at the size of the first, in 16 bits if one of them has."""
    height, width = decoded[0].shape[:2]
    if any(picture.dtype == np.uint16 for picture in decoded):
        decoded = [p if p.dtype == np.uint16 else p.astype(np.uint16) * 257 for p in decoded]
    layers = np.sort([images.resize_picture(p, width, height) for p in decoded], axis=0)
    low, high = layers[(len(layers) - 1) // 2], layers[len(layers) // 2]
    middle = (low.astype(np.int64) + high + 1) // 2
    return {"bytes": images.encode_png(middle.astype(decoded[0].dtype)), "path": None}


def _count(voters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    ordered = sorted(fields["count"] for fields in voters)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    count = (low + high + 1) // 2
    if all(fields.get("points") is None for fields in voters):
        return {"count": count}
    places = [fields["points"] for fields in voters if fields["count"] == count]
    return {"count": count, "points": places[0] if places else None}


def _middles(boxes: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    points = [
        {"x": (box["left"] + box["right"] - 1) / 2, "y": (box["top"] + box["bottom"] - 1) / 2}
        for box in boxes
    ]
    return {"count": len(boxes), "points": points}


def _keypoints(every: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for keypoints in every:
        for point in keypoints:
            found.setdefault(point["name"], []).append((point["x"], point["y"]))
    return [
        {"name": name, "x": median(x for x, _ in places), "y": median(y for _, y in places)}
        for name, places in found.items()
        if 2 * len(places) > len(every)
    ]


def _text(texts: Sequence[str]) -> str:
    folded = [" ".join(normalize("NFKC", text).casefold().split()) for text in texts]
    # Counter lists equals in the order of their first occurrence.
    commonest, _ = Counter(folded).most_common(1)[0]
    return texts[folded.index(commonest)]


RULES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "mask": _mask,
    "grey": _grey,
    "normals": _colour,
    "boxes": merged_boxes,
    "keypoints": _keypoints,
    "text": _text,
}
