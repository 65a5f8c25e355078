from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gensight import images
from gensight.errors import GensightError
from gensight.figures import GalleryItem, Shown, figure_pdf, figure_png
from gensight.figures import draw_gallery as draw
from gensight.figures.tiles import row_tiles
from gensight.records import Prediction, Sample
from gensight.specs.base import parse
from gensight.specs.figures import GallerySpec

HEIGHT, WIDTH = 48, 64
GREY = np.full((HEIGHT, WIDTH, 3), 100, np.uint8)
INPUT = images.encode_png(GREY)
MASK = np.zeros((HEIGHT, WIDTH), np.bool_)
MASK[10:30, 20:50] = True
ROWS, COLUMNS = np.mgrid[:HEIGHT, :WIDTH]
DEPTH_M = (2 + ROWS / 10 + COLUMNS / 40).astype(np.float32)
NORMALS = np.dstack([COLUMNS / WIDTH * 0.6, ROWS / HEIGHT * 0.6, np.full(MASK.shape, 0.5)])
BOX = {"left": 8.0, "top": 4.0, "right": 32.0, "bottom": 24.0, "score": None}
DOUBLE_BOX = {key: None if value is None else 2 * value for key, value in BOX.items()}
MARK = "gensight-digest:" + "ab" * 32
VERMILION = (213, 94, 0)
INVALID = (221, 221, 221)


def spec(task):
    content = {
        "kind": "gallery",
        "title": f"Gallery of {task}",
        "caption": "C",
        "task": task,
        "benchmark": "scenes",
        "scorer": "s",
        "metric": "m",
        "metric_label": "M",
        "models": [{"model": "alpha"}],
    }
    return parse("f.yaml", GallerySpec, content)


def sample(**truth):
    return Sample(
        sample_id="scenes_0001",
        rank=1,
        cluster_id="c",
        image={"bytes": INPUT, "path": None},
        width=WIDTH,
        height=HEIGHT,
        query="the red ball",
        **truth,
    )


def prediction(status="ok", **reading):
    return Prediction(
        sample_id="scenes_0001",
        rank=1,
        cluster_id="c",
        variant="v",
        status=status,
        outcome="ok",
        **reading,
    )


def item(truth, extracted, output=INPUT, **changes):
    content = {
        "model_label": "Model $\\_{x} of a long name",
        "sample_id": "scenes_0001",
        "input_png": INPUT,
        "output": output,
        "extracted": extracted,
        "truth": truth,
        "score": "M\n12.3",
    }
    return GalleryItem(**content | changes)


CASES = {
    "segmentation": item(
        sample(target_mask=images.encode_mask(MASK)), prediction(mask=images.encode_mask(MASK))
    ),
    "depth": item(
        sample(target_depth_m=images.encode_array(DEPTH_M)),
        prediction(
            grey={
                "bytes": images.encode_png((255 - 20 * DEPTH_M).round().astype(np.uint8)),
                "path": None,
            }
        ),
    ),
    "counting": item(
        sample(target_count=2, target_points=[{"x": 10.0, "y": 10.0}, {"x": 40.0, "y": 30.0}]),
        prediction(count=1, points=[{"x": 160.0, "y": 160.0}], work_width=1024, work_height=768),
    ),
    "normals": item(
        sample(target_normals=images.encode_array(NORMALS.astype(np.float32))),
        prediction(normals={"bytes": INPUT, "path": None}),
    ),
    "detection": item(
        sample(target_boxes=[BOX]),
        prediction(boxes=[DOUBLE_BOX, DOUBLE_BOX], work_width=2 * WIDTH, work_height=2 * HEIGHT),
    ),
    "keypoints": item(
        sample(target_keypoints=[{"name": "a", "x": 10.0, "y": 10.0}]),
        prediction(
            keypoints=[{"name": "a", "x": 40.0, "y": 30.0}], work_width=WIDTH, work_height=HEIGHT
        ),
    ),
}
READING = item(sample(target_text="stop"), prediction(text="step"))


