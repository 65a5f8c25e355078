"""Chat models that see, loaded with transformers: Qwen3-VL, Qwen2.5-VL, Molmo2 and their like.

Texts and pictures go into one message of the user in the order of the prompt, through the model's
own chat template. Decoding is greedy unless `temperature` is set. What a checkpoint's own
generation settings say is left out, but for its end tokens: penalties and samplers in them would
be settings that nobody set.

A reply that has `max_new_tokens` tokens and no end is `truncated`; `length_ladder` asks it again
with more. With `thinking: true` the text is what follows the last </think>, and what stands before
it is kept in the answer's setup as `thoughts`; a reply that is thoughts alone is `malformed`, or
`truncated` if the limit cut it. Sources: transformers 5.24, `apply_chat_template` and `generate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gensight.errors import AnswerError, GensightError, SpecError
from gensight.images import inspect
from gensight.models import Outcome, Part, Reply, Site, Turn
from gensight.models._noise import drawn_from, noise
from gensight.models._settings import complete, count, stated
from gensight.models._torch import LOADING, Meter, Size, name_of, pictures_of
from gensight.models._transformers import Opened, as_pillow, open_pretrained

if TYPE_CHECKING:
    import torch

    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
ANSWERS = ["text"]
SPENDS = {"max_tokens": "max_new_tokens", "size": None, "quality": None}
# `max_new_tokens` bounds what is thought and said together.
DEFAULTS = {
    **LOADING,
    "max_new_tokens": None,
    "assumed_max_new_tokens": None,
    # Higher limits that a reply cut at its limit is asked again with, one after the other.
    "length_ladder": [],
    # null or 0: greedy; then top_p and top_k must be null.
    "temperature": None,
    "assumed_temperature": None,
    "top_p": None,
    "top_k": None,
    "repetition_penalty": None,
    "seed": 0,
    # Whether the model thinks aloud before it answers.
    "thinking": False,
}
REQUIRED = ["model"]
END_OF_THOUGHTS = "</think>"
START_OF_THOUGHTS = "<think>"


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Load the chat model that a generation block names.

    Raises:
        SpecError: a setting has no use, or is out of range.
        GensightError: as `open_pretrained`.
    """
    settings = complete("transformers_chat", generation)
    limit = count(settings, "max_new_tokens")
    if limit is None:
        raise SpecError("generation: key 'max_new_tokens' is missing; add it")
    decoding = _decoding(settings)
    opened = open_pretrained(
        "transformers_chat", settings, site, "AutoModelForImageTextToText", "AutoProcessor"
    )
    _forget_own_settings(opened)
    return ChatModel(opened, limit, decoding, thinks=settings["thinking"])


