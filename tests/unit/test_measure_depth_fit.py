"""Depth fits against exact synthetic truth, a brute-force reference and scipy's PAVA."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from gensight import images
from gensight.errors import GensightError
from gensight.measures import _alignment, depth_fit
from gensight.measures._monotone import increasing_fit, monotone_fit
from gensight.records import Prediction, Sample

CAPS = {"min_depth_m": 1e-3, "max_depth_m": 10.0}


def ramp(height=48, width=64):
    """A depth of 1 to 10 m, row-major (PROTOCOLS DEP-1)."""
    return np.linspace(1, 10, height * width).reshape(height, width)


def to_grey(values):
    return 255 * (values - values.min()) / (values.max() - values.min())


def sample_of(depth_m, valid=None, **columns):
    height, width = depth_m.shape
    return Sample(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        image={"bytes": b"", "path": None},
        width=width,
        height=height,
        target_depth_m=images.encode_array(depth_m.astype(np.float32)),
        valid_mask=None if valid is None else images.encode_mask(valid),
        **{**CAPS, **columns},
    )


def prediction_of(grey):
    return Prediction(
        sample_id="s1",
        rank=0,
        cluster_id="c1",
        variant="grey",
        status="ok",
        outcome="ok",
        grey={"bytes": images.encode_png(grey), "path": None},
    )


def form(near):
    return {"answer_form": {"kind": "depth", "near": near}}


def reference(x, d, valid, low, high):
    """The linear fits in float64 by lstsq, written from the definitions."""
    x, d = x[valid].astype(np.float64), d[valid].astype(np.float64)
    design = np.column_stack([x, np.ones_like(x)])
    out = {}
    for name, target in (("depth", d), ("disparity", 1 / d)):
        scale, shift = np.linalg.lstsq(design, target, rcond=None)[0]
        aligned = scale * x + shift
        if name == "disparity":
            aligned = 1 / np.maximum(aligned, 1 / high)
        aligned = np.clip(aligned, low, high)
        ratio = np.maximum(aligned / d, d / aligned)
        out[name] = {
            "absrel": np.mean(np.abs(aligned - d) / d),
            "delta1": np.mean(ratio < 1.25),
            "rmse_m": np.sqrt(np.mean((aligned - d) ** 2)),
            "scale": scale,
            "shift": shift,
            "n_valid": d.size,
        }
    return out


def monotone_reference(x, d, block):
    """The cross-fitted monotone curve, by loops over halves and scipy's PAVA."""
    rows, columns = np.indices(d.shape)
    half = (rows // block + columns // block) % 2
    best = None
    for increasing in (True, False):
        loss, aligned = 0.0, np.zeros_like(d)
        for fold in (0, 1):
            fit, score = half == fold, half != fold
            held, where = np.unique(x[fit], return_inverse=True)
            weights = np.bincount(where).astype(float)
            means = np.bincount(where, np.log(d[fit])) / weights
            curve = isotonic_regression(means, weights=weights, increasing=increasing).x
            loss += np.sum(weights * (means - curve) ** 2)
            aligned[score] = np.exp(np.interp(x[score], held, curve))
        if best is None or loss < best[0]:
            best = (loss, np.mean(np.abs(aligned - d) / d), 1.0 if increasing else -1.0)
    return best[1:]


def test_disparity_is_not_depth():
    depth_m = ramp()
    fits = depth_fit.align(to_grey(1 / depth_m), depth_m, near="bright")
    assert fits["disparity"]["absrel"] < 1e-6
    assert fits["depth"]["absrel"] == pytest.approx(0.335, abs=0.01)
    # Depths below zero come back to the cap: the same picture, clipped after alignment.
    capped = depth_fit.align(to_grey(1 / depth_m), depth_m, near="bright", **CAPS)
    assert capped["depth"]["absrel"] == pytest.approx(0.279, abs=0.001)
    assert fits["disparity"]["delta1"] == 1.0


@pytest.mark.parametrize("code", ["depth", "disparity", "log", "gamma"])
@pytest.mark.parametrize("near", ["bright", "dark"])
def test_any_monotone_code_of_true_depth_is_forgiven(code, near):
    # A ramp across the columns, so that both halves of the checkerboard see all depths.
    depth_m = np.tile(np.geomspace(1, 10, 320), (256, 1))
    values = {
        "depth": depth_m,
        "disparity": -1 / depth_m,
        "log": np.log(depth_m),
        "gamma": depth_m**0.45,
    }[code]
    grey = np.rint(to_grey(values if near == "dark" else -values)).astype(np.uint8)
    parts = depth_fit.align(grey, depth_m, near=near, **CAPS)["monotone"]
    assert parts["absrel"] < 0.01
    assert parts["polarity_contradicts"] == 0.0
    assert parts["direction"] == (1.0 if near == "dark" else -1.0)


def test_free_curve_buys_nothing_on_noise():
    rng = np.random.default_rng(0)
    depth_m = np.tile(np.geomspace(1, 10, 320), (256, 1))
    noise = rng.integers(0, 256, depth_m.shape).astype(np.uint8)
    constant = np.full(depth_m.shape, 7, np.uint8)
    noisy, flat = (depth_fit.align(g, depth_m, **CAPS)["monotone"] for g in (noise, constant))
    assert noisy["absrel"] >= 0.99 * flat["absrel"]
    assert flat["absrel"] == pytest.approx(np.mean(np.abs(np.sqrt(10) / depth_m - 1)), rel=1e-5)


def test_invalid_pixels_take_no_part():
    depth_m = ramp()
    grey = to_grey(depth_m)
    depth_m[::2] = 0
    depth_m[1, 3], depth_m[3, 4], depth_m[5, 5], depth_m[7, 7] = np.inf, np.nan, 11.0, -2.0
    fits = depth_fit.align(grey, depth_m, **CAPS)
    assert fits["depth"]["absrel"] < 1e-6
    assert fits["depth"]["n_valid"] == 24 * 64 - 4


def test_sparse_truth_is_never_resized():
    rng = np.random.default_rng(1)
    depth_m = np.where(rng.random((375, 1242)) < 0.05, rng.uniform(2, 80, (375, 1242)), 0.0)
    grey = rng.integers(0, 256, (309, 1024)).astype(np.uint8)
    sample = sample_of(depth_m, max_depth_m=80.0)
    parts = depth_fit.measure(prediction_of(grey), sample, form("bright"))
    assert parts["depth"]["n_valid"] == np.count_nonzero(depth_m)


def test_prediction_of_another_size_is_brought_to_the_truth():
    depth_m = np.tile(np.linspace(1, 10, 96), (64, 1))
    grey = np.rint(to_grey(np.tile(np.linspace(1, 10, 192), (128, 1)))).astype(np.uint8)
    parts = depth_fit.measure(prediction_of(grey), sample_of(depth_m), form("dark"))
    assert parts["depth"]["absrel"] < 0.005
    assert parts["depth"]["n_valid"] == depth_m.size


@pytest.mark.parametrize("flip", [False, True])
def test_sign_is_free_and_its_contradiction_is_flagged(flip):
    depth_m = ramp()
    grey = to_grey(depth_m)
    fits = depth_fit.align(255 - grey if flip else grey, depth_m, near="bright", **CAPS)
    assert fits["depth"]["absrel"] < 1e-6
    assert fits["depth"]["polarity_contradicts"] == (0.0 if flip else 1.0)
    assert fits["monotone"]["polarity_contradicts"] == (0.0 if flip else 1.0)
    constant = np.mean(np.abs(depth_m.mean() / depth_m - 1))
    expected = pytest.approx(0, abs=1e-6) if flip else pytest.approx(constant, rel=1e-5)
    assert fits["signed"]["absrel"] == expected
    assert fits["signed"]["scale"] == (fits["depth"]["scale"] if flip else 0.0)


@pytest.mark.parametrize(
    ("near", "code", "contradicts"),
    [
        ("bright", "disparity", 0.0),
        ("bright", "depth", 1.0),
        ("dark", "disparity", 1.0),
        ("dark", "depth", 0.0),
    ],
)
def test_polarity_of_every_fit(near, code, contradicts):
    depth_m = ramp(64, 64)
    grey = to_grey(1 / depth_m if code == "disparity" else depth_m)
    fits = depth_fit.align(grey, depth_m, near=near, **CAPS)
    assert {parts["polarity_contradicts"] for parts in fits.values()} == {contradicts}


def test_no_promise_no_signed_fit():
    fits = depth_fit.align(to_grey(ramp()), ramp(), near="unspecified", **CAPS)
    assert list(fits) == ["depth", "disparity", "monotone"]
    assert not any("polarity_contradicts" in parts for parts in fits.values())


def test_flat_wall_has_no_polarity():
    rng = np.random.default_rng(2)
    grey = rng.integers(0, 256, (64, 64)).astype(np.uint8)
    fits = depth_fit.align(grey, np.full((64, 64), 3.1), near="bright", **CAPS)
    for parts in fits.values():
        assert parts["polarity_contradicts"] == 0.0
        assert parts["absrel"] < 1e-6
    assert "direction" not in fits["monotone"]


def test_clipped_after_alignment():
    # The line through (0, 1), (1, 4), (2, 4), (3, 9) is 2.4 x + 0.9: 0.9, 3.3, 5.7, 8.1.
    grey = np.array([[0, 1], [2, 3]], np.uint8)
    depth_m = np.array([[1.0, 4.0], [4.0, 9.0]])
    parts = depth_fit.align(grey, depth_m, min_depth_m=1.0, max_depth_m=9.0)["depth"]
    assert (parts["scale"], parts["shift"]) == pytest.approx((2.4, 0.9))
    assert parts["absrel"] == pytest.approx((0 + 0.7 / 4 + 1.7 / 4 + 0.9 / 9) / 4)
    assert parts["delta1"] == 0.75
    assert parts["rmse_m"] == pytest.approx(np.sqrt((0.7**2 + 1.7**2 + 0.9**2) / 4))


def test_caps_that_do_not_limit_the_truth_still_clip():
    grey = np.array([[0, 1], [2, 3]], np.uint8)
    depth_m = np.array([[1.0, 2.0], [3.0, 40.0]])
    free, limited = (
        depth_fit.align(grey, depth_m, max_depth_m=20.0, caps_limit_truth=limit)["depth"]
        for limit in (False, True)
    )
    assert (free["n_valid"], limited["n_valid"]) == (4, 3)
    # The line is 11.8 x - 6.2: -6.2, 5.6, 17.4 and 29.2, which comes down to 20.
    assert free["absrel"] == pytest.approx((7.2 + 3.6 / 2 + 14.4 / 3 + 20 / 40) / 4)
    assert limited["absrel"] < 1e-6


def test_disparity_is_floored_before_inversion():
    # The line through (0, 1/1), (1, 1/8), (2, 1/8) is below zero at 2.
    grey = np.array([[0, 1, 2]], np.uint8)
    depth_m = np.array([[1.0, 8.0, 8.0]])
    parts = depth_fit.align(grey, depth_m, min_depth_m=0.1, max_depth_m=8.0)["disparity"]
    line = np.polyval(np.polyfit([0, 1, 2], [1, 0.125, 0.125], 1), [0, 1, 2])
    assert line[2] < 0
    aligned = 1 / np.maximum(line, 1 / 8)
    assert parts["absrel"] == pytest.approx(np.mean(np.abs(aligned - depth_m) / depth_m), rel=1e-5)


def test_without_caps_the_largest_depth_bounds_the_disparity():
    grey = np.array([[0, 1, 2]], np.uint8)
    fits = depth_fit.align(grey, np.array([[1.0, 8.0, 8.0]]))
    assert all(np.isfinite(list(parts.values())).all() for parts in fits.values())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float64])