def tiles(task, fit=None, **changes):
    case = CASES[task]
    return row_tiles(task, replace(case, fit=fit, **changes))


def draw_gallery(spec, items):
    return draw(spec, Shown(items))


@pytest.mark.parametrize("task", CASES)
def test_each_task_draws_and_repeats_its_bytes(task):
    figure = draw_gallery(spec(task), [CASES[task]])
    pdf, png = figure_pdf(figure, MARK), figure_png(figure, MARK)
    again = draw_gallery(spec(task), [CASES[task]])
    assert figure_png(again, MARK) == png and figure_pdf(again, MARK) == pdf
    assert MARK.encode() in pdf and MARK.encode() in png
    assert len([axes for axes in figure.axes if axes.images]) == 4
    words = " ".join(text.get_text() for text in figure.texts)
    assert "lower median of the raw m" in words and "scenes_0001" in words and "12.3" in words


def test_masks_are_tinted_over_the_input():
    source, output, extracted, truth = tiles("segmentation")
    assert np.array_equal(source.picture, GREY) and source.words == "the red ball"
    assert output.words == "64 × 48"
    assert np.array_equal(extracted.picture, truth.picture)
    assert tuple(truth.picture[10, 20]) == VERMILION  # the outline
    inside, outside = truth.picture[20, 35].astype(int), truth.picture[40, 5]
    assert inside[0] > inside[1] > inside[2] and len(set(outside)) == 1


def test_a_mask_of_another_size_lands_where_it_was_drawn():
    double = images.encode_mask(np.kron(MASK, np.ones((2, 2), np.bool_)))
    _, _, extracted, truth = tiles("segmentation", extracted=prediction(mask=double))
    assert np.array_equal(extracted.picture, truth.picture)


@pytest.mark.parametrize("fit", ["depth", "monotone", None])
def test_aligned_depth_shares_the_colours_of_the_truth(fit):
    _, _, extracted, truth = tiles("depth", fit)
    difference = np.abs(extracted.picture.astype(int) - truth.picture.astype(int))
    assert difference.max() <= 12 and truth.words == "2.3 (bright) to 7.9 m"
    # Near is at the top left, and near is bright.
    assert truth.picture[0, 0].sum() > truth.picture[-1, -1].sum()


def test_disparity_is_aligned_in_disparity():
    grey = (400 / DEPTH_M).round().astype(np.uint8)
    extracted = prediction(grey={"bytes": images.encode_png(grey), "path": None})
    errors = {}
    for fit in ("depth", "disparity"):
        _, _, shown, truth = tiles("depth", fit, extracted=extracted)
        errors[fit] = np.abs(shown.picture.astype(int) - truth.picture.astype(int)).mean()
    assert errors["disparity"] < errors["depth"] / 3


@pytest.mark.parametrize(
    ("settings", "is_shown"), [({}, False), ({"caps_limit_truth": False}, True)]
)
def test_depth_is_shown_under_the_settings_of_the_score(settings, is_shown):
    """Truth beyond the caps is left out, unless the scorer says that they limit predictions."""
    capped = sample(target_depth_m=images.encode_array(DEPTH_M), max_depth_m=5.0)
    truth = tiles("depth", truth=capped, settings=settings)[3]
    assert (tuple(truth.picture[-1, -1]) != INVALID) == is_shown


def test_invalid_depth_and_normals_are_grey():
    valid = images.encode_mask(COLUMNS >= 8)
    depth = sample(target_depth_m=images.encode_array(DEPTH_M), valid_mask=valid)
    assert tuple(tiles("depth", truth=depth)[3].picture[5, 2]) == INVALID
    stored = images.encode_array(NORMALS.astype(np.float32))
    normals = tiles("normals", truth=sample(target_normals=stored, valid_mask=valid))[3].picture
    assert tuple(normals[5, 2]) == INVALID
    assert tuple(normals[0, 32]) == (166, 128, 191)  # n = (0.3, 0, 0.5)


