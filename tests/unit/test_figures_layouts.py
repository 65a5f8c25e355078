"""Comparisons, failures and the steps of the decoder: what stands where."""

from __future__ import annotations

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest

from gensight import images
from gensight.errors import GensightError
from gensight.extractors import Answer, dots
from gensight.figures import GalleryItem, Shown, draw_gallery, draw_panels
from gensight.figures.decoder_steps import step_tiles
from gensight.figures.layout import wrapped_name
from gensight.records import Prediction, Sample
from gensight.specs.figures import parse_figure

HEIGHT, WIDTH = 48, 64
MASK = np.zeros((HEIGHT, WIDTH), np.bool_)
MASK[10:30, 20:50] = True
INPUT = images.encode_png(np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
SPEC = {
    "title": "T",
    "caption": "C.",
    "task": "segmentation",
    "benchmark": "scenes",
    "scorer": "s",
    "metric": "m",
    "metric_label": "IoU (%)",
    "models": [{"model": "alpha"}],
}


def spec(kind, **changes):
    return parse_figure("f.yaml", SPEC | {"kind": kind} | changes)


def item(label, sample_id="s1", **changes):
    sample = Sample(
        sample_id=sample_id,
        rank=1,
        cluster_id="c",
        image={"bytes": INPUT, "path": None},
        width=WIDTH,
        height=HEIGHT,
        query="the red\n ball",
        target_mask=images.encode_mask(MASK),
    )
    found = GalleryItem(
        model_label=label,
        sample_id=sample_id,
        input_png=INPUT,
        output=images.encode_png(np.where(MASK, 255, 0).astype(np.uint8)),
        extracted=Prediction(
            sample_id=sample_id,
            rank=1,
            cluster_id="c",
            variant="v",
            status="ok",
            outcome="ok",
            mask=images.encode_mask(MASK),
        ),
        truth=sample,
        score="IoU (%)\n57.1",
        number="57.1",
    )
    return replace(found, **changes)


def words_of(figure):
    outside = [text.get_text() for text in figure.texts]
    return outside + [text.get_text() for axes in figure.axes for text in axes.texts]


def boxes_of(figure):
    """Return the place of each tile in inches: left, top from above, width."""
    size = figure.get_size_inches()
    boxes = [axes.get_position(original=True) for axes in figure.axes]
    return [
        tuple(
            float(round(value, 3))
            for value in (box.x0 * size[0], (1 - box.y1) * size[1], box.width * size[0])
        )
        for box in boxes
    ]


def draw(kind, items, **changes):
    return draw_gallery(spec(kind, **changes), Shown(items))


def test_a_comparison_has_a_row_per_sample_and_a_column_per_model():
    items = [
        item("Alpha"),
        item("Alpha", "s2", rule="best"),
        item("Beta"),
        item("Gamma", "s2", rule="best"),
    ]
    figure = draw("comparison", items)
    boxes = boxes_of(figure)
    lefts, tops = sorted({box[0] for box in boxes}), sorted({box[1] for box in boxes})
    assert len(boxes) == 10 and len(lefts) == 5 and len(tops) == 2
    assert np.allclose(np.diff(lefts), np.diff(lefts)[0], atol=2e-3)
    words = words_of(figure)
    assert words.index("Input") < words.index("Truth") < words.index("Alpha") < words.index("Gamma")
    assert words.count("no answer to this sample") == 2 and words.count("57.1") == 4
    assert "“the red ball”  ·  s1, median" in words and "“the red ball”  ·  s2, best" in words
    assert "C. Below each answer: IoU (%)." in words


def test_samples_stand_side_by_side_where_the_spec_says_so():
    items = [item("Alpha", f"s{rank}", rule=f"quantile_{rank}") for rank in (1, 2, 3)]
    boxes = boxes_of(draw("comparison", items, samples_per_row=2))
    tops = [box[1] for box in boxes]
    assert [tops.count(top) for top in sorted(set(tops))] == [6, 3]
    assert {box[0] for box in boxes[6:]} == {box[0] for box in boxes[:3]}


def test_a_comparison_shows_what_was_returned_if_asked():
    shown = [
        draw("comparison", [item("Alpha")], show=show).axes[2].images[0].get_array()
        for show in ("extracted", "output")
    ]
    assert set(np.unique(shown[1])) == {0, 255} and not np.array_equal(*shown)


def test_failed_answers_are_told_in_words():
    nothing = replace(item("A").extracted, status="no_output", reason="refused_output", mask=None)
    refused = item("Beta", output=None, extracted=nothing, number="0.0 by policy")
    drifted = item("Gamma", failure="drift: local")
    words = words_of(draw("comparison", [item("Alpha"), refused, drifted]))
    assert "no output:" in " ".join(words) and "drift: local" in words
    assert "0.0 by policy" in " ".join(words)


def test_too_many_columns_are_refused():
    items = [item(f"Model {place}") for place in range(11)]
    with pytest.raises(GensightError, match="13 columns are too narrow"):
        draw("comparison", items)


def test_failures_are_pairs_with_their_class():
    items = [item(f"Model {place}", failure="rerender: warped") for place in range(4)]
    figure = draw("failures", items)
    boxes = boxes_of(figure)
    tops = [box[1] for box in boxes]
    assert [tops.count(top) for top in sorted(set(tops))] == [6, 2]
    words = words_of(figure)
    assert words.count("rerender: warped  ·  57.1") == 4 and "Model 3" in words
    assert "“the red ball”  ·  s1" in words


def test_panels_are_lettered_and_tell_rules_and_columns_once():
    panels = [
        SPEC | {"kind": "comparison", "title": title, "metric_label": label}
        for title, label in (("First", "IoU (%)"), ("Second", "AbsRel"))
    ]
    content = {"kind": "panels", "title": "All", "caption": "Both.", "panels": panels}
    shown = [
        Shown([item("Alpha"), item("Beta")], leader="Alpha"),
        Shown([item("Alpha"), item("Beta")]),
    ]
    figure = draw_panels(parse_figure("f.yaml", content), shown)
    words = words_of(figure)
    assert "(a) First" in words and "(b) Second" in words and words.count("Input") == 1
    assert "C. Below each answer: IoU (%). Examples by m, chosen on Alpha: median." in words
    assert "C. Below each answer: AbsRel. Examples by m: median." in words
    assert sum(word.startswith("Examples, median: lower median") for word in words) == 1
    # Other columns are named again.
    figure = draw_panels(parse_figure("f.yaml", content), [shown[0], Shown([item("Gamma")])])
    assert words_of(figure).count("Input") == 2


def test_a_page_that_is_too_high_is_refused():
    panels = [SPEC | {"kind": "failures"}] * 26
    content = {"kind": "panels", "title": "All", "caption": "", "panels": panels}
    shown = [Shown([item(f"Model {i}") for i in range(30)])] * 26
    with pytest.raises(GensightError, match="inches do not fit on a page"):
        draw_panels(parse_figure("f.yaml", content), shown)


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("SAM3 + Qwen3-VL-32B-Thinking-FP8", 14, ["SAM3 + Qwen3-", "VL-32B-", "Thinking-FP8"]),
        ("Echo", 14, ["Echo"]),
        ("GPT-Image-2", 14, ["GPT-Image-2"]),
        ("", 14, [""]),
    ],
)
def test_names_break_after_hyphens(name, width, lines):
    assert wrapped_name(name, width) == lines


