"""Prompts rendered for samples: text with its placeholders filled, pictures by reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gensight.digests import canonical_json, digest_of
from gensight.errors import SpecError
from gensight.records import Request, Sample
from gensight.specs.placeholders import pieces


def render(
    prompt: str,
    turns: Sequence[Mapping[str, Any]],
    samples: Iterable[Sample],
    *,
    task: str = "*",
) -> Iterator[Request]:
    """Yield one request per evaluated sample, in the samples' order.

    `turns` are those of resources/prompts/{task}/{prompt}.yaml, the file that errors name.

    Raises:
        SpecError: the text has an unknown placeholder, or a sample lacks what it asks for.
    """
    file = f"resources/prompts/{task}/{prompt}.yaml"
    prompt_hash = digest_of(list(turns))
    for sample in samples:
        if sample.role != "evaluated":
            continue
        rendered = [_turn(file, turn, sample) for turn in turns]
        yield Request(
            request_id=digest_of([prompt_hash, sample.sample_id, rendered])[:32],
            sample_ids=[sample.sample_id],
            rank=sample.rank,
            prompt=prompt,
            prompt_hash=prompt_hash,
            turns=rendered,
        )


def _turn(file: str, turn: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    return {
        "parts": [_part(file, part, sample) for part in turn["parts"]],
        "answer_form": canonical_json(turn["answer_form"]),
    }


def _part(file: str, part: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    blank = {"kind": "text", "text": None, "sample_id": None, "turn": None}
    if "image" in part:
        return {**blank, "kind": "image", "sample_id": sample.sample_id}
    if "reply" in part:
        return {**blank, "kind": "reply", "turn": part["reply"]}
    return {**blank, "text": fill(file, part["text"], {"query": sample.query}).strip()}


def fill(file: str, text: str, values: Mapping[str, str | None]) -> str:
    """Return a text with {placeholders} replaced; doubled braces stand for themselves.

    Raises:
        SpecError: the text of this prompt file has a wrong brace, or a placeholder has no value.
    """
    try:
        split = pieces(text)
    except ValueError as error:
        raise SpecError(f"{file}: {error}") from None
    for _, name in split:
        if name is not None and values.get(name) is None:
            raise SpecError(
                f"{file}: the placeholder {{{name}}} has no value for this sample; take it out of "
                f"the text, or ask the prompt of a data set that has it"
            )
    return "".join(plain + ((name and values[name]) or "") for plain, name in split)
