"""What an operator is given and hands back, and how a right answer is painted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from failure_operators.sources import Source
from gensight import images

RED = (255, 0, 0)


@dataclass(frozen=True)
class Shown:
    """An input with the answer to it, where the operator changes the input or the truth."""

    input_rgb: np.ndarray
    output_rgb: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Shot:
    """A source under a task, with a severity and random numbers of its own."""

    task: str
    source: Source
    severity: float
    random: np.random.Generator

    @property
    def rgb(self) -> np.ndarray:
        """The input picture."""
        return self.source.rgb

    @property
    def truth(self) -> np.ndarray:
        """The truth of the task."""
        return self.source.truth(self.task)

    @property
    def answer(self) -> np.ndarray:
        """The right answer, painted without a fault."""
        return right_answer(self.task, self.rgb, self.truth)


Function = Callable[[Shot], "np.ndarray | Shown"]


@dataclass(frozen=True)
class Operator:
    """One way to answer: its split and class, the tasks it fits, and its severities in `unit`.

    `sources` limits it to some sources, `without` leaves out those whose name begins so;
    `per_severity` says on how many sources it is tried. `is_hard` marks right answers that look
    like a failure.
    """

    name: str
    split: str
    true_class: str
    tasks: tuple[str, ...]
    severities: tuple[float, ...]
    unit: str
    function: Function
    sources: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    per_severity: int = 2
    is_hard: bool = False


def target(shot: Shot) -> np.ndarray:
    """Return what the query names, bool (H, W): for counting a disc on every point."""
    if shot.task != "counting" and shot.source.mask is not None:
        return shot.source.mask
    assert shot.source.points is not None
    blank = np.zeros(shot.rgb.shape, np.uint8)
    return dotted(blank, shot.source.points, (255, 255, 255), 14)[..., 0] > 127


def labels(shot: Shot) -> np.ndarray:
    """Return the things of the picture as labels (H, W), 0 where there is none."""
    found = np.zeros(shot.source.size, np.int64)
    instances = [target(shot)] if shot.source.instances is None else shot.source.instances
    for label, mask in enumerate(instances, start=1):
        found[mask] = label
    return found


def right_answer(task: str, rgb: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Paint a truth as its task asks for: white on black, nearer is brighter, red dots."""
    if task == "segmentation":
        return grey_picture(truth * np.uint8(255))
    if task == "depth":
        return grey_picture(to_bytes(255.0 * nearness(truth)))
    return dotted(rgb, truth)


def nearness(depth_m: np.ndarray) -> np.ndarray:
    """Return depth as 1 (near) to 0 (far), linear between its 1st and 99th percentile."""
    low, high = np.percentile(depth_m, (1, 99))
    return np.clip((high - depth_m) / max(float(high - low), 1e-6), 0.0, 1.0)


def dot_radius_px(points: np.ndarray) -> int:
    """Return a radius at which the dots do not touch, 2 to 5 px at a long side of 512."""
    if len(points) < 2:
        return 5
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return int(np.clip(0.42 * apart.min() - 1, 2, 5))


def dotted(
    rgb: np.ndarray,
    points: np.ndarray,
    colour: tuple[int, int, int] = RED,
    radius_px: int | None = None,
) -> np.ndarray:
    """Return the picture with one solid dot on every point (n, 2)."""
    marked = rgb.copy()
    radius_px = dot_radius_px(points) if radius_px is None else radius_px
    for x, y in points:
        centre = (round(float(x)), round(float(y)))
        cv2.circle(marked, centre, radius_px, colour, cv2.FILLED, cv2.LINE_AA)
    return marked


def grey_picture(grey: np.ndarray) -> np.ndarray:
    """Return a grey picture (H, W) as RGB."""
    return np.repeat(grey[..., None], 3, axis=2)


def to_bytes(values: np.ndarray) -> np.ndarray:
    """Round to uint8 within 0 and 255."""
    return np.clip(np.floor(np.asarray(values) + 0.5), 0, 255).astype(np.uint8)


def blend(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """Return `share` of the second picture over the first."""
    return to_bytes((1.0 - share) * first.astype(np.float64) + share * second.astype(np.float64))


def luminance(rgb: np.ndarray) -> np.ndarray:
    """Return the grey of a picture: uint8 (H, W)."""
    return images.to_grey(rgb)


def through_jpeg(rgb: np.ndarray, quality: float) -> np.ndarray:
    """Return a picture after JPEG of this quality."""
    data = images.encode_jpeg(rgb, quality=round(quality))
    return images.decode_rgb(data, matte=(0, 0, 0))


def at_size(rgb: np.ndarray, factor: float) -> np.ndarray:
    """Return a picture resized by a factor."""
    height, width = rgb.shape[:2]
    return images.resize_picture(rgb, max(1, round(width * factor)), max(1, round(height * factor)))


def smooth_noise(
    random: np.random.Generator, height: int, width: int, cells: int, channels: int = 1
) -> np.ndarray:
    """Return smooth noise (H, W, channels) with about `cells` bumps along a side, within -1..1."""
    coarse = random.uniform(-1.0, 1.0, (cells, cells, channels)).astype(np.float32)
    finer = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.clip(finer.reshape(height, width, channels), -1.0, 1.0)
