"""The pictures that are timed: made from a seed, and saved as generators' pictures are.

Image generators return RGB PNGs whose flat areas are never flat: their decoders leave noise of a
level or two in every channel. That decides how long a PNG takes to decode, so it is part of every
picture here. All are 1024x768 and written by Pillow with its default settings, as most services do.
"""

from __future__ import annotations

import io

import cv2
import numpy as np
from PIL import Image

WIDTH, HEIGHT = 1024, 768
DECODER_NOISE = 1.2  # standard deviation in 8-bit levels, independent per pixel and channel


def saved(picture: np.ndarray) -> bytes:
    """Return an RGB float (H, W, 3) picture with decoder noise as PNG."""
    noise = np.random.default_rng(0).normal(0, DECODER_NOISE, picture.shape)
    levels = np.clip(picture + noise, 0, 255).round().astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(levels).save(stream, "PNG")
    return stream.getvalue()


def blob_distance() -> np.ndarray:
    """Return the signed distance in px, (H, W), to a wavy ellipse over a fifth of the picture."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    across, down = (columns - 420) / 1.3, rows - 360.0
    return 200 + 20 * np.sin(7 * np.arctan2(down, across)) - np.hypot(across, down)


def mask_answer() -> bytes:
    """Return a white target on black whose edge is soft over some four pixels."""
    soft = 255 / (1 + np.exp(-blob_distance() / 2))
    return saved(np.repeat(soft[:, :, None], 3, axis=2))


def depth_m() -> np.ndarray:
    """Return a room-like depth map in metres, float32 (H, W): a floor, and discs before it."""
    rng = np.random.default_rng(1)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    inverse = 0.12 + 0.3 * rows / HEIGHT + 0.03 * np.sin(columns / 90)
    for _ in range(12):
        x, y, radius = rng.uniform((0, 0, 30), (WIDTH, HEIGHT, 160))
        distance = np.hypot(columns - x, rows - y)
        near = rng.uniform(0.2, 0.8) - 0.1 * distance / radius
        inverse = np.where(distance < radius, np.maximum(near, inverse), inverse)
    return (1 / cv2.GaussianBlur(inverse, (0, 0), 1)).astype(np.float32)


def depth_answer() -> bytes:
    """Return that depth map drawn in the code of disparity, brighter for nearer."""
    inverse = 1 / depth_m()
    grey = 20 + 220 * (inverse - inverse.min()) / np.ptp(inverse)
    return saved(np.repeat(grey[:, :, None], 3, axis=2))


def photograph() -> np.ndarray:
    """Return colour texture at four scales, float32 (H, W, 3), without any red."""
    rng = np.random.default_rng(2)
    picture = np.full((HEIGHT, WIDTH, 3), (90, 120, 90), np.float32)
    for scale, contrast in ((64, 30), (16, 15), (4, 8), (1.5, 5)):
        noise = cv2.GaussianBlur(rng.standard_normal(picture.shape), (0, 0), scale)
        picture += (contrast * noise / noise.std()).astype(np.float32)
    return picture


def counting_pair() -> tuple[bytes, bytes]:
    """Return an input photograph and the same with twenty antialiased red dots on it."""
    source = photograph()
    marked = source.clip(0, 255).astype(np.uint8)
    for place in range(20):
        centre = (90 + 210 * (place % 5), 90 + 190 * (place // 5))
        cv2.circle(marked, centre, 7, (255, 0, 0), -1, cv2.LINE_AA)
    return saved(source), saved(marked.astype(np.float32))
