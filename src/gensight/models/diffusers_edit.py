"""Open image editors as diffusers has them: a text and a picture in, a picture out.

What differs between the pipelines is data (`PIPELINES`): the argument that takes the picture, the
sizes a pipeline works at, and which settings its call has. The size is always passed. The returned
picture is kept at the size the pipeline made; extraction brings it back by a plain resize.

One answer at a time, with one generator made on the CPU. Source: diffusers 0.42.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gensight.errors import SpecError
from gensight.images import encode_png, inspect
from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._diffusers import Loaded, eight_bits, load_pipeline, picture_of
from gensight.models._settings import complete, stated
from gensight.models._torch import (
    Meter,
    Size,
    noise,
    pictures_of,
    refuse_nan,
    setup_json,
    text_of,
)

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]

DEFAULTS = {
    "pipeline": None,
    # A repository of the hub, or a folder.
    "model": None,
    "revision": None,
    "assumed_revision": None,
    # null: float32.
    "dtype": None,
    "assumed_dtype": None,
    # The weights overflow in float16.
    "bf16_only": False,
    # nf4: stored so, or quantised at load.
    "quantisation": None,
    "quantised_components": ["text_encoder", "transformer"],
    "offload": "none",
    # Regular expressions of keys that a checkpoint may have beyond its model's.
    "ignored_keys": [],
    # null: the pipeline's own default.
    "num_inference_steps": None,
    "assumed_num_inference_steps": None,
    "guidance_scale": None,
    "assumed_guidance_scale": None,
    "img_guidance_scale": None,
    "assumed_img_guidance_scale": None,
    "true_cfg_scale": None,
    "assumed_true_cfg_scale": None,
    "negative_prompt": None,
    "assumed_negative_prompt": None,
    "max_sequence_length": None,
    "assumed_max_sequence_length": None,
    "seed": None,
    "assumed_seed": None,
}
REQUIRED = ["pipeline", "model"]
CHOICES = {
    "pipeline": [
        None,
        "Flux2KleinPipeline",
        "Flux2Pipeline",
        "GlmImagePipeline",
        "OmniGenPipeline",
        "QwenImageEditPlusPipeline",
    ],
    "quantisation": [None, "nf4"],
    "offload": ["none", "model_cpu", "sequential"],
}
#: The settings that a pipeline's call may have.
CALL_SETTINGS = (
    "num_inference_steps",
    "guidance_scale",
    "img_guidance_scale",
    "true_cfg_scale",
    "negative_prompt",
    "max_sequence_length",
)
ONE_MEGAPIXEL = 1024 * 1024


@dataclass(frozen=True)
class Sides:
    """The sizes that a pipeline works at, in pixels.

    Both sides are multiples of `multiple`, the shorter one is at least `least`, the longer at most
    `most_aspect` times the shorter, and their product at most `most_pixels` unless `least` needs
    more.
    """

    multiple: int
    least: int
    most_pixels: int = ONE_MEGAPIXEL
    most_aspect: float = math.inf

    def like(self, width: int, height: int) -> Size:
        """Return the allowed size nearest to a picture's, by scaling, rounding, then stretching."""
        short, long = sorted((width, height))
        short = max(short, long / self.most_aspect)
        scale = min(1.0, math.sqrt(self.most_pixels / (short * long)))
        scale = max(scale, self.least / short)
        # A side may go up to the next multiple only where the area allows it.
        sides = [max(self.multiple, self._nearest(side * scale)) for side in (short, long)]
        while math.prod(sides) > self.most_pixels and min(sides) > self.least:
            sides[sides.index(max(sides))] -= self.multiple
        sides[0] = max(sides[0], self._up(max(self.least, sides[1] / self.most_aspect)))
        sides.sort()
        return (sides[1], sides[0]) if width >= height else (sides[0], sides[1])

    def _nearest(self, side: float) -> int:
        return math.floor(side / self.multiple + 0.5) * self.multiple

    def _up(self, side: float) -> int:
        return math.ceil(side / self.multiple) * self.multiple


