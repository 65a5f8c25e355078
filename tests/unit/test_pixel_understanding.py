"""Questions about grids: whose is shown, in which order, and what happens where there is none."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from pixel_road import PixelRoad, some_grid
from spine_rows import sample

from gensight.footers import read_footer
from gensight.pixels.grid_text import stored_grid
from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.shuffled_cells import with_shuffled_cells
from gensight.prompts import render

NAME = "config/benchmarks/name.yaml"
ABOUT = [
    {
        "parts": [{"text": "{grid} or {shuffled_grid}?"}],
        "answer_form": {"kind": "text", "content": "letter", "options": 10},
    }
]


@pytest.fixture
def road(tmp_path, monkeypatch):
    """A road whose source is scripted: it draws another grid for each sample."""
    monkeypatch.chdir(tmp_path)
    made = PixelRoad(tmp_path)
    made.run_of(models=["painter", "reader"], benchmarks=["redraw", "name"])
    made.edit(NAME, source__model="painter")
    made.answers["painter"] = painted
    made.answers["reader"] = lambda question: "A"
    return made


def rank_of(question):
    return int(question.sample_id[-6:])


def size_of(question):
    return question.turn.answer_form["size"]


def painted(question):
    return some_grid(size_of(question), seed=rank_of(question)).text()


def shown(road, prompt="letter_8"):
    """The grid that each question shows, by rank; None where it is not asked."""
    rows = road.rows(f"requests/name/{prompt}")
    texts = {row.rank: [p["text"] for turn in row.turns for p in turn["parts"]] for row in rows}
    return {rank: text[0].split("\n")[0] if text else None for rank, text in texts.items()}


# -- whose grid


def test_a_question_shows_the_grid_of_its_sample_at_its_own_size(road):
    road.run_of(prompts=["grid_8", "grid_16", "letter_8", "letter_16"])
    road.make("requests/name/letter_8", "requests/name/letter_16")
    for size in (8, 16):
        expected = {rank: some_grid(size, seed=rank).text() for rank in range(6)}
        assert shown(road, f"letter_{size}") == expected


def test_a_fence_is_taken_off_and_the_variant_says_so(road):
    road.answers["painter"] = lambda question: f"```json\n{painted(question)}\n```"
    road.make("requests/name/letter_8")
    assert shown(road)[2] == some_grid(8, seed=2).text()
    road.edit(NAME, source__variant="strict")
    road.make("requests/name/letter_8")
    assert set(shown(road).values()) == {None}


def test_the_grid_is_shown_in_one_way_however_it_was_written(road):
    def loose(question):
        value = json.loads(painted(question))
        lower = [colour.lower() for colour in value["palette"]]
        return json.dumps({"note": "mine", "pixels": value["pixels"], "palette": lower}, indent=2)

    road.answers["painter"] = loose
    road.make("requests/name/letter_8")
    assert shown(road) == {rank: some_grid(8, seed=rank).text() for rank in range(6)}


def test_of_several_answers_the_first_is_shown(road):
    road.edit("config/models/painter.yaml", repeats=3)
    road.answers["painter"] = lambda q: some_grid(8, seed=100 * q.turn.repeat + rank_of(q)).text()
    road.make("requests/name/letter_8")
    assert shown(road) == {rank: some_grid(8, seed=rank).text() for rank in range(6)}


def test_a_source_may_draw_lists_of_icons_several_in_a_request(road):
    road.run_of(benchmarks=["draw", "name"])
    road.edit("config/benchmarks/draw.yaml", samples_per_request=4)
    road.edit(NAME, source={"model": "painter", "benchmark": "draw", "prompt": "grid"})

    def listed(question):
        labels = question.turn.parts[0].text.split("\n")[1:]
        grids = {label: some_grid(8, seed=sum(label.encode())) for label in labels}
        entries = [
            {"label": label, "palette": grid.hex_colours(), "pixels": grid.rows()}
            for label, grid in grids.items()
        ]
        return json.dumps({"images": entries[:-1]})

    road.answers["painter"] = listed
    road.make("requests/name/letter_8")
    labels = {row.rank: row.query for row in road.rows("samples/draw")}
    expected = {r: some_grid(8, seed=sum(label.encode())).text() for r, label in labels.items()}
    # The last of each group of four is missing.
    assert shown(road) == {**expected, 3: None, 5: None}


def test_the_options_are_the_samples_and_do_not_depend_on_the_source(road):
    road.make("requests/name/letter_8")
    samples = {row.rank: row for row in road.rows("samples/name")}
    for row in road.rows("requests/name/letter_8"):
        _, *lines = row.turns[0]["parts"][0]["text"].split("\n")
        options = samples[row.rank].options
        assert lines == [f"{letter}. {o}" for letter, o in zip("ABCDEFGHIJ", options, strict=True)]
        right = options["ABCDEFGHIJ".index(samples[row.rank].target_text)]
        (truth,) = (s.target_text for s in road.rows("samples/redraw") if s.rank == row.rank)
        assert right == truth


# -- the control


def test_shuffled_cells_keep_palette_and_histogram_and_lose_the_picture(road):
    road.make("requests/name/letter_8", "requests/name/shuffled_8")
    plain, dealt = shown(road), shown(road, "shuffled_8")
    for rank, text in plain.items():
        grid, shuffled = stored_grid(text), stored_grid(dealt[rank])
        assert shuffled.palette == grid.palette
        assert Counter(shuffled.cells.ravel().tolist()) == Counter(grid.cells.ravel().tolist())
        assert not np.array_equal(shuffled.cells, grid.cells)


@pytest.mark.parametrize("size", [1, 2, 8, 13, 64])
def test_cells_are_dealt_in_one_order_for_all_grids_of_a_sample(size):
    """A grid whose cells are all told apart (in two grids of eight colours) shows the order."""
    generator = np.random.default_rng(size)
    palette = tuple(tuple(c) for c in generator.integers(0, 256, (8, 3)).tolist())
    places = np.arange(size * size)
    orders = {}
    for key in ("s0", "s1"):
        digits = [
            with_shuffled_cells(
                PaletteGrid(palette, (places // 8**power % 8).reshape(size, size).astype(np.uint8)),
                key,
            ).cells.ravel()
            for power in range(4)
        ]
        order = sum(digit.astype(int) * 8**power for power, digit in enumerate(digits))
        assert sorted(order.tolist()) == places.tolist()
        orders[key] = order
        # Another source's grid of the sample is dealt alike.
        other = PaletteGrid(palette[:2], generator.integers(0, 2, (size, size)).astype(np.uint8))
        expected = other.cells.ravel()[order].reshape(size, size)
        assert np.array_equal(with_shuffled_cells(other, key).cells, expected)
    if size > 2:
        assert not np.array_equal(orders["s0"], orders["s1"])
        # A deal that left much in place would show the picture still.
        assert np.mean(orders["s0"] == places) < 0.1


def test_a_flat_grid_is_dealt_into_itself():
    flat = PaletteGrid(((0, 0, 0), (255, 0, 0)), np.ones((5, 5), np.uint8))
    assert with_shuffled_cells(flat, "s") == flat


def test_the_order_of_cells_is_pinned():
    """Answers that were bought under one deal are about that deal for ever."""
    grid = PaletteGrid(((0, 0, 0), (9, 9, 9)), np.eye(4, dtype=np.uint8))
    assert with_shuffled_cells(grid, "s0").rows() == ["0000", "0010", "0011", "0001"]


def test_both_grids_may_stand_in_one_question():
    grids = {"s0": some_grid(8, seed=4).text()}
    (request,) = render("both_8", ABOUT, [sample(0)], size=8, grids=grids)
    text = request.turns[0]["parts"][0]["text"]
    dealt = with_shuffled_cells(some_grid(8, seed=4), "s0").text()
    assert text == f"{grids['s0']} or {dealt}?"
    (unasked,) = render("both_8", ABOUT, [sample(1)], size=8, grids=grids)
    assert (unasked.turns, unasked.unasked, unasked.sample_ids) == ([], "no_source", ["s1"])


# -- no grid


def without_the_second(question):
    return "I would rather not." if rank_of(question) == 1 else painted(question)


def test_an_invalid_source_grid_is_a_question_that_is_not_asked(road):
    road.answers["painter"] = without_the_second
    road.make("scores/reader/name/letter_8/letter")
    assert [rank for rank, grid in shown(road).items() if grid is None] == [1]
    asked = [rank_of(q) for q in road.asked if "letter" in q.prompt]
    assert asked == [0, 2, 3, 4, 5]
    rows = road.rows("generations/reader/name/letter_8/all")
    (unasked,) = (row for row in rows if row.rank == 1)
    assert (unasked.outcome, unasked.final, unasked.text) == ("no_source", True, None)
    assert unasked.request_key == "" and unasked.cost_usd is None
    # It is no gap: the next run has nothing to ask again.
    assert read_footer("results/generations/reader/name/letter_8/all.parquet").gaps == {}
    (read,) = (r for r in road.rows("predictions/reader/name/letter_8/letter") if r.rank == 1)
    assert (read.status, read.reason, read.outcome) == ("no_output", "no_source", "no_source")


def test_it_is_not_scored_and_counted_as_without_a_truth(road):
    road.answers["painter"] = without_the_second
    road.make()
    scores = [
        row
        for row in road.rows("scores/reader/name/letter_8/letter")
        if (row.kind, row.name) == ("metric", "exact_match")
    ]
    unscored = [row for row in scores if row.rank == 1]
    assert {(row.status, row.raw, row.value) for row in unscored} == {
        ("no_ground_truth", None, None)
    }
    (summary,) = (
        row
        for row in road.rows("summaries/name")
        if (row.model, row.prompt, row.stratum) == ("reader", "letter_8", None)
        and row.metric == "exact_match"
    )
    right = [row.target_text == "A" for row in road.rows("samples/name") if row.rank != 1]
    assert (summary.n, summary.no_ground_truth, summary.infrastructure) == (5, 1, 0)
    assert summary.coverage == 1.0
    assert summary.value == pytest.approx(100 * sum(right) / 5)


def test_it_is_not_asked_again_by_the_next_run(road):
    road.answers["painter"] = without_the_second
    road.make()
    road.asked.clear()
    assert road.make() == []
    # Nor if the generations have to be made again.
    (road.folder / "results/generations/reader/name/letter_8/all.parquet").unlink()
    made = road.make()
    assert "results/generations/reader/name/letter_8/all.parquet" in made
    assert road.asked == []


def test_where_no_grid_is_there_nothing_is_asked_and_nothing_scored(road):
    road.answers["painter"] = lambda question: "no"
    road.make()
    assert [q.prompt for q in road.asked if q.prompt != "grid_8"] == []
    (summary,) = (
        row
        for row in road.rows("summaries/name")
        if (row.model, row.prompt, row.stratum) == ("reader", "letter_8", None)
        and row.metric == "exact_match"
    )
    assert (summary.n, summary.no_ground_truth, summary.value) == (0, 6, None)


def test_a_question_without_a_grid_has_one_row_for_every_repeat(road):
    road.edit("config/models/reader.yaml", repeats=2)
    road.answers["painter"] = without_the_second
    road.make("predictions/reader/name/letter_8/letter")
    rows = road.rows("generations/reader/name/letter_8/all")
    assert [(row.rank, row.repeat) for row in rows if row.outcome == "no_source"] == [
        (1, 0),
        (1, 1),
    ]
