"""Pictures at the size of a tile, paled under marks, with colours that stand out on any picture."""

from __future__ import annotations

import cv2
import numpy as np

from gensight import images
from gensight.figures import style

TILE_LONG_SIDE = 400
INVALID_RGB = (221, 221, 221)
_MASK_OPACITY = 0.55


def rgb_of(colour: str) -> tuple[int, ...]:
    """Return a colour `#RRGGBB` as three numbers of 0 to 255."""
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


VERMILION, GREEN, BLUE = (rgb_of(c) for c in (style.VERMILION, style.GREEN, style.BLUE))


def shrunk(picture: np.ndarray) -> np.ndarray:
    """Return a uint8 picture with a long side of at most that of a tile."""
    height, width = picture.shape[:2]
    if max(height, width) <= TILE_LONG_SIDE:
        return picture
    size = images.fit_long_side(width, height, TILE_LONG_SIDE)
    return images.resize_picture(np.ascontiguousarray(picture), *size)


def pale(picture: np.ndarray) -> np.ndarray:
    """Return a faded copy, over which marks stand out whatever the picture's colours."""
    return np.ascontiguousarray((picture / 2 + 110).astype(np.uint8))


def tinted(source: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the pale grey source with a mask of any size tinted over it, its outline solid."""
    height, width = source.shape[:2]
    fitted = images.resize_mask(mask, width, height)
    outline = fitted & ~cv2.erode(fitted.view(np.uint8), np.ones((5, 5), np.uint8)).view(np.bool_)
    picture = pale(images.to_grey(source)[:, :, None].repeat(3, axis=2))
    tint = (1 - _MASK_OPACITY) * picture[fitted] + _MASK_OPACITY * np.array(VERMILION)
    picture[fitted] = np.round(tint).astype(np.uint8)
    picture[outline] = VERMILION
    return picture


def places(
    points: list[dict[str, float]], size: tuple[int, int], picture: np.ndarray
) -> list[tuple[float, float]]:
    """Return points, given in pixels of a picture of this size (width, height), on a picture."""
    height, width = picture.shape[:2]
    centres = np.array([(point["x"], point["y"]) for point in points], np.float64).reshape(-1, 2)
    return [(x, y) for x, y in images.move_points(centres, size, (width, height)).tolist()]


def draw_dots(picture: np.ndarray, centres: list[tuple[float, float]]) -> None:
    """Draw filled vermilion dots with a white rim, in place."""
    for radius, colour in ((7, (255, 255, 255)), (5, VERMILION)):
        draw_circles(picture, centres, radius, colour, -1)


def draw_circles(
    picture: np.ndarray,
    centres: list[tuple[float, float]],
    radius: float,
    colour: tuple[int, ...],
    thickness: int,
) -> None:
    """Draw circles in place; a thickness of -1 fills them."""
    # cv2 takes fixed-point coordinates with four binary digits: dots are not snapped to pixels.
    for x, y in centres:
        centre = (round(x * 16), round(y * 16))
        cv2.circle(picture, centre, round(radius * 16), colour, thickness, cv2.LINE_AA, 4)
