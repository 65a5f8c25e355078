"""Prompts rendered for samples: placeholders, braces, held-out rows, stable identifiers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from spine_rows import sample

from gensight.errors import SpecError
from gensight.prompts import fill, render

FORM = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
TURNS = [{"parts": [{"image": "input"}, {"text": " Paint {query}.\n"}], "answer_form": FORM}]
TWO_TURNS = [
    {"parts": [{"text": "Where?"}], "answer_form": {"kind": "text", "content": "free"}},
    {"parts": [{"reply": 0}, {"text": "Paint."}], "answer_form": FORM},
]

TEXTS = [
    ("Paint {query}.", "Paint the ball."),
    ("{query}", "the ball"),
    ("Nothing to fill", "Nothing to fill"),
    ("", ""),
    ('Answer {{"box": [0, 1]}} for {query}', 'Answer {"box": [0, 1]} for the ball'),
    ("{query} and {query}", "the ball and the ball"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_placeholders_are_filled_and_doubled_braces_stay(text, expected):
    assert fill("mid", text, {"query": "the ball"}) == expected


def test_braces_in_a_query_are_left_alone():
    assert fill("mid", "Paint {query}.", {"query": "the {sign} {0}"}) == "Paint the {sign} {0}."


UNKNOWN = ["{qurey}", "{}", "{0}", "{query.upper}", '{"box": 1}', "{ query }", "{query!r}"]
UNKNOWN += ["{query:>9}", "{query:{width}}", "{query[0]}"]
BROKEN = ["}", "{", "{query", "a { b", "{query!}", "{query}}", "{{query}"]


@pytest.mark.parametrize("text", UNKNOWN)
def test_an_unknown_placeholder_is_one_line_that_lists_the_known_ones(text):
    with pytest.raises(
        SpecError, match=r"^p/mid.yaml: [^\n]*known placeholders: query, size, n, [^\n]*$"
    ):
        fill("p/mid.yaml", f"Paint {text}.", {"query": "the ball"})


@pytest.mark.parametrize("text", BROKEN)
def test_a_brace_alone_is_one_line_that_says_how_to_write_braces(text):
    with pytest.raises(SpecError, match=r"^p/mid.yaml: [^\n]*write \{\{ and \}\} for braces$"):
        fill("p/mid.yaml", f"Paint {text}.", {"query": "the ball"})


def test_errors_name_the_file_of_the_prompt():
    nothing_asked = [sample(0, query=None)]
    with pytest.raises(SpecError, match=r"^resources/prompts/segmentation/mid\.yaml: "):
        list(render("mid", TURNS, nothing_asked, task="segmentation"))


def test_a_sample_without_a_query_is_an_error_only_if_the_text_asks_for_it():
    with pytest.raises(SpecError, match=r"placeholder \{query\} has no value"):
        fill("mid", "Paint {query}.", {"query": None})
    assert fill("mid", "Draw depth.", {"query": None}) == "Draw depth."


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"])))
def test_a_text_without_braces_is_itself(text):
    assert fill("mid", text, {"query": "x"}) == text


def test_only_evaluated_samples_are_rendered_in_their_order():
    samples = [sample(3), sample(500, "held_out"), sample(1), sample(501, "held_out")]
    requests = list(render("mid", TURNS, samples))
    assert [r.sample_ids for r in requests] == [["s3"], ["s1"]]
    assert [r.rank for r in requests] == [3, 1]


def test_parts_keep_their_order_and_pictures_are_named_not_copied():
    (request,) = render("mid", TURNS, [sample(7)])
    assert request.turns[0]["parts"] == [
        {"kind": "image", "text": None, "sample_id": "s7", "turn": None},
        {"kind": "text", "text": "Paint the ball.", "sample_id": None, "turn": None},
    ]
    assert request.turns[0]["answer_form"] == (
        '{"background":[0,0,0],"foreground":[255,255,255],"kind":"mask"}'
    )


def test_a_reply_is_cited_by_its_turn():
    (request,) = render("plan", TWO_TURNS, [sample(0)])
    cited = {"kind": "reply", "text": None, "sample_id": None, "turn": 0}
    assert request.turns[1]["parts"][0] == cited


def test_identifiers_depend_on_sample_and_wording_alone():
    def ids(turns=TURNS, name="mid", rank=0, **columns):
        (request,) = render(name, turns, [sample(rank, **columns)])
        return request.request_id, request.prompt_hash

    base = ids()
    assert ids(picture=b"another", tags=["x"], stratum="y") == base
    assert ids(rank=1)[0] != base[0] and ids(rank=1)[1] == base[1]
    assert ids(query="the cube")[0] != base[0] and ids(query="the cube")[1] == base[1]
    reworded = [{**TURNS[0], "parts": [{"image": "input"}, {"text": "Colour {query}."}]}]
    assert ids(reworded)[0] != base[0] and ids(reworded)[1] != base[1]
    other_form = [{**TURNS[0], "answer_form": {**FORM, "foreground": [0, 0, 0]}}]
    assert ids(other_form)[0] != base[0] and ids(other_form)[1] != base[1]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_identifiers_are_the_same_in_another_process(hash_seed, tmp_path):
    (request,) = render("mid", TURNS, [sample(0)])
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_prompts import TURNS, render, sample\n"
        "print(next(iter(render('mid', TURNS, [sample(0)]))).request_id)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, __file__.rsplit("/", 1)[0]],
        env={"PYTHONHASHSEED": hash_seed},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == request.request_id


SHIPPED = Path(__file__).resolve().parents[2] / "resources" / "prompts"


def shipped(name):
    """The text of the last turn of a shipped prompt, in lower case, and its form of answer."""
    turn = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8"))["turns"][-1]
    texts = [part["text"] for part in turn["parts"] if "text" in part]
    return " ".join(" ".join(texts).lower().split()), turn["answer_form"]


# What each granularity says, and what it must leave unsaid.
SAYS = {
    "segmentation/short": ((), ("white", "black", "mask", "sharp", "pixel")),
    "segmentation/mid": (("white", "black"), ("sharp", "alias")),
    "segmentation/long": (("white", "black", "sharp", "anti-aliasing"), ()),
    "segmentation/target": ((), ("white", "black", "mask", "paint")),
    "segmentation/overlay": (("tint", "(255, 0, 0)"), ("black",)),
    "depth/short": (("depth map", "grey"), ("bright", "dark", "near", "clos", "far")),
    "depth/mid": (("depth map", "grey", "nearer", "brighter"), ()),
    "counting/short": (("red dot",), ("same", "pure", "255", "exactly")),
    "counting/mid": (("small solid dot", "same size and colour", "exactly as it is"), ()),
    "counting/integer": (("how many", "whole number"), ("dot", "red")),
    "counting/boxes": (("rectangle", "(255, 0, 0)"), ("dot",)),
    "counting/alternating": (("two colours", "(255, 0, 0)", "(0, 0, 255)"), ()),
    "counting/flat": (("canvas of the same size", "(255, 0, 0)"), ()),
    "normals/mid": (("red", "green", "blue"), ()),
    "detection/mid": (("box", "rectangle", "(255, 0, 0)"), ("dot",)),
    "detection/mask": (("white", "black"), ("rectangle", "box")),
    "keypoints/mid": (("left", "right", "middle", "highest", "lowest"), ()),
    "reading/mid": (("one word", "black letters"), ()),
    "reading/word": (("one word",), ("picture", "letters")),
}


@pytest.mark.parametrize("name", SAYS)
def test_shipped_prompts_say_what_their_granularity_says(name):
    text, _ = shipped(name)
    said, unsaid = SAYS[name]
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


def test_every_shipped_prompt_is_described():
    """Those about grids are in test_prompts_pixels."""
    paths = [path for path in SHIPPED.glob("*/*.yaml") if "pixel" not in path.parent.name]
    found = {f"{path.parent.name}/{path.stem}" for path in paths}
    assert found - {"segmentation/plan"} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_stated_colours_are_the_declared_ones(name):
    text, form = shipped(name)
    stated = {tuple(map(int, rgb)) for rgb in re.findall(r"\((\d+), (\d+), (\d+)\)", text)}
    declared = {tuple(form[key]) for key in ("colour", "alternate") if form.get(key)}
    declared |= {tuple(colour) for colour in form.get("colours", {}).values()}
    assert not stated or stated == declared


def test_forms_of_the_shipped_prompts():
    assert shipped("depth/short")[1]["near"] == "unspecified"
    assert shipped("depth/mid")[1]["near"] == "bright"
    assert shipped("counting/integer")[1] == {"kind": "text", "content": "integer"}
    assert shipped("counting/flat")[1]["canvas"] == "flat"
    assert {shipped(f"segmentation/{name}")[1]["kind"] for name in ("short", "mid", "long")} == {
        "mask"
    }


def test_longer_prompts_repeat_the_shorter_ones():
    """Granularity is the only thing that changes: long is mid with more to it."""
    long, mid = shipped("segmentation/long")[0], shipped("segmentation/mid")[0]
    assert long.startswith(mid)
    assert shipped("depth/mid")[0].startswith(shipped("depth/short")[0])
