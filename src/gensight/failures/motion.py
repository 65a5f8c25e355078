"""Features of both pictures, moved: kept edges, registration, local flow."""

from __future__ import annotations

import math

import cv2
import numpy as np
from scipy import fft

from gensight.failures.pictures import (
    CANNY_SIGMA_PX,
    Pair,
    edges,
    mean_within,
    one_thread,
    ssim_map,
)

TOLERANCE_PX = 2
# Edges attract within a few pixels; the mean of this box is taken off, so clutter attracts nothing.
ATTRACTION_PX, BOX_PX = 2.0, 41
SCALES = (0.9, 0.95, 1.0, 1.05, 1.1)
MAX_SHIFT_SHARE = 0.1
# Long sides of the pyramid of the registration, in px, and its iterations there.
PYRAMID = ((96, 60), (192, 40), (384, 20))
CONVERGED = 1e-4
REGISTRATION_BLUR_PX = 5
# A registration this good from the first start is not tried from another.
GOOD_ENOUGH = 0.95
TEXTURED_PERCENTILE = 60


def edge_agreement(pair: Pair) -> dict[str, float]:
    """Return the share of the input's edges kept by the answer, and of the answer's that are its.

    An input without edges keeps none (0): what a drawing of it shows is its own. An answer without
    edges invents none (1).
    """
    recall, precision = _agreement(pair, pair.answer_edges)
    n_edges = float(np.count_nonzero(pair.answer_edges))
    return {"edge_recall": recall, "edge_precision": precision, "answer_edge_px": n_edges}


def _agreement(pair: Pair, answer_edges: np.ndarray) -> tuple[float, float]:
    reach = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * TOLERANCE_PX + 1,) * 2)
    near_answer = cv2.dilate(answer_edges.astype(np.uint8), reach) > 0
    kept = near_answer[pair.source_edges]
    own = pair.source_edge_distance[answer_edges] <= TOLERANCE_PX
    return _share(kept, 0.0), _share(own, 1.0)


def _share(hits: np.ndarray, of_none: float) -> float:
    return float(hits.mean()) if hits.size else of_none


def edge_alignment(pair: Pair) -> dict[str, float]:
    """Return the shift and scale at which the answer's edges lie best on the input's.

    For drawings that share few edges with the input (masks, depth): correlation, by FFT, of the
    answer's edges with a map that attracts near the input's edges, over five scales and shifts up
    to 10 % of the long side. The shift is what the answer needs, to the right and down;
    `edge_gain` is what it adds to the share of the answer's edges that lie on the input's.
    """
    distance, points = pair.source_edge_distance, np.argwhere(pair.answer_edges)
    _, before = _agreement(pair, pair.answer_edges)
    scale, shift = 1.0, np.zeros(2)
    if len(points) and pair.source_edges.any():
        scale, shift = _best_move(distance, points, round(MAX_SHIFT_SHARE * pair.long_side_px))
    landed = np.rint(_scaled(points, scale, distance.shape) + shift).astype(np.int64)
    after = _share(_distances_at(distance, landed) <= TOLERANCE_PX, 1.0)
    return {
        "edge_shift_x_share": float(shift[1]) / pair.long_side_px,
        "edge_shift_y_share": float(shift[0]) / pair.long_side_px,
        "edge_scale": scale,
        "edge_precision_aligned": after,
        "edge_gain": after - before,
    }


def _best_move(distance: np.ndarray, points: np.ndarray, reach: int) -> tuple[float, np.ndarray]:
    """Return the scale and the shift (rows, columns) of points (n, 2) that attract most."""
    attraction = np.exp(-(distance**2) / (2 * ATTRACTION_PX**2))
    attraction -= cv2.boxFilter(attraction, -1, (BOX_PX, BOX_PX))
    padded = tuple(fft.next_fast_len(side + 2 * reach, real=True) for side in attraction.shape)
    attracted = fft.rfft2(attraction, padded)
    best = (-math.inf, 1.0, np.zeros(2))
    for scale in SCALES:
        moved = np.rint(_scaled(points, scale, distance.shape)).astype(np.int64)
        score, shift = _best_shift(attracted, moved, distance.shape, padded, reach)
        best = max(best, (score, scale, shift), key=lambda found: found[0])
    return best[1:]


