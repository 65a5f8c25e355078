"""DINOv2 by transformers: the class token of a picture after the last norm (Oquab et al. 2024).

PixelBench 2.3: cosines of CLS features of DINOv2-Large. The model's pooled output is that token.

Its repository evaluates at a resize to 256 and a crop to 224, so that a border of 16 pixels is
never seen. Here the whole picture is resized to the square unless `assumed_crop: border` is asked
for: a grid fills its picture to the last cell, and the paper does not say (PROTOCOLS EMB-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gensight.encoders._loading import setup_json, told_of_encoder
from gensight.encoders._pictures import ENLARGING, UPSCALERS
from gensight.encoders._vectors import picture_vectors
from gensight.errors import SpecError
from gensight.models import Site
from gensight.models._torch import LOADING
from gensight.models._transformers import PACKAGES, Opened, open_pretrained

VERSION = 1
READS_TEXT = False
STAND_IN = False
DEFAULTS = {
    **LOADING,
    **ENLARGING,
    # whole: every pixel is seen, squashed to the square. border: the shorter side is brought to
    # more than the square, as the checkpoint's file says, and the middle is cut out.
    "assumed_crop": "whole",
    # The side of the square; null: what the checkpoint's file crops to.
    "assumed_side_px": None,
}
CHOICES = {**UPSCALERS, "assumed_crop": ["whole", "border"]}
REQUIRED = ["model"]


def open_encoder(settings: Mapping[str, Any], root: Path) -> Dinov2:
    """Load the DINOv2 that settings name, on the GPU if there is one.

    Raises:
        SpecError: the side is no whole number of the model's patches.
        GensightError: transformers is not installed, the files cannot be got or read, or the
            weights do not fit the model.
    """
    with told_of_encoder("dinov2"):
        opened = open_pretrained(
            "dinov2", settings, Site(root), "Dinov2Model", "AutoImageProcessor"
        )
    side = settings["assumed_side_px"] or int(opened.processor.crop_size["height"])
    encoder = Dinov2(opened, side, str(settings["assumed_crop"]))
    patch = opened.model.config.patch_size
    if side < patch or side % patch:
        raise SpecError(
            f"{encoder.where}: settings.assumed_side_px: {side} pixels are no whole number of "
            f"patches of {patch}; the rest would not be seen; take {max(1, side // patch) * patch}"
        )
    return encoder


@dataclass(frozen=True)
class Dinov2:
    """A loaded DINOv2, the side of its square in pixels, and what of a picture it is shown."""

    opened: Opened
    side_px: int
    crop: str

    @property
    def where(self) -> str:
        """The encoder and its weights, as errors name them."""
        return f"encoder dinov2: {self.opened.weights.name}"

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return int(self.opened.model.config.hidden_size)

    @property
    def setup(self) -> str:
        """How it was made, as JSON."""
        return setup_json(
            self.opened.weights,
            self.opened.revision,
            self.opened.dtype,
            PACKAGES,
            side_px=self.side_px,
        )

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return the vectors of pictures, as `Encoder.pictures`."""
        return picture_vectors(self.where, pictures, self._embed, self.dimensions)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Refuse: DINOv2 reads no texts.

        Raises:
            SpecError: always.
        """
        raise SpecError(
            "encoder dinov2: it reads no texts; take a gallery of pictures, or the encoder siglip"
        )

    def _embed(self, batch: list[np.ndarray]) -> np.ndarray:
        import torch
        from PIL import Image

        # One by one: pictures of other shapes are stacked only once they are squares.
        prepared = [self._prepared(Image.fromarray(picture)) for picture in batch]
        inputs = torch.cat(prepared).to(self.opened.device, dtype=self.opened.dtype)
        with torch.inference_mode():
            made = self.opened.model(pixel_values=inputs)
        return made.pooler_output.float().cpu().numpy()

    def _prepared(self, picture: Any) -> Any:
        processor, side = self.opened.processor, self.side_px
        square = {"height": side, "width": side}
        if self.crop == "border":
            shorter, cut = processor.size["shortest_edge"], processor.crop_size["height"]
            sizes = {
                "size": {"shortest_edge": round(side * shorter / cut)},
                "crop_size": square,
                "do_center_crop": True,
            }
        else:
            sizes = {"size": square, "do_center_crop": False}
        return processor(images=picture, return_tensors="pt", **sizes)["pixel_values"]
