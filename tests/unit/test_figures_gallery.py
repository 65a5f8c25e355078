from __future__ import annotations

import numpy as np
import pytest

from gensight import images
from gensight.errors import GensightError
from gensight.figures import GalleryItem, draw_gallery, figure_pdf, figure_png
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
        "rule_text": "lower median of m",
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
}


def tiles(task, fit=None, **changes):
    case = CASES[task]
    return row_tiles(task, GalleryItem(**{**case.__dict__, **changes}), fit)


@pytest.mark.parametrize("task", CASES)
def test_each_task_draws_and_repeats_its_bytes(task):
    figure = draw_gallery(spec(task), [CASES[task]])
    pdf, png = figure_pdf(figure, MARK), figure_png(figure, MARK)
    again = draw_gallery(spec(task), [CASES[task]])
    assert figure_png(again, MARK) == png and figure_pdf(again, MARK) == pdf
    assert MARK.encode() in pdf and MARK.encode() in png
    assert len([axes for axes in figure.axes if axes.images]) == 4
    words = " ".join(text.get_text() for text in figure.texts)
    assert "lower median of m" in words and "scenes_0001" in words and "12.3" in words


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
    draw_gallery(spec(task), [GalleryItem(**{**CASES[task].__dict__, **changes})])


@pytest.mark.parametrize("task", CASES)
def test_a_sample_without_truth_says_so(task):
    assert tiles(task, truth=sample())[3].words == "no usable truth"


def test_no_item_and_too_many_items():
    figure = draw_gallery(spec("depth"), [])
    assert "no answer fits the rule" in [text.get_text() for text in figure.texts]
    with pytest.raises(GensightError, match="at most 40 rows"):
        draw_gallery(spec("depth"), [CASES["depth"]] * 41)
