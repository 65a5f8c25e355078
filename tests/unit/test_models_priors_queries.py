"""Fitted floors go by the question: a class has a floor of its own where enough samples ask it."""

from dataclasses import replace

import numpy as np
import pytest
from reference_turns import (
    INTEGER,
    MASK,
    WIDTH,
    answer,
    box_sample,
    flat,
    held,
    photograph,
    pixels,
    sample,
    turn,
)

from gensight.models.reference import fits, open_model

CATS = (1, 1, 2, 3, 9)
DOGS = (20, 21, 22, 23, 24)
OWLS = (50, 50, 50, 50)


def asked(query, cluster="elsewhere"):
    return sample("asked", picture=photograph(seed=9), cluster_id=cluster, query=query)


def counted(query, values, clusters=None):
    names = [f"{query}{place}" for place in range(len(values))]
    clusters = clusters or names
    return [
        held(sample(target_count=value, query=query), name, cluster)
        for name, value, cluster in zip(names, values, clusters, strict=True)
    ]


def told(method, held_out, query, cluster="elsewhere"):
    return int(answer(method, turn(asked(query, cluster), INTEGER), held_out).text)


ZOO = [*counted("cats", CATS), *counted("dogs", DOGS), *counted("owls", OWLS)]


@pytest.mark.parametrize(
    ("query", "median", "mean"),
    [
        ("cats", 2, 3),  # 16 / 5
        ("dogs", 22, 22),
        # Four owls, no emus and no question: all fourteen, whose sum is 326.
        ("owls", 22, 23),
        ("emus", 22, 23),
        (None, 22, 23),
        # The very same words: neither case nor number is guessed at.
        ("Cats", 22, 23),
    ],
)
def test_samples_with_the_same_query_answer_where_there_are_five(query, median, mean):
    assert fits.ASSUMED_LEAST_SAME_QUERY == 5
    assert told("prior_median", ZOO, query) == median
    assert told("prior_mean", ZOO, query) == mean


def test_only_other_clusters_count_towards_the_five():
    own = [*counted("cats", (*CATS, 90)), *counted("dogs", (7, 7, 7))]
    # The sixth is the asked sample's own: the other five answer.
    assert told("prior_median", own, "cats", "cats5") == 2
    # Without its own only four are left: all others answer, of both queries.
    few = [*counted("cats", CATS), *counted("dogs", (7, 7, 7))]
    assert told("prior_median", few, "cats") == 2
    assert told("prior_median", few, "cats", "cats4") == 3  # of 1 1 2 3 7 7 7


def test_clusters_have_one_vote_among_those_who_answer():
    """Three cats of one zoo share a vote of cats, whatever else the zoo keeps."""
    cats = counted("cats", (9, 9, 9, 1, 2), ["zoo", "zoo", "zoo", "a", "b"])
    dogs = counted("dogs", (40, 40, 40), ["zoo", "zoo", "a"])
    assert told("prior_median", [*cats, *dogs], "cats") == 2
    assert told("prior_mean", [*cats, *dogs], "cats") == 4


def test_no_query_twice_is_no_query():
    held_out = [replace(one, query=f"the {place} from the left") for place, one in enumerate(ZOO)]
    for query in ("the 3 from the left", None):
        assert told("prior_median", held_out, query) == 22


def test_one_query_for_all_is_no_query():
    one = [replace(each, query="count") for each in ZOO]
    for cluster in ("elsewhere", "cats0", "owls3"):
        for method in ("prior_median", "prior_mean"):
            assert told(method, one, "count", cluster) == told(method, one, None, cluster)


def test_the_ellipse_has_the_share_of_the_class():
    frames = [held(box_sample(0, 0, WIDTH, 72, query="frame"), f"f{i}") for i in range(5)]
    faces = [held(box_sample(0, 0, WIDTH, 6, query="face"), f"c{i}") for i in range(7)]
    for query, share in (("frame", 72 / 96), ("face", 6 / 96), ("text", 6 / 96)):
        painted = pixels(answer("prior_centre", turn(asked(query), MASK), [*frames, *faces]))
        assert (painted > 127).mean() == pytest.approx(share, abs=0.001)


def depths(query, *metres):
    return [held(replace(flat(m), query=query), f"{query}{i}") for i, m in enumerate(metres)]


def test_maps_go_by_the_query_too():
    """The mean is that of a fit to the query's samples, less the asked sample's own cluster."""
    near, far = depths("room", 1.0, 1.0, 2.0, 4.0, 4.0, 32.0), depths("street", 8.0, 16.0)
    fit = fits.log_depths([*near, *far])

    def metres(query, cluster="elsewhere"):
        return np.exp(fit.mean(asked(query, cluster)))

    assert metres("room") == pytest.approx(2 ** (10 / 6))
    assert metres("room", "room5") == pytest.approx(2.0)
    assert metres("street") == pytest.approx(2 ** (17 / 8))
    assert metres("street", "street0") == pytest.approx(2 ** (14 / 7))
    assert np.exp(fit.mean()) == pytest.approx(2 ** (17 / 8))


def test_maps_are_summed_once_for_each_query(monkeypatch):
    reads = []
    read = fits._log_depth
    monkeypatch.setattr(fits, "_log_depth", lambda s: reads.append(s.sample_id) or read(s))
    rooms, streets = depths("room", *[1.0] * 6), depths("street", *[9.0] * 5)
    fit = fits.log_depths([*rooms, *streets])
    for query, cluster in [("room", "room0"), ("street", "x"), ("room", "y"), ("room", "room0")]:
        fit.mean(asked(query, cluster))
    names = [one.sample_id for one in (*rooms, *streets)]
    assert sorted(reads) == sorted([*names, "room0"])


def test_one_cluster_alone_leaves_out_its_pictures_and_keeps_to_the_query():
    cats = counted("cats", (*CATS, 80), ["x"] * 6)
    dogs = counted("dogs", DOGS, ["x"] * 5)
    cats[5] = replace(cats[5], image={"bytes": asked("cats").image["bytes"], "path": None})
    assert told("prior_median", [*cats, *dogs], "cats", "x") == 2
    assert told("prior_median", [*cats[1:], *dogs], "cats", "x") == 20  # of 1 2 3 9 and the dogs


def test_the_order_of_questions_changes_no_bit():
    shown = [turn(asked(query), INTEGER) for query in ("cats", "dogs", "owls", "cats", None)]
    model = open_model({"method": "prior_mean"}, ZOO)
    assert [model.answer(each) for each in shown] == [
        answer("prior_mean", each, ZOO[::-1]) for each in shown
    ]
