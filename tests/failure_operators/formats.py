"""Another kind of picture than the one asked for, and masks in the wrong polarity."""

from __future__ import annotations

import cv2
import numpy as np

from failure_operators.shots import (
    Operator,
    Shot,
    at_size,
    blend,
    dotted,
    grey_picture,
    labels,
    nearness,
    smooth_noise,
    target,
    to_bytes,
)

SEGMENTATION, DEPTH, COUNTING = ("segmentation",), ("depth",), ("counting",)
MAPPED = ("segmentation", "depth")
ALL = ("segmentation", "depth", "counting")
SHARES = (0.08, 0.2, 0.4, 0.6, 0.85)

COLOURS = np.array(
    [
        [230, 60, 60], [60, 180, 75], [255, 225, 25], [0, 130, 200], [245, 130, 48],
        [145, 30, 180], [70, 240, 240], [240, 50, 230], [210, 245, 60], [170, 110, 40],
    ]
)  # fmt: skip


def empty_canvas(shot: Shot) -> np.ndarray:
    """Red dots at the right places of an empty white picture."""
    return dotted(np.full_like(shot.rgb, 255), shot.truth)


def coloured_foreground(shot: Shot) -> np.ndarray:
    """The target in one colour on black; the severity is the colour's saturation."""
    colour = COLOURS[shot.random.integers(len(COLOURS))]
    shade = blend(np.full(3, 255), colour, shot.severity)
    return np.where(target(shot)[..., None], shade, 0).astype(np.uint8)


def class_colours(shot: Shot) -> np.ndarray:
    """Every thing in a colour of its own; the severity is the colours' saturation."""
    picked = COLOURS[shot.random.permutation(len(COLOURS))]
    palette = blend(np.full_like(picked, 200), picked, shot.severity)
    return palette[labels(shot) % len(palette)]


def negative(shot: Shot) -> np.ndarray:
    """Black target on white; the severity is the blur of its border in px."""
    mask = 255 - shot.answer
    return cv2.GaussianBlur(mask, (0, 0), shot.severity) if shot.severity else mask


def ink_on_paper(shot: Shot) -> np.ndarray:
    """A dark target on warm paper; the severity is how much lighter the ink is, 0 to 1."""
    ink = np.array([20, 20, 30]) + 120.0 * shot.severity
    paper = np.array([248, 244, 232])
    return to_bytes(np.where(target(shot)[..., None], ink, paper))


def depth_for_mask(shot: Shot) -> np.ndarray:
    """A depth map where a mask was asked for; the severity is its contrast."""
    assert shot.source.depth_m is not None
    return grey_picture(
        to_bytes(127.5 + 255.0 * shot.severity * (nearness(shot.source.depth_m) - 0.5))
    )


def attention_map(shot: Shot) -> np.ndarray:
    """A soft grey blob about the target; the severity is its spread in % of the long side."""
    height, width = shot.source.size
    sigma_px = shot.severity / 100.0 * max(height, width)
    soft = cv2.GaussianBlur(target(shot).astype(np.float32), (0, 0), sigma_px)
    uneven = 0.12 * smooth_noise(shot.random, height, width, 5)[..., 0]
    return grey_picture(
        to_bytes(255.0 * (0.15 + 0.8 * soft / max(float(soft.max()), 1e-6) + uneven))
    )


def jet_depth(shot: Shot) -> np.ndarray:
    """Depth in rainbow colours; the severity is how much of them is blended over grey."""
    return blend(shot.answer, _coloured(shot.answer[..., 0], cv2.COLORMAP_JET), shot.severity)


def inferno_depth(shot: Shot) -> np.ndarray:
    """Depth from black over purple to yellow, blended over grey by the severity."""
    return blend(shot.answer, _coloured(shot.answer[..., 0], cv2.COLORMAP_INFERNO), shot.severity)


def mask_instead(shot: Shot) -> np.ndarray:
    """A mask of one thing; the severity is the blur of its border in px."""
    mask = grey_picture(target(shot) * np.uint8(255))
    return cv2.GaussianBlur(mask, (0, 0), shot.severity) if shot.severity else mask


def two_grounds(shot: Shot) -> np.ndarray:
    """Depth cut into near and far at the severity's quantile."""
    near = nearness(shot.truth)
    return grey_picture((near > np.quantile(near, shot.severity)) * np.uint8(255))


def colour_regions(shot: Shot) -> np.ndarray:
    """The colours of the input, as many as the severity says, each in a grey of its own."""
    small = cv2.resize(shot.rgb, (64, 64), interpolation=cv2.INTER_AREA).reshape(-1, 3)
    number = round(shot.severity)
    centres = small[shot.random.choice(len(small), number, replace=False)].astype(np.float32)
    smooth = cv2.medianBlur(shot.rgb, 7).astype(np.float32)
    nearest = np.stack([((smooth - centre) ** 2).sum(axis=2) for centre in centres]).argmin(axis=0)
    return grey_picture(
        shot.random.permutation(np.linspace(10, 245, number))[nearest].astype(np.uint8)
    )


def patches(shot: Shot) -> np.ndarray:
    """Patches around random seeds, as many as the severity says, each in its mean grey."""
    height, width = shot.source.size
    number = round(shot.severity)
    seeds = np.ones((height, width), np.uint8)
    seeds[shot.random.integers(0, height, number), shot.random.integers(0, width, number)] = 0
    _, owner = cv2.distanceTransformWithLabels(seeds, cv2.DIST_L2, 5)
    grey = cv2.cvtColor(shot.rgb, cv2.COLOR_RGB2GRAY).astype(np.float64)
    total = np.bincount(owner.ravel(), grey.ravel())
    return grey_picture(to_bytes(total / np.maximum(np.bincount(owner.ravel()), 1))[owner])