@pytest.mark.parametrize("share", [1.0, 0.3])
def test_linear_fits_agree_with_lstsq(dtype, share):
    rng = np.random.default_rng(3)
    depth_m = (rng.uniform(0.5, 9.5, (70, 90))).astype(np.float32)
    noise = rng.normal(0, 20, depth_m.shape)
    grey = np.clip(250 - 22 * depth_m + noise, 0, 255)
    grey = (grey * (257 if dtype == np.uint16 else 1)).astype(dtype)
    valid = rng.random(depth_m.shape) < share
    fits = depth_fit.align(grey, depth_m, valid=valid, min_depth_m=1.0, max_depth_m=8.0)
    inside = valid & (depth_m >= 1) & (depth_m <= 8)
    expected = reference(grey / (257 if dtype == np.uint16 else 1), depth_m, inside, 1.0, 8.0)
    for name, parts in expected.items():
        got = {key: fits[name][key] for key in parts}
        assert got == pytest.approx(parts, rel=2e-5), name


@pytest.mark.parametrize("block", [8, 32])
def test_monotone_fit_agrees_with_reference(block):
    rng = np.random.default_rng(4)
    depth_m = rng.uniform(0.5, 9.5, (70, 90)).astype(np.float32)
    grey = np.clip(250 - 22 * depth_m + rng.normal(0, 30, depth_m.shape), 0, 255)
    grey = grey.astype(np.uint8) // 3 * 3
    parts = depth_fit.align(grey, depth_m, block_px=block)["monotone"]
    absrel, direction = monotone_reference(grey, depth_m, block)
    assert parts["absrel"] == pytest.approx(absrel, rel=1e-5)
    assert parts["direction"] == direction
    assert parts["cross_fitted"] == 1.0


