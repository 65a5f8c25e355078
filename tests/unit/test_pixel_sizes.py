"""Prompts of several sizes: their names, texts and answer forms, and what a size depends on."""

from __future__ import annotations

import pytest
from pixel_road import FORM, PixelRoad, prompt

from gensight.cli.checkout import load_checkout
from gensight.errors import SpecError
from gensight.specs.prompt import PromptSpec

GRID = "resources/prompts/text_to_pixel/grid.yaml"
LETTER = "resources/prompts/pixel_understanding/letter.yaml"
ICONS = {**FORM, "shape": "images"}


@pytest.fixture
def road(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return PixelRoad(tmp_path)


def test_a_file_with_sizes_is_one_prompt_for_each(road):
    prompts = load_checkout().prompts
    names = [name for task, name in prompts if task == "text_to_pixel"]
    assert names == ["grid_8", "grid_16"]
    assert [prompts["text_to_pixel", name].size for name in names] == [8, 16]
    assert {prompts["text_to_pixel", name].sizes for name in names} == {None}
    understanding = {name for task, name in prompts if task == "pixel_understanding"}
    assert understanding == {"letter_8", "letter_16", "shuffled_8", "options_only"}
    assert prompts["pixel_understanding", "options_only"].size is None


def test_grids_that_are_asked_for_have_the_size_and_letters_have_none(road):
    prompts = load_checkout().prompts
    forms = [prompts["text_to_pixel", f"grid_{n}"].turns[-1].answer_form for n in (8, 16)]
    assert [form.size for form in forms] == [8, 16]
    assert {(form.content, form.shape) for form in forms} == {("palette_grid", "images")}
    assert prompts["pixel_understanding", "letter_16"].turns[-1].answer_form.size is None


def test_every_turn_that_asks_for_a_grid_has_the_size():
    turns = [
        {"parts": [{"text": "Sketch {query}."}], "answer_form": {**FORM, "shape": "grid"}},
        {"parts": [{"text": "Say it."}], "answer_form": {"kind": "text", "content": "free"}},
        {"parts": [{"reply": 0}, {"text": "Now well."}], "answer_form": ICONS},
    ]
    spec = PromptSpec(task="text_to_pixel", turns=turns, sizes=[4, 6]).at(6)
    assert [turn.answer_form.size for turn in spec.turns] == [6, None, 6]


def test_texts_have_the_size_filled_in(road):
    road.run_of(prompts=["grid_8", "grid_16"], benchmarks=["draw"], models=["drawer"])
    road.make("requests/draw/grid_8", "requests/draw/grid_16")
    for size in (8, 16):
        (first, *_) = road.rows(f"requests/draw/grid_{size}")
        (label,) = (row.query for row in road.rows("samples/draw") if row.rank == 0)
        (part,) = first.turns[0]["parts"]
        assert part["text"] == f"Draw 1 icons of {size} cells a side:\n{label}"
        assert first.turns[0]["answer_form"] == (
            f'{{"content":"palette_grid","kind":"text","shape":"images","size":{size}}}'
        )
        assert first.prompt == f"grid_{size}"


def digests(road):
    return {path: planned.digest for path, planned in road.plan().files().items()}


def test_a_size_does_not_depend_on_the_others_of_its_list(road):
    before = digests(road)
    for sizes in ([8, 16, 20], [20, 8, 16], [16, 8]):
        road.edit(GRID, sizes=sizes)
        assert digests(road) == before
    road.edit(LETTER, sizes=[4, 8, 16])
    assert digests(road) == before


def test_a_new_size_leaves_every_file_of_the_old_ones_as_it_is(road):
    road.run_of(models=["drawer"], benchmarks=["draw"], prompts=["grid_8"])
    road.make("scores/drawer/draw/grid_8/grid")
    road.edit(GRID, sizes=[4, 8, 16])
    road.edit("config/benchmarks/draw.yaml", prompts=["grid_4", "grid_8", "grid_16"])
    road.run_of(prompts=["grid_4", "grid_8"])
    made = road.make("draw/grid_4/grid", "draw/grid_8/grid")
    assert made and all("grid_4" in path for path in made)


def test_a_file_of_one_size_and_two_files_of_one_task_are_told_apart(road):
    road.edit(GRID, sizes=[16])
    road.edit("config/benchmarks/draw.yaml", prompts=["grid_16"])
    road.run_of(prompts=["grid_16"])
    assert ("text_to_pixel", "grid_8") not in load_checkout().prompts
    with pytest.raises(SpecError, match=r"run\.prompts: 'grid_12' is not known"):
        road.run_of(prompts=["grid_12"])
        load_checkout()


WITHOUT = prompt("text_to_pixel", "Draw {query}.", ICONS)
SIZED = prompt("text_to_pixel", "Draw {query} at {size}.", {"kind": "text", "content": "free"})
ABOUT = prompt("pixel_understanding", "{grid}", {"kind": "text", "content": "free"})
WORDS = prompt("text_to_pixel", "Name {query}.", {"kind": "text", "content": "free"})


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("text_to_pixel/other", WITHOUT, "a prompt about grids lists its `sizes`"),
        ("text_to_pixel/other", SIZED, "a prompt about grids lists its `sizes`"),
        ("pixel_understanding/other", ABOUT, "a prompt about grids lists its `sizes`"),
        ("text_to_pixel/other", {**WORDS, "sizes": [8]}, "sizes belong to a prompt that asks"),
        ("text_to_pixel/other", {**WITHOUT, "size": 8}, "name the sizes under `sizes`"),
        ("text_to_pixel/other", {**WITHOUT, "sizes": []}, "key 'sizes': .*at least 1 item"),
        ("text_to_pixel/other", {**WITHOUT, "sizes": [8, 8]}, "key 'sizes': .*8"),
        ("text_to_pixel/other", {**WITHOUT, "sizes": [0]}, "key 'sizes.0': .*equal to 1"),
        ("text_to_pixel/other", {**WITHOUT, "sizes": [513]}, "key 'sizes.0': .*equal to 512"),
        ("text_to_pixel/grid_16", WORDS, "there is another prompt 'grid_16' of this task"),
    ],
)
def test_what_is_wrong_with_sizes_is_one_line(road, name, content, told):
    road.write(f"resources/prompts/{name}.yaml", content)
    with pytest.raises(SpecError, match=told) as caught:
        load_checkout()
    assert str(caught.value).startswith(f"resources/prompts/{name}.yaml: ")
    assert "\n" not in str(caught.value)


def test_a_size_in_the_name_of_a_file_is_part_of_its_name(road):
    road.write("resources/prompts/text_to_pixel/grid_8.yaml", {**WITHOUT, "sizes": [4]})
    names = [name for task, name in load_checkout().prompts if task == "text_to_pixel"]
    assert names == ["grid_8", "grid_16", "grid_8_4"]


def test_the_same_name_in_two_tasks_is_no_clash(road):
    prompts = load_checkout().prompts
    assert prompts["text_to_pixel", "grid_8"] != prompts["image_to_pixel", "grid_8"]
