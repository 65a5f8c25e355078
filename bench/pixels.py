"""Report fidelity and time of the ten pixelisation baselines on scikit-image's photographs.

Each photograph's central square is brought to 256 pixels, pixelated, and enlarged again by whole
pixels; PSNR and SSIM are those of the enlarged grid against the square, averaged over photographs.
They say how near the pixels are, not how recognisable the icon is: PixelBench measures that with
SigLIP and DINOv2. Run with names of methods to report on these alone.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import skimage.data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from gensight import images
from gensight.errors import GensightError
from gensight.pixels.methods import METHODS, pixelated

PHOTOGRAPHS = ("astronaut", "camera", "chelsea", "coffee", "coins", "hubble_deep_field", "rocket")
SIDE_PX = 256
SIZES = (16, 32, 64)
WORKLOAD, WORKERS = 100, 2


def square(name: str) -> np.ndarray:
    """Return a photograph's central square, uint8 (256, 256, 3)."""
    picture = getattr(skimage.data, name)()
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    side = min(picture.shape[:2])
    top, left = ((length - side) // 2 for length in picture.shape[:2])
    cut = np.ascontiguousarray(picture[top : top + side, left : left + side])
    return images.resize_picture(cut, SIDE_PX, SIDE_PX)


def fidelity(picture: np.ndarray, method: str, size: int) -> tuple[float, float, float]:
    """Return PSNR in dB, SSIM, and the milliseconds of one picture."""
    started = time.perf_counter()
    grid = pixelated(picture, size, method)
    elapsed_ms = 1000 * (time.perf_counter() - started)
    shown = grid.enlarged(SIDE_PX // size)
    similarity = structural_similarity(picture, shown, channel_axis=2, data_range=255)
    return peak_signal_noise_ratio(picture, shown, data_range=255), similarity, elapsed_ms


def pixelate_workload(seed: int) -> None:
    """Pixelate one picture of the workload, a photograph with noise of its own, at every size."""
    picture = square(PHOTOGRAPHS[seed % len(PHOTOGRAPHS)]).astype(np.float64)
    noisy = picture + np.random.default_rng(seed).normal(0, 3, picture.shape)
    for size in SIZES:
        pixelated(np.clip(noisy, 0, 255).astype(np.uint8), size, "pia_reduced")


def main(names: list[str]) -> None:
    """Print a line for each method and size, and the time of 100 pictures of PIA reduced."""
    strange = set(names) - set(METHODS)
    if strange:
        raise GensightError(f"no such method: {', '.join(sorted(strange))}")
    pictures = [square(name) for name in PHOTOGRAPHS]
    for method in names or METHODS:
        mark = f"  (not {METHODS[method].stands_for}'s)" if METHODS[method].stands_for else ""
        for size in SIZES:
            found = np.mean([fidelity(picture, method, size) for picture in pictures], axis=0)
            psnr_db, ssim, elapsed_ms = found
            line = f"{method:14} {size:3}  PSNR {psnr_db:5.2f} dB  SSIM {ssim:.3f}"
            print(f"{line}  {elapsed_ms:7.1f} ms{mark}", flush=True)
    started = time.perf_counter()
    with ProcessPoolExecutor(WORKERS) as pool:
        list(pool.map(pixelate_workload, range(WORKLOAD)))
    elapsed_s = time.perf_counter() - started
    workload = f"{WORKLOAD} pictures at {len(SIZES)} sizes, {WORKERS} at a time"
    print(f"PIA reduced, {workload}: {elapsed_s:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
