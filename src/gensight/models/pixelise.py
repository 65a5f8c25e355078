"""The pixelisation baselines as models: a picture in, a palette grid out, in JSON as models answer.

PixelBench, "Algorithmic Image-to-Pixel Baselines in Full". The prompt's words are not read; the
number of cells is the `size` of its answer form. Pictures are looked at upright and over white.
Nothing is drawn by chance, so that the seed of a turn is no matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gensight import images
from gensight.digests import canonical_json
from gensight.errors import AnswerError, ImageError, SpecError
from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._settings import complete
from gensight.models._torch import only_picture
from gensight.pixels.methods import METHODS as BASELINES
from gensight.pixels.methods import pixelated, settings_of

if TYPE_CHECKING:
    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
# The number of cells stands in the form of answer, whatever the words say.
READS_FORM = True
ANSWERS = ["text"]
# `settings` are the method's own, by name; what is not given has the method's default.
DEFAULTS: dict[str, Any] = {"method": None, "settings": {}}
REQUIRED = ["method"]
METHODS: dict[str, list[str]] = {
    "nearest": [],
    "box": [],
    "bicubic": [],
    "lanczos": [],
    "dpid_half": ["settings"],
    "dpid_one": ["settings"],
    "ssim_optimal": ["settings"],
    "pyxelate_like": ["settings"],
    "pia_reduced": ["settings"],
    "pia_reference": ["settings"],
}
WHITE = (255, 255, 255)
LIBRARIES = ("numpy", "opencv-python-headless", "pillow", "scikit-image", "scipy")


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Open the baseline that a generation block names.

    Raises:
        SpecError: unknown method, key or value.
        GensightError: a setting that the method does not have, or a value that it cannot have.
    """
    settings = complete("pixelise", generation)
    return Pixeliser(settings["method"], settings_of(settings["method"], settings["settings"]))


@dataclass(frozen=True)
class Pixeliser:
    """A baseline with its settings."""

    method: str
    settings: Mapping[str, Any]
    fit_digest = ""

    def answer(self, turn: Turn) -> Reply:
        """Return the turn's one picture as the text of a palette grid.

        Raises:
            AnswerError: the picture cannot be decoded.
            SpecError: the turn has no picture or several, or its form does not say the size.
        """
        size = _size_of(turn)
        try:
            rgb = images.decode_rgb(only_picture(turn, "pixelise"), matte=WHITE)
        except ImageError as error:
            raise AnswerError(f"the picture of the turn: {error}") from None
        grid = pixelated(rgb, size, self.method, self.settings)
        height, width = rgb.shape[:2]
        return Reply(
            str(Outcome.OK), text=grid.text(), device="cpu", setup=self._setup(width, height, size)
        )

    def _setup(self, width: int, height: int, size: int) -> str:
        sizes = {"sent": [width, height], "used": [width, height], "returned": [size, size]}
        return canonical_json(
            {
                "method": self.method,
                "settings": dict(self.settings),
                "stands_for": BASELINES[self.method].stands_for,
                "libraries": {name: version(name) for name in LIBRARIES},
                "seed": None,
                "batch_size": 1,
                "sizes": sizes,
            }
        )


def _size_of(turn: Turn) -> int:
    size = turn.answer_form.get("size")
    if turn.answer_form.get("kind") != "text" or not isinstance(size, int):
        raise SpecError(
            "adapter pixelise: it answers with a palette grid; take a prompt whose answer form is "
            "a text with the 'size' of the grid"
        )
    return size
