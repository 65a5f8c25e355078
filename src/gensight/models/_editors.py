"""How the image editors of diffusers differ, as data: sizes, settings, and where a picture goes in.

Sizes and habits are those of diffusers 0.42.1 unless a comment says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gensight.models._torch import Size

ONE_MEGAPIXEL = 1024 * 1024


@dataclass(frozen=True)
class Sides:
    """The sizes that a pipeline works at, in pixels.

    Both sides are multiples of `multiple`, the shorter one is at least `least`, the longer at most
    `most_aspect` times the shorter, and their product at most `most_pixels`.
    """

    multiple: int
    least: int
    most_aspect: float
    most_pixels: int = ONE_MEGAPIXEL

    def like(self, width: int, height: int) -> Size:
        """Return the allowed size nearest to a picture's, by scaling, rounding, then stretching."""
        short, long = sorted((width, height))
        short = max(short, long / self.most_aspect)
        scale = min(1.0, math.sqrt(self.most_pixels / (short * long)))
        scale = max(scale, self.least / short)
        sides = [max(self.multiple, self._nearest(side * scale)) for side in (short, long)]
        sides[0] = max(sides[0], self._up(max(self.least, sides[1] / self.most_aspect)))
        # Rounding up may have gone beyond the area; the longer side gives way.
        while math.prod(sides) > self.most_pixels and max(sides) > self.least:
            sides[sides.index(max(sides))] -= self.multiple
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
    1. `embeds_guidance` says that guidance_scale is an input of the transformer, if that has one;
    `draws_globally`, that some numbers are drawn past the generator. `counts` returns the tokens of
    each text that the pipeline cuts to max_sequence_length, without a word: its own words around
    the prompt's are among them. `counted` says which texts these are. `mend` is done to a loaded
    pipeline that its libraries' versions have broken.
    """

    pictures: str
    sides: Sides
    takes: tuple[str, ...]
    fits_pictures: bool = True
    pictures_cited: str = ""
    embeds_guidance: bool = False
    draws_globally: bool = False
    counts: Callable[[Any, str], list[int]] | None = None
    counted: str = "prompt"
    mend: Callable[[Any], None] | None = None


def _mend_glm_reader(pipeline: Any) -> None:
    """Let GLM-Image's pipeline and its tokeniser of pictures agree on what they hand over.

    diffusers 0.42.1 joins the features of all pictures along their first axis, as patches in a row;
    in transformers 5.24.0 that axis is the channels of each (channels, rows, columns), unequal
    pictures cannot be joined so, and the tokeniser wants one entry per picture. So the pipeline is
    given patches in a row, and the tokeniser the pictures that they were. Generation, which takes
    the features for itself, names its arguments and gets them as they are.
    """
    model = pipeline.vision_language_encoder
    features_of, tokens_of = model.get_image_features, model.get_image_tokens

    def _features(*given: Any, **named: Any) -> Any:
        found = features_of(*given, **named)
        if not named:
            found.pooler_output = [one.flatten(1).T for one in found.pooler_output]
        return found

    def _tokens(features: Any, grids: Any = None) -> Any:
        if hasattr(features, "ndim") and features.ndim == 2 and grids is not None:
            patches = features.split(grids.prod(dim=-1).tolist())
            features = [
                some.T.reshape(-1, rows, columns)
                for some, (_, rows, columns) in zip(patches, grids.tolist(), strict=True)
            ]
        return tokens_of(features, grids)

    model.get_image_features, model.get_image_tokens = _features, _tokens


def _flux2_tokens(pipeline: Any, text: str) -> list[int]:
    """Count a prompt as FLUX.2 reads it: behind a system message, which the limit covers too."""
    said = {"system": pipeline.system_message, "user": text.replace("[IMG]", "")}
    messages = [
        {"role": role, "content": [{"type": "text", "text": words}]} for role, words in said.items()
    ]
    tokens = pipeline.tokenizer.apply_chat_template([messages], tokenize=True, return_dict=True)
    return [len(tokens["input_ids"][0])]


def _flux2_klein_tokens(pipeline: Any, text: str) -> list[int]:
    said = pipeline.tokenizer.apply_chat_template(
        [{"role": "user", "content": text}],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=False,
    )
    return [len(pipeline.tokenizer(said)["input_ids"])]


def _glm_quoted_tokens(pipeline: Any, text: str) -> list[int]:
    """Count the texts in quotation marks, which are read once more by themselves and cut there."""
    (quoted,) = pipeline.get_glyph_texts(text)
    return [len(tokens) for tokens in pipeline.tokenizer(quoted)["input_ids"]] if quoted else []


PIPELINES = {
    "QwenImageEditPlusPipeline": Habits(
        pictures="image",
        # Other sizes are rounded down. Input pictures are stretched by the pipeline itself. The
        # limit of the aspect is assumed: without one a line of pixels would grow beyond bounds.
        sides=Sides(multiple=16, least=16, most_aspect=64),
        # Its call has a max_sequence_length too, which cuts nothing: the whole text is read.
        takes=("num_inference_steps", "guidance_scale", "true_cfg_scale", "negative_prompt"),
        fits_pictures=False,
        embeds_guidance=True,
    ),
    "Flux2Pipeline": Habits(
        pictures="image",
        # Pictures beyond 8 to 1 and below 64 pixels are refused, larger ones scaled down, and all
        # cut around their centre to multiples of 16.
        sides=Sides(multiple=16, least=64, most_aspect=8),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
        embeds_guidance=True,
        counts=_flux2_tokens,
    ),
    "Flux2KleinPipeline": Habits(
        pictures="image",
        sides=Sides(multiple=16, least=64, most_aspect=8),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
        counts=_flux2_klein_tokens,
    ),
    "GlmImagePipeline": Habits(
        pictures="image",
        # Two readers of the input must agree on its grid: one rounds down to 16, the other enlarges
        # to a short side of 512 and refuses beyond 4 to 1 (defaults of its processor in
        # transformers, assumed to be the repository's).
        sides=Sides(multiple=32, least=512, most_aspect=4, most_pixels=4 * ONE_MEGAPIXEL),
        takes=("num_inference_steps", "guidance_scale", "max_sequence_length"),
        draws_globally=True,
        counts=_glm_quoted_tokens,
        counted="quoted",
        mend=_mend_glm_reader,
    ),
    "OmniGenPipeline": Habits(
        pictures="input_images",
        # Input is cut around its centre to multiples of 16; the limit of the aspect is assumed.
        sides=Sides(multiple=16, least=16, most_aspect=64),
        takes=("num_inference_steps", "guidance_scale", "img_guidance_scale"),
        pictures_cited="<img><|image_{number}|></img>",
        draws_globally=True,
    ),
}
