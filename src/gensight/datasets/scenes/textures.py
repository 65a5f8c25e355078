"""Procedural solid textures: a value in [-1, 1] at every point of a surface.

Families of the main split: stripes, checks, marble. Spots appear in the split `ood` alone.
Textures change lightness only, so the named colour of a thing stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MAIN_FAMILIES = ("stripes", "checks", "marble")
HELD_OUT_FAMILY = "spots"
SHARPNESS = 5.0
# Below two pixels a period is invisible and would only alias; from six pixels on it is kept whole.
FADE_PX = (2.0, 6.0)


@dataclass(frozen=True)
class Texture:
    """A family with its period in metres, a direction (3,), phases (3,) and a strength 0..1."""

    family: str
    period_m: float
    direction: np.ndarray
    phase: np.ndarray
    strength: float

    def values(self, points: np.ndarray) -> np.ndarray:
        """Return texture values (...) in [-1, 1] at points (3, ...), in metres."""
        return FAMILIES[self.family](points, self)


def draw_texture(random: np.random.Generator, split: str, period_m: float) -> Texture:
    """Draw a texture of a split around a period; its strength is uniform in 0..1."""
    families = MAIN_FAMILIES if split == "main" else (HELD_OUT_FAMILY,)
    direction = random.normal(size=3)
    return Texture(
        family=families[random.integers(len(families))],
        period_m=float(period_m * random.uniform(0.7, 1.4)),
        direction=direction / np.linalg.norm(direction),
        phase=random.uniform(0, 2 * np.pi, 3),
        strength=float(random.random()),
    )


def fade(period_m: float, depth_m: np.ndarray, focal_px: float) -> np.ndarray:
    """Return how much of a texture remains, 0..1, where its period shrinks to pixels."""
    low, high = FADE_PX
    return np.clip((period_m * focal_px / depth_m - low) / (high - low), 0.0, 1.0)


def _along(points: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return points[0] * direction[0] + points[1] * direction[1] + points[2] * direction[2]


def _stripes(points: np.ndarray, texture: Texture) -> np.ndarray:
    angle = 2 * np.pi / texture.period_m * _along(points, texture.direction) + texture.phase[0]
    return np.clip(SHARPNESS * np.sin(angle), -1.0, 1.0)


def _checks(points: np.ndarray, texture: Texture) -> np.ndarray:
    waves = [
        np.clip(SHARPNESS * np.sin(np.pi / texture.period_m * p + phase), -1.0, 1.0)
        for p, phase in zip(points, texture.phase, strict=True)
    ]
    return waves[0] * waves[1] * waves[2]


def _marble(points: np.ndarray, texture: Texture) -> np.ndarray:
    step = 2 * np.pi / texture.period_m
    turned = np.roll(texture.direction, 1)
    bend = np.sin(0.7 * step * _along(points, turned) + texture.phase[1])
    bend += 0.5 * np.sin(1.9 * step * points[0] + texture.phase[2])
    return np.sin(step * _along(points, texture.direction) + 1.6 * bend + texture.phase[0])


def _spots(points: np.ndarray, texture: Texture) -> np.ndarray:
    cells = points / texture.period_m + texture.phase.reshape((3,) + (1,) * (points.ndim - 1))
    inside = cells - np.round(cells)
    radius = np.sqrt(inside[0] ** 2 + inside[1] ** 2 + inside[2] ** 2)
    return np.clip(SHARPNESS * 4 * (0.36 - radius), -1.0, 1.0)


FAMILIES: dict[str, Callable[[np.ndarray, Texture], np.ndarray]] = {
    "stripes": _stripes,
    "checks": _checks,
    "marble": _marble,
    "spots": _spots,
}
