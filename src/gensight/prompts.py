"""Prompts rendered for samples: text with its placeholders filled, pictures by reference."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gensight.digests import canonical_json, digest_of
from gensight.errors import SpecError
from gensight.records import Request, Sample


def render(
    prompt: str, turns: Sequence[Mapping[str, Any]], samples: Iterable[Sample]
) -> Iterator[Request]:
    """Yield one request per evaluated sample, in the samples' order.

    `turns` are the prompt's turns as its YAML gives them. Known placeholder: {query}.

    Raises:
        SpecError: the text has an unknown placeholder, or a sample lacks what it asks for.
    """
    prompt_hash = digest_of(list(turns))
    for sample in samples:
        if sample.role != "evaluated":
            continue
        rendered = [_turn(prompt, turn, sample) for turn in turns]
        yield Request(
            request_id=digest_of([prompt_hash, sample.sample_id, rendered])[:32],
            sample_ids=[sample.sample_id],
            rank=sample.rank,
            prompt=prompt,
            prompt_hash=prompt_hash,
            turns=rendered,
        )


def _turn(prompt: str, turn: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    return {
        "parts": [_part(prompt, part, sample) for part in turn["parts"]],
        "answer_form": canonical_json(turn["answer_form"]),
    }


def _part(prompt: str, part: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    blank = {"kind": "text", "text": None, "sample_id": None, "turn": None}
    if "image" in part:
        return {**blank, "kind": "image", "sample_id": sample.sample_id}
    if "reply" in part:
        return {**blank, "kind": "reply", "turn": part["reply"]}
    return {**blank, "text": fill(prompt, part["text"], {"query": sample.query}).strip()}


def fill(prompt: str, text: str, values: Mapping[str, str | None]) -> str:
    """Return a text with {placeholders} replaced; doubled braces stand for themselves."""
    for _, name, _, _ in string.Formatter().parse(text):
        if name is not None and values.get(name) is None:
            raise SpecError(
                f"prompt '{prompt}': the placeholder {{{name}}} has no value for this sample; "
                f"known placeholders: {', '.join(sorted(values))}"
            )
    return text.format_map(values)