def test_pieces_do_not_change_the_fits(monkeypatch):
    rng = np.random.default_rng(6)
    depth_m = rng.uniform(0.5, 9.5, (70, 90)).astype(np.float32)
    grey = rng.integers(0, 256, depth_m.shape).astype(np.uint8)
    whole = depth_fit.align(grey, depth_m, near="bright", **CAPS)
    monkeypatch.setattr(_alignment, "PIECE", 97)
    cut = depth_fit.align(grey, depth_m, near="bright", **CAPS)
    for fit, parts in whole.items():
        assert cut[fit] == pytest.approx(parts, rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_grey_that_is_not_finite_is_refused(bad):
    grey = to_grey(ramp())
    grey[3, 3] = bad
    with pytest.raises(ValueError, match="not finite"):
        depth_fit.align(grey, ramp())


def test_one_block_is_fitted_whole():
    depth_m = ramp(20, 20)
    parts = depth_fit.align(to_grey(depth_m), depth_m)["monotone"]
    assert parts["cross_fitted"] == 0.0
    assert parts["absrel"] < 0.01


def test_same_picture_in_8_and_16_bits():
    depth_m = ramp(64, 64)
    grey = np.rint(to_grey(np.sqrt(depth_m))).astype(np.uint8)
    eight, sixteen = (
        depth_fit.measure(prediction_of(g), sample_of(depth_m), form("dark"))
        for g in (grey, grey.astype(np.uint16) * 257)
    )
    for fit in ("depth", "disparity", "signed"):
        assert sixteen[fit] == pytest.approx(eight[fit], rel=1e-5)
    assert sixteen["monotone"]["absrel"] == pytest.approx(eight["monotone"]["absrel"], abs=1e-3)


@pytest.mark.parametrize("near", ["bright", "unspecified"])
def test_failed_answer_gets_the_constant_fit(near):
    rng = np.random.default_rng(5)
    depth_m = rng.uniform(1, 9, (64, 96))
    valid = rng.random(depth_m.shape) < 0.5
    sample = sample_of(depth_m, valid)
    failed = depth_fit.failed(sample, form(near))
    constant = depth_fit.measure(prediction_of(np.full((64, 96), 99, np.uint8)), sample, form(near))
    assert list(failed) == list(constant)
    truth = depth_m[valid].astype(np.float32)
    expected = {"depth": truth.mean(), "disparity": 1 / np.mean(1 / truth), "signed": truth.mean()}
    for fit, parts in failed.items():
        assert "polarity_contradicts" not in parts
        assert parts["absrel"] == pytest.approx(constant[fit]["absrel"], rel=1e-6)
        if fit in expected:
            absrel = np.mean(np.abs(expected[fit] - truth) / truth)
            assert parts["absrel"] == pytest.approx(absrel, rel=1e-4)
            assert parts["scale"] == 0.0


@pytest.mark.parametrize(
    "depth_m",
    [np.zeros((4, 4)), np.full((4, 4), np.nan), np.eye(4)[:1] * 3, np.full((4, 4), 11.0)],
)
def test_fewer_than_two_valid_pixels_are_no_ground_truth(depth_m):
    sample = sample_of(depth_m)
    grey = np.zeros(depth_m.shape, np.uint8)
    assert depth_fit.measure(prediction_of(grey), sample, form("bright")) is None
    assert depth_fit.failed(sample, form("bright")) is None


def test_no_target_is_no_ground_truth():
    columns = {"sample_id": "s", "rank": 0, "cluster_id": "c", "image": {}, "width": 4, "height": 4}
    sample = Sample(**columns)
    assert depth_fit.failed(sample, {}) is None
    assert depth_fit.measure(prediction_of(np.zeros((4, 4), np.uint8)), sample, {}) is None


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"failure": "zero"}, "constant_fit"),
        (form("light"), "bright, dark, unspecified"),
    ],
)
def test_unknown_settings_name_the_allowed_values(settings_, message):
    with pytest.raises(GensightError, match=message):
        depth_fit.failed(sample_of(ramp()), settings_)


