"""Marigold as diffusers has it: depth or surface normals of a picture, by diffusion.

Depth is answered as 16-bit grey, round(65535 p) of the prediction p in [0, 1], which is affine in
depth and grows with it. Normals are answered as 16-bit colour in the project's form (see
`extractors.normals`): red, green and blue are round(65535 (n + 1) / 2) of the normal's directions
right, up and towards the viewer, which is Marigold's own frame.

The text of a prompt plays no part. Source: diffusers 0.42.1; Ke et al. 2024 (Marigold).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensight.images import encode_png
from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._diffusers import Loaded, finite_decoder, load_pipeline, picture_of
from gensight.models._noise import noise
from gensight.models._settings import complete, count
from gensight.models._torch import LOADING, Meter, Size, only_picture, refuse_nan, setup_json

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]

DEFAULTS = {
    **LOADING,
    "quantity": "depth",
    "quantisation": None,
    "quantised_components": ["unet"],
    "offload": "none",
    # null: what the pipeline's folder says.
    "num_inference_steps": None,
    "assumed_num_inference_steps": None,
    # Long side in pixels that is worked at; null: what the pipeline's folder says, 0: the input's.
    "processing_resolution": None,
    "assumed_processing_resolution": None,
    # Predictions that one answer is made of.
    "ensemble_size": None,
    "assumed_ensemble_size": None,
    "seed": None,
    "assumed_seed": None,
}
REQUIRED = ["model"]
CHOICES = {
    "quantity": ["depth", "normals"],
    "quantisation": [None, "nf4"],
    "offload": ["none", "model_cpu", "sequential"],
}
PIPELINES = {"depth": "MarigoldDepthPipeline", "normals": "MarigoldNormalsPipeline"}
#: Values of a prediction at the darkest and the brightest level.
RANGES = {"depth": (0.0, 1.0), "normals": (-1.0, 1.0)}
HIGHEST = 65535


def open_model(
    generation: Mapping[str, Any], held_out: Sequence[Any], site: Site
) -> DiffusersDepth:
    """Load the specialist that a generation block describes.

    Raises:
        SpecError: unknown key or value.
        GensightError: packages or weights are missing, or do not fit.
    """
    settings = complete("diffusers_depth", generation)
    arguments = {
        "ensemble_size": count(settings, "ensemble_size") or 1,
        "num_inference_steps": count(settings, "num_inference_steps"),
        "processing_resolution": count(settings, "processing_resolution", least=0),
    }
    quantity = settings["quantity"]
    loaded = load_pipeline("diffusers_depth", settings, site, PIPELINES[quantity])
    return DiffusersDepth(RANGES[quantity], arguments, loaded)


@dataclass(frozen=True)
class DiffusersDepth:
    """A loaded Marigold; `value_range` are the values at the ends of the scale of levels."""

    value_range: tuple[float, float]
    arguments: Mapping[str, Any]
    loaded: Loaded
    fit_digest: str = ""

    def answer(self, turn: Turn) -> Reply:
        """Answer with the prediction for the one picture of a turn, at the picture's size.

        Raises:
            SpecError: the turn shows no picture, or several.
            AnswerError: the model made NaN or infinite numbers.
        """
        import torch

        picture = picture_of(only_picture(turn, "diffusers_depth"))
        with Meter() as meter, finite_decoder(self.loaded), torch.inference_mode():
            # One prediction of an ensemble at a time, as the paper's batch size says.
            result = self.loaded.pipeline(
                picture, generator=noise(turn.seed), batch_size=1, **self.arguments
            )
        prediction = np.asarray(result.prediction[0], np.float64)
        refuse_nan(prediction, self.loaded.dtype)
        height, width = prediction.shape[:2]
        sizes = {
            "sent": picture.size,
            "used": self._used(*picture.size),
            "returned": (width, height),
        }
        return Reply(
            Outcome.OK,
            images=(encode_png(self._levels(prediction)),),
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=setup_json(**self.loaded.told(), seed=turn.seed, sizes=sizes),
        )

    def _used(self, width: int, height: int) -> Size:
        """Return the size that was worked at, before it was filled up to multiples of 8."""
        long_side = self.arguments["processing_resolution"]
        if long_side is None:
            long_side = self.loaded.pipeline.default_processing_resolution
        if not long_side:
            return width, height
        longest = max(width, height)
        return width * long_side // longest, height * long_side // longest

    def _levels(self, prediction: np.ndarray) -> np.ndarray:
        """Return (H, W, 1 or 3) numbers of the range as uint16 (H, W[, 3])."""
        low, high = self.value_range
        shares = np.clip((prediction - low) / (high - low), 0.0, 1.0)
        levels = np.rint(shares * HIGHEST).astype(np.uint16)
        return levels[:, :, 0] if levels.shape[2] == 1 else levels
