"""Nothing was done, or only a filter was laid over the input, or there is no picture at all.

A filter's severity is how much of it is blended over the input, 0 to 1, unless its unit says more.
"""

from __future__ import annotations

import cv2
import numpy as np

from failure_operators.shots import (
    Operator,
    Shot,
    at_size,
    blend,
    grey_picture,
    luminance,
    smooth_noise,
    through_jpeg,
    to_bytes,
)

ALL = ("segmentation", "depth", "counting")
# Pictures without colour, which no turn of the hue changes.
GREY = ("camera", "coins", "coco_40083")
FLAT = ("room_flat", "crowd_flat", "room_line")
SHARES = (0.03, 0.1, 0.3, 0.6, 1.0)

SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])


def exact_copy(shot: Shot) -> np.ndarray:
    return shot.rgb.copy()


def resampled_copy(shot: Shot) -> np.ndarray:
    """Made smaller by the severity in per cent, and back to its size."""
    height, width = shot.source.size
    smaller = at_size(shot.rgb, 1.0 - shot.severity / 100.0)
    return cv2.resize(smaller, (width, height), interpolation=cv2.INTER_CUBIC)


def noisy_copy(shot: Shot) -> np.ndarray:
    return to_bytes(shot.rgb + shot.severity * shot.random.standard_normal(shot.rgb.shape))


def jpeg_copy(shot: Shot) -> np.ndarray:
    return through_jpeg(shot.rgb, 100.0 - shot.severity)


def sharpened_copy(shot: Shot) -> np.ndarray:
    soft = cv2.GaussianBlur(shot.rgb, (0, 0), 1.5).astype(np.float64)
    return to_bytes(shot.rgb + shot.severity * (shot.rgb - soft))


def smaller_copy(shot: Shot) -> np.ndarray:
    return at_size(shot.rgb, shot.severity)


def gain_offset(shot: Shot) -> np.ndarray:
    """Contrast and brightness, up or down together, by the severity as a share of full range."""
    sign = shot.random.choice([-1.0, 1.0])
    middle = shot.rgb.astype(np.float64) - 128.0
    return to_bytes(128.0 + (1.0 + sign * shot.severity) * middle + sign * 60.0 * shot.severity)


def gamma(shot: Shot) -> np.ndarray:
    """A power law; the severity is its exponent's distance from 1 in octaves."""
    exponent = 2.0 ** (shot.severity * shot.random.choice([-1.0, 1.0]))
    return to_bytes(255.0 * (shot.rgb / 255.0) ** exponent)


def sepia(shot: Shot) -> np.ndarray:
    return blend(shot.rgb, to_bytes(shot.rgb @ SEPIA.T), shot.severity)


def desaturate(shot: Shot) -> np.ndarray:
    return blend(shot.rgb, grey_picture(luminance(shot.rgb)), shot.severity)


def hue_turn(shot: Shot) -> np.ndarray:
    """All hues turned by the severity in degrees."""
    hsv = cv2.cvtColor(shot.rgb.astype(np.float32) / 255.0, cv2.COLOR_RGB2HSV)
    hsv[..., 0] = (hsv[..., 0] + shot.severity) % 360.0
    return to_bytes(255.0 * cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB))


def cross_process(shot: Shot) -> np.ndarray:
    """A curve of its own for each channel, as a film developed in the wrong bath."""
    tone = shot.rgb / 255.0
    curves = np.stack(
        [tone[..., 0] ** 0.7, 0.5 - 0.5 * np.cos(np.pi * tone[..., 1]), 0.25 + 0.5 * tone[..., 2]],
        axis=2,
    )
    return blend(shot.rgb, 255.0 * curves, shot.severity)


def vignette(shot: Shot) -> np.ndarray:
    height, width = shot.source.size
    rows, columns = np.indices((height, width))
    radius = np.hypot((rows / height) - 0.5, (columns / width) - 0.5) / 0.7
    return to_bytes(shot.rgb * (1.0 - 0.85 * shot.severity * np.clip(radius, 0, 1)[..., None] ** 2))