def test_prediction_without_grey_names_the_extractor():
    blank = Prediction(
        sample_id="s1", rank=0, cluster_id="c1", variant="otsu", status="ok", outcome="ok"
    )
    with pytest.raises(GensightError, match=r"s1.*'depth'"):
        depth_fit.measure(blank, sample_of(ramp()), {})


levels = st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 100)), min_size=1, max_size=40)


@given(levels)
@settings(deadline=None)
def test_pava_agrees_with_scipy(pairs):
    values, weights = np.array(pairs).T
    for increasing in (True, False):
        expected = isotonic_regression(values, weights=weights, increasing=increasing).x
        assert monotone_fit(values, weights, increasing=increasing) == pytest.approx(
            expected, abs=1e-9
        )


def test_pava_of_nothing_is_nothing():
    assert increasing_fit(np.array([]), np.array([])).shape == (0,)


pictures = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(pictures, st.floats(0.1, 20), st.floats(-100, 100), st.booleans())
@settings(max_examples=50, deadline=None)
def test_absrel_ignores_affine_maps_of_grey(rng, scale, shift, negative):
    depth_m = rng.uniform(1, 9, (40, 40))
    grey = rng.uniform(0, 255, depth_m.shape) + 10 * depth_m
    mapped = grey * (-scale if negative else scale) + shift
    first, second = (depth_fit.align(g, depth_m, **CAPS) for g in (grey, mapped))
    for fit in ("depth", "disparity"):
        assert second[fit]["absrel"] == pytest.approx(first[fit]["absrel"], rel=1e-4)


