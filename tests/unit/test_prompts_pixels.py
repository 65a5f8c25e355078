"""Prompts about pixel grids: every requirement of PixelBench (Appendix G) has its sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from gensight.pixels.grid_text import read_grid
from gensight.prompts import render
from gensight.records import Sample
from gensight.specs.prompt import PromptSpec
from gensight.vocabulary import concepts, vocabulary

PROMPTS = Path(__file__).resolve().parents[2] / "resources/prompts"
FILES = {
    "text_to_pixel": ["grid"],
    "image_to_pixel": ["grid"],
    "pixel_understanding": ["letter", "options_only", "shuffled"],
}
LABELS = ["palm tree", "fire truck", "cup"]
OPTIONS = [concept.label for concept in concepts()][:10]
SIZE = 16

# What the paper asks for, in a few words of ours, and the sentence that says it.
REQUIREMENTS = {
    ("text_to_pixel", "grid"): {
        "exactly so many icons": "the number of labels is 2, and so is the number of icons",
        "of this size": "square grids of 16 by 16 cells",
        "English labels, in order": "one icon for every label, in the order of the lines",
        "JSON alone": "Your whole reply is one JSON object",
        "no fence, no comment": "Put no code fence around it, and no word before or after it",
        "exactly so many rows": "lists 16 strings, one for each row",
        "exactly so many columns": "each of them is 16 digits long",
        "2 to 8 colours": "between two and eight",
        "opaque": "solid colours without transparency",
        "one for the background": "one of them is the background's",
        "a digit from 0 to 7 each": "counted from 0, so it is never above 7",
        "simple silhouette": "give it a plain outline",
        "high contrast": "stand out clearly",
        "centred": "Put the subject in the middle",
        "recognisable at this size": "16 by 16 cells should know at once what is meant",
        "no text": "Draw no letters, digits or words",
    },
    ("image_to_pixel", "grid"): {
        "faithful": "as true to it as the grid allows",
        "of this size": "square grid of 16 by 16 cells",
        "the subject's identity": "mainly about must stay the same thing",
        "silhouette and pose": "keep its outline and its posture",
        "composition": "the layout of the whole",
        "dominant colours": "the colours that prevail",
        "no more simple than needed": "only where the cells are too coarse for it",
        "no object name, no text": "Neither name what is shown nor draw any writing",
        "JSON alone": "Your whole reply is one JSON object",
        "the sample's id back": '"sample_id": "thing_1"',
        "rows and columns": "16 strings, one for each row from top to bottom, and each of",
        "2 to 8 opaque colours": "between two and eight solid colours without transparency",
    },
    ("pixel_understanding", "letter"): {
        "pixel art of this size as JSON": "JSON below is a piece of pixel art, 16 cells wide",
        "2 to 8 hexadecimal colours": "its two to eight colours in hexadecimal",
        "so many row strings": "stand 16 rows as strings",
        "a digit is a palette index": "says which colour it has, counted from 0",
        "0 to 7": "7 is the highest there can be",
        "name the object": "Which of these things does it show?",
        "one letter only": "Answer with the one letter (A to J)",
        "and nothing else": "write nothing else",
    },
}


def spec(task: str, name: str) -> PromptSpec:
    return PromptSpec.model_validate(yaml.safe_load((PROMPTS / task / f"{name}.yaml").read_text()))


def stored() -> str:
    pixels = np.random.default_rng(7).integers(0, 3, (SIZE, SIZE))
    rows = ["".join(map(str, row)) for row in pixels.tolist()]
    palette = ["#000000", "#FFFFFF", "#FF0000"]
    return json.dumps({"palette": palette, "pixels": rows}, separators=(",", ":"))


def asked(task: str, name: str, n: int = 2) -> str:
    """Return the text that a model is sent, at 16 cells a side where the prompt has sizes."""
    prompt = spec(task, name)
    size = SIZE if prompt.sizes else None
    at = prompt if size is None else prompt.at(size)
    samples = [
        Sample(
            sample_id=f"thing_{place}",
            rank=place - 1,
            cluster_id=f"thing_{place}",
            image={"bytes": b"", "path": f"thing_{place}.png"},
            query=label,
            options=OPTIONS,
        )
        for place, label in enumerate(LABELS[:n], 1)
    ]
    (request,) = render(
        f"{name}_{size}" if size else name,
        at.model_dump(exclude_none=True)["turns"],
        samples,
        task=task,
        size=size,
        per_request=n,
        grids={"thing_1": stored()},
    )
    texts = [part["text"] for turn in request.turns for part in turn["parts"] if part["text"]]
    return "\n".join(texts)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("task", "name", "sentence"),
    [
        pytest.param(task, name, sentence, id=f"{task}/{name}: {requirement}")
        for (task, name), sentences in REQUIREMENTS.items()
        for requirement, sentence in sentences.items()
    ],
)
def test_every_requirement_has_its_sentence(task: str, name: str, sentence: str) -> None:
    assert sentence in in_one_line(asked(task, name))


def test_the_prompts_are_those_of_the_three_tasks() -> None:
    for task, names in FILES.items():
        assert sorted(path.stem for path in (PROMPTS / task).glob("*.yaml")) == names
        for name in names:
            assert spec(task, name).task == task
            # The paper's three sizes, and whatever a sweep asks besides; labels alone have none.
            sizes = set(spec(task, name).sizes or ())
            assert sizes >= {16, 32, 64} if name != "options_only" else not sizes


def test_labels_stand_one_on_a_line() -> None:
    for n in (1, 3):
        text = asked("text_to_pixel", "grid", n)
        assert "\n\n" + "\n".join(LABELS[:n]) + "\n\n" in text
        assert f"the number of labels is {n}, and" in text


def test_a_reply_of_the_form_that_is_described_can_be_read() -> None:
    """The pattern in the prompt, with its rows filled in, is what the reader takes."""
    rows = ["01" * 8] * SIZE
    for task, shape, label in (
        ("text_to_pixel", "images", None),
        ("text_to_pixel", "images", "the label, letter for letter"),
        ("image_to_pixel", "grid", None),
    ):
        text = in_one_line(asked(task, "grid", n=1))
        begin, end = text.index('{"'), text.rindex("}") + 1
        value = json.loads(text[begin:end])
        grid = value["images"][0] if shape == "images" else value
        assert set(grid) - {"label", "sample_id"} == {"palette", "pixels"}
        grid["palette"], grid["pixels"] = ["#123456", "#ABCDEF"], rows
        verdicts = read_grid(json.dumps(value), SIZE, shape=shape, label=label)
        assert verdicts.strict.broken_rule is None


def test_the_category_is_withheld_from_image_to_pixel() -> None:
    assert "palm tree" not in asked("image_to_pixel", "grid")
    assert "query" not in spec("image_to_pixel", "grid").placeholders
    assert spec("image_to_pixel", "grid").shows_the_input


@pytest.mark.parametrize("name", FILES["pixel_understanding"])
def test_understanding_shows_no_picture_and_ends_with_its_options(name: str) -> None:
    prompt = spec("pixel_understanding", name)
    assert not prompt.shows_the_input
    assert prompt.turns[0].answer_form.options == len(OPTIONS)
    text = asked("pixel_understanding", name, n=1)
    lines = [f"{letter}. {label}" for letter, label in zip("ABCDEFGHIJ", OPTIONS, strict=True)]
    assert "\n" + "\n".join(lines) + "\n" in text
    assert "palm tree" not in text


def test_the_control_differs_from_the_question_in_its_grid_alone() -> None:
    asking, control = (
        spec("pixel_understanding", name).turns[0].parts[0].text for name in ("letter", "shuffled")
    )
    assert asking.replace("{grid}", "{shuffled_grid}") == control
    first, second = (asked("pixel_understanding", name, n=1) for name in ("letter", "shuffled"))
    assert stored() in first
    shown = next(line for line in second.splitlines() if line.startswith('{"palette"'))
    assert shown != stored()
    assert sorted("".join(json.loads(shown)["pixels"])) == sorted(
        "".join(json.loads(stored())["pixels"])
    )


def test_without_a_grid_the_labels_stand_alone() -> None:
    text = asked("pixel_understanding", "options_only", n=1)
    assert "palette" not in text
    assert "#" not in text
    assert "{" not in text


def test_no_example_gives_a_colour_or_a_thing_away() -> None:
    names = {candidate.label for candidate in vocabulary() if " " in candidate.label}
    for task, files in FILES.items():
        for name in files:
            text = "\n".join(part.text or "" for part in spec(task, name).turns[0].parts)
            assert not [label for label in names if label in text]
            assert not re.search("#[0-9A-Fa-f]{6}", text)
