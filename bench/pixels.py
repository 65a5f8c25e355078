"""Pixelisation: what PIA (reduced) costs above its superpixels, and how long a benchmark takes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from unittest import mock

import cv2
import numpy as np
from fidelity import PHOTOGRAPHS, SIZES, photograph
from timing import Measurement, fastest_s

from gensight.pixels import pia_reduced
from gensight.pixels.methods import pixelated
from gensight.pixels.superpixels import superpixels

WORKLOAD, WORKERS, REPEATS = 100, 2, 7
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def pia_path() -> Iterator[Measurement]:
    """Yield the time of PIA (reduced) in that of its superpixels, which are made once a size."""
    source = photograph("astronaut")
    known = pia_reduced.DEFAULTS
    for size in SIZES:
        segmented, whole = fastest_s(
            [
                lambda size=size: superpixels(
                    source,
                    size,
                    known["assumed_compactness"],
                    least_connected=known["assumed_least_connected"],
                ),
                lambda size=size: pixelated(source, size, "pia_reduced"),
            ],
            REPEATS,
        )
        yield Measurement(
            name=f"pia_{size}",
            what=f"PIA (reduced) of a photograph of 256 px in {size} x {size} cells",
            measured=whole / segmented,
            limit=2.0,
            unit="x superpixels",
        )


def pia_benchmark() -> Iterator[Measurement]:
    """Yield the seconds of 100 pictures at three sizes, two jobs of one thread at a time."""
    with (
        mock.patch.dict(os.environ, ONE_THREAD),
        # Spawned, so that libraries read their number of threads anew.
        ProcessPoolExecutor(WORKERS, get_context("spawn"), cv2.setNumThreads, (1,)) as pool,
    ):
        list(pool.map(_nothing, range(WORKERS)))
        started = time.perf_counter()
        list(pool.map(_pixelate, range(WORKLOAD)))
        elapsed_s = time.perf_counter() - started
    yield Measurement(
        name="pia_benchmark",
        what=f"PIA (reduced) of {WORKLOAD} pictures at {len(SIZES)} sizes, {WORKERS} jobs",
        measured=elapsed_s,
        limit=20.0,
        unit="s",
    )


def _nothing(job: int) -> None:
    """Import what a job needs, before time is taken."""


def _pixelate(seed: int) -> None:
    """Pixelate a photograph with noise of its own at every size."""
    picture = photograph(PHOTOGRAPHS[seed % len(PHOTOGRAPHS)]).astype(np.float64)
    noisy = picture + np.random.default_rng(seed).normal(0, 3, picture.shape)
    for size in SIZES:
        pixelated(np.clip(noisy, 0, 255).astype(np.uint8), size, "pia_reduced")
