"""`gensight pixelate`: a picture in N x N cells of at most eight colours, by a baseline's method.

The grid is printed as a model would answer it, so `gensight extract grid` reads it. The picture is
treated as PixelBench's sources are: upright, over white where it is transparent, its central square
brought to 256 pixels a side where it is larger.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click
import numpy as np

from gensight import images
from gensight.cli.files import read_bytes, write_bytes
from gensight.cli.printing import json_option, print_json
from gensight.errors import GensightError, ImageError
from gensight.pixels.methods import METHODS, pixelated, settings_of
from gensight.specs.words import unknown

WHITE = (255, 255, 255)
SOURCE_SIDE_PX = 256
SHOWN_SIDE_PX = 512
MOST_CELLS = SOURCE_SIDE_PX


@click.command()
@click.argument("file", metavar="IMAGE")
@click.option(
    "--method",
    default="pia_reduced",
    show_default=True,
    metavar="NAME",
    help=f"One of {', '.join(METHODS)}.",
)
@click.option(
    "--size",
    default=32,
    show_default=True,
    metavar="N",
    type=int,
    help="The number of cells of a side.",
)
@click.option(
    "--setting",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the method and its number; repeat for each.",
)
@click.option(
    "--output", metavar="OUT", help=f"Also write a PNG file of at least {SHOWN_SIDE_PX} pixels."
)
@json_option
def command(
    file: str,
    method: str,
    size: int,
    settings: tuple[str, ...],
    output: str | None,
    as_json: bool,
) -> None:
    """Draw IMAGE in N x N cells of at most eight colours; print the palette and the cells.

    With --json, also what was done and with which settings; those that the paper lost have
    "assumed" in their names.
    """
    if method not in METHODS:
        raise unknown("gensight pixelate", "--method", method, METHODS)
    if not 1 <= size <= MOST_CELLS:
        raise GensightError(f"--size {size}: a grid has 1 to {MOST_CELLS} cells a side")
    values = settings_of(method, dict(map(_setting, settings)))
    target = None if output is None else _checked_output(output, file)
    rgb = _source(file)
    grid = pixelated(rgb, size, method, values)
    if target is not None:
        enlarged = grid.enlarged(math.ceil(SHOWN_SIDE_PX / size))
        write_bytes(target, images.encode_png(enlarged))
    if not as_json:
        click.echo(grid.text())
        return
    print_json(
        {
            "file": file,
            "method": method,
            "stands_for": METHODS[method].stands_for,
            "settings": values,
            "size": size,
            "source_side_px": len(rgb),
            "used_colours": len(grid.used_colours),
            "palette": grid.hex_colours(),
            "pixels": grid.rows(),
            "output": output,
        }
    )


def _source(file: str) -> np.ndarray:
    """Return the central square of a picture file, uint8 RGB, at most 256 pixels a side."""
    try:
        rgb = images.decode_rgb(read_bytes(file), matte=WHITE)
    except ImageError as error:
        raise GensightError(f"{file}: {error}") from None
    height, width = rgb.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = np.ascontiguousarray(rgb[top : top + side, left : left + side])
    side = min(side, SOURCE_SIDE_PX)
    return images.resize_picture(square, side, side)


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    try:
        number = json.loads(value)
    except ValueError:
        number = None
    if not key or not equals or isinstance(number, bool) or not isinstance(number, int | float):
        raise GensightError(f"--setting {text}: expected a name and a number, KEY=VALUE")
    return key, number


def _checked_output(output: str, source: str) -> Path:
    path = Path(output)
    if path.suffix.lower() != ".png":
        raise GensightError(f"--output {output}: a PNG is written; name it *.png")
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise GensightError(f"--output {output}: that would replace the picture that is read")
    return path