def local_contrast(shot: Shot) -> np.ndarray:
    """Contrast evened out tile by tile, as in pictures of high dynamic range."""
    lab = cv2.cvtColor(shot.rgb, cv2.COLOR_RGB2LAB)
    evener = cv2.createCLAHE(clipLimit=4.0, tileGridSize=(6, 6))
    lab[..., 0] = evener.apply(np.ascontiguousarray(lab[..., 0]))
    return blend(shot.rgb, cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), shot.severity)


def uniform(shot: Shot) -> np.ndarray:
    """One colour; the severity is the height of a faint ripple on it in grey levels."""
    levels = {"segmentation": (0, 60, 128), "depth": (0, 128, 255), "counting": (0, 128, 255)}
    level = shot.random.choice(levels[shot.task])
    height, width = shot.source.size
    ripple = np.sin(np.arange(width) / 9.0)[None] * np.cos(np.arange(height) / 13.0)[:, None]
    return grey_picture(to_bytes(level + 0.5 * shot.severity * ripple))


def haze(shot: Shot) -> np.ndarray:
    """Coloured fog without a thing in it; the severity is its spread in grey levels."""
    height, width = shot.source.size
    colour = shot.random.uniform(40, 215, 3)
    fog = smooth_noise(shot.random, height, width, 4, 1)
    grain = shot.random.standard_normal((height, width, 1))
    return to_bytes(colour + 0.5 * shot.severity * fog + 0.15 * shot.severity * grain)


def black_frame(shot: Shot) -> np.ndarray:
    """A black picture with a bright line of the severity's width in px along one border."""
    picture = np.zeros_like(shot.rgb)
    if shot.severity:
        picture[: int(shot.severity)] = 255
    return picture


OPERATORS = (
    Operator("exact_copy", "A", "copy", ALL, (0.0,), "-", exact_copy, per_severity=4),
    Operator("resampled_copy", "A", "copy", ALL, (5.0, 25.0, 50.0, 70.0), "%", resampled_copy),
    Operator("noisy_copy", "A", "copy", ALL, (0.5, 2.0, 5.0, 10.0), "grey levels", noisy_copy),
    Operator("gain_offset", "A", "filter", ALL, (0.02, 0.08, 0.2, 0.4, 0.6), "-", gain_offset),
    Operator("gamma", "A", "filter", ALL, (0.05, 0.2, 0.5, 1.0, 1.5), "octaves", gamma),
    Operator("sepia", "A", "filter", ALL, SHARES, "-", sepia),
    Operator("uniform", "A", "degenerate", ALL, (0.0, 2.0, 6.0, 12.0, 20.0), "levels", uniform),
    Operator("jpeg_copy", "B", "copy", ALL, (10.0, 40.0, 70.0, 85.0), "below 100", jpeg_copy),
    Operator("sharpened_copy", "B", "copy", ALL, (0.2, 0.6, 1.2), "-", sharpened_copy),
    Operator("smaller_copy", "B", "copy", ALL, (0.9, 0.6, 0.4), "of the size", smaller_copy),
    Operator("desaturate", "B", "filter", ALL, SHARES, "-", desaturate, without=GREY),
    Operator(
        "hue_turn",
        "B",
        "filter",
        ALL,
        (3.0, 10.0, 30.0, 90.0, 170.0),
        "degrees",
        hue_turn,
        without=GREY,
    ),
    Operator("cross_process", "B", "filter", ALL, SHARES, "-", cross_process),
    Operator("vignette", "B", "filter", ALL, SHARES, "-", vignette),
    Operator("local_contrast", "B", "filter", ALL, SHARES, "-", local_contrast, without=FLAT),
    Operator("haze", "B", "degenerate", ALL, (0.0, 3.0, 8.0, 15.0), "levels", haze),
    Operator("black_frame", "B", "degenerate", ALL, (0.0, 1.0, 2.0), "px", black_frame),
)
