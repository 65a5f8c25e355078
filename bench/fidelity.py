"""Print how like its source each pixelisation baseline is, as a Markdown table.

Scikit-image's photographs, each brought to the square that PixelBench's sources are (256 pixels),
pixelated at the paper's three sizes; PSNR and SSIM are those of the measure `likeness`, averaged.
They say how near the pixels are, not how recognisable the icon is. The last row is the ceiling of
a size, whatever the palette: area means in all their colours. Run with names of methods to report
on these alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import skimage.data

from gensight import images
from gensight.datasets._pixel_items import centre_square
from gensight.failures.pictures import mean_within, ssim_map
from gensight.measures import likeness
from gensight.pixels.methods import METHODS, pixelated
from gensight.pixels.resampling import box_reduced
from gensight.specs.words import unknown

PHOTOGRAPHS = ("astronaut", "camera", "chelsea", "coffee", "coins", "hubble_deep_field", "rocket")
SIDE_PX = 256
SIZES = (16, 32, 64)
UNLIMITED = "area means, all colours"


def photograph(name: str) -> np.ndarray:
    """Return a photograph's central square, uint8 (256, 256, 3) RGB."""
    picture = getattr(skimage.data, name)()
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    return centre_square(np.ascontiguousarray(picture), SIDE_PX)


def fidelity(source: np.ndarray, reduced: np.ndarray) -> tuple[float, float]:
    """Return PSNR in dB and SSIM of one pixel a cell, enlarged by nearest, and its source."""
    factor = SIDE_PX // len(reduced)
    shown = reduced.repeat(factor, axis=0).repeat(factor, axis=1)
    luma = [images.to_grey(picture) for picture in (source, shown)]
    most_db = likeness.DEFAULTS["assumed_most_psnr_db"]
    return likeness.psnr_db(source, shown, most_db), mean_within(ssim_map(*luma))


def row(label: str, reduce: Callable[[np.ndarray, int], np.ndarray]) -> str:
    """Return a line of the table: three PSNR, then three SSIM, each a mean over photographs."""
    sources = [photograph(name) for name in PHOTOGRAPHS]
    means = [
        np.mean([fidelity(source, reduce(source, size)) for source in sources], axis=0)
        for size in SIZES
    ]
    cells = [f"{psnr:.2f}" for psnr, _ in means] + [f"{ssim:.3f}" for _, ssim in means]
    return f"| {label} | {' | '.join(cells)} |"


def main(names: list[str]) -> None:
    """Print the table of these methods; of all of them, and the ceiling, where none is named."""
    for name in names:
        if name not in METHODS:
            raise unknown("bench/fidelity.py", "method", name, METHODS)
    heads = [f"{what} {size}" for what in ("PSNR", "SSIM") for size in SIZES]
    print(f"| method | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name in names or METHODS:
        label = f"`{name}`"
        print(row(label, lambda rgb, n, name=name: pixelated(rgb, n, name).picture()), flush=True)
    if not names:
        print(row(UNLIMITED, box_reduced))


if __name__ == "__main__":
    main(sys.argv[1:])