@dataclass(frozen=True)
class Habits:
    """How one pipeline is called.

    `pictures` names the argument of the input pictures, which are stretched to the allowed sizes
    first where `fits_pictures`: the pipeline would cut or misread what does not fit. `takes` are
    settings of its call; `pictures_cited` is what the text must hold for each picture, counted from
    1. `draws_globally` says that some numbers are drawn past the generator; `mend` is done to a
    loaded pipeline that its libraries' versions have broken.
    """

    pictures: str
    sides: Sides
    takes: tuple[str, ...]
    fits_pictures: bool = True
    pictures_cited: str = ""
    draws_globally: bool = False
    mend: Callable[[Any], None] | None = None


def _mend_glm_reader(pipeline: Any) -> None:
    """Give GLM-Image's tokeniser of pictures one entry per picture.

    diffusers 0.42.1 joins the features of all pictures along their first axis, which in
    transformers 5.24.0 is the channels of each (channels, rows, columns), and the tokeniser then
    takes every channel for a picture. Pictures of unequal sizes cannot be joined and still fail.
    """
    model = pipeline.vision_language_encoder
    tokens_of = model.get_image_tokens

    def _tokens_by_picture(features: Any, grids: Any = None) -> Any:
        if hasattr(features, "ndim") and features.ndim == 3 and grids is not None:
            features = features.chunk(len(grids))
        return tokens_of(features, grids)

    model.get_image_tokens = _tokens_by_picture


PIPELINES = {
    "QwenImageEditPlusPipeline": Habits(
        pictures="image",
        # Other sizes are rounded down. Input pictures are stretched by the pipeline itself.
        sides=Sides(multiple=16, least=16),
        takes=(
            "num_inference_steps",
            "guidance_scale",
            "true_cfg_scale",
            "negative_prompt",
            "max_sequence_length",
        ),
        fits_pictures=False,
    ),
    "Flux2Pipeline": Habits(
        pictures="image",
        # Pictures beyond 8 to 1 and below 64 pixels are refused, larger ones scaled down, and all
        # cut around their centre to multiples of 16.
        sides=Sides(multiple=16, least=64, most_aspect=8),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
    ),
    "Flux2KleinPipeline": Habits(
        pictures="image",
        sides=Sides(multiple=16, least=64, most_aspect=8),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
    ),
    "GlmImagePipeline": Habits(
        pictures="image",
        # Two readers of the input must agree on its grid: one rounds down to 16, the other enlarges
        # to a short side of 512 and refuses beyond 4 to 1 (defaults of its processor in
        # transformers, assumed to be the repository's).
        sides=Sides(multiple=32, least=512, most_pixels=4 * ONE_MEGAPIXEL, most_aspect=4),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
        draws_globally=True,
        mend=_mend_glm_reader,
    ),
    "OmniGenPipeline": Habits(
        pictures="input_images",
        # Input is cut around its centre to multiples of 16.
        sides=Sides(multiple=16, least=16),
        takes=("num_inference_steps", "guidance_scale", "img_guidance_scale"),
        pictures_cited="<img><|image_{number}|></img>",
        draws_globally=True,
    ),
}


def open_model(generation: Mapping[str, Any], held_out: Sequence[Any], site: Site) -> DiffusersEdit:
    """Load the editor that a generation block describes.

    Raises:
        SpecError: unknown key or value, a setting that the pipeline does not take, guidance that
            would silently not act.
        GensightError: packages or weights are missing, or do not fit.
    """
    settings = complete("diffusers_edit", generation)
    name = settings["pipeline"]
    arguments = call_arguments(name, settings)
    loaded = load_pipeline("diffusers_edit", settings, site, name)
    if loaded.pipeline.config.get("is_distilled") and arguments.get("guidance_scale", 1) > 1:
        raise SpecError(
            f"generation: guidance_scale: {loaded.weights.name} is distilled and ignores it; "
            f"write guidance_scale: 1.0"
        )
    habits = PIPELINES[name]
    if habits.mend is not None:
        habits.mend(loaded.pipeline)
    return DiffusersEdit(habits, arguments, loaded)


