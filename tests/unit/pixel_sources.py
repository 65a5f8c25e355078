"""Pictures for the tests of the pixelisation baselines."""

import numpy as np

EIGHT = (
    (220, 30, 40),
    (30, 160, 60),
    (40, 60, 200),
    (240, 220, 40),
    (20, 20, 20),
    (250, 250, 250),
    (150, 60, 170),
    (90, 200, 220),
)


def noise(side=64, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)


def flat(colour=(128, 128, 128), side=64):
    return np.full((side, side, 3), colour, np.uint8)


def halves(first=(0, 0, 0), second=(255, 255, 255), side=64, split=None):
    picture = flat(first, side)
    picture[:, split or side // 2 :] = second
    return picture


def checkerboard(side=64):
    squares = np.indices((side, side)).sum(axis=0) % 2
    return np.repeat(255 * squares[:, :, None], 3, axis=2).astype(np.uint8)


def grey_ramp(side=64):
    levels = np.linspace(0, 255, side).round().astype(np.uint8)
    return np.repeat(np.repeat(levels[None, :, None], side, axis=0), 3, axis=2)


def eight_regions(side=64):
    """Return two rows of four rectangles, none of whose borders needs to meet a cell's."""
    rows, columns = np.indices((side, side))
    region = (rows * 2 // side) * 4 + columns * 4 // side
    return np.array(EIGHT, np.uint8)[region]


def scene(side=64, seed=1):
    """Return a soft sky over a hill with a disc and grain: many colours, edges, and texture."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices((side, side)) / side
    picture = np.stack([120 + 90 * rows, 160 + 50 * rows, 240 - 60 * rows], axis=2)
    hill = rows > 0.65 + 0.1 * np.sin(7 * columns)
    picture[hill] = np.stack([60 + 40 * columns, 140 - 50 * columns, 50 + 0 * columns], axis=2)[
        hill
    ]
    picture[np.hypot(rows - 0.3, columns - 0.7) < 0.15] = (250, 210, 60)
    return np.clip(picture + rng.normal(0, 6, picture.shape), 0, 255).astype(np.uint8)
