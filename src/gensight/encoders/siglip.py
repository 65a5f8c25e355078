"""SigLIP by transformers: pictures and texts in one space (Zhai et al. 2023).

PixelBench 2.3 and Appendix F: cosines of pooled features of SigLIP-SO400M. A vector is the model's
pooled output; what transformers 5 returns is an object that holds it.

Pictures are squashed to the model's square, none of them cut, as its training saw them. Texts are
padded to the model's full length whatever the batch, and read without a mask, as its training read
them: shorter padding gives other vectors (transformers issue 28569).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gensight.encoders._loading import setup_json, told_of_encoder
from gensight.encoders._pictures import ENLARGING, UPSCALERS
from gensight.encoders._texts import TEXT_FORMS, check_length, in_form, refuse_long
from gensight.encoders._vectors import picture_vectors, text_vectors
from gensight.models import Site
from gensight.models._torch import LOADING
from gensight.models._transformers import PACKAGES, Opened, open_pretrained

VERSION = 1
READS_TEXT = True
STAND_IN = False
DEFAULTS = {
    **LOADING,
    **ENLARGING,
    # The whole picture is squashed to the square (big_vision: resize without a crop).
    "crop": "squash",
    # The form of texts; which one PixelBench used is lost. SigLIP 2 wants lower.
    "assumed_text_form": "canonical",
    # Checked against the checkpoint; null: whatever it reads.
    "text_tokens": None,
}
CHOICES = {**UPSCALERS, **TEXT_FORMS, "crop": ["squash"]}
REQUIRED = ["model"]


def open_encoder(settings: Mapping[str, Any], root: Path) -> Siglip:
    """Load the SigLIP that settings name, on the GPU if there is one.

    Raises:
        GensightError: transformers is not installed, the files cannot be got or read, the weights
            do not fit the model, or it reads another number of tokens than the settings say.
    """
    with told_of_encoder("siglip"):
        opened = open_pretrained("siglip", settings, Site(root), "SiglipModel", "AutoProcessor")
    encoder = Siglip(opened, str(settings["assumed_text_form"]))
    check_length(encoder.where, settings["text_tokens"], encoder.text_tokens)
    return encoder


@dataclass(frozen=True)
class Siglip:
    """A loaded SigLIP, and the form in which it is given texts."""

    opened: Opened
    text_form: str

    @property
    def where(self) -> str:
        """The encoder and its weights, as errors name them."""
        return f"encoder siglip: {self.opened.weights.name}"

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return int(self.opened.model.config.vision_config.hidden_size)

    @property
    def side_px(self) -> int:
        """The side of the square that it looks at."""
        return int(self.opened.model.config.vision_config.image_size)

    @property
    def text_tokens(self) -> int:
        """The number of tokens that it reads, padding among them."""
        return int(self.opened.model.config.text_config.max_position_embeddings)

    @property
    def setup(self) -> str:
        """How it was made, as JSON."""
        return setup_json(
            self.opened.weights,
            self.opened.revision,
            self.opened.dtype,
            (*PACKAGES, "sentencepiece"),
            side_px=self.side_px,
            text_tokens=self.text_tokens,
        )

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return the vectors of pictures, as `Encoder.pictures`."""
        return picture_vectors(self.where, pictures, self._embed_pictures, self.dimensions)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, as `Encoder.texts`."""
        return text_vectors(self.where, texts, self._embed_texts, self.dimensions)

    def _embed_pictures(self, batch: list[np.ndarray]) -> np.ndarray:
        import torch
        from PIL import Image

        inputs = self.opened.processor.image_processor(
            images=[Image.fromarray(picture) for picture in batch],
            size={"height": self.side_px, "width": self.side_px},
            return_tensors="pt",
        )
        with torch.inference_mode():
            made = self.opened.model.get_image_features(**self.opened.ready(inputs))
        return made.pooler_output.float().cpu().numpy()

    def _embed_texts(self, batch: list[str]) -> np.ndarray:
        import torch

        tokens = self.opened.processor.tokenizer(
            [in_form(text, self.text_form) for text in batch],
            padding="max_length",
            max_length=self.text_tokens,
            truncation=False,
        ).input_ids
        refuse_long(self.where, batch, [len(row) for row in tokens], self.text_tokens)
        # No mask is handed over: the model was trained to read its padding.
        with torch.inference_mode():
            made = self.opened.model.get_text_features(
                input_ids=torch.tensor(tokens, device=self.opened.device)
            )
        return made.pooler_output.float().cpu().numpy()
