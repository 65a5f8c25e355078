"""Pairs of a picture and a text tower by open_clip: another reading of the same SigLIP weights.

`model` is a repository of the hub, or a folder, with `open_clip_config.json`, weights and tokenizer
files. The files are got first and loaded as a folder: so a revision can be named (open_clip takes
none), weights are never optional (a name without a tag of weights runs untrained: open_clip issue
168), and the tokenizer is the checkpoint's own. open_clip checks every key while it loads.

Pictures are squashed to the square; texts are padded to the model's full length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.encoders._loading import setup_json, told_of_encoder
from gensight.encoders._pictures import ENLARGING, UPSCALERS
from gensight.encoders._texts import TEXT_FORMS, check_length, in_form, refuse_long
from gensight.encoders._vectors import picture_vectors, text_vectors
from gensight.errors import GensightError
from gensight.models import Site
from gensight.models._settings import load_sdk
from gensight.models._torch import Weights, device, dtype_of, load_torch

if TYPE_CHECKING:
    import torch

VERSION = 1
READS_TEXT = True
STAND_IN = False
DEFAULTS = {
    # A repository of the hub, or a folder.
    "model": None,
    # A branch, tag or commit of the hub; null: its main branch.
    "revision": None,
    "assumed_revision": None,
    # bfloat16, float16 or float32; null: float32.
    "dtype": None,
    "assumed_dtype": None,
    **ENLARGING,
    # The whole picture is squashed to the square.
    "crop": "squash",
    # How the square is made of it, as SigLIP's own files say.
    "assumed_resampling": "bicubic",
    # The form of texts; which one PixelBench used is lost.
    "assumed_text_form": "canonical",
    # Checked against the checkpoint; null: whatever it reads.
    "text_tokens": None,
}
CHOICES = {
    **UPSCALERS,
    **TEXT_FORMS,
    "crop": ["squash"],
    "assumed_resampling": ["bicubic", "bilinear"],
}
REQUIRED = ["model"]
EXTRA = "open_clip"
CONFIG = "open_clip_config.json"
#: Of a repository: its settings, one file of weights, and what its tokenizer reads.
FILES = ["*.json", "*.model", "*.txt", "open_clip_model.safetensors"]
PACKAGES = ("open_clip_torch", "timm", "tokenizers", "torchvision", "transformers")


def open_encoder(settings: Mapping[str, Any], root: Path) -> OpenClipPair:
    """Load the pair that settings name, on the GPU if there is one.

    Raises:
        GensightError: open_clip is not installed, the files cannot be got or read, the weights do
            not fit the model, or it reads another number of tokens than the settings say.
    """
    with told_of_encoder("open_clip_pair"):
        load_torch("open_clip_pair")
        library = load_sdk("open_clip_pair", "open_clip", EXTRA)
        weights, dtype = Weights.of(settings, Site(root)), dtype_of(settings)
    where = f"encoder open_clip_pair: {weights.name}"
    folder = _folder(where, weights)
    model, prepare, tokenizer, dimensions = _loaded(where, library, folder, settings)
    encoder = OpenClipPair(
        model.to(device(), dtype=dtype).eval(),
        prepare,
        tokenizer,
        dimensions,
        weights,
        weights.revision if weights.is_folder else folder.name,
        dtype,
        str(settings["assumed_text_form"]),
    )
    check_length(where, settings["text_tokens"], encoder.text_tokens)
    return encoder


def _folder(where: str, weights: Weights) -> Path:
    """Return the folder of the files; of a repository it is named by the commit."""
    if weights.is_folder:
        return Path(weights.place)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(weights.place, allow_patterns=FILES, **weights.loading()))
    except (OSError, ValueError) as error:
        raise _not_loaded(where, error) from None


def _loaded(
    where: str, library: Any, folder: Path, settings: Mapping[str, Any]
) -> tuple[Any, Any, Any, int]:
    """Return the model, what prepares a picture for it, its tokenizer, and a vector's length."""
    from safetensors import SafetensorError

    place = f"local-dir:{folder}"
    try:
        model, prepare = library.create_model_from_pretrained(
            place,
            image_resize_mode=settings["crop"],
            image_interpolation=settings["assumed_resampling"],
        )
        known = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["model_cfg"]
        return model, prepare, library.get_tokenizer(place), int(known["embed_dim"])
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise _not_loaded(where, error) from None


def _not_loaded(where: str, error: Exception) -> GensightError:
    told = " ".join(str(error).split())
    told = told if len(told) <= 300 else f"{told[:297]}..."
    return GensightError(
        f"{where}: cannot be loaded ({told}); check settings.model and revision: it has to hold "
        f"{CONFIG}, the weights of exactly that model, and its tokenizer"
    )


@dataclass(frozen=True)
class OpenClipPair:
    """A loaded pair of towers, what prepares their inputs, and where the weights come from."""

    model: Any
    prepare: Any
    tokenizer: Any
    dimensions: int
    weights: Weights
    revision: str | None
    dtype: torch.dtype
    text_form: str

    @property
    def where(self) -> str:
        """The encoder and its weights, as errors name them."""
        return f"encoder open_clip_pair: {self.weights.name}"

    @property
    def text_tokens(self) -> int:
        """The number of tokens that it reads, padding among them."""
        return int(self.tokenizer.context_length)

    @property
    def setup(self) -> str:
        """How it was made, as JSON."""
        return setup_json(
            self.weights,
            self.revision,
            self.dtype,
            PACKAGES,
            side_px=self.model.visual.preprocess_cfg["size"],
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

        inputs = torch.stack([self.prepare(Image.fromarray(picture)) for picture in batch])
        with torch.inference_mode():
            made = self.model.encode_image(inputs.to(device(), dtype=self.dtype))
        return made.float().cpu().numpy()

    def _embed_texts(self, batch: list[str]) -> np.ndarray:
        import torch

        texts = [in_form(text, self.text_form) for text in batch]
        refuse_long(self.where, batch, [self._count(text) for text in texts], self.text_tokens)
        with torch.inference_mode():
            made = self.model.encode_text(self.tokenizer(texts).to(device()))
        return made.float().cpu().numpy()

    def _count(self, text: str) -> int:
        """Return how many tokens a text has with those at its ends, uncut."""
        inner = getattr(self.tokenizer, "tokenizer", None)
        return len(inner(text).input_ids) if inner else len(self.tokenizer.encode(text)) + 2