@given(pictures, st.sampled_from(["bright", "dark"]), st.floats(-40, 40))
@settings(max_examples=50, deadline=None)
def test_signed_is_never_better_than_free(rng, near, slope):
    depth_m = rng.uniform(1, 9, (24, 24))
    grey = np.clip(128 + slope * (depth_m - 5) + rng.normal(0, 30, depth_m.shape), 0, 255)
    fits = depth_fit.align(grey.astype(np.uint8), depth_m, near=near)
    assert fits["signed"]["rmse_m"] >= fits["depth"]["rmse_m"] * (1 - 1e-6)
    assert fits["signed"]["scale"] * (-1 if near == "bright" else 1) >= 0


def test_one_stray_pixel_does_not_crowd_the_levels_of_a_16_bit_map():
    """A log code of perfect depth stays near 0 under the monotone fit, stray pixel or not."""
    from gensight.measures._monotone import levels

    ramp = np.linspace(1000, 9000, 64 * 64).astype(np.uint16).reshape(64, 64)
    stray = ramp.copy()
    stray[0, 0] = 65535
    assert len(np.unique(levels(ramp))) == len(np.unique(levels(stray))) == 256
    order = np.argsort(ramp, axis=None)
    assert (np.diff(levels(ramp).ravel()[order].astype(int)) >= 0).all()
    few = np.array([[5, 5, 900], [7, 5, 900]], np.uint16)
    assert levels(few).tolist() == [[0, 0, 2], [1, 0, 2]]
