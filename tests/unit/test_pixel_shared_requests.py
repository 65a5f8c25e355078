"""Several icons in one request: each sample gets its own grid, found by its label."""

from __future__ import annotations

import json
import re

import pytest
from pixel_road import FORM, PixelRoad, prompt, some_grid
from spine_rows import sample

from gensight import images
from gensight.cli.checkout import load_checkout
from gensight.errors import SpecError
from gensight.pixels.quantisation import median_cut
from gensight.pixels.resampling import box_reduced
from gensight.prompts import render
from gensight.stages import extract as stage

DRAW = "config/benchmarks/draw.yaml"
GRID = "resources/prompts/text_to_pixel/grid.yaml"
ICONS = {**FORM, "shape": "images", "size": 8}
LISTED = [{"parts": [{"text": "{n} icons:\n{labels}"}], "answer_form": ICONS}]


@pytest.fixture
def road(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = PixelRoad(tmp_path)
    made.run_of(models=["drawer"], benchmarks=["draw"], prompts=["grid_8"])
    made.edit(DRAW, samples_per_request=4)
    made.answers["painter"] = all_drawn
    return made


def labels_in(question):
    """The labels that a question lists, in order."""
    (part,) = question.turn.parts
    return part.text.split("\n")[1:]


def entry(label, grid):
    return {"label": label, "palette": grid.hex_colours(), "pixels": grid.rows()}


def drawn(label):
    """The grid that the scripted model draws for a label."""
    return some_grid(8, seed=sum(label.encode()))


def all_drawn(question):
    return json.dumps({"images": [entry(label, drawn(label)) for label in labels_in(question)]})


def read(road, model="drawer", variant="strict"):
    """The predictions of a cell by sample."""
    rows = road.rows(f"predictions/{model}/draw/grid_8/grid")
    return {row.sample_id: row for row in rows if row.variant == variant}


def queries(road):
    return {row.sample_id: row.query for row in road.rows("samples/draw")}


# -- what is asked


def test_samples_are_asked_about_in_groups_and_the_last_one_may_be_short(road):
    road.make("requests/draw/grid_8")
    requests = road.rows("requests/draw/grid_8")
    labels = list(queries(road).values())
    assert [row.rank for row in requests] == [0, 4]
    assert [len(row.sample_ids) for row in requests] == [4, 2]
    texts = [row.turns[0]["parts"][0]["text"] for row in requests]
    assert texts == [
        "\n".join(["Draw 4 icons of 8 cells a side:", *labels[:4]]),
        "\n".join(["Draw 2 icons of 8 cells a side:", *labels[4:]]),
    ]


@pytest.mark.parametrize("number", [1, 3, 4, 8, 12])
@pytest.mark.parametrize("per_request", [1, 2, 3, 4, 7])
def test_every_sample_is_in_exactly_one_request(number, per_request):
    asked = [sample(rank, query=f"thing {rank}") for rank in range(number)]
    held_out = [sample(500 + rank, "held_out", query="thing 0") for rank in range(3)]
    requests = list(render("grid_8", LISTED, [*asked, *held_out], per_request=per_request))
    found = [sample_id for request in requests for sample_id in request.sample_ids]
    assert found == [f"s{rank}" for rank in range(number)]
    assert [request.rank for request in requests] == list(range(0, number, per_request))
    assert len({request.request_id for request in requests}) == len(requests)


def test_a_run_that_asks_the_first_ranks_cuts_the_last_group(road):
    road.run_of(prompt_ranks={"grid_8": 5})
    road.make("requests/draw/grid_8")
    assert [len(row.sample_ids) for row in road.rows("requests/draw/grid_8")] == [4, 1]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["a cup", "a cup"], "'a cup' of sample s1 stands twice in one request"),
        (["a cup", "a\ncup"], r"'a\\ncup' of sample s1 is not one line"),
        (["a cup", "a\u2028cup"], r"of sample s1 is not one line"),
        (["a cup", ""], "'' of sample s1 is not one line"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_one_line(labels, told):
    asked = [sample(rank, query=label) for rank, label in enumerate(labels)]
    file = "resources/prompts/text_to_pixel/grid.yaml"
    with pytest.raises(SpecError, match=told) as caught:
        list(render("grid_8", LISTED, asked, task="text_to_pixel", size=8, per_request=2))
    assert str(caught.value).startswith(f"{file}: the label ")
    assert "\n" not in str(caught.value)
    # One at a time, each is asked for as it is.
    assert len(list(render("grid_8", LISTED, asked))) == 2


def test_a_sample_without_a_label_cannot_be_listed():
    asked = [sample(0, query="a cup"), sample(1, query=None)]
    with pytest.raises(SpecError, match=r"the placeholder \{labels\} has no value"):
        list(render("grid_8", LISTED, asked, per_request=2))


# -- what is read


def test_every_sample_gets_its_own_grid_by_its_label(road):
    road.make("predictions/drawer/draw/grid_8/grid")
    rows, found = road.rows("samples/draw"), read(road)
    assert len(road.rows("generations/drawer/draw/grid_8/all")) == 2
    assert len(found) == 6
    for row in rows:
        truth = images.decode_rgb(row.target_image["bytes"], matte=(255, 255, 255))
        assert found[row.sample_id].text == median_cut(box_reduced(truth, 8)).text()
    assert len({row.text for row in found.values()}) == 6


def test_the_order_and_the_company_of_entries_are_no_matter(road):
    road.run_of(models=["painter"])

    def turned(question):
        stray = entry("a thing that nobody asked for", some_grid(8, seed=99))
        entries = [entry(label, drawn(label)) for label in reversed(labels_in(question))]
        return json.dumps({"images": [stray, *entries]})

    road.answers["painter"] = turned
    road.make("predictions/painter/draw/grid_8/grid")
    found, labels = read(road, "painter"), queries(road)
    assert {key: row.text for key, row in found.items()} == {
        key: drawn(label).text() for key, label in labels.items()
    }


def test_the_pictures_of_a_request_share_its_time(road):
    road.run_of(models=["painter"])
    road.make("predictions/painter/draw/grid_8/grid")
    answers = road.rows("generations/painter/draw/grid_8/all")
    assert [(len(row.sample_ids), row.latency_s) for row in answers] == [(4, 1.0), (2, 1.0)]
    assert sorted(row.latency_s for row in read(road, "painter").values()) == [0.25] * 4 + [0.5] * 2


def test_a_missing_label_is_invalid_for_that_sample_alone(road):
    road.run_of(models=["painter"])

    def without_the_second(question):
        entries = [entry(label, drawn(label)) for label in labels_in(question)]
        return json.dumps({"images": entries[:1] + entries[2:]})

    road.answers["painter"] = without_the_second
    road.make("predictions/painter/draw/grid_8/grid")
    found = list(read(road, "painter").values())
    assert [row.status for row in found] == ["ok", "invalid", "ok", "ok", "ok", "invalid"]
    assert [row.reason for row in found if row.status != "ok"] == ["no_label", "no_label"]
    assert {row.outcome for row in found} == {"ok"}


def test_a_broken_grid_is_invalid_for_its_sample_alone_and_broken_json_for_all(road):
    road.run_of(models=["painter"])

    def broken(question):
        labels = labels_in(question)
        if len(labels) == 2:
            return all_drawn(question)[:-1]
        entries = [entry(label, drawn(label)) for label in labels]
        entries[3]["pixels"] = entries[3]["pixels"][:-1]
        return json.dumps({"images": entries})

    road.answers["painter"] = broken
    road.make("scores/painter/draw/grid_8/grid")
    reasons = [row.reason for row in read(road, "painter").values()]
    assert reasons == [None, None, None, "row_count", "not_json", "not_json"]
    scores = [
        row.value
        for row in road.rows("scores/painter/draw/grid_8/grid")
        if (row.kind, row.name, row.variant) == ("metric", "valid_grid_share", "strict")
    ]
    assert scores == [100.0, 100.0, 100.0, 0.0, 0.0, 0.0]


def test_a_reading_of_the_first_ranks_leaves_the_rest_of_its_last_group_unread(road):
    road.edit(DRAW, scorers__grid__ranks=3, scorers__found__reading="other")
    road.make("predictions/drawer/draw/grid_8/grid", "predictions/drawer/draw/grid_8/other")
    assert [row.rank for row in read(road).values()] == [0, 1, 2]
    assert len(road.rows("predictions/drawer/draw/grid_8/other")) == 12


# -- shards and growth


def shards_of(road, size):
    road.edit("config/models/painter.yaml", shard_size=size)
    road.make("predictions/painter/draw/grid_8/grid")
    paths = (road.folder / "results/generations/painter/draw/grid_8").glob("*.parquet")
    names = sorted(path.stem for path in paths if path.stem != "all")
    shards = [road.rows(f"generations/painter/draw/grid_8/{name}") for name in names]
    return [[row.rank for row in shard] for shard in shards], read(road, "painter")


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        # A request belongs to the shard that has its first sample; a shard may have none.
        (1, [[0], [], [], [], [4], []]),
        (3, [[0], [4]]),
        (4, [[0], [4]]),
        (5, [[0, 4], []]),
        (6, [[0, 4]]),
    ],
)
def test_a_group_is_asked_once_however_a_cell_is_cut(road, size, expected):
    road.run_of(models=["painter"])
    cut, found = shards_of(road, size)
    assert cut == expected
    assert [len(labels_in(question)) for question in road.asked] == [4, 2]
    road.edit("config/models/painter.yaml", shard_size=...)
    road.make("predictions/painter/draw/grid_8/grid")
    assert read(road, "painter") == found
    assert len(road.asked) == 2


