"""Right answers of split A: a plain one, and those that look like a failure at first sight."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from failure_operators import sources
from failure_operators.shots import (
    Function,
    Operator,
    Shot,
    Shown,
    blend,
    dotted,
    grey_picture,
    nearness,
    right_answer,
    through_jpeg,
    to_bytes,
)

SEGMENTATION, DEPTH, COUNTING = ("segmentation",), ("depth",), ("counting",)
ALL = ("segmentation", "depth", "counting")


@cache
def _page() -> np.ndarray:
    return sources.shipped("page.png")


@cache
def _wall() -> np.ndarray:
    return sources.shipped("brick.png")


def plain_answer(shot: Shot) -> np.ndarray:
    return shot.answer


def mild_jpeg(shot: Shot) -> np.ndarray:
    return through_jpeg(shot.answer, 100.0 - shot.severity)


def soft_edges(shot: Shot) -> np.ndarray:
    """Borders soft by the severity in px."""
    return cv2.GaussianBlur(shot.answer, (0, 0), shot.severity)


# --- segmentation ---------------------------------------------------------------------------


def whole_frame(shot: Shot) -> Shown:
    """The query names a wall; the severity is the share of the picture that it fills."""
    height, width = _wall().shape[:2]
    mask = np.ones((height, width), bool)
    mask[: round((1.0 - shot.severity) * height)] = False
    if shot.random.random() < 0.5:
        mask = mask[::-1].copy()
    rgb = _wall().copy()
    rgb[~mask] = (150, 180, 210)
    return _shown(shot, rgb, mask)


def tiny_target(shot: Shot) -> Shown:
    """One small round target; the severity is its share of the picture in per cent."""
    height, width = shot.source.size
    radius = np.sqrt(shot.severity / 100.0 * height * width / np.pi)
    x, y = shot.random.uniform(0.1, 0.9, 2) * [width, height]
    return _pasted(shot, _ellipse(shot, (x, y), (radius, radius)), 0.7)


def thin_target(shot: Shot) -> Shown:
    """A pole across the picture; the severity is its width in px."""
    height, width = shot.source.size
    blank = np.zeros((height, width), np.uint8)
    top, bottom = (shot.random.uniform(0.1, 0.9, 2) * width).round().astype(int).tolist()
    cv2.line(blank, (top, height // 12), (bottom, height - 1), 255, round(shot.severity))
    return _pasted(shot, blank > 127, 0.8)


def uniquely_coloured(shot: Shot) -> Shown:
    """A target whose colour nothing else has; the severity is how much of it shows."""
    height, width = shot.source.size
    centre = shot.random.uniform(0.25, 0.75, 2) * [width, height]
    radii = shot.random.uniform(0.08, 0.2, 2) * height
    return _pasted(shot, _ellipse(shot, centre, radii), shot.severity)


def word_on_page(shot: Shot) -> Shown:
    """A page of black on white; the query names a block of it, larger with the severity."""
    height, width = _page().shape[:2]
    mask = np.zeros((height, width), bool)
    left, top = (shot.random.uniform(0.0, 0.5, 2) * [width, height]).astype(int)
    mask[top : top + int(0.1 * height + 12), left : left + int(shot.severity * width)] = True
    return _shown(shot, _page(), mask)


def weak_contrast(shot: Shot) -> np.ndarray:
    """Not quite black and white: both nearer to grey by the severity."""
    return blend(shot.answer, np.full_like(shot.answer, 128), shot.severity)


# --- depth ----------------------------------------------------------------------------------


def flat_wall(shot: Shot) -> Shown:
    """A wall seen aslant; the severity is how many grey levels its depth spans."""
    height, width = _wall().shape[:2]
    angle = shot.random.uniform(0, 2 * np.pi)
    rows, columns = np.indices((height, width))
    slope = np.cos(angle) * columns / width + np.sin(angle) * rows / height
    depth_m = (2.0 + 0.4 * slope).astype(np.float32)
    answer = 128.0 + shot.severity * (nearness(depth_m) - 0.5)
    return Shown(_wall(), grey_picture(to_bytes(answer)), depth_m)


def curled_page(shot: Shot) -> Shown:
    """A sheet of paper that bends; the severity is how many grey levels its depth spans."""
    height, width = _page().shape[:2]
    across = np.linspace(-1.0, 1.0, width)[None] + np.zeros((height, 1))
    depth_m = (0.5 + 0.05 * across**2 + 0.03 * np.linspace(0, 1, height)[:, None]).astype(
        np.float32
    )
    answer = 140.0 + shot.severity * (nearness(depth_m) - 0.5)
    return Shown(_page(), grey_picture(to_bytes(answer)), depth_m)


def coarse_levels(shot: Shot) -> np.ndarray:
    """As many grey levels as the severity says."""
    levels = round(shot.severity) - 1
    near = np.round(nearness(shot.truth) * levels) / levels
    return grey_picture(to_bytes(255.0 * near))


def pale_depth(shot: Shot) -> np.ndarray:
    """Depth within a part of the range that is as large as the severity."""
    level = shot.random.uniform(0, 255.0 * (1.0 - shot.severity))
    return grey_picture(to_bytes(level + 255.0 * shot.severity * nearness(shot.truth)))


def bent_code(shot: Shot) -> np.ndarray:
    """Grey that is a power of nearness."""
    return grey_picture(to_bytes(255.0 * nearness(shot.truth) ** shot.severity))


def grainy_depth(shot: Shot) -> np.ndarray:
    """Noise of the severity in grey levels."""
    grain = shot.severity * shot.random.standard_normal(shot.source.size)
    return grey_picture(to_bytes(255.0 * nearness(shot.truth) + grain))


# --- counting -------------------------------------------------------------------------------


def nothing_to_mark(shot: Shot) -> Shown:
    """The picture shows none of what is counted: it comes back unmarked, with faint noise."""
    noisy = to_bytes(shot.rgb + shot.severity * shot.random.standard_normal(shot.rgb.shape))
    return Shown(shot.rgb, noisy, np.zeros((0, 2)))


def dots_on_red(shot: Shot) -> Shown:
    """The counted things are red discs; a higher severity brings their red nearer to the dots'."""
    rgb, points = shot.rgb.copy(), shot.truth
    shade = tuple(blend(np.array([120, 30, 30]), np.array([245, 20, 20]), shot.severity).tolist())
    return _marked(dotted(rgb, points, shade, 14), points)


