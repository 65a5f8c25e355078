"""What all models that transformers loads share: a checked load, pictures, the setup.

Sources: transformers 5.24, `from_pretrained` with `output_loading_info`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gensight.errors import GensightError
from gensight.images import decode_rgb
from gensight.models import Site
from gensight.models._torch import (
    Size,
    Weights,
    check_loading,
    device,
    dtype_of,
    load_package,
    setup_json,
)

if TYPE_CHECKING:
    import torch
    from PIL import Image

PACKAGES = ("tokenizers", "torchvision", "transformers")
WHITE = (255, 255, 255)


@dataclass(frozen=True)
class Opened:
    """A loaded model and its processor; `revision` is the commit, where the hub tells it."""

    model: Any
    processor: Any
    weights: Weights
    revision: str | None
    dtype: torch.dtype
    device: str

    def ready(self, inputs: Any) -> Any:
        """Return what a processor made, on the model's device; floats as the model's numbers."""
        return inputs.to(self.device, dtype=self.dtype)

    def setup(self, *, seed: int | None, sizes: Mapping[str, Size | None], **more: Any) -> str:
        """Return how an answer was made, as `setup_json`."""
        return setup_json(
            self.weights,
            revision=self.revision,
            dtype=self.dtype,
            packages=PACKAGES,
            seed=seed,
            sizes=sizes,
            **more,
        )


def open_pretrained(
    adapter: str, settings: Mapping[str, Any], site: Site, model: str, processor: str
) -> Opened:
    """Load a model and its processor by the names of two classes of transformers.

    Raises:
        GensightError: transformers is not installed, the files cannot be got or read, or the
            weights do not fit the model.
    """
    library = load_package(adapter, "transformers")
    from safetensors import SafetensorError

    weights, dtype = Weights.of(settings, site), dtype_of(settings)
    where = f"adapter {adapter}: {weights.name}"
    try:
        made = getattr(library, processor).from_pretrained(weights.place, **weights.loading())
        loaded, report = getattr(library, model).from_pretrained(
            weights.place,
            dtype=dtype,
            output_loading_info=True,
            # Reported instead of raised, so that all that is wrong is told at once.
            ignore_mismatched_sizes=True,
            **weights.loading(),
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise GensightError(_not_loaded(where, error)) from None
    check_loading(where, {**report, "unexpected_keys": _strangers(report, settings)})
    return Opened(
        loaded.to(device()).eval(),
        made,
        weights,
        weights.resolved_revision("config.json"),
        dtype,
        device(),
    )


def _strangers(report: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Return the unexpected keys that the spec does not name."""
    allowed = [re.compile(pattern) for pattern in settings["ignored_keys"]]
    keys = map(str, report.get("unexpected_keys") or ())
    return [key for key in keys if not any(pattern.search(key) for pattern in allowed)]


def _not_loaded(where: str, error: Exception) -> str:
    told = " ".join(str(error).split())
    return (
        f"{where}: cannot be loaded ({told}); check generation.model and revision. Of a gated "
        f"repository the licence is to be accepted on its page, and HF_TOKEN to be set"
    )


def as_pillow(picture: bytes) -> Image.Image:
    """Return a sent picture as processors take it: an array could be read channels first."""
    from PIL import Image

    return Image.fromarray(decode_rgb(picture, matte=WHITE))


def size_of_pixels(pixel_values: torch.Tensor) -> Size:
    """Return (width, height) of a prepared batch (1, 3, H, W)."""
    height, width = pixel_values.shape[-2:]
    return int(width), int(height)