def side_by_side(shot: Shot) -> np.ndarray:
    """Input and answer beside each other; the answer's share of the width is the severity."""
    height, width = shot.source.size
    right = round(width * shot.severity)
    panels = [_squeezed(shot.rgb, width - right, height), _squeezed(shot.answer, right, height)]
    return np.concatenate(panels, axis=1)


def four_panels(shot: Shot) -> np.ndarray:
    """Four small versions of the answer on one sheet, mirrored, with lines between them."""
    half = at_size(shot.answer, 0.5)
    row = np.concatenate([half, half[:, ::-1]], axis=1)
    sheet = np.concatenate([row, row[::-1]], axis=0)
    sheet[half.shape[0] - 2 : half.shape[0] + 2] = 150
    sheet[:, half.shape[1] - 2 : half.shape[1] + 2] = 150
    return sheet


def caption(shot: Shot) -> np.ndarray:
    """A page with words instead of a picture; the severity is the number of lines."""
    page = np.full(shot.rgb.shape, 252, np.uint8)
    words = ("the answer", f"about {shot.random.integers(2, 90)}", "see below", "in the picture")
    for line in range(round(shot.severity)):
        place = (24, 60 + 46 * line)
        cv2.putText(page, words[line % 4], place, cv2.FONT_HERSHEY_SIMPLEX, 1.3, (20, 20, 20), 3)
    return page


def edges_instead(shot: Shot) -> np.ndarray:
    """All edges of the input, white on black; a higher severity keeps fewer."""
    grey = cv2.GaussianBlur(cv2.cvtColor(shot.rgb, cv2.COLOR_RGB2GRAY), (0, 0), 1.2)
    return grey_picture(cv2.Canny(grey, 40 * shot.severity, 110 * shot.severity))


def normals_instead(shot: Shot) -> np.ndarray:
    """Surface normals in three channels; the severity exaggerates the relief."""
    relief = cv2.GaussianBlur(nearness(shot.truth).astype(np.float32), (0, 0), 1.5)
    down, across = np.gradient(40.0 * shot.severity * relief)
    normals = np.stack([-across, down, np.ones_like(down)], axis=2)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    return to_bytes(127.5 * (normals + 1.0))


def _coloured(grey: np.ndarray, name: int) -> np.ndarray:
    return cv2.cvtColor(cv2.applyColorMap(np.ascontiguousarray(grey), name), cv2.COLOR_BGR2RGB)


def _squeezed(picture: np.ndarray, width: int, height: int) -> np.ndarray:
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


OPERATORS = (
    Operator(
        "coloured_foreground", "A", "colour_mask", SEGMENTATION, SHARES, "-", coloured_foreground
    ),
    Operator(
        "depth_for_mask",
        "A",
        "grey",
        SEGMENTATION,
        (0.2, 0.5, 0.8, 1.0),
        "-",
        depth_for_mask,
        without=("coco",),
    ),
    Operator("negative", "A", "inverted", SEGMENTATION, (0.0, 1.0, 3.0), "px", negative),
    Operator("jet_depth", "A", "colormap", DEPTH, SHARES, "-", jet_depth),
    Operator(
        "mask_instead", "A", "mask", ("depth", "counting"), (0.0, 1.0, 3.0, 6.0), "px", mask_instead
    ),
    Operator(
        "colour_regions",
        "A",
        "flat_regions",
        DEPTH,
        (3.0, 6.0, 12.0, 24.0),
        "regions",
        colour_regions,
    ),
    Operator(
        "side_by_side", "A", "other_format", ALL, (0.1, 0.3, 0.5), "of the width", side_by_side
    ),
    Operator("caption", "A", "other_format", ALL, (1.0, 4.0), "lines", caption),
    Operator(
        "empty_canvas", "A", "other_format", COUNTING, (0.0,), "-", empty_canvas, per_severity=3
    ),
    Operator("class_colours", "B", "colour_mask", SEGMENTATION, SHARES, "-", class_colours),
    Operator(
        "attention_map", "B", "grey", SEGMENTATION, (2.0, 5.0, 10.0, 20.0), "%", attention_map
    ),
    Operator("ink_on_paper", "B", "inverted", SEGMENTATION, (0.0, 0.4, 0.8), "-", ink_on_paper),
    Operator("inferno_depth", "B", "colormap", DEPTH, SHARES, "-", inferno_depth),
    Operator("two_grounds", "B", "mask", DEPTH, (0.3, 0.6, 0.9), "quantile", two_grounds),
    Operator("blurred_blobs", "B", "mask", COUNTING, (0.0, 2.0, 5.0), "px", mask_instead),
    Operator("patches", "B", "flat_regions", DEPTH, (12.0, 60.0, 250.0), "regions", patches),
    Operator("four_panels", "B", "other_format", ALL, (0.0,), "-", four_panels, per_severity=3),
    Operator("edges_instead", "B", "other_format", MAPPED, (0.5, 1.0, 2.0), "-", edges_instead),
    Operator("normals_instead", "B", "other_format", DEPTH, (0.3, 1.0, 3.0), "-", normals_instead),
)
