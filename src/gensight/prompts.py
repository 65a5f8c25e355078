"""Prompts rendered for samples: text with its placeholders filled, pictures by reference."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from string import ascii_uppercase
from typing import Any

from gensight.digests import canonical_json, digest_of
from gensight.errors import SpecError
from gensight.outcomes import Outcome
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.shuffled_cells import with_shuffled_cells
from gensight.records import Request, Sample
from gensight.specs.placeholders import GRIDS, pieces

#: The grids that a prompt asks about, as canonical JSON by sample.
Grids = Mapping[str, str]


def render(
    prompt: str,
    turns: Sequence[Mapping[str, Any]],
    samples: Iterable[Sample],
    *,
    task: str = "*",
    size: int | None = None,
    per_request: int = 1,
    grids: Grids | None = None,
    missing: Container[str] = (),
) -> Iterator[Request]:
    """Yield one request for every `per_request` evaluated samples, in the samples' order.

    `turns` are those of resources/prompts/{task}/{prompt}.yaml, the file that errors name; a prompt
    of one `size` has it at the end of its name. A sample without a grid is not asked about one;
    that of a `missing` one may still come.

    Raises:
        SpecError: the text has an unknown placeholder, a sample lacks what it asks for, or labels
            that share a request cannot be told apart.
    """
    stem = prompt if size is None else prompt.removesuffix(f"_{size}")
    file = f"resources/prompts/{task}/{stem}.yaml"
    prompt_hash = digest_of(list(turns))
    shows_a_grid = _shows_a_grid(turns)
    evaluated = (sample for sample in samples if sample.role == "evaluated")
    while some := list(islice(evaluated, per_request)):
        _check_labels(file, some)
        values = _values(some, size)
        if shows_a_grid:
            values |= _grid_values(some[0].sample_id, grids or {})
        is_missing = shows_a_grid and values["grid"] is None
        rendered = [] if is_missing else [_turn(file, turn, some[0], values) for turn in turns]
        ids = [sample.sample_id for sample in some]
        yield Request(
            request_id=digest_of([prompt_hash, ids[0] if per_request == 1 else ids, rendered])[:32],
            sample_ids=ids,
            rank=some[0].rank,
            prompt=prompt,
            prompt_hash=prompt_hash,
            turns=rendered,
            unasked=_why_unasked(ids[0], missing) if is_missing else None,
        )


def _why_unasked(sample_id: str, missing: Container[str]) -> str:
    return str(Outcome.SOURCE_MISSING if sample_id in missing else Outcome.NO_SOURCE)


def _shows_a_grid(turns: Sequence[Mapping[str, Any]]) -> bool:
    texts = [part["text"] for turn in turns for part in turn["parts"] if part.get("text")]
    return any(f"{{{name}}}" in text for text in texts for name in GRIDS)


def _check_labels(file: str, samples: Sequence[Sample]) -> None:
    """Refuse labels of one request by which no answer could be matched with its sample."""
    labels: set[str | None] = set()
    for sample in samples if len(samples) > 1 else ():
        label = sample.query
        if label in labels or (label is not None and len(label.splitlines()) != 1):
            raise SpecError(
                f"{file}: the label {label!r} of sample {sample.sample_id} "
                f"{'stands twice in one request' if label in labels else 'is not one line'}; set "
                f"the benchmark's samples_per_request to 1"
            )
        labels.add(label)


def _values(samples: Sequence[Sample], size: int | None) -> dict[str, str | None]:
    """Return what the placeholders of a request are filled with; None where there is nothing."""
    first = samples[0]
    labels = [sample.query for sample in samples if sample.query is not None]
    listed = zip(ascii_uppercase, first.options or (), strict=False)
    return {
        "query": first.query,
        "size": None if size is None else str(size),
        "n": str(len(samples)),
        "labels": "\n".join(labels) if len(labels) == len(samples) else None,
        "sample_id": first.sample_id,
        "options": "\n".join(f"{letter}. {label}" for letter, label in listed) or None,
    }


def _grid_values(sample_id: str, grids: Grids) -> dict[str, str | None]:
    text = grids.get(sample_id)
    if text is None:
        return dict.fromkeys(GRIDS)
    # Whatever the source and the model, the cells of a sample are dealt in the same order.
    shuffled = with_shuffled_cells(stored_grid(text), key=sample_id)
    return {"grid": text, "shuffled_grid": shuffled.text()}


def _turn(
    file: str, turn: Mapping[str, Any], sample: Sample, values: Mapping[str, str | None]
) -> dict[str, Any]:
    return {
        "parts": [_part(file, part, sample, values) for part in turn["parts"]],
        "answer_form": canonical_json(turn["answer_form"]),
    }


def _part(
    file: str, part: Mapping[str, Any], sample: Sample, values: Mapping[str, str | None]
) -> dict[str, Any]:
    blank = {"kind": "text", "text": None, "sample_id": None, "turn": None}
    if "image" in part:
        if sample.image is None:
            raise SpecError(
                f"{file}: shows the input, and sample {sample.sample_id} has no picture; ask a "
                f"prompt without the part 'image: input'"
            )
        return {**blank, "kind": "image", "sample_id": sample.sample_id}
    if "reply" in part:
        return {**blank, "kind": "reply", "turn": part["reply"]}
    return {**blank, "text": fill(file, part["text"], values).strip()}


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
