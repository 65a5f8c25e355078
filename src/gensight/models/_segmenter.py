"""SAM 3 as a tool: a phrase, boxes or both in; masks, boxes and scores out.

Sources: transformers 5.24, `Sam3Processor` and `Sam3Model`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.errors import SpecError
from gensight.models import Site
from gensight.models._settings import stated
from gensight.models._torch import Size, refuse_nan
from gensight.models._transformers import Opened, open_pretrained, size_of_pixels

if TYPE_CHECKING:
    from PIL import Image

THRESHOLD = 0.5
#: What SAM 3 is told in place of a phrase where it is shown boxes alone.
BOXES_ONLY = "visual"
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Instances:
    """What was found, best first: masks bool (N, H, W), boxes (N, 4) x0 y0 x1 y1, scores (N,).

    Boxes are float64 in pixels of the picture; `used` is the (width, height) that was looked at.
    N may be 0.
    """

    masks: np.ndarray
    boxes: np.ndarray
    scores: np.ndarray
    used: Size

    def __len__(self) -> int:
        return len(self.scores)

    def union(self) -> np.ndarray:
        """Return one mask, bool (H, W); all False where nothing was found."""
        return np.asarray(self.masks.any(axis=0))


def open_segmenter(adapter: str, settings: Mapping[str, Any], site: Site) -> Segmenter:
    """Load SAM 3 by an adapter's settings: those of loading, and the two thresholds.

    Raises:
        SpecError: a threshold is no share.
        GensightError: as `open_pretrained`.
    """
    thresholds = [_share(settings, name) for name in ("threshold", "mask_threshold")]
    opened = open_pretrained(adapter, settings, site, "Sam3Model", "Sam3Processor")
    return Segmenter(opened, *thresholds)


def _share(settings: Mapping[str, Any], name: str) -> float:
    value = stated(settings, name)
    if value is None:
        return THRESHOLD
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SpecError(f"generation: {name}: {value!r} is no number from 0 to 1")
    return float(value)


@dataclass(frozen=True)
class Segmenter:
    """A loaded SAM 3."""

    opened: Opened
    threshold: float = THRESHOLD
    mask_threshold: float = THRESHOLD

    def find(
        self, picture: Image.Image, phrase: str | None = None, boxes: Sequence[Box] = ()
    ) -> Instances:
        """Return every instance of a phrase, or of what boxes show as examples, or of both.

        Boxes are x0, y0, x1, y1 in pixels of the picture.

        Raises:
            AnswerError: the model made NaN or infinity.
            ValueError: neither a phrase nor a box is given.
        """
        import torch

        if not phrase and not boxes:
            raise ValueError("a segmenter needs a phrase or a box")
        inputs = self.opened.ready(self._inputs(picture, phrase, boxes))
        with torch.inference_mode():
            outputs = self.opened.model(**inputs)
            # Checked before the thresholds, to which NaN is just not enough.
            for made in (outputs.pred_logits, outputs.pred_boxes, outputs.pred_masks):
                refuse_nan(made.float().cpu().numpy(), self.opened.dtype)
            found = self.opened.processor.post_process_instance_segmentation(
                outputs,
                threshold=self.threshold,
                mask_threshold=self.mask_threshold,
                target_sizes=[(picture.height, picture.width)],
            )[0]
        return _sorted(found, picture, size_of_pixels(inputs["pixel_values"]))

    def reading(self, phrase: str) -> dict[str, Any]:
        """Return how many tokens a phrase has, and how many of them are read."""
        tokens = len(self.opened.processor.tokenizer(phrase)["input_ids"])
        return {"tokens": tokens, "read": min(tokens, self._longest)}

    @property
    def _longest(self) -> int:
        return int(self.opened.model.config.text_config.max_position_embeddings)

    def _inputs(self, picture: Image.Image, phrase: str | None, boxes: Sequence[Box]) -> Any:
        shown: dict[str, Any] = {}
        if boxes:
            shown["input_boxes"] = [[[float(side) for side in box] for box in boxes]]
            shown["input_boxes_labels"] = [[1] * len(boxes)]
        inputs = self.opened.processor(images=picture, return_tensors="pt", **shown)
        # The processor does not cut, and the text encoder has no place for more.
        inputs.update(
            self.opened.processor.tokenizer(
                phrase or BOXES_ONLY,
                padding="max_length",
                truncation=True,
                max_length=self._longest,
                return_tensors="pt",
            )
        )
        inputs.pop("original_sizes", None)
        return inputs


def _sorted(found: Mapping[str, Any], picture: Image.Image, used: Size) -> Instances:
    scores = found["scores"].double().cpu().numpy()
    order = np.argsort(-scores, kind="stable")
    boxes = found["boxes"].double().cpu().numpy()
    masks = found["masks"].bool().cpu().numpy()
    if not len(scores):  # without an instance the masks keep the model's own size
        masks = np.zeros((0, picture.height, picture.width), bool)
    return Instances(masks[order], boxes[order], scores[order], used)