def test_dots_are_drawn_at_their_place_whatever_the_grid():
    _, _, extracted, truth = tiles("counting")
    assert tuple(extracted.picture[10, 10]) == tuple(truth.picture[10, 10]) == VERMILION
    assert tuple(truth.picture[30, 40]) == VERMILION != tuple(extracted.picture[30, 40])
    assert (extracted.words, truth.words) == ("1 dot", "2 dots")


def test_keypoints_and_boxes_are_drawn_at_their_place():
    _, _, extracted, truth = tiles("keypoints")
    assert tuple(extracted.picture[30, 40]) == tuple(truth.picture[10, 10]) == VERMILION
    _, _, extracted, truth = tiles("detection")
    edge = truth.picture[4:24, 8:32].reshape(-1, 3)
    assert tuple(truth.picture[4, 8]) == tuple(truth.picture[23, 31]) == VERMILION
    assert tuple(truth.picture[2, 6]) != VERMILION and len({tuple(p) for p in edge.tolist()}) == 2
    assert np.array_equal(extracted.picture, truth.picture)
    assert (extracted.words, truth.words) == ("2 boxes", "1 box")


def test_a_text_is_read_in_words():
    extracted, truth = row_tiles("reading", READING)[2:]
    assert (extracted.words, truth.words) == ("“step”", "“stop”")
    assert extracted.picture is None and truth.picture is None
    assert row_tiles("reading", replace(READING, truth=sample()))[3].words == "no usable truth"


def test_the_points_of_a_sparse_truth_are_widened():
    sparse = np.zeros((HEIGHT, WIDTH), np.float32)
    sparse[::12, ::12] = DEPTH_M[::12, ::12]
    truth = tiles("depth", truth=sample(target_depth_m=images.encode_array(sparse)))[3].picture
    assert np.array_equal(truth[24, 24], truth[26, 23]) and tuple(truth[24, 24]) != INVALID
    assert tuple(truth[30, 30]) == tuple(truth[24, 28]) == INVALID


@pytest.mark.parametrize(
    ("changes", "output", "extracted"),
    [
        ({"output": None}, "output not in this archive", None),
        ({"output": b""}, "unreadable: ", None),
        (
            {"output": None, "extracted": prediction("no_output", reason="refused")},
            "no picture returned",
            "no output: refused",
        ),
        ({"extracted": prediction("invalid", reason="unreadable")}, None, "invalid: unreadable"),
        ({"extracted": None}, None, "prediction not in this archive"),
    ],
)
@pytest.mark.parametrize("task", CASES)
def test_a_missing_picture_is_a_tile_that_says_so(task, changes, output, extracted):
    shown = tiles(task, **changes)
    for tile, words in zip(shown[1:3], (output, extracted), strict=True):
        assert (tile.picture is None) == (words is not None)
        assert words is None or tile.words.startswith(words)
    draw_gallery(spec(task), [replace(CASES[task], **changes)])


@pytest.mark.parametrize("task", CASES)
def test_a_sample_without_truth_says_so(task):
    assert tiles(task, truth=sample())[3].words == "no usable truth"


def test_what_is_not_shown_is_told_by_reason():
    gaps = [("Alpha", "none of 3 answers can be read"), ("Beta", "no answer was scored")]
    shown = Shown([], [*gaps, ("Gamma", gaps[0][1])], ["Passed over: 3."])
    words = [text.get_text() for text in draw(spec("depth"), shown).texts]
    assert "Not shown: Alpha; Gamma: none of 3 answers can be read." in words
    assert "Not shown: Beta: no answer was scored." in words and "Passed over: 3." in words


def test_no_item_and_too_many_items():
    figure = draw_gallery(spec("depth"), [])
    assert "No model of this figure is in the run." in [text.get_text() for text in figure.texts]
    with pytest.raises(GensightError, match="at most 40 rows"):
        draw_gallery(spec("depth"), [CASES["depth"]] * 41)
