"""Right answers of split B: a plain one, and those that look like a failure at first sight."""

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
    at_size,
    blend,
    dot_radius_px,
    dotted,
    grey_picture,
    luminance,
    nearness,
    right_answer,
    through_jpeg,
    to_bytes,
)

SEGMENTATION, DEPTH, COUNTING = ("segmentation",), ("depth",), ("counting",)
ALL = ("segmentation", "depth", "counting")


@cache
def _shipped(file: str) -> np.ndarray:
    return sources.shipped(file)


def exact_reply(shot: Shot) -> np.ndarray:
    return shot.answer


def jpeg_q30(shot: Shot) -> np.ndarray:
    """JPEG of quality 30 and about."""
    return through_jpeg(shot.answer, 100.0 - shot.severity)


def returned_size(shot: Shot) -> np.ndarray:
    """At another size: the severity times that of the input."""
    return at_size(shot.answer, shot.severity)


# --- segmentation ---------------------------------------------------------------------------


def nearly_everything(shot: Shot) -> Shown:
    """All of the picture but for as many small holes as the severity says."""
    height, width = shot.source.size
    holes = shot.random.uniform(0.05, 0.95, (round(shot.severity), 2)) * [width, height]
    mask = np.full((height, width, 3), 255, np.uint8)
    mask = dotted(mask, holes, (0, 0, 0), max(4, width // 60))[..., 0] > 127
    rgb = np.where(mask[..., None], shot.rgb, np.array([225, 235, 245])).astype(np.uint8)
    return _shown(shot, rgb, mask)


def specks(shot: Shot) -> Shown:
    """Three specks far apart, together the severity in per cent of the picture."""
    height, width = shot.source.size
    radius_px = max(2, round(float(np.sqrt(shot.severity / 300.0 * height * width / np.pi))))
    centres = shot.random.uniform(0.08, 0.92, (3, 2)) * [width, height]
    blank = np.zeros((height, width, 3), np.uint8)
    return _dyed(shot, dotted(blank, centres, (255, 255, 255), radius_px)[..., 0] > 127, 0.8)


def thread(shot: Shot) -> Shown:
    """A curved line as wide as the severity in px."""
    height, width = shot.source.size
    x = np.linspace(0.05, 0.95, 120) * width
    swing = np.sin(np.linspace(0, shot.random.uniform(3, 9), 120) + shot.random.uniform(0, 6))
    y = (0.5 + 0.3 * swing) * height
    blank = np.zeros((height, width), np.uint8)
    points = np.stack([x, y], axis=1).round().astype(np.int32)
    cv2.polylines(blank, [points], False, 255, round(shot.severity))
    return _dyed(shot, blank > 127, 0.85)


def colour_of_its_own(shot: Shot) -> Shown:
    """The target dyed in a colour that nothing else has; the severity is the dye's strength."""
    return _dyed(shot, shot.truth, shot.severity)


def feathered(shot: Shot) -> np.ndarray:
    """A border that fades over the severity in px, with a little grain."""
    inside = cv2.distanceTransform(shot.truth.astype(np.uint8), cv2.DIST_L2, 5)
    outside = cv2.distanceTransform((~shot.truth).astype(np.uint8), cv2.DIST_L2, 5)
    level = 255.0 * np.clip(0.5 + (inside - outside) / (2.0 * shot.severity), 0.0, 1.0)
    return grey_picture(to_bytes(level + 3.0 * shot.random.standard_normal(level.shape)))


def silhouette(shot: Shot) -> Shown:
    """A black animal on white; the answer, white on black, is grown by the severity in px."""
    rgb = _shipped("horse.png")
    mask = luminance(rgb) < 128
    width_px = 2 * round(shot.severity) + 1
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((width_px, width_px), np.uint8)) > 0
    return Shown(rgb, right_answer("segmentation", rgb, grown), mask)


def tinted_levels(shot: Shot) -> np.ndarray:
    """Cream for white and navy for black, more so with the severity."""
    cream, navy = np.array([255, 246, 226]), np.array([6, 10, 46])
    tinted = np.where(shot.answer > 127, cream, navy)
    return blend(shot.answer, tinted, shot.severity)


# --- depth ----------------------------------------------------------------------------------


def lawn(shot: Shot) -> Shown:
    """A lawn or gravel seen from above; the severity is how many grey levels its depth spans."""
    rgb = _shipped("grass.png" if shot.random.random() < 0.5 else "gravel.png")
    rows, columns = np.indices(rgb.shape[:2])
    centre = shot.random.uniform(0.3, 0.7, 2) * rgb.shape[0]
    depth_m = np.hypot(2.0, (np.hypot(rows - centre[0], columns - centre[1]) / 400.0))
    answer = 120.0 + shot.severity * (nearness(depth_m) - 0.5)
    return Shown(rgb, grey_picture(to_bytes(answer)), depth_m.astype(np.float32))


def lettering(shot: Shot) -> Shown:
    """A board with dark letters, seen aslant; the severity is its span in grey levels."""
    rgb = _shipped("text.png")
    depth_m = np.repeat(np.linspace(1.0, 1.6, rgb.shape[1])[None], rgb.shape[0], axis=0)
    answer = 128.0 + shot.severity * (nearness(depth_m) - 0.5)
    return Shown(rgb, grey_picture(to_bytes(answer)), depth_m.astype(np.float32))


def disparity_code(shot: Shot) -> np.ndarray:
    """Grey linear in 1 / depth, blended over grey linear in depth by the severity."""
    low_m, high_m = np.percentile(shot.truth, (1, 99))
    inverse = 1.0 / np.clip(shot.truth, low_m, high_m)
    code = (inverse - 1.0 / high_m) / max(float(1.0 / low_m - 1.0 / high_m), 1e-9)
    mixed = (1.0 - shot.severity) * nearness(shot.truth) + shot.severity * code
    return grey_picture(to_bytes(255.0 * mixed))


def two_planes(shot: Shot) -> Shown:
    """A thing far before its background; the severity is what the background spans in levels."""
    height, width = shot.source.size
    assert shot.source.mask is not None
    slope = np.repeat(np.linspace(0.0, 1.0, height)[:, None], width, axis=1)
    depth_m = np.where(shot.source.mask, 1.0 + 0.1 * slope, 20.0 - 2.0 * slope)
    answer = np.where(shot.source.mask, 225.0 + 8.0 * slope, 15.0 + shot.severity * slope)
    return Shown(shot.rgb, grey_picture(to_bytes(answer)), depth_m.astype(np.float32))


def texture_leak(shot: Shot) -> np.ndarray:
    """A little of the input's texture in the depth: the severity is its share."""
    grey = luminance(shot.rgb).astype(np.float32)
    detail = grey - cv2.GaussianBlur(grey, (0, 0), 6.0)
    return grey_picture(to_bytes(255.0 * nearness(shot.truth) + shot.severity * detail))


def clipped_ends(shot: Shot) -> np.ndarray:
    """Pure black and pure white beyond the middle: a steeper code by the severity."""
    return grey_picture(to_bytes(127.5 + 255.0 * shot.severity * (nearness(shot.truth) - 0.5)))


def cast_depth(shot: Shot) -> np.ndarray:
    """Grey with a slight cast: channels apart by the severity in levels."""
    return to_bytes(shot.answer + shot.severity * np.array([0.5, 0.0, -0.5]))


# --- counting -------------------------------------------------------------------------------


def none_of_these(shot: Shot) -> Shown:
    """Nothing of what is counted is there: the picture comes back resaved, without a mark."""
    return Shown(shot.rgb, through_jpeg(shot.rgb, 100.0 - shot.severity), np.zeros((0, 2)))


def dots_on_crimson(shot: Shot) -> Shown:
    """A red carpet in the picture, and dots on it and beside it; the severity is its size."""
    height, width = shot.source.size
    rgb = shot.rgb.copy()
    left, top = (shot.random.random(2) * (1 - shot.severity) * [width, height]).astype(int)
    rgb[top : top + int(shot.severity * height), left : left + int(shot.severity * width)] = (
        *(206, 22, 40),
    )
    return Shown(rgb, dotted(rgb, shot.truth), shot.truth)


def uneven_dots(shot: Shot) -> np.ndarray:
    """Dots of unlike sizes and slightly unlike reds."""
    marked, radius_px = shot.rgb.copy(), dot_radius_px(shot.truth)
    for point in shot.truth:
        red = tuple(
            to_bytes([255.0 - 30 * shot.random.random(), *shot.random.uniform(0, 40, 2)]).tolist()
        )
        grown = max(2, round(radius_px * (1.0 + shot.severity * shot.random.uniform(-1, 0.6))))
        marked = dotted(marked, point[None], red, grown)
    return marked


def warm_cast(shot: Shot) -> np.ndarray:
    """Marked, with a warmer light by the severity."""
    warmer = shot.rgb * (1.0 + shot.severity * np.array([1.0, 0.2, -1.0]))
    return dotted(to_bytes(warmer), shot.truth)


def dots_at_the_border(shot: Shot) -> Shown:
    """Dots close to the four sides, as far from them as the severity in px."""
    height, width = shot.source.size
    x, y = shot.random.uniform(0.2, 0.8, 2) * [width, height]
    away = shot.severity
    points = np.array([[x, away], [x, height - 1 - away], [away, y], [width - 1 - away, y]])
    return Shown(shot.rgb, dotted(shot.rgb, points, radius_px=4), points)


def dots_on_letters(shot: Shot) -> Shown:
    """As many dots as the severity says on a board with letters."""
    rgb = _shipped("text.png")
    x = np.linspace(0.08, 0.92, round(shot.severity)) * rgb.shape[1]
    y = shot.random.uniform(0.15, 0.85, len(x)) * rgb.shape[0]
    points = np.stack([x, y], axis=1)
    return Shown(rgb, dotted(rgb, points, radius_px=4), points)


def _shown(shot: Shot, rgb: np.ndarray, truth: np.ndarray) -> Shown:
    return Shown(rgb, right_answer(shot.task, rgb, truth), truth)


def _dyed(shot: Shot, mask: np.ndarray, strength: float) -> Shown:
    """Dye a part of the input turquoise, its texture kept; it is the target."""
    shade = luminance(shot.rgb)[..., None] / 255.0
    dyed = blend(shot.rgb, np.array([30, 235, 220]) * (0.35 + 0.65 * shade), strength)
    return _shown(shot, np.where(mask[..., None], dyed, shot.rgb), mask)


def _hard(
    name: str,
    tasks: tuple[str, ...],
    severities: tuple[float, ...],
    unit: str,
    function: Function,
    per_severity: int = 8,
) -> Operator:
    return Operator(
        name, "B", "ok", tasks, severities, unit, function, per_severity=per_severity, is_hard=True
    )


OPERATORS = (
    Operator("exact_reply", "B", "ok", ALL, (0.0,), "-", exact_reply, per_severity=8),
    _hard("jpeg_q30", ALL, (60.0, 70.0, 80.0), "below 100", jpeg_q30),
    _hard("returned_size", ALL, (0.5, 0.8, 1.6), "of the size", returned_size),
    _hard("nearly_everything", SEGMENTATION, (0.0, 2.0, 12.0), "holes", nearly_everything),
    _hard("specks", SEGMENTATION, (0.05, 0.15, 0.4), "%", specks),
    _hard("thread", SEGMENTATION, (2.0, 3.0, 5.0), "px", thread),
    _hard("colour_of_its_own", SEGMENTATION, (0.3, 0.6, 1.0), "-", colour_of_its_own),
    _hard("feathered", SEGMENTATION, (2.0, 5.0, 10.0), "px", feathered),
    _hard("silhouette", SEGMENTATION, (0.0, 1.0, 3.0), "px", silhouette, 1),
    _hard("tinted_levels", SEGMENTATION, (0.3, 0.6, 1.0), "-", tinted_levels),
    _hard("lawn", DEPTH, (20.0, 50.0, 110.0), "levels", lawn, 4),
    _hard("lettering", DEPTH, (25.0, 70.0, 140.0), "levels", lettering, 2),
    _hard("disparity_code", DEPTH, (0.3, 0.6, 1.0), "-", disparity_code),
    _hard("two_planes", DEPTH, (5.0, 25.0, 60.0), "levels", two_planes),
    _hard("texture_leak", DEPTH, (0.03, 0.08, 0.2), "-", texture_leak),
    _hard("clipped_ends", DEPTH, (1.2, 1.7, 2.5), "-", clipped_ends),
    _hard("cast_depth", DEPTH, (4.0, 10.0, 20.0), "levels", cast_depth),
    _hard("none_of_these", COUNTING, (5.0, 20.0, 45.0), "below 100", none_of_these),
    _hard("dots_on_crimson", COUNTING, (0.2, 0.5, 0.8), "of the side", dots_on_crimson),
    _hard("uneven_dots", COUNTING, (0.1, 0.2, 0.35, 0.5), "of the radius", uneven_dots),
    _hard("warm_cast", COUNTING, (0.01, 0.04, 0.1), "-", warm_cast),
    _hard("dots_at_the_border", COUNTING, (5.0, 8.0, 16.0, 30.0), "px", dots_at_the_border),
    _hard("dots_on_letters", COUNTING, (3.0, 8.0, 16.0), "dots", dots_on_letters, 4),
)
