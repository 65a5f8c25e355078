"""Open image editors as diffusers has them: a text and a picture in, a picture out.

What differs between the pipelines is data (`_editors.PIPELINES`): the argument that takes the
picture, the sizes a pipeline works at, and which settings its call has. The size is always passed.
The returned picture is kept at the size the pipeline made; extraction brings it back by a plain
resize.

One answer at a time, with one generator made on the CPU. Source: diffusers 0.42.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import signature
from typing import Any

from gensight.errors import SpecError
from gensight.images import encode_png, inspect
from gensight.models import Outcome, Reply, Site, Turn
from gensight.models._diffusers import (
    Loaded,
    eight_bits,
    finite_decoder,
    load_pipeline,
    picture_of,
)
from gensight.models._editors import PIPELINES, Habits
from gensight.models._noise import drawn_from, noise
from gensight.models._settings import complete, stated
from gensight.models._torch import (
    LOADING,
    Meter,
    Size,
    pictures_of,
    refuse_nan,
    setup_json,
    text_of,
)

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image"]

DEFAULTS = {
    **LOADING,
    "pipeline": None,
    # nf4: stored so, or quantised at load.
    "quantisation": None,
    "quantised_components": ["text_encoder", "transformer"],
    "offload": "none",
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
    if habits.embeds_guidance:
        _check_embedded_guidance(loaded, arguments)
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


def _check_embedded_guidance(loaded: Loaded, arguments: Mapping[str, Any]) -> None:
    """Refuse a guidance_scale that the transformer has no input for, and the lack of a needed one.

    The pipeline would ignore the first, with a warning at most.
    """
    takes = bool(loaded.pipeline.transformer.config.get("guidance_embeds"))
    if not takes and "guidance_scale" in arguments:
        raise SpecError(
            f"generation: guidance_scale: the transformer of {loaded.weights.name} has no input "
            f"for it (guidance_embeds), so that it would do nothing; leave it out"
        )
    if takes and _given_or_default(loaded, arguments, "guidance_scale") is None:
        raise SpecError(
            f"generation: guidance_scale: the transformer of {loaded.weights.name} needs one; "
            f"give it"
        )


def _given_or_default(loaded: Loaded, arguments: Mapping[str, Any], name: str) -> Any:
    """Return an argument of a pipeline's call: what is given, or the pipeline's own default."""
    return arguments.get(name, signature(type(loaded.pipeline).__call__).parameters[name].default)


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
        text = self._text(turn, len(pictures))
        with Meter() as meter, finite_decoder(self.loaded):
            made = self._made(turn, text, pictures, used)
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
            setup=setup_json(
                **self.loaded.told(), seed=turn.seed, sizes=sizes, **self._reading(text)
            ),
        )

    def _made(self, turn: Turn, text: str, pictures: Sequence[bytes], used: Size) -> Any:
        """Return the picture as floats (H, W, 3) in [0, 1], before any cast."""
        import torch

        generator, (width, height) = noise(turn.seed), used
        # Parts of some pipelines take no generator.
        drawing = drawn_from(generator) if self.habits.draws_globally else nullcontext()
        with torch.inference_mode(), drawing:
            result = self.loaded.pipeline(
                prompt=text,
                **{self.habits.pictures: [self._fitted(data) for data in pictures]},
                width=width,
                height=height,
                generator=generator,
                output_type="np",
                **self.arguments,
            )
        return result.images[0]

    def _reading(self, text: str) -> dict[str, Any]:
        """Return how many tokens a text has and how many are read, where the pipeline cuts."""
        if self.habits.counts is None:
            return {}
        limit = _given_or_default(self.loaded, self.arguments, "max_sequence_length")
        counts = self.habits.counts(self.loaded.pipeline, text)
        told = {"tokens": sum(counts), "read": sum(min(count, limit) for count in counts)}
        return {self.habits.counted: told}

    def _fitted(self, data: bytes) -> Any:
        if not self.habits.fits_pictures:
            return picture_of(data)
        return picture_of(data, self.habits.sides.like(*inspect(data).upright_size))

    def _text(self, turn: Turn, pictures: int) -> str:
        cited = [
            self.habits.pictures_cited.format(number=number) for number in range(1, pictures + 1)
        ]
        return " ".join([*filter(None, cited), text_of(turn)])
