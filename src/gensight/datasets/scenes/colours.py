"""Named colours: eight names in two shades each, and their CIEDE2000 differences.

Shades are sRGB, 0 to 255. Scenes use names whose base shades are far apart (POOL_DIFFERENCE), so
that rendered medians keep the 20 units that a named colour needs (PROTOCOLS 4.1).
"""

from __future__ import annotations

from functools import cache

import numpy as np

MIN_DIFFERENCE = 20.0
POOL_DIFFERENCE = 35.0
COUNTED_DIFFERENCE = 45.0

PALETTES: dict[str, dict[str, tuple[int, int, int]]] = {
    "base": {
        "red": (205, 32, 40),
        "orange": (243, 128, 18),
        "yellow": (245, 214, 48),
        "green": (44, 150, 60),
        "turquoise": (60, 195, 205),
        "blue": (40, 75, 200),
        "purple": (140, 45, 150),
        "pink": (245, 140, 185),
    },
    "shifted": {
        "red": (180, 20, 26),
        "orange": (235, 145, 50),
        "yellow": (236, 222, 96),
        "green": (30, 125, 62),
        "turquoise": (110, 215, 210),
        "blue": (64, 104, 222),
        "purple": (150, 72, 168),
        "pink": (240, 120, 172),
    },
}
COLOURS = tuple(PALETTES["base"])

# Floors, walls and ceilings are pale and nearly grey: no thing is named by these colours.
BACKGROUNDS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "base": ((196, 188, 176), (214, 212, 206), (178, 182, 186), (205, 200, 188), (190, 196, 190)),
    "shifted": (
        (164, 158, 150),
        (222, 216, 200),
        (184, 190, 200),
        (156, 162, 160),
        (210, 204, 210),
    ),
}


def to_linear(rgb: np.ndarray) -> np.ndarray:
    """Return linear light 0..1 of colours 0..255, by the power law 2.2 that rendering inverts."""
    return (np.asarray(rgb, np.float64) / 255.0) ** 2.2


def to_lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIE Lab (n, 3) of sRGB colours (n, 3), 0..255."""
    from skimage.color import rgb2lab

    return rgb2lab(np.asarray(rgb, np.float64)[None] / 255.0)[0]


def differences(rgb: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the CIEDE2000 differences (n, m) of two lists of sRGB colours (n, 3) and (m, 3)."""
    from skimage.color import deltaE_ciede2000

    return deltaE_ciede2000(to_lab(rgb)[:, None], to_lab(others)[None])


@cache
def prototype_differences() -> np.ndarray:
    """Return the differences between the base shades, in the order of COLOURS."""
    shades = np.array([PALETTES["base"][name] for name in COLOURS])
    return differences(shades, shades)


def draw_pool(
    random: np.random.Generator,
    size: int,
    required: tuple[str, ...] = (),
    excluded: tuple[str, ...] = (),
    counted: str | None = None,
) -> list[str]:
    """Draw up to `size` names that are far apart, with the required and without the excluded.

    Names beside a `counted` colour are farther from it: it must hold out among many things.
    """
    order = [COLOURS[i] for i in random.permutation(len(COLOURS))]
    pool: list[str] = []
    for name in (*required, *order):
        far = all(_difference(name, other) >= POOL_DIFFERENCE for other in pool)
        if counted not in (None, name):
            far &= _difference(name, counted) >= COUNTED_DIFFERENCE
        if far and name not in pool and name not in excluded and len(pool) < size:
            pool.append(name)
    return pool


def _difference(name: str, other: str) -> float:
    return float(prototype_differences()[COLOURS.index(name), COLOURS.index(other)])
