"""Odd labels in prompts: whatever a label holds, it is asked for as it is and found again."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pixel_road import FORM, some_grid
from spine_rows import sample

from gensight.extractors import Answer, palette_grid
from gensight.models import Part, Turn
from gensight.models.reference import open_model
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.shuffled_cells import with_shuffled_cells
from gensight.prompts import fill, render
from gensight.records import Sample

ICONS = {**FORM, "shape": "images", "size": 8}
LETTER = {"kind": "text", "content": "letter", "options": 10}
ASKED = [
    {
        "parts": [{"text": '{{"n": {n}}} icons of {size}:\n{labels}\nEnd.'}],
        "answer_form": ICONS,
    }
]
CHOICE = [{"parts": [{"text": "{grid}\n{{}}\n{options}\nEnd."}], "answer_form": LETTER}]
QUERY = [{"parts": [{"text": "<{query}> <{{query}}> <{query}>"}], "answer_form": ICONS}]

#: Letters, quotes, braces and placeholders, without half a surrogate pair.
ODD = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.text("{}\"\\'`$%<>#0aä\t ", min_size=1),
    st.sampled_from(["{n}", "{labels}", "{{", "}}", "{}", "{0}", '"}', "\\n", "%s", "#FFFFFF"]),
)
#: Those of one line, as several in one request must be.
LINES = ODD.filter(lambda label: len(label.splitlines()) == 1)


def asked_about(labels, turns=ASKED, **more):
    samples = [sample(rank, query=label) for rank, label in enumerate(labels)]
    (request,) = render("grid_8", turns, samples, size=8, per_request=len(labels), **more)
    return request.turns[0]["parts"][0]["text"]


@given(ODD)
@example("{query}")
@example("a\nb")
@example('"quoted" {braced}')
def test_a_query_stands_in_the_text_letter_for_letter(label):
    assert asked_about([label], QUERY) == f"<{label}> <{{query}}> <{label}>"


@given(st.lists(LINES, min_size=1, max_size=6, unique=True))
@example(["{n}", "{labels}", "{{n}}"])
@example(['"a"', "'a'", "a"])
@example([" a", "a", "a "])
def test_labels_are_listed_one_a_line_letter_for_letter(labels):
    first, *lines, last = asked_about(labels).split("\n")
    assert (first, last) == (f'{{"n": {len(labels)}}} icons of 8:', "End.")
    assert lines == labels


@given(st.lists(ODD, min_size=10, max_size=10))
@example(["{grid}", "{options}", "A. {0}", "}", "{", '"', "a\nb", "{{}}", "\\", "B"])
def test_options_and_grids_are_filled_in_and_not_read_for_placeholders(options):
    text = some_grid(8).text()
    asked = [sample(0, query=None, options=options)]
    (request,) = render("letter_8", CHOICE, asked, size=8, grids={"s0": text})
    listed = "\n".join(f"{a}. {b}" for a, b in zip("ABCDEFGHIJ", options, strict=True))
    assert request.turns[0]["parts"][0]["text"] == f"{text}\n{{}}\n{listed}\nEnd."


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["grid", "query"]))
def test_what_is_filled_in_is_never_filled_again(value, name):
    doubled = "{" + name + "}{" + name + "}"
    assert fill("f", doubled, {name: value}) == value * 2


@settings(max_examples=40)
@given(st.lists(LINES, min_size=2, max_size=5, unique=True))
@example(['"]}', "{", "}", "```", "\\"])
@example(["label", "palette", "pixels", "images"])
def test_an_answer_about_odd_labels_is_found_by_each_of_them(labels):
    """What a drawer says of each is what the extractor reads for each."""
    some = [
        Sample(sample_id=f"s{rank}", rank=rank, cluster_id="c", query=label)
        for rank, label in enumerate(labels)
    ]
    turn = Turn(
        parts=(Part("text", text="Draw."),),
        answer_form=ICONS,
        truth=some[0],
        companions=tuple(some[1:]),
    )
    reply = open_model({"method": "noise_grid"}, []).answer(turn)
    read = []
    for one in some:
        answer = Answer(
            text=reply.text, source_width=0, source_height=0, form=ICONS, label=one.query
        )
        strict, _ = palette_grid.extract(answer, {})
        assert strict.status == "ok", strict.detail
        read.append(strict.fields["text"])
    assert len(set(read)) == len(labels)
    written = [image["label"] for image in json.loads(reply.text)["images"]]
    assert written == labels


@given(st.integers(1, 12), st.integers(2, 8), st.integers(0, 2**32 - 1), ODD)
def test_a_grid_comes_back_from_its_text_and_its_cells_can_be_dealt(size, colours, seed, key):
    grid = some_grid(size, seed=seed, colours=colours)
    assert stored_grid(grid.text()) == grid
    dealt = with_shuffled_cells(grid, key)
    assert dealt.palette == grid.palette
    assert sorted(dealt.cells.ravel().tolist()) == sorted(grid.cells.ravel().tolist())
    assert with_shuffled_cells(grid, key) == dealt


@pytest.mark.parametrize("label", ["\u00e9", "e\u0301", "\u212b", "ﬁ"])
def test_labels_are_not_normalised(label):
    """A label is compared as it was written; only the ledger's key takes forms as equal."""
    assert asked_about([label, "x"]).split("\n")[1] == label


@given(st.lists(LINES, min_size=2, max_size=4, unique=True))
def test_a_request_is_named_by_its_samples_and_text_alone(labels):
    def ids(asked):
        samples = [sample(rank, query=label) for rank, label in enumerate(asked)]
        (request,) = render("grid_8", ASKED, samples, size=8, per_request=len(asked))
        return request.request_id

    assert ids(labels) == ids(list(labels))
    assert ids(labels) != ids(labels[::-1])
