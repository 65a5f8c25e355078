"""What a judge is asked: a rubric, filled for one answer and, where it compares, one reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gensight.digests import canonical_json, digest_of, digest_of_bytes
from gensight.errors import SpecError
from gensight.judges.pictures import Shown
from gensight.records import Request, Sample
from gensight.specs.placeholders import pieces
from gensight.specs.rubric import RubricSpec

#: A part of a turn in which nothing is filled in yet.
BLANK_PART = {"kind": "text", "text": None, "sample_id": None, "turn": None, "image": None}


@dataclass(frozen=True)
class Reference:
    """A picture that an answer is compared with, by its name, and what is to be compared."""

    name: str
    picture: bytes
    hint: str | None = None


@dataclass(frozen=True)
class JudgeQuestion:
    """One question to a judge: a request of one turn, and the pictures that it shows by name.

    `unit` is the name of the reference, None where the answer is judged by itself.
    """

    rubric: str
    unit: str | None
    request: Request
    pictures: Mapping[str, bytes]


def questions(
    name: str,
    rubric: RubricSpec,
    sample: Sample,
    shown: Shown,
    references: Sequence[Reference] = (),
) -> Iterator[JudgeQuestion]:
    """Yield what is asked about one answer by the rubric resources/rubrics/{name}.yaml.

    That is one question, or one for each reference: none, where the sample has none.

    Raises:
        SpecError: the sample or the answer lacks what the rubric's text or pictures need.
    """
    if rubric.per == "answer":
        yield _question(name, rubric, sample, shown, None)
        return
    for reference in references:
        yield _question(name, rubric, sample, shown, reference)


def rubric_hash(rubric: RubricSpec) -> str:
    """Return the digest of all that a rubric says."""
    return digest_of(rubric.model_dump(mode="json"))


def answer_form(rubric: RubricSpec) -> dict[str, Any]:
    """Return the form of answer that a rubric asks for.

    `dimensions` maps each to its most points, `pictures` names what the turn shows, in order.
    """
    return {
        "kind": "text",
        "content": "judgement",
        "reply": rubric.reply,
        "dimensions": {dimension.name: dimension.most for dimension in rubric.dimensions},
        "reasons": rubric.reasons,
        "notes": rubric.notes,
        "line": rubric.dimensions[0].line,
        "pictures": rubric.shown,
    }


def _question(
    name: str, rubric: RubricSpec, sample: Sample, shown: Shown, reference: Reference | None
) -> JudgeQuestion:
    file = f"resources/rubrics/{name}.yaml"
    pictures = _pictures(file, rubric, sample, shown, reference)
    values = _values(rubric, sample, shown, reference)
    turn = {
        "parts": [
            {**BLANK_PART, "kind": "image", "image": part.picture}
            if part.text is None
            else {**BLANK_PART, "text": _filled(file, part.text, values).strip()}
            for part in rubric.parts
        ],
        "answer_form": canonical_json(answer_form(rubric)),
    }
    unit = None if reference is None else reference.name
    digests = {key: digest_of_bytes(data) for key, data in pictures.items()}
    told = rubric_hash(rubric)
    request = Request(
        request_id=digest_of([told, sample.sample_id, unit, turn, digests])[:32],
        sample_ids=[sample.sample_id],
        rank=sample.rank,
        prompt=name,
        prompt_hash=told,
        turns=[turn],
    )
    return JudgeQuestion(name, unit, request, pictures)


def _pictures(
    file: str, rubric: RubricSpec, sample: Sample, shown: Shown, reference: Reference | None
) -> dict[str, bytes]:
    known = {
        "answer": shown.picture,
        "input": None if sample.image is None else sample.image["bytes"],
        "reference": None if reference is None else reference.picture,
    }
    found = {name: data for name in rubric.shown if (data := known[name]) is not None}
    missing = [name for name in rubric.shown if name not in found]
    if missing:
        raise SpecError(
            f"{file}: parts: sample {sample.sample_id} has no picture '{missing[0]}'; take the "
            f"part out, or judge a benchmark that has it"
        )
    return found


def _values(
    rubric: RubricSpec, sample: Sample, shown: Shown, reference: Reference | None
) -> dict[str, str | None]:
    points = {one.name: f"{one.least} to {one.most}" for one in rubric.dimensions}
    return {
        **points,
        "query": sample.query,
        "label": sample.target_text,
        "size": None if shown.size is None else str(shown.size),
        "hint": None if reference is None else reference.hint,
    }


def _filled(file: str, text: str, values: Mapping[str, str | None]) -> str:
    """Return a text with its placeholders replaced; doubled braces stand for themselves."""
    filled = []
    for plain, name in pieces(text, tuple(values)):
        value = "" if name is None else values[name]
        if value is None:
            raise SpecError(
                f"{file}: parts: the placeholder {{{name}}} has no value for this sample; take it "
                f"out of the text, or judge a benchmark that has it"
            )
        filled.append(plain + value)
    return "".join(filled)