# --- the steps of the decoder ----------------------------------------------------------------

COUNT_HEIGHT, COUNT_WIDTH = 240, 320
PLACES = [(60, 60), (160, 60), (260, 60), (60, 180)]


def marked_scene():
    """Three round dots, a streak that the filter rejects, and a red sign of the input."""
    source = np.full((COUNT_HEIGHT, COUNT_WIDTH, 3), 120, np.uint8)
    source[150:210, 200:280] = (200, 20, 20)
    marked = source.copy()
    for place in PLACES[:3]:
        cv2.circle(marked, place, 6, (255, 0, 0), -1)
    marked[176:178, 30:70] = (255, 0, 0)
    return images.encode_png(source), images.encode_png(marked)


def counting_item(**changes):
    source, marked = marked_scene()
    size = {"source_width": COUNT_WIDTH, "source_height": COUNT_HEIGHT}
    (reading,) = dots.extract(Answer(image=marked, source=source, **size), {})
    extracted = Prediction(
        sample_id="s1",
        rank=1,
        cluster_id="c",
        variant=reading.variant,
        status="ok",
        outcome="ok",
        **{k: v for k, v in reading.fields.items() if k != "facts"},
    )
    sample = Sample(
        sample_id="s1",
        rank=1,
        cluster_id="c",
        image={"bytes": source, "path": None},
        width=COUNT_WIDTH,
        height=COUNT_HEIGHT,
        query="dots",
        target_count=4,
        target_points=[{"x": float(x), "y": float(y)} for x, y in PLACES],
    )
    found = item("Alpha", truth=sample, input_png=source, output=marked, extracted=extracted)
    return replace(found, **changes)


def test_the_steps_lead_from_the_answer_to_the_count():
    _, output, red, gated, blobs, count = step_tiles(counting_item())
    assert output.words == "320 × 240"
    assert red.words.startswith("5 connected parts")  # the sign is red as well
    assert gated.words.startswith("4 connected parts")
    assert blobs.words == "3 accepted, 1 rejected: 1 by circularity"
    assert count.words == "counted 3; truth 4"
    # At the work size of 1024: the sign is gone after the gate, and pale.
    assert tuple(red.picture[576, 768]) == (213, 94, 0) != tuple(gated.picture[576, 768])
    assert tuple(gated.picture[192, 192]) == (213, 94, 0)
    # A dot in the middle of each counted place, a ring alone around the one that was missed.
    assert tuple(count.picture[60, 60]) == (213, 94, 0) != tuple(count.picture[180, 60])
    assert tuple(count.picture[180, 69]) == (0, 114, 178)


def test_the_steps_follow_the_parameters_of_the_reading():
    answer = counting_item()
    looser = {"min_circularity": 0.01, "min_inertia_ratio": 0.001}
    settings = json.dumps(json.loads(answer.extracted.parameters) | looser)
    changed = replace(answer.extracted, parameters=settings)
    tiles = step_tiles(replace(answer, extracted=changed))
    # The streak passes now: the steps count four, and the score's three is told.
    assert tiles[4].words == "4 accepted, 0 rejected"
    assert tiles[5].words == "counted 4, 3 when it was scored; truth 4"


def test_steps_that_cannot_be_made_say_why():
    answer = counting_item()
    nothing = replace(answer.extracted, status="no_output", reason="refused_output", count=None)
    tiles = step_tiles(replace(answer, output=None, extracted=nothing))
    assert [tile.words for tile in tiles[1:]] == [
        "no picture returned",
        *["no output: refused output"] * 4,
    ]
    tiles = step_tiles(replace(answer, output=None))
    assert {tile.words for tile in tiles[1:]} == {"output not in this archive"}
    assert tiles[0].picture is not None


def test_the_steps_are_drawn_in_two_lines_of_three():
    figure = draw("decoder_steps", [counting_item()], task="counting")
    tops = [box[1] for box in boxes_of(figure)]
    assert [tops.count(top) for top in sorted(set(tops))] == [3, 3]
    assert "3  Saturated red" in words_of(figure)