def one_dot(shot: Shot) -> Shown:
    """A single dot with a radius of the severity in px."""
    point = shot.random.uniform(0.1, 0.9, (1, 2)) * shot.source.size[::-1]
    return Shown(shot.rgb, dotted(shot.rgb, point, radius_px=round(shot.severity)), point)


def crowd(shot: Shot) -> Shown:
    """As many dots as the severity says, none touching another."""
    height, width = shot.source.size
    cells = shot.random.permutation((width // 24) * (height // 24))[: round(shot.severity)]
    corner = np.stack([cells % (width // 24), cells // (width // 24)], axis=1) * 24.0
    points = corner + shot.random.uniform(7, 17, (len(cells), 2))
    return Shown(shot.rgb, dotted(shot.rgb, points, radius_px=4), points)


def slight_gain(shot: Shot) -> np.ndarray:
    """Marked, and a little brighter by the severity."""
    return dotted(to_bytes(shot.rgb * (1.0 + shot.severity)), shot.truth)


def soft_dots(shot: Shot) -> np.ndarray:
    """Dots whose borders are soft by the severity in px."""
    cover = dotted(np.zeros_like(shot.rgb), shot.truth, (255, 255, 255)).astype(np.float32) / 255.0
    cover = cv2.GaussianBlur(cover, (0, 0), shot.severity)
    return to_bytes(shot.rgb * (1.0 - cover) + np.array([255.0, 0.0, 0.0]) * cover)


def dots_on_page(shot: Shot) -> Shown:
    """As many dots as the severity says on a page of text."""
    points = shot.random.uniform(0.05, 0.95, (200, 2)) * _page().shape[1::-1]
    kept = [points[0]]
    for point in points:
        apart = min(np.linalg.norm(point - other) for other in kept)
        if apart > 14 and len(kept) < shot.severity:
            kept.append(point)
    return _marked(_page(), np.array(kept))


def _marked(rgb: np.ndarray, points: np.ndarray) -> Shown:
    return Shown(rgb, right_answer("counting", rgb, points), points)


def _shown(shot: Shot, rgb: np.ndarray, truth: np.ndarray) -> Shown:
    return Shown(rgb, right_answer(shot.task, rgb, truth), truth)


def _ellipse(shot: Shot, centre: np.ndarray, radii: np.ndarray) -> np.ndarray:
    rows, columns = np.indices(shot.source.size)
    x, y = (columns - centre[0]) / max(radii[0], 1.0), (rows - centre[1]) / max(radii[1], 1.0)
    return x * x + y * y <= 1.0


def _pasted(shot: Shot, mask: np.ndarray, opacity: float) -> Shown:
    """Put a violet thing of this shape into the input; it is the target."""
    thing = blend(shot.rgb, np.broadcast_to([190, 20, 230], shot.rgb.shape), opacity)
    return _shown(shot, np.where(mask[..., None], thing, shot.rgb), mask)


def _hard(
    name: str,
    tasks: tuple[str, ...],
    severities: tuple[float, ...],
    unit: str,
    function: Function,
    per_severity: int = 6,
) -> Operator:
    return Operator(
        name, "A", "ok", tasks, severities, unit, function, per_severity=per_severity, is_hard=True
    )


OPERATORS = (
    Operator("plain_answer", "A", "ok", ALL, (0.0,), "-", plain_answer, per_severity=8),
    _hard("mild_jpeg", ALL, (5.0, 20.0, 40.0), "below 100", mild_jpeg),
    _hard("soft_edges", ("segmentation", "depth"), (0.5, 1.0, 2.0, 4.0), "px", soft_edges),
    _hard("whole_frame", SEGMENTATION, (0.85, 0.95, 0.99, 1.0), "of the frame", whole_frame, 2),
    _hard("tiny_target", SEGMENTATION, (0.05, 0.1, 0.2, 0.4), "%", tiny_target),
    _hard("thin_target", SEGMENTATION, (2.0, 3.0, 5.0), "px", thin_target),
    _hard("uniquely_coloured", SEGMENTATION, (0.3, 0.6, 1.0), "opacity", uniquely_coloured),
    _hard("word_on_page", SEGMENTATION, (0.1, 0.25, 0.5), "of the width", word_on_page, 3),
    _hard("weak_contrast", SEGMENTATION, (0.05, 0.15, 0.3), "-", weak_contrast),
    _hard("flat_wall", DEPTH, (20.0, 40.0, 80.0, 160.0), "levels", flat_wall, 3),
    _hard("curled_page", DEPTH, (25.0, 60.0, 120.0), "levels", curled_page, 2),
    _hard("coarse_levels", DEPTH, (8.0, 16.0, 48.0), "levels", coarse_levels),
    _hard("pale_depth", DEPTH, (0.2, 0.4, 0.7), "of the range", pale_depth),
    _hard("bent_code", DEPTH, (0.4, 0.7, 2.0, 3.0), "exponent", bent_code),
    _hard("grainy_depth", DEPTH, (2.0, 6.0, 12.0), "levels", grainy_depth),
    _hard("nothing_to_mark", COUNTING, (0.0, 1.0, 3.0), "levels", nothing_to_mark),
    _hard("dots_on_red", COUNTING, (0.0, 0.4, 0.8), "-", dots_on_red),
    _hard("one_dot", COUNTING, (2.0, 4.0, 6.0), "px", one_dot),
    _hard("crowd", COUNTING, (20.0, 40.0, 60.0), "dots", crowd),
    _hard("slight_gain", COUNTING, (0.01, 0.04, 0.1), "-", slight_gain),
    _hard("soft_dots", COUNTING, (0.5, 1.0, 1.5), "px", soft_dots),
    _hard("dots_on_page", COUNTING, (3.0, 9.0, 20.0), "dots", dots_on_page, 3),
)
