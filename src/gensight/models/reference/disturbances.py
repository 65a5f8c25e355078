"""One named fault on an otherwise perfect picture, at a stated severity.

Lengths are in per cent of the long side, so that curves of different tasks share one axis
(PROTOCOLS 1.7). Only the named thing changes:

    shift   to the right by severity % of the long side, rounded to whole pixels: nothing is
            resampled
    scale   enlarged about the centre until the ends of the long side have moved by severity % of
            it; enlarged, not shrunk, because then no picture has to be invented at the border
    blur    Gaussian, standard deviation severity % of the long side
    jpeg    written as JPEG of quality 100 - severity
    noise   Gaussian, standard deviation severity % of the full range, independent per pixel and
            channel, clipped; drawn from the turn's seed, the same pattern at every severity
    hue     turned by severity degrees in HSV; grey pictures are unchanged

Where content would come from outside the frame, the border is replicated: no new grey level enters.
For counting the whole marked picture is disturbed, as a generator that drifts would return it.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from gensight import images
from gensight.errors import SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference import canvas


def disturbed_reply(picture: np.ndarray, name: str, turn: Turn) -> Reply:
    """Return the picture (uint8 or uint16, grey or RGB) with one disturbance, as a reply.

    Raises:
        SpecError: the turn has no severity, or one outside the disturbance's range.
    """
    severity = checked_severity(name, turn.severity)
    if name == "jpeg":
        rgb = picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, axis=2)
        quality = round(100 - severity)
        return Reply(outcome=Outcome.OK, images=(images.encode_jpeg(rgb, quality=quality),))
    if name == "noise":
        return canvas.picture_reply(add_noise(picture, severity, turn.seed, turn.repeat))
    return canvas.picture_reply(GEOMETRIC_OR_TONAL[name](picture, severity))


def checked_severity(name: str, severity: float | None) -> float:
    """Return the severity of a turn.

    Raises:
        SpecError: it is missing, negative, or (jpeg) above 99.
    """
    if severity is None:
        raise SpecError(f"generation: severities: the disturbance '{name}' needs at least one")
    if severity < 0 or (name == "jpeg" and severity > 99):
        limits = "0 to 99" if name == "jpeg" else "at least 0"
        raise SpecError(f"generation: severities: {severity} is out of range ({name}: {limits})")
    return float(severity)


def shift(picture: np.ndarray, severity: float) -> np.ndarray:
    """Move a picture to the right by severity % of its long side, in whole pixels."""
    offset_px = int(np.floor(_length_px(picture, severity) + 0.5))
    columns = np.clip(np.arange(picture.shape[1]) - offset_px, 0, None)
    return np.ascontiguousarray(picture[:, columns])


def scale(picture: np.ndarray, severity: float) -> np.ndarray:
    """Enlarge a picture about its centre by the factor 1 + 2 x severity / 100, bilinear."""
    factor = 1.0 + 2.0 * severity / 100.0
    height, width = picture.shape[:2]
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    offset = (1.0 - factor) * centre
    matrix = np.array([[factor, 0.0, offset[0]], [0.0, factor, offset[1]]])
    return cv2.warpAffine(
        picture, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


def blur(picture: np.ndarray, severity: float) -> np.ndarray:
    """Blur a picture with a Gaussian of standard deviation severity % of its long side."""
    sigma_px = _length_px(picture, severity)
    if sigma_px == 0:
        return picture
    return cv2.GaussianBlur(picture, (0, 0), sigma_px, borderType=cv2.BORDER_REPLICATE)


def add_noise(picture: np.ndarray, severity: float, seed: int, repeat: int) -> np.ndarray:
    """Add Gaussian noise of standard deviation severity % of the full range of the picture."""
    generator = canvas.random_of(f"reference noise {seed} {repeat}")
    pattern = generator.standard_normal(picture.shape, dtype=np.float32)
    full = np.iinfo(picture.dtype).max
    noisy = picture + pattern * np.float32(severity / 100.0 * full)
    return np.clip(np.floor(noisy + 0.5), 0, full).astype(picture.dtype)


def turn_hue(picture: np.ndarray, severity: float) -> np.ndarray:
    """Turn the hue of a picture by severity degrees; saturation and value stay."""
    if picture.ndim == 2 or severity == 0:
        return picture
    hsv = cv2.cvtColor(picture.astype(np.float32) / 255.0, cv2.COLOR_RGB2HSV)
    hsv[..., 0] = (hsv[..., 0] + severity) % 360.0
    rgb = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    return np.clip(np.floor(rgb * 255.0 + 0.5), 0, 255).astype(np.uint8)


def _length_px(picture: np.ndarray, severity: float) -> float:
    return severity / 100.0 * max(picture.shape[:2])


GEOMETRIC_OR_TONAL: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "shift": shift,
    "scale": scale,
    "blur": blur,
    "hue": turn_hue,
}