def _decoding(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the next token is chosen, as `generate` takes it."""
    temperature = _number(settings, "temperature", least=0) or 0.0
    given = {
        "top_p": _number(settings, "top_p", least=0, most=1),
        "top_k": count(settings, "top_k"),
    }
    narrowing = {name: value for name, value in given.items() if value is not None}
    if not temperature and narrowing:
        name = next(iter(narrowing))
        raise SpecError(
            f"generation: {name}: greedy decoding has no use for it; set temperature above 0, or "
            f"remove it"
        )
    penalty = _number(settings, "repetition_penalty", least=0)
    chosen = {} if penalty is None else {"repetition_penalty": penalty}
    if not temperature:
        return {**chosen, "do_sample": False}
    # 0 is "all" for top_k, whose own default is 50.
    return {**chosen, "do_sample": True, "temperature": temperature, "top_k": 0, **narrowing}


def _number(
    settings: Mapping[str, Any], name: str, *, least: float, most: float = float("inf")
) -> float | None:
    value = stated(settings, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        bounds = f"of at least {least:g}" if most == float("inf") else f"from {least:g} to {most:g}"
        raise SpecError(f"generation: {name}: {value!r} is no number {bounds}")
    return float(value)


def _forget_own_settings(opened: Opened) -> None:
    """Leave of a checkpoint's generation settings only which tokens begin, end and fill.

    Raises:
        GensightError: neither they nor the tokenizer say which token ends a reply.
    """
    from transformers import GenerationConfig

    own, tokenizer = opened.model.generation_config, opened.processor.tokenizer
    tokens = {
        name: getattr(tokenizer if getattr(own, name) is None else own, name)
        for name in ("bos_token_id", "eos_token_id", "pad_token_id")
    }
    if tokens["eos_token_id"] is None:
        raise GensightError(
            f"adapter transformers_chat: {opened.weights.name}: no token ends a reply: add "
            f"eos_token_id to its generation_config.json"
        )
    opened.model.generation_config = GenerationConfig(**tokens)


@dataclass(frozen=True)
class ChatModel:
    """A loaded chat model: the most tokens of a reply, and how each is chosen."""

    opened: Opened
    limit: int
    decoding: Mapping[str, Any]
    thinks: bool = False
    fit_digest = ""

    def answer(self, turn: Turn) -> Reply:
        """Return what the model says to a turn.

        Raises:
            AnswerError: the model made NaN in place of the next token's odds.
        """
        limit = self.limit if turn.max_tokens is None else turn.max_tokens
        with Meter() as meter:
            inputs = self._inputs(turn)
            tokens = self._tokens(inputs, limit, turn.seed)
        said = self.opened.processor.batch_decode([tokens], skip_special_tokens=True)[0]
        thoughts, text = split_thoughts(said) if self.thinks else (None, said.strip())
        outcome, detail = self._end(tokens, text)
        setup = self.opened.setup(
            seed=turn.seed if self.decoding["do_sample"] else None,
            sizes={"sent": _first_size(turn), "used": self._used(inputs), "returned": None},
            tokens={"prompt": _length(inputs), "new": len(tokens), "limit": limit},
            **({} if thoughts is None else {"thoughts": thoughts}),
        )
        return Reply(
            str(outcome),
            text=text or None,
            detail=detail,
            peak_memory_gb=meter.peak_memory_gb,
            device=meter.device,
            setup=setup,
        )

    def _inputs(self, turn: Turn) -> Any:
        message = {"role": "user", "content": [_content(part) for part in turn.parts]}
        inputs = self.opened.processor.apply_chat_template(
            [message],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        return self.opened.ready(inputs)

    def _tokens(self, inputs: Any, limit: int, seed: int | None) -> list[int]:
        """Return the tokens of the reply alone, its end included."""
        import torch

        # `generate` takes no generator.
        drawing = drawn_from(noise(seed)) if self.decoding["do_sample"] else nullcontext()
        with torch.inference_mode(), drawing:
            made = self.opened.model.generate(
                **inputs,
                max_new_tokens=limit,
                logits_processor=[_RefusesNan(self.opened.dtype)],
                **self.decoding,
            )
        return made[0, _length(inputs) :].tolist()

    def _end(self, tokens: Sequence[int], text: str) -> tuple[Outcome, str | None]:
        ends = self.opened.model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        if not tokens or tokens[-1] not in ends:
            return Outcome.TRUNCATED, "length"
        if text:
            return Outcome.OK, None
        return Outcome.MALFORMED, "only_thoughts" if self.thinks and len(tokens) > 1 else "empty"

    def _used(self, inputs: Any) -> Size | None:
        """Return the size at which the first picture was looked at, where the inputs tell it."""
        patch = getattr(self.opened.processor.image_processor, "patch_size", None)
        if "image_grid_thw" not in inputs or patch is None:
            return None
        _, rows, columns = inputs["image_grid_thw"][0].tolist()
        return columns * patch, rows * patch


class _RefusesNan:
    """Looks at the odds of every next token: greedy decoding makes a word of NaN, too."""

    def __init__(self, dtype: torch.dtype) -> None:
        self._dtype = dtype

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if bool(scores.isnan().any()):
            raise AnswerError(
                f"the model made NaN of the next token's odds in {name_of(self._dtype)}; try "
                f"another dtype (bfloat16 or float32)"
            )
        return scores


def split_thoughts(said: str) -> tuple[str, str]:
    """Return what was thought and what was said.

    A template may open the thoughts itself, so that a reply begins inside them: all up to the last
    </think> is thought, and all where there is none.

    >>> split_thoughts("<think>two and two</think> 4")
    ('two and two', '4')
    >>> split_thoughts("two and")
    ('two and', '')
    """
    thoughts, end, text = said.rpartition(END_OF_THOUGHTS)
    thoughts, text = (thoughts, text) if end else (said, "")
    return thoughts.strip().removeprefix(START_OF_THOUGHTS).strip(), text.strip()


def _content(part: Part) -> dict[str, Any]:
    if part.image is None:
        return {"type": "text", "text": part.text or ""}
    return {"type": "image", "image": as_pillow(part.image)}


def _first_size(turn: Turn) -> Size | None:
    pictures = pictures_of(turn)
    return inspect(pictures[0]).upright_size if pictures else None


def _length(inputs: Any) -> int:
    return int(inputs["input_ids"].shape[1])
