"""Depth specialists that transformers loads: Depth Anything V2, and ZoeDepth and Depth Pro.

The answer is a grey PNG of 16 bits at the size of the sent picture, stretched from the least to the
greatest number of the map, which stand in the answer's setup. Which end is near is left as the
model has it: `output_space` of its spec says what grey is linear in.

The processor brings the picture to the size that its own file names. Depth Anything's keeps the
aspect and takes the side that changes less to 518, where its repository takes the shorter side: of
pictures 1024 long, those flatter than 3 to 1 (KITTI's) are looked at smaller here (transformers
5.24, `DPTImageProcessor`).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._grey import stretched
from gensight.models._settings import complete
from gensight.models._torch import LOADING, Meter, only_picture, refuse_nan
from gensight.models._transformers import Opened, as_pillow, open_pretrained, size_of_pixels

if TYPE_CHECKING:
    from PIL import Image

    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
DEFAULTS = {**LOADING}
REQUIRED = ["model"]


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Load the depth model that a generation block names; errors as `open_pretrained`."""
    settings = complete("transformers_depth", generation)
    return DepthModel(
        open_pretrained(
            "transformers_depth",
            settings,
            site,
            "AutoModelForDepthEstimation",
            "AutoImageProcessor",
        )
    )


@dataclass(frozen=True)
class DepthModel:
    """A loaded depth model; it draws no noise, so that a seed changes nothing."""

    opened: Opened
    fit_digest = ""

    def answer(self, turn: Turn) -> Reply:
        """Return the depth of the turn's one picture; its words are not read.

        Raises:
            AnswerError: the model made NaN or infinity.
            SpecError: the turn has no picture, or several.
        """
        picture = as_pillow(only_picture(turn, "transformers_depth"))
        with Meter() as meter:
            depth, used = self._depth(picture)
        refuse_nan(depth, self.opened.dtype)
        png, low, high = stretched(depth)
        sizes = {"sent": picture.size, "used": used, "returned": picture.size}
        return Reply(
            str(Outcome.OK),
            images=(png,),
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=self.opened.setup(seed=None, sizes=sizes, min=low, max=high),
        )

    def _depth(self, picture: Image.Image) -> tuple[np.ndarray, tuple[int, int]]:
        """Return the map, float32 (H, W), and the size that the model looked at."""
        import torch

        shape = (picture.height, picture.width)
        processor = self.opened.processor
        inputs = self.opened.ready(processor(images=picture, return_tensors="pt"))
        finish = processor.post_process_depth_estimation
        # ZoeDepth pads, and has to be told the size before.
        padded = "source_sizes" in inspect.signature(finish).parameters
        sizes = {"target_sizes": [shape], **({"source_sizes": [shape]} if padded else {})}
        with torch.inference_mode():
            made = finish(self.opened.model(**inputs), **sizes)[0]["predicted_depth"]
        # A side of one pixel is lost on the way.
        return made.float().cpu().numpy().reshape(shape), size_of_pixels(inputs["pixel_values"])
