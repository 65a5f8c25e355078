"""Fitted floors leave out the held-out samples of the asked sample's own cluster."""

from dataclasses import replace

import numpy as np
import pytest
from reference_turns import (
    INTEGER,
    MASK,
    NEAR_BRIGHT,
    NORMALS,
    SLOPE_M,
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
    sample,
    turn,
)

from gensight.errors import SpecError
from gensight.models.reference import fits, open_model


def asked(cluster, seed=9):
    """An evaluated sample of a cluster, its picture unlike those of the held-out ones."""
    return sample("asked", picture=photograph(seed=seed), cluster_id=cluster)


def shares_of(*rows):
    return [box_sample(0, 0, WIDTH, each) for each in rows]


LEFT_OUT = [
    ("prior_centre", MASK, shares_of(12, 24, 48)),
    ("prior_mean", NEAR_BRIGHT, [flat(1.0), depth_sample(SLOPE_M), depth_sample(SLOPE_M[::-1])]),
    ("prior_mean", NORMALS, [facing(0, 0, 1), facing(0.6, 0, 0.8), facing(0, 0.6, 0.8)]),
    ("prior_mean", INTEGER, [sample(target_count=n) for n in (3, 9, 20)]),
    ("prior_median", INTEGER, [sample(target_count=n) for n in (3, 9, 20)]),
]


@pytest.mark.parametrize(("method", "form", "items"), LEFT_OUT)
@pytest.mark.parametrize("own", ["a", "b", "c"])
def test_the_asked_cluster_takes_no_part(method, form, items, own):
    """The answer is that of a model fitted without the cluster, one map for each sample."""
    names = [("a", "a"), ("b1", "b"), ("b2", "b"), ("c", "c")]
    truths = [items[0], items[1], items[2], items[2]]
    held_out = [held(item, *name) for item, name in zip(truths, names, strict=True)]
    shown = turn(asked(own), form)
    rest = [item for item in held_out if item.cluster_id != own]
    with_all, without = answer(method, shown, held_out), answer(method, shown, rest)
    if form is INTEGER:
        assert with_all == without
    else:
        difference = pixels(with_all).astype(int) - pixels(without)
        # Subtracting a part from a total rounds at the sixteenth digit: a level at a boundary.
        assert np.abs(difference).max() <= 1
        assert (difference != 0).mean() < 1e-3


@pytest.mark.parametrize(("method", "form", "items"), LEFT_OUT)
def test_a_foreign_cluster_leaves_nobody_out(method, form, items):
    held_out = [held(item, name) for item, name in zip(items, "abc", strict=True)]
    shown = turn(asked("elsewhere"), form)
    assert answer(method, shown, held_out) == answer(method, replace(shown, truth=None), held_out)


@pytest.mark.parametrize(("method", "form", "items"), LEFT_OUT)
def test_the_order_of_questions_changes_no_bit(method, form, items):
    held_out = [held(item, name) for item, name in zip(items, "abc", strict=True)]
    shown = [turn(asked(cluster), form) for cluster in ("a", "b", "elsewhere")]
    model = open_model({"method": method}, held_out)
    kept = [model.answer(each) for each in [*shown, *reversed(shown)]]
    assert kept == [answer(method, each, held_out) for each in [*shown, *reversed(shown)]]


def test_one_cluster_alone_leaves_out_its_pictures_only():
    held_out = counts(2, 4, 9, clusters=["x", "x", "x"])
    same = replace(held_out[2], image={"bytes": asked("x").image["bytes"], "path": None})
    shown = turn(asked("x"), INTEGER)
    assert answer("prior_mean", shown, held_out).text == "5"
    assert answer("prior_mean", shown, [*held_out[:2], same]).text == "3"


def test_nothing_but_the_asked_picture_is_an_error_with_advice():
    item = asked("x")
    with pytest.raises(SpecError, match=r"sample 'asked': every held-out sample.*held_out.n"):
        answer("prior_mean", turn(item, INTEGER), [held(replace(item, target_count=1), "h", "x")])


def test_a_part_is_summed_once_for_each_cluster(monkeypatch):
    reads = []
    read = fits._log_depth
    monkeypatch.setattr(fits, "_log_depth", lambda s: reads.append(s.sample_id) or read(s))
    held_out = [held(flat(metres), f"h{metres}") for metres in (1.0, 2.0, 4.0)]
    fit = fits.log_depths(held_out)
    for cluster in ["h1.0", "h2.0", "h1.0", "h2.0", "elsewhere"]:
        fit.mean(asked(cluster))
    assert sorted(reads) == sorted(["h1.0", "h2.0", "h4.0", "h1.0", "h2.0"])
