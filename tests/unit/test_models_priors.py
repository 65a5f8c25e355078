"""Fitted floors: the right averages, of held-out samples only."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_turns import (
    BOX,
    BOXES,
    DOTS,
    FLAT,
    HEIGHT,
    INTEGER,
    MASK,
    NEAR_BRIGHT,
    NEAR_DARK,
    NORMALS,
    OVERLAY,
    SLOPE_M,
    TURNS_OF_TWO,
    WIDTH,
    answer,
    box_sample,
    counts,
    depth_sample,
    facing,
    flat,
    held,
    photograph,
    pixels,
    points_sample,
    sample,
    turn,
)

from gensight import images
from gensight.errors import GensightError, SpecError
from gensight.models.reference import fits, open_model, priors
from gensight.models.reference.marks import grid_points


def mean_depth_m(held_out, asked=None):
    return np.exp(fits.log_depths(held_out).mean(asked)[..., 0])


CASES = [
    ("prior_centre", MASK, [held(box_sample(0, 0, 64, 48), "a")], box_sample),
    ("prior_mean", NEAR_BRIGHT, [held(depth_sample(SLOPE_M), "a")], None),
    ("prior_mean", NORMALS, [held(facing(0.0, 0.6, 0.8), "a")], None),
    ("prior_mean", DOTS, counts(3, 4), None),
    ("prior_median", DOTS, counts(3, 4), None),
    ("prior_median", INTEGER, counts(3, 4), None),
]


@pytest.mark.parametrize(("method", "form", "held_out", "_"), CASES)
def test_changing_the_evaluated_truth_changes_no_bit(method, form, held_out, _):
    shown = turn(sample("evaluated"), form)
    truths = [
        box_sample(1, 2, 30, 40),
        box_sample(60, 50, 100, 90),
        flat(2.0),
        facing(1.0, 0.0, 0.0),
        points_sample((3, 3), (50, 50)),
        None,
    ]
    assert len({answer(method, replace(shown, truth=truth), held_out) for truth in truths}) == 1


@pytest.mark.parametrize(("method", "form", "held_out", "_"), CASES)
def test_one_opened_model_answers_like_a_fresh_one(method, form, held_out, _):
    model = open_model({"method": method}, held_out)
    shown = [turn(sample(picture=photograph(seed=seed)), form) for seed in (1, 2)]
    kept = [model.answer(shown[1]), model.answer(shown[0])]
    assert kept == [answer(method, each, held_out) for each in reversed(shown)]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.25, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("size", [(1024, 768), (33, 21)])
def test_ellipse_covers_the_share_about_the_centre(share, size):
    width, height = size
    mask = priors.centred_ellipse(share, width, height)
    assert mask.shape == (height, width)
    assert mask.sum() == pytest.approx(share * mask.size, abs=max(4, 0.0005 * mask.size))
    np.testing.assert_array_equal(mask, mask[::-1])
    np.testing.assert_array_equal(mask, mask[:, ::-1])


def test_ellipse_has_the_aspect_of_the_picture():
    mask = priors.centred_ellipse(0.25, 1024, 768)
    wide, high = mask.any(axis=0).sum(), mask.any(axis=1).sum()
    assert wide / high == pytest.approx(1024 / 768, rel=0.01)
    assert wide == pytest.approx(1024 * 2 * np.sqrt(0.25 / np.pi), abs=2)


def test_centre_prior_paints_the_median_share_in_the_declared_colours():
    held_out = [
        held(box_sample(0, 0, WIDTH, rows), name)
        for name, rows in [("a", 12), ("b", 24), ("c", 96)]
    ]
    form = {**MASK, "foreground": [0, 0, 0], "background": [255, 255, 255]}
    grey = pixels(answer("prior_centre", turn(sample(), form), held_out))
    assert (grey == 0).mean() == pytest.approx(24 / 96, abs=0.001)
    assert grey[384, 512] == 0
    assert grey[0, 0] == 255


@pytest.mark.parametrize(
    ("values", "clusters", "median", "mean"),
    [
        ([3], None, 3, 3),
        ([1, 2, 9], None, 2, 4),
        ([1, 2], None, 2, 2),
        ([0, 1, 2, 3], None, 2, 2),
        ([0, 0, 0], None, 0, 0),
        ([1, 1, 1, 9], ["x", "x", "x", "y"], 5, 5),
        ([8, 8, 8, 1, 2], ["x", "x", "x", "y", "z"], 2, 4),
    ],
)
def test_counts_give_every_cluster_one_vote(values, clusters, median, mean):
    held_out = counts(*values, clusters=clusters)
    shown = turn(sample(), INTEGER)
    assert answer("prior_median", shown, held_out).text == str(median)
    assert answer("prior_mean", shown, held_out).text == str(mean)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=25))
def test_equal_weights_give_the_ordinary_median(values):
    assert fits.weighted_median(values, [1 / len(values)] * len(values)) == np.median(values)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 4)), min_size=1, max_size=12))
def test_whole_weights_are_repetitions(pairs):
    values, weights = zip(*pairs, strict=True)
    repeated = np.repeat(values, weights)
    assert fits.weighted_median(values, weights) == np.median(repeated)


def test_missing_truths_are_left_out_of_a_fit():
    held_out = [*counts(4, 6), held(sample(), "none")]
    assert answer("prior_mean", turn(sample(), INTEGER), held_out).text == "5"
    with pytest.raises(SpecError, match="none of the 1 held-out samples has a target_count"):
        answer("prior_mean", turn(sample(), INTEGER), [held(sample(), "none")])


def test_points_are_counted_where_no_count_is_stated():
    """The fit, and the digest of what it was fitted to, are those of the stated counts."""
    stated = [held(points_sample(*[(5, 5)] * n), f"h{n}") for n in (2, 4, 6)]
    bare = [replace(item, target_count=None) for item in stated]
    for method in ("prior_mean", "prior_median"):
        assert answer(method, turn(sample(), INTEGER), bare).text == "4"
        opened = [open_model({"method": method}, items) for items in (stated, bare, bare[:2])]
        assert opened[0].fit_digest == opened[1].fit_digest != opened[2].fit_digest


def test_count_is_painted_as_a_grid_of_dots_on_the_input():
    marked = pixels(answer("prior_median", turn(sample(), DOTS), counts(12)))
    plain = images.resize_picture(photograph(), 1024, 768)
    changed = (marked != plain).any(axis=2)
    assert (marked[changed] == (255, 0, 0)).all()
    for x, y in grid_points(12, 1024, 768):
        assert changed[round(y), round(x)]
    assert changed.sum() % 12 == 0


def test_a_count_is_painted_in_every_form_of_counting():
    shown, plain = sample(), images.resize_picture(photograph(), 1024, 768)
    for form, colours in [
        (BOXES, {(255, 0, 0)}),
        (TURNS_OF_TWO, {(255, 0, 0), (0, 0, 255)}),
        (FLAT, {(255, 0, 0)}),
    ]:
        marked = pixels(answer("prior_median", turn(shown, form), counts(6)))
        ground = np.full_like(plain, 255) if form is FLAT else plain
        changed = (marked != ground).any(axis=2)
        assert {tuple(colour) for colour in marked[changed].tolist()} == colours


@given(st.integers(0, 600), st.sampled_from([(1024, 768), (768, 1024), (1024, 100), (1024, 1024)]))
def test_grid_points_lie_inside_and_apart(count, size):
    points = grid_points(count, *size)
    assert len(points) == count
    assert len({tuple(point) for point in points}) == count
    assert ((points > 0) & (points < np.array(size) - 1)).all()


def test_centre_prior_tints_the_input_where_a_tint_is_asked_for():
    held_out = [held(box_sample(0, 0, 64, 48), "a")]
    mask = pixels(answer("prior_centre", turn(sample(), MASK), held_out)) > 127
    tinted = pixels(answer("prior_centre", turn(sample(), OVERLAY), held_out)).astype(int)
    plain = images.resize_picture(photograph(), 1024, 768)
    np.testing.assert_array_equal((tinted != plain).any(axis=2), mask)


def test_mean_depth_is_the_exponential_of_the_mean_log():
    held_out = [held(flat(1.0), "a"), held(flat(4.0), "b")]
    assert mean_depth_m(held_out) == pytest.approx(2.0)
    weighted = [held(flat(1.0), "a", "x"), held(flat(1.0), "b", "x"), held(flat(16.0), "c", "y")]
    assert mean_depth_m(weighted) == pytest.approx(4.0)


def test_mean_depth_leaves_invalid_pixels_out_and_fills_what_nobody_saw():
    left, right = SLOPE_M.copy(), SLOPE_M.copy()
    left[:, 64:] = 0.0
    right[:, 32:] = np.nan
    wide = np.full((50, 70), 1.0)
    held_out = [held(depth_sample(left), "a"), held(depth_sample(right), "b")]
    mean = mean_depth_m(held_out)
    assert mean.shape == (fits.GRID_PX, fits.GRID_PX)
    assert np.isfinite(mean).all()
    expected = np.exp(
        np.interp(np.linspace(0, 1, fits.GRID_PX), np.linspace(0, 1, HEIGHT), np.log(SLOPE_M[:, 0]))
    )
    assert np.abs(mean / expected[:, None] - 1)[4:-4].max() < 0.02
    assert mean_depth_m([held(depth_sample(wide), "c")]) == pytest.approx(1.0)


@pytest.mark.parametrize(("form", "top", "bottom"), [(NEAR_BRIGHT, 255, 0), (NEAR_DARK, 0, 255)])
def test_mean_depth_is_painted_in_the_declared_polarity(form, top, bottom):
    held_out = [held(depth_sample(SLOPE_M), "a"), held(depth_sample(2 * SLOPE_M), "b")]
    grey = pixels(answer("prior_mean", turn(sample(), form), held_out))
    assert grey.shape == (768, 1024)
    assert (grey[0] == top).all()
    assert (grey[-1] == bottom).all()


def test_mean_normals_are_of_unit_length_when_painted():
    held_out = [held(facing(0.6, 0.0, 0.8), "a"), held(facing(-0.6, 0.0, 0.8), "b")]
    painted = pixels(answer("prior_mean", turn(sample(), NORMALS), held_out))
    assert (painted == (128, 128, 255)).all()


def test_normals_that_cancel_out_are_mid_grey():
    held_out = [held(facing(1.0, 0.0, 0.0), "a"), held(facing(-1.0, 0.0, 0.0), "b")]
    painted = pixels(answer("prior_mean", turn(sample(), NORMALS), held_out))
    assert (painted == 128).all()


def test_no_valid_pixel_to_fit_on():
    with pytest.raises(SpecError, match="no held-out sample has a valid pixel"):
        answer("prior_mean", turn(sample(), NEAR_BRIGHT), [held(flat(0.0), "a")])


def test_evaluated_samples_are_refused_as_held_out():
    with pytest.raises(SpecError, match="'one' has role 'evaluated'"):
        open_model({"method": "prior_median"}, [sample(target_count=3)])


def test_digest_covers_what_is_fitted_and_nothing_else():
    base = counts(1, 2, 3)
    digest = open_model({"method": "prior_median"}, base).fit_digest
    assert len(digest) == 64

    def other(*held_out, method="prior_median"):
        return open_model({"method": method}, held_out).fit_digest

    assert other(*reversed(base)) == digest
    assert other(replace(base[0], licence="x", stratum="y"), *base[1:]) == digest
    assert other(replace(base[0], query="y"), *base[1:]) != digest
    assert other(replace(base[0], target_count=9), *base[1:]) != digest
    assert other(replace(base[0], cluster_id="c1"), *base[1:]) != digest
    assert other(*base[1:]) != digest
    assert other(*base, method="prior_mean") != digest


def test_order_of_held_out_samples_changes_no_bit():
    items = [held(depth_sample(SLOPE_M * factor), f"h{factor}") for factor in (1, 3, 7)]
    items += [held(depth_sample(np.rot90(SLOPE_M)), "turned")]
    shown = turn(sample(), NEAR_BRIGHT)
    assert answer("prior_mean", shown, items) == answer("prior_mean", shown, items[::-1])


@pytest.mark.parametrize("method", ["oracle", "echo", "constant", "salient", "prior_ramp"])
def test_unfitted_models_have_no_digest(method):
    assert open_model({"method": method}, counts(1)).fit_digest == ""


@pytest.mark.parametrize(
    ("method", "form"),
    [
        ("prior_centre", NEAR_BRIGHT),
        ("prior_median", MASK),
        ("prior_mean", MASK),
        ("prior_median", BOX),
    ],
)
def test_other_forms_of_answer_are_refused(method, form):
    held_out = [held(box_sample(0, 0, 9, 9, target_count=2), "a")]
    with pytest.raises(GensightError, match="no answer"):
        answer(method, turn(sample(), form), held_out)
