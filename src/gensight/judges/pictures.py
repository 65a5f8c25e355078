"""What is judged of an answer: its picture, as a judge is shown it."""

from __future__ import annotations

from dataclasses import dataclass

from gensight import images
from gensight.pixels import PaletteGrid
from gensight.specs.rubric import PicturesSpec

WHITE = (255, 255, 255)


@dataclass(frozen=True)
class Shown:
    """An answer's picture as it is sent, and the cells of a side where the answer is a grid.

    It is not brought to the size of other input pictures: that would smooth the cells.
    """

    picture: bytes
    size: int | None = None

    @classmethod
    def of_grid(cls, grid: PaletteGrid, rule: PicturesSpec) -> Shown:
        """Return a grid as PNG in which every cell is a square of equal pixels."""
        factor = enlargement(grid.size, rule.assumed_enlarged_to_px)
        return cls(images.encode_png(grid.enlarged(factor)), grid.size)

    @classmethod
    def of_picture(cls, data: bytes) -> Shown:
        """Return a picture as it is; one with transparency over white.

        Raises:
            ImageError: the bytes are not a readable picture.
        """
        if not images.inspect(data).had_alpha:
            return cls(data)
        return cls(images.encode_png(images.decode_rgb(data, matte=WHITE)))


def enlargement(size: int, least_px: int) -> int:
    """Return the smallest whole number that enlarges `size` cells to at least `least_px`.

    >>> enlargement(16, 512), enlargement(48, 512), enlargement(600, 512)
    (32, 11, 1)
    """
    return max(1, -(-least_px // size))
