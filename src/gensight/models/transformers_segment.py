"""Segmentation by a phrase with SAM 3: every instance of what is named, as one mask.

The prompt's text is the phrase itself (resources/prompts/segmentation/target.yaml): SAM 3 reads
a short noun phrase and follows no instruction, so a text of several lines is refused. It reads no
more than 32 tokens; the answer's setup says how many there were. The answer is the union of all
accepted instances, white on black at the size of the sent picture; their boxes (x0, y0, x1, y1, in
pixels) and scores stand in the setup, best first. Where none is accepted the mask is black: that
nothing is there is an answer.

`threshold` is the least score of an accepted instance and `mask_threshold` the least probability of
a pixel, both 0.5 where null (the SAM 3 repository's own processor; transformers' function has 0.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.errors import SpecError
from gensight.images import encode_png
from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._segmenter import Segmenter, open_segmenter
from gensight.models._settings import complete
from gensight.models._torch import LOADING, Meter, only_picture, text_of
from gensight.models._transformers import as_pillow

if TYPE_CHECKING:
    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]
DEFAULTS = {
    **LOADING,
    "threshold": None,
    "assumed_threshold": None,
    "mask_threshold": None,
    "assumed_mask_threshold": None,
}
REQUIRED = ["model"]
HINT = "ask it the prompt 'target' (prompts: [target] in the model's YAML)"


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Load the segmenter that a generation block names; errors as `open_segmenter`."""
    settings = complete("transformers_segment", generation)
    return SegmentModel(open_segmenter("transformers_segment", settings, site))


@dataclass(frozen=True)
class SegmentModel:
    """A loaded segmenter that is asked by phrases; it draws no noise."""

    segmenter: Segmenter
    fit_digest = ""

    def answer(self, turn: Turn) -> Reply:
        """Return the mask of what the turn's text names in its one picture.

        Raises:
            AnswerError: the model made NaN or infinity.
            SpecError: the turn has not one picture, or its text is no phrase.
        """
        picture = as_pillow(only_picture(turn, "transformers_segment"))
        phrase = _phrase(turn)
        with Meter() as meter:
            found = self.segmenter.find(picture, phrase=phrase)
        sizes = {"sent": picture.size, "used": found.used, "returned": picture.size}
        setup = self.segmenter.opened.setup(
            seed=None,
            sizes=sizes,
            boxes=np.round(found.boxes, 2).tolist(),
            scores=np.round(found.scores, 6).tolist(),
            phrase=self.segmenter.reading(phrase),
        )
        return Reply(
            str(Outcome.OK),
            images=(encode_png(found.union().astype(np.uint8) * np.uint8(255)),),
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=setup,
        )


def _phrase(turn: Turn) -> str:
    text = text_of(turn).strip()
    if not text:
        raise SpecError(f"adapter transformers_segment: the prompt names nothing; {HINT}")
    if len(text.splitlines()) > 1:
        raise SpecError(
            f"adapter transformers_segment: the prompt is an instruction of several lines, and the "
            f"model reads a phrase; {HINT}"
        )
    return text