def call_arguments(pipeline: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of every call, by the pipeline's names; errors as `open_model`."""
    given = {name: stated(settings, name) for name in CALL_SETTINGS}
    given = {name: value for name, value in given.items() if value is not None}
    takes = PIPELINES[pipeline].takes
    for name in given:
        if name not in takes:
            raise SpecError(
                f"generation: {name}: {pipeline} does not take it; it takes: {', '.join(takes)}"
            )
    if "true_cfg_scale" in takes:
        _check_guidance(pipeline, given)
    return given


def _check_guidance(pipeline: str, given: Mapping[str, Any]) -> None:
    """Refuse half of a guidance: the pipeline would warn and go on without it."""
    # What the pipeline takes where no scale is given: 4.0 in diffusers 0.42.1.
    is_scaled = given.get("true_cfg_scale", 4.0) > 1
    if is_scaled and "negative_prompt" not in given:
        raise SpecError(
            f"generation: negative_prompt: {pipeline} guides by true_cfg_scale only with a "
            f'negative prompt; give one (" " is enough), or true_cfg_scale: 1.0'
        )
    if not is_scaled and "negative_prompt" in given:
        raise SpecError(
            f"generation: negative_prompt: {pipeline} uses it only with a true_cfg_scale above 1"
        )


@dataclass(frozen=True)
class DiffusersEdit:
    """A loaded editor."""

    habits: Habits
    arguments: Mapping[str, Any]
    loaded: Loaded
    fit_digest: str = ""

    def answer(self, turn: Turn) -> Reply:
        """Edit the pictures of a turn as its text says.

        The size follows the first picture, which is the input.

        Raises:
            SpecError: the turn shows no picture.
            AnswerError: the model made NaN or infinite numbers.
        """
        pictures = pictures_of(turn)
        if not pictures:
            raise SpecError(
                "adapter diffusers_edit: the prompt shows no picture, and the model edits one; "
                "take a prompt whose turns have the part 'image: input'"
            )
        info = inspect(pictures[0])
        used = self.habits.sides.like(*info.upright_size)
        with Meter() as meter:
            made = self._made(turn, pictures, used)
        refuse_nan(made, self.loaded.dtype)
        sizes = {
            "sent": info.upright_size,
            "used": used,
            "returned": (made.shape[1], made.shape[0]),
        }
        return Reply(
            Outcome.OK,
            images=(encode_png(eight_bits(made)),),
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=setup_json(**self.loaded.told(), seed=turn.seed, sizes=sizes),
        )

    def _made(self, turn: Turn, pictures: Sequence[bytes], used: Size) -> Any:
        """Return the picture as floats (H, W, 3) in [0, 1], before any cast."""
        import torch

        if self.habits.draws_globally:
            # Parts of these pipelines take no generator.
            torch.manual_seed((turn.seed or 0) % 2**63)
        width, height = used
        with torch.inference_mode():
            result = self.loaded.pipeline(
                prompt=self._text(turn, len(pictures)),
                **{self.habits.pictures: [self._fitted(data) for data in pictures]},
                width=width,
                height=height,
                generator=noise(turn.seed),
                output_type="np",
                **self.arguments,
            )
        return result.images[0]

    def _fitted(self, data: bytes) -> Any:
        if not self.habits.fits_pictures:
            return picture_of(data)
        return picture_of(data, self.habits.sides.like(*inspect(data).upright_size))

    def _text(self, turn: Turn, pictures: int) -> str:
        cited = [
            self.habits.pictures_cited.format(number=number) for number in range(1, pictures + 1)
        ]
        return " ".join([*filter(None, cited), text_of(turn)])
