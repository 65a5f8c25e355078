"""A descriptor without weights: edges and colours of a picture, by scikit-image.

It stands in for SigLIP where nothing can be downloaded, so that the whole road can be walked. It is
validated against nothing (PROTOCOLS 4.2): its scores say that the road is open, and no more.

A vector has three parts, each of unit length, weighted by shares that sum to one, so that a cosine
is the weighted mean of three: oriented gradients (Dalal and Triggs 2005) of lightness and colour,
the picture at a few pixels in CIELAB, and how often which colour occurs. All numbers are ours.

A text has the vector of a drawing: the second own drawing of the concept that it names, other in
geometry, colours and style than the first, which is what models are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gensight.digests import canonical_json
from gensight.encoders._pictures import ENLARGING, UPSCALERS, checked
from gensight.encoders._vectors import unit
from gensight.errors import GensightError, SpecError
from gensight.images import resize_depth, resize_picture
from gensight.pixels.lab import lab_of
from gensight.specs.words import nearest

VERSION = 1
READS_TEXT = True
STAND_IN = True
# Texts have the vectors of drawings.
USES = {"datasets": ["icons"]}
DEFAULTS = {
    **ENLARGING,
    # The picture is looked at as a square of this side, squashed as SigLIP squashes.
    "assumed_side_px": 64,
    "assumed_orientations": 9,
    "assumed_cell_px": 8,
    "assumed_thumbnail_px": 8,
    # Classes of L*, a* and b* each.
    "assumed_bins": 6,
    # Parts of a cosine; colours have the rest.
    "assumed_gradient_share": 0.5,
    "assumed_thumbnail_share": 0.25,
    # PixelBench 2.3 and Appendix F.
    "template": "a pixel art icon depicting {label}.",
    # Own drawings are drawn at this side, on white as grids mostly are.
    "assumed_drawing_px": 256,
}
CHOICES = {**UPSCALERS}
BLOCK_CELLS = 2
# Limits of the histogram: what sRGB reaches in a* and b*, rounded outwards.
LAB_RANGES = ((0.0, 100.0), (-90.0, 100.0), (-110.0, 95.0))
WHITE = (255, 255, 255)
SECOND = "second"


def open_encoder(settings: Mapping[str, Any], root: Path) -> Descriptor:
    """Return the descriptor with these settings; nothing is loaded and `root` is not looked at.

    Raises:
        SpecError: shares that leave colours less than nothing, or sizes that do not divide.
    """
    shares = settings["assumed_gradient_share"], settings["assumed_thumbnail_share"]
    if min(shares) < 0 or sum(shares) > 1:
        raise SpecError(
            f"encoder descriptor: settings.assumed_gradient_share: the shares {shares[0]} and "
            f"{shares[1]} are to be at least 0 and at most 1 together"
        )
    side, cell = settings["assumed_side_px"], settings["assumed_cell_px"]
    if cell < 1 or side % cell or side // cell < BLOCK_CELLS:
        raise SpecError(
            f"encoder descriptor: settings.assumed_cell_px: cells of {cell} px do not fill a side "
            f"of {side} px at least {BLOCK_CELLS} times; take a divisor of at most half of it"
        )
    if settings["template"].count("{label}") != 1:
        raise SpecError("encoder descriptor: settings.template: it has to hold {label} once")
    return Descriptor(settings)


@dataclass(frozen=True)
class Descriptor:
    """A descriptor with its settings."""

    settings: Mapping[str, Any]

    @property
    def dimensions(self) -> int:
        """The length of its vectors: gradients, thumbnail and colours, one after the other."""
        known = self.settings
        blocks = known["assumed_side_px"] // known["assumed_cell_px"] - BLOCK_CELLS + 1
        gradients = (blocks * BLOCK_CELLS) ** 2 * known["assumed_orientations"]
        return gradients + 3 * known["assumed_thumbnail_px"] ** 2 + known["assumed_bins"] ** 3

    @property
    def setup(self) -> str:
        """The version of scikit-image, as JSON."""
        return canonical_json({"weights": None, "libraries": {"scikit-image": _version()}})

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return the vectors of pictures, as `Encoder.pictures`.

        None is zero as long as colours have a share: every picture has some.
        """
        where = "encoder descriptor"
        rows = [self._row(picture) for picture in checked(pictures, where)]
        return unit(np.array(rows).reshape(len(rows), self.dimensions), where)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of the second own drawings of the concepts that texts name.

        Raises:
            GensightError: a text is not the template's, or names a concept without own drawings.
        """
        from gensight.datasets.icons import LABELS, draw

        labels = [label_in(text, self.settings["template"]) for text in texts]
        for label in labels:
            if label not in LABELS:
                raise GensightError(
                    f"encoder descriptor: there is no own drawing of '{label}'"
                    f"{nearest(label, LABELS)}; take a gallery of the concepts that the "
                    f"data set icons draws, or an encoder that reads words"
                )
        side = self.settings["assumed_drawing_px"]
        return self.pictures([draw(label, SECOND, side, WHITE) for label in labels])

    def _row(self, picture: np.ndarray) -> np.ndarray:
        known = self.settings
        side = known["assumed_side_px"]
        lab = lab_of(resize_picture(picture, side, side))
        shares = known["assumed_gradient_share"], known["assumed_thumbnail_share"]
        parts = (
            _gradients(lab, known["assumed_orientations"], known["assumed_cell_px"]),
            _thumbnail(lab, known["assumed_thumbnail_px"]),
            _colours(lab, known["assumed_bins"]),
        )
        weights = (*shares, 1 - sum(shares))
        return np.concatenate(
            [
                np.sqrt(weight) * _direction(part)
                for weight, part in zip(weights, parts, strict=True)
            ]
        )


def label_in(text: str, template: str) -> str:
    """Return what stands for {label} in a text.

    >>> label_in("a picture of a cup.", "a picture of {label}.")
    'a cup'

    Raises:
        GensightError: the text is not the template's.
    """
    before, after = template.split("{label}")
    if not text.startswith(before) or not text.endswith(after) or len(text) <= len(before + after):
        raise GensightError(
            f"encoder descriptor: the text '{text}' is not '{template}'; take the gallery's "
            f"template as settings.template"
        )
    return text[len(before) : len(text) - len(after)]


def _direction(part: np.ndarray) -> np.ndarray:
    """Return a part at unit length; nothing (a flat picture has no gradients) stays nothing."""
    length = np.sqrt((part * part).sum())
    return part / length if length else part


def _gradients(lab: np.ndarray, orientations: int, cell_px: int) -> np.ndarray:
    from skimage.feature import hog

    return hog(
        lab / 100,
        orientations=orientations,
        pixels_per_cell=(cell_px, cell_px),
        cells_per_block=(BLOCK_CELLS, BLOCK_CELLS),
        block_norm="L2-Hys",
        channel_axis=-1,
    )


def _thumbnail(lab: np.ndarray, side: int) -> np.ndarray:
    """Return the picture at side x side pixels, lightness about its middle, flattened."""
    small = [resize_depth(np.ascontiguousarray(lab[..., axis]), side, side) for axis in range(3)]
    return (np.stack(small, axis=-1) / 100 - (0.5, 0.0, 0.0)).ravel()


def _colours(lab: np.ndarray, bins: int) -> np.ndarray:
    """Return the square roots of the shares of pixels by colour: rare colours still count."""
    pixels = lab.reshape(-1, 3)
    counts, _ = np.histogramdd(pixels, bins=bins, range=LAB_RANGES)
    return np.sqrt(counts.ravel() / len(pixels))


def _version() -> str:
    return version("scikit-image")
