"""Made-up truths in the sizes of real data sets: outlines of any size, and crowds of points."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from ceiling_road import benchmark, sample_of

from gensight import datasets, images
from gensight.records import Sample

#: Truth bins of PROTOCOLS 1.4; the last is cut at 200, a picture's worth of dots.
BINS = ((0, 0), (1, 5), (6, 10), (11, 20), (21, 50), (51, 200))
CROWDS = ("even", "scattered", "clustered")
PAPER = (96, 110, 120)


def band_edges() -> tuple[float, ...]:
    """Return the edges of RefCOCO's area bands, and a tenth of the first below them."""
    edges = datasets.load("refcoco").DEFAULTS["assumed_area_band_edges"]
    assert "assumed_area_band_edges" not in benchmark("refcoco")["dataset"]["parameters"]
    return (edges[0] / 10, *edges)


def bands() -> tuple[tuple[float, float], ...]:
    """Return the area bands, from nothing to the whole picture."""
    return tuple(pairwise((0.0, *band_edges(), 1.0)))


def outline(width: int, height: int, share: float, seed: int) -> np.ndarray:
    """Return a wavy, lopsided shape that covers about a share of a picture, bool (H, W).

    The outline is that of its seed at any size, so sizes can be compared.
    """
    random = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    radius = np.ones_like(angle)
    for wave in range(2, 9):
        radius += (
            random.uniform(0.05, 0.35) / wave * np.cos(wave * angle + random.uniform(0, 2 * np.pi))
        )
    stretch = random.uniform(0.7, 1.4)
    x, y = radius * np.cos(angle) * stretch, radius * np.sin(angle) / stretch
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    scale = math.sqrt(share * width * height / area)
    middle = random.uniform(0.4, 0.6, 2) * (width, height)
    corners = np.stack([x, y], axis=1) * scale + middle
    return images.polygons_to_mask([corners.ravel().tolist()], height, width)


def mask_sample(mask: np.ndarray, name: str = "shape") -> Sample:
    """Return a sample whose target is this mask, on a plain picture."""
    picture = np.full((*mask.shape, 3), PAPER, np.uint8)
    return sample_of(name, picture, target_mask=images.encode_mask(mask))


def photograph(width: int, height: int, seed: int) -> np.ndarray:
    """Return a smooth picture without red, uint8 (H, W, 3)."""
    random = np.random.default_rng(seed)
    coarse = random.integers(40, 200, (height // 32, width // 32, 3)).astype(np.uint8)
    coarse[..., 0] //= 2
    return images.resize_picture(coarse, width, height)


def crowd(kind: str, count: int, width: int, height: int, seed: int) -> np.ndarray:
    """Return points (n, 2) as annotators click them: in rows, anywhere, or in groups."""
    random = np.random.default_rng([CROWDS.index(kind), count, seed])
    sides = np.array([width, height])
    if kind == "even":
        columns = max(1, math.ceil(math.sqrt(count * width / height)))
        rows = max(1, math.ceil(count / columns))
        place = np.stack(np.divmod(np.arange(count), columns)[::-1], axis=1) + 0.5
        cell = sides / (columns, rows)
        points = place * cell + random.normal(0, 0.1, (count, 2)) * cell.min()
    elif kind == "scattered":
        points = random.uniform(0, sides - 1, (count, 2))
    else:
        middles = random.uniform(0.1, 0.9, (max(1, count // 12), 2)) * sides
        chosen = middles[random.integers(len(middles), size=count)]
        points = chosen + random.normal(0, 0.04 * width, (count, 2))
    return np.clip(points, 0, sides - 1)


def points_sample(points: np.ndarray, picture: np.ndarray, name: str = "crowd") -> Sample:
    """Return a sample of a picture with these true points, in its pixels."""
    listed = [{"x": float(x), "y": float(y)} for x, y in points]
    return sample_of(name, picture, target_count=len(listed), target_points=listed)


def nearest_px(sample: Sample) -> np.ndarray:
    """Return the distance of each true point to the nearest other one, at long side 1024."""
    size = images.fit_long_side(sample.width, sample.height)
    points = np.array([(p["x"], p["y"]) for p in sample.target_points]).reshape(-1, 2)
    moved = (points + 0.5) * (np.array(size) / (sample.width, sample.height)) - 0.5
    return np.array(
        [
            min((math.dist(one, other) for j, other in enumerate(moved) if j != i), default=np.inf)
            for i, one in enumerate(moved)
        ]
    )
