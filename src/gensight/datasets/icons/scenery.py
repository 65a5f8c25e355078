"""What lies behind and around a drawing in a source picture: place, size, gradient, soft texture.

A source drawn flat on white would leave a pixelisation nothing to decide. Everything is computed in
whole numbers from a seed, so that the bytes are the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gensight.datasets.icons.drawings import WHOLE, Colour, Frame

#: Soft tones: the outlined drawings stand out from any two of them.
TONES: tuple[Colour, ...] = (
    (244, 226, 205),
    (226, 236, 214),
    (205, 228, 238),
    (232, 214, 232),
    (247, 240, 190),
    (188, 205, 214),
    (214, 190, 170),
    (178, 206, 184),
    (236, 198, 196),
    (172, 178, 206),
)
#: In thousandths of the picture's side.
SIDES = (560, 860)
MARGIN = 30
#: The texture: lightness given at KNOTS x KNOTS places, up to this far from the gradient's.
KNOTS = 13
DEPTH = 14
GRAIN = 3


@dataclass(frozen=True)
class Scenery:
    """A frame for the drawing and the picture behind it, uint8 (side_px, side_px, 3)."""

    frame: Frame
    background: np.ndarray


def draw_scenery(seed: int, side_px: int) -> Scenery:
    """Draw place, size and background from a seed; they are independent of the drawing."""
    random = np.random.default_rng(seed)
    side = int(random.integers(*SIDES, endpoint=True))
    left, top = (int(v) for v in random.integers(MARGIN, WHOLE - MARGIN - side, 2, endpoint=True))
    one, other = random.permutation(len(TONES))[:2]
    slope = random.integers(-4, 4, 2, endpoint=True)
    gradient = _gradient(TONES[one], TONES[other], slope, side_px)
    knots = random.integers(-DEPTH, DEPTH, (KNOTS, KNOTS), endpoint=True)
    grain = random.integers(-GRAIN, GRAIN, (side_px, side_px), endpoint=True)
    lightness = _between_knots(knots, side_px) + grain
    background = np.clip(gradient + lightness[..., None], 0, 255).astype(np.uint8)
    return Scenery(Frame(left, top, side), background)


def _gradient(one: Colour, other: Colour, slope: np.ndarray, side_px: int) -> np.ndarray:
    """Return int64 (n, n, 3): a colour at one end of the slope, the other at the far end."""
    across, down = (int(step) for step in slope)
    if across == down == 0:
        across = 1
    places = np.arange(side_px, dtype=np.int64)
    height = across * places[None, :] + down * places[:, None]
    height -= height.min()
    top = int(height.max())
    ends = np.array(one, np.int64), np.array(other, np.int64)
    return (ends[0] * (top - height)[..., None] + ends[1] * height[..., None]) // top


def _between_knots(knots: np.ndarray, side_px: int) -> np.ndarray:
    """Return int64 (n, n): the knots' values with straight lines between them on both axes."""
    places = np.arange(side_px, dtype=np.int64) * (KNOTS - 1)
    knot, share = places // side_px, places % side_px
    rows = knots[knot] * (side_px - share)[:, None] + knots[knot + 1] * share[:, None]
    both = rows[:, knot] * (side_px - share) + rows[:, knot + 1] * share
    return both // side_px**2