def test_growing_n_keeps_whole_groups_and_asks_the_short_one_again_with_new_company(road):
    """The last, short group is another question once it has more samples: it is asked again."""
    road.run_of(models=["painter"])
    road.make("predictions/painter/draw/grid_8/grid")
    assert [len(labels_in(question)) for question in road.asked] == [4, 2]
    first, last = (question.key for question in road.asked)
    road.asked.clear()
    road.run_of(n={"draw": 9})
    road.make("predictions/painter/draw/grid_8/grid")
    assert [len(labels_in(question)) for question in road.asked] == [4, 1]
    assert not {first, last} & {question.key for question in road.asked}
    keys = [row.request_key for row in road.rows("generations/painter/draw/grid_8/all")]
    assert keys[0] == first and last not in keys
    # Back at the old n, everything is in the ledger.
    road.asked.clear()
    road.run_of(n={"draw": 6})
    road.make("predictions/painter/draw/grid_8/grid")
    assert road.asked == []


def test_growing_n_by_whole_groups_asks_only_the_new_ones(road):
    road.run_of(models=["painter"], n={"draw": 4})
    road.make("predictions/painter/draw/grid_8/grid")
    road.asked.clear()
    road.run_of(n={"draw": 12})
    road.make("predictions/painter/draw/grid_8/grid")
    assert [len(labels_in(question)) for question in road.asked] == [4, 4]