def _scaled(points: np.ndarray, scale: float, shape: tuple[int, int]) -> np.ndarray:
    """Return points (n, 2) as row, column, spread about the centre of the picture."""
    centre = (np.array(shape) - 1) / 2
    return (points - centre) * scale + centre


def _best_shift(
    attracted: np.ndarray,
    points: np.ndarray,
    shape: tuple[int, int],
    padded: tuple[int, int],
    reach: int,
) -> tuple[float, np.ndarray]:
    """Return the highest mean attraction over shifts of points, and that shift (row, column)."""
    inside = points[((points >= 0) & (points < shape)).all(axis=1)]
    drawn = np.zeros(padded, np.float32)
    drawn[tuple(inside.T)] = 1
    found = fft.irfft2(attracted * fft.rfft2(drawn).conj(), padded)
    around = np.roll(found, (reach, reach), axis=(0, 1))[: 2 * reach + 1, : 2 * reach + 1]
    place = np.unravel_index(int(around.argmax()), around.shape)
    return float(around[place]) / max(len(points), 1), np.array(place) - reach


def _distances_at(distance: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the distances at points (n, 2) as row, column; infinite outside the picture."""
    inside = ((points >= 0) & (points < distance.shape)).all(axis=1)
    found = np.full(len(points), np.inf)
    found[inside] = distance[tuple(points[inside].T)]
    return found


def registration(pair: Pair) -> dict[str, float]:
    """Return the affine map that lays the answer on the input, and what is alike after it.

    Enhanced correlation (Evangelidis and Psarakis 2008) on a pyramid, from the identity and from a
    log-polar estimate. `registration` is the correlation (0 where nothing converged); the shift is
    that of the centre, `scale` the root of the determinant.
    """
    with one_thread():
        found = max(_registrations(pair), key=lambda match: match[0])
    correlation, warp = found
    width, height = pair.size
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    shift = warp[:, :2] @ centre + warp[:, 2] - centre
    aligned = cv2.warpAffine(
        pair.answer_grey, warp, pair.size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    )
    seen = _frame(pair, warp)
    likeness = mean_within(ssim_map(pair.source_grey, aligned), seen)
    return {
        "registration": correlation,
        "shift_x_share": float(shift[0]) / pair.long_side_px,
        "shift_y_share": float(shift[1]) / pair.long_side_px,
        "scale": math.sqrt(abs(float(np.linalg.det(warp[:, :2].astype(np.float64))))),
        "anisotropy": _anisotropy(warp),
        "rotation_deg": math.degrees(math.atan2(warp[1, 0] - warp[0, 1], warp[0, 0] + warp[1, 1])),
        "ssim_aligned": likeness,
        "ssim_gain": likeness - mean_within(pair.likeness, seen),
        "edge_recall_aligned": _agreement(pair, edges(aligned) & seen)[0],
    }


def _anisotropy(warp: np.ndarray) -> float:
    """Return the larger over the smaller scale of an affine map; infinite where it collapses."""
    large, small = np.linalg.svd(warp[:, :2].astype(np.float64), compute_uv=False)
    return float(large / small) if small > 0 else math.inf


def _frame(pair: Pair, warp: np.ndarray) -> np.ndarray:
    """Return where the moved answer has pixels, with a margin for windows, bool (H, W)."""
    full = np.full(pair.answer_grey.shape, 255, np.uint8)
    seen = cv2.warpAffine(full, warp, pair.size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    return cv2.erode(seen, np.ones((11, 11), np.uint8), borderValue=255) == 255


def _registrations(pair: Pair) -> list[tuple[float, np.ndarray]]:
    identity = np.eye(2, 3, dtype=np.float32)
    found = [_registered(pair, identity)]
    if found[0][0] < GOOD_ENOUGH:
        found.append(_registered(pair, log_polar_start(pair.source_grey, pair.answer_grey)))
    return found


def _registered(pair: Pair, start: np.ndarray) -> tuple[float, np.ndarray]:
    """Return correlation and warp (2, 3) at the full grid; 0 and the identity if none is found."""
    warp, correlation, side = start.copy(), 0.0, pair.long_side_px
    for level_px, iterations in PYRAMID:
        factor = min(1.0, level_px / side)
        size = tuple(max(8, round(length * factor)) for length in pair.size)
        level = warp.copy()
        level[:, 2] *= factor
        shrunk = (
            cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
            for grey in (pair.source_grey, pair.answer_grey)
        )
        stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, iterations, CONVERGED)
        try:
            correlation, level = cv2.findTransformECC(
                *shrunk, level, cv2.MOTION_AFFINE, stop, None, REGISTRATION_BLUR_PX
            )
        except cv2.error:
            # Flat pictures have no correlation, and unlike ones diverge: then nothing is found.
            return 0.0, np.eye(2, 3, dtype=np.float32)
        warp = level
        warp[:, 2] /= factor
    if not np.isfinite(correlation) or not np.isfinite(warp).all():
        return 0.0, np.eye(2, 3, dtype=np.float32)
    return float(correlation), warp


def log_polar_start(source: np.ndarray, answer: np.ndarray) -> np.ndarray:
    """Return a first guess of the similarity (2, 3) that takes input places to answer places.

    Rotation and scale from the phase correlation of log-polar spectra, the shift from that of the
    pictures brought back by them (Reddy and Chatterji 1996).
    """
    side = 256
    window = cv2.createHanningWindow((side, side), cv2.CV_32F)
    squares = [
        cv2.resize(grey, (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)
        for grey in (source, answer)
    ]
    polar = [_log_polar_spectrum((square - square.mean()) * window) for square in squares]
    (across, down), _ = cv2.phaseCorrelate(*polar, cv2.createHanningWindow(polar[0].shape[::-1], 5))
    scale = math.exp(-across * math.log(side / 2) / polar[0].shape[1])
    angle_deg = down * 360 / polar[0].shape[0]
    if not (0.8 < scale < 1.25 and abs(angle_deg) < 15):
        scale, angle_deg = 1.0, 0.0
    height, width = source.shape
    warp = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -angle_deg, scale)
    back = cv2.warpAffine(
        answer,
        warp,
        (width, height),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    hanning = cv2.createHanningWindow((width, height), cv2.CV_32F)
    shift, _ = cv2.phaseCorrelate(source.astype(np.float32), back.astype(np.float32), hanning)
    warp[:, 2] += warp[:, :2] @ np.array(shift)
    return warp.astype(np.float32)


def _log_polar_spectrum(square: np.ndarray) -> np.ndarray:
    spectrum = np.abs(np.fft.fftshift(np.fft.fft2(square))).astype(np.float32)
    side = square.shape[0]
    return cv2.warpPolar(
        np.log1p(spectrum),
        (side, side),
        (side / 2, side / 2),
        side / 2,
        cv2.INTER_LINEAR | cv2.WARP_POLAR_LOG,
    )


def flow(pair: Pair) -> dict[str, float]:
    """Return how far textured places moved, and what undoing every local move gains.

    Dense inverse search (Kroeger et al. 2016) on equalised grey. `flow_px` is the median length of
    the flow on the textured 40 % of the input, `flow_gain` the similarity after warping the answer
    by the flow minus that before.
    """
    equalise = cv2.createCLAHE(clipLimit=2.0, tileGridSize=(8, 8))
    with one_thread():
        search = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        moved = search.calc(*map(equalise.apply, (pair.source_grey, pair.answer_grey)), None)
    length = np.hypot(moved[:, :, 0], moved[:, :, 1])
    rows, columns = np.mgrid[: length.shape[0], : length.shape[1]].astype(np.float32)
    back = cv2.remap(
        pair.answer_grey,
        columns + moved[:, :, 0],
        rows + moved[:, :, 1],
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    gain = mean_within(ssim_map(pair.source_grey, back)) - mean_within(pair.likeness)
    return {
        "flow_px": float(np.median(length[_textured(pair.source_grey)])),
        "flow_gain": gain,
    }


def _textured(grey: np.ndarray) -> np.ndarray:
    smooth = cv2.GaussianBlur(grey, (0, 0), CANNY_SIGMA_PX).astype(np.float32)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    slope = np.hypot(across, down)
    return slope >= np.percentile(slope, TEXTURED_PERCENTILE)