def test_one_at_a_time_the_requests_are_those_of_a_benchmark_that_says_nothing(road):
    def requests():
        road.make("requests/draw/grid_8")
        return {row.request_id for row in road.rows("requests/draw/grid_8")}

    road.edit(DRAW, samples_per_request=1)
    alone = requests()
    road.edit(DRAW, samples_per_request=...)
    assert requests() == alone
    road.edit(DRAW, samples_per_request=4)
    assert not requests() & alone


def test_what_came_later_stands_in_no_digest_where_it_says_nothing(road):
    """Files of before are then still as planned."""

    def determinants():
        files = road.plan().files()
        samples = files["results/samples/draw.parquet"].determinants["parameters"]
        read = files["results/predictions/drawer/draw/grid_8/grid.parquet"].determinants
        return samples, read

    samples, read = determinants()
    assert "font_sha256" not in samples and "font" in samples and read["shares_latency"]
    road.edit(DRAW, samples_per_request=1)
    assert "shares_latency" not in determinants()[1]
    road.edit(DRAW, dataset__parameters__font_sha256="0" * 64)
    assert determinants()[0]["font_sha256"] == "0" * 64


def test_a_grid_that_is_said_to_be_of_something_else_is_told_in_the_log(road, capsys):
    """It counts all the same: who was asked about one thing answered about that."""
    road.run_of(models=["painter"])
    road.edit(DRAW, samples_per_request=1)
    road.make("samples/draw")
    labels = [*queries(road).values()]

    def said(question):
        (label,) = labels_in(question)
        return json.dumps(
            {"images": [entry("unicorn" if label == labels[2] else label, drawn(label))]}
        )

    road.answers["painter"] = said
    capsys.readouterr()
    road.make("predictions/painter/draw/grid_8/grid")
    told = [line for line in capsys.readouterr().out.splitlines() if "is said to be of" in line]
    assert len(told) == 1 and "'unicorn'" in told[0] and f"'{labels[2]}'" in told[0]
    assert {row.status for row in read(road, "painter").values()} == {"ok"}


def test_the_same_mistake_is_told_a_few_times_and_then_counted(road, capsys, monkeypatch):
    monkeypatch.setattr(stage, "TOLD_OF_A_KIND", 2)
    road.run_of(models=["painter"])
    road.answers["painter"] = lambda question: "no icons"
    road.make("generations/painter/draw/grid_8/all")
    capsys.readouterr()
    road.make("predictions/painter/draw/grid_8/grid")
    told = capsys.readouterr().out
    assert told.count("(not_json)") == 2 and "4 more of the kind 'not_json'" in told
    assert "repeat 0 (strict, lenient): the reply is no palette grid" in told


# -- what is refused


def refusal():
    with pytest.raises(SpecError) as caught:
        load_checkout()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_only_prompts_that_list_icons_can_be_shared(road):
    road.edit("config/benchmarks/redraw.yaml", samples_per_request=2)
    assert refusal() == (
        "config/benchmarks/redraw.yaml: samples_per_request: 2 samples share a request only where "
        "every prompt asks for a list of icons, and 'grid_8' does not; write 1"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Draw {query}.", "'grid_8' shows {query} of one of them; write 1"),
        ("{labels}: {sample_id}", "'grid_8' shows {sample_id} of one of them; write 1"),
        ("Draw {n} icons.", "'grid_8' does not list them; write 1"),
    ],
)
def test_a_shared_prompt_lists_the_labels_and_nothing_of_one_sample(road, text, told):
    road.write(GRID, prompt("text_to_pixel", text, {**FORM, "shape": "images"}, sizes=[8, 16]))
    assert told in refusal()
    road.edit(DRAW, samples_per_request=1)
    load_checkout()


def test_a_shared_prompt_shows_no_picture(road):
    shown = prompt("text_to_pixel", "{labels}", {**FORM, "shape": "images"}, sizes=[8, 16])
    shown["turns"][0]["parts"].append({"image": "input"})
    road.write(GRID, shown)
    assert "'grid_8' shows the picture of one of them; write 1" in refusal()


def test_the_number_of_samples_has_bounds(road):
    for number in (0, 33):
        road.edit(DRAW, samples_per_request=number)
        assert re.match(r"config/benchmarks/draw\.yaml: key 'samples_per_request': ", refusal())
