"""Things too near each other to be counted apart: which of them a mark may hide."""

import math

import numpy as np
from count_loss_rows import check_sums, measured, prediction_of, sample_of
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st

from gensight import images
from gensight.failures import diagnostics
from gensight.measures import count_loss, count_match

crowded = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)


@given(crowded, crowded, st.integers(0, 3))
@run(max_examples=60, deadline=None)
def test_sums_hold_in_a_crowd_and_only_marks_merge(marks, places, turned_down):
    parts = measured(marks, places, n_rejected_inertia=turned_down)
    check_sums(parts, marks, places)
    error = parts["extra"] - parts["merged"] - parts["undecoded"] - parts["unmarked"]
    assert error == len(marks) - len(places)
    if not marks and not turned_down:
        assert parts["merged"] == 0
        assert parts["unmarked"] == len(places)
    if not parts["matched"] and not turned_down:
        assert parts["merged"] == 0


@given(crowded, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2, max_size=9))
@run(max_examples=40, deadline=None)
def test_places_with_a_mark_are_as_many_as_are_matched(marks, places):
    said, asked = prediction_of(marks), sample_of(places)
    array = np.array(places, float)
    has_mark = count_loss._places_with_mark(said, asked, array, 0.02)
    matched = count_match.measure(said, asked, {})[None]["matched"]
    assert has_mark.sum() == matched


def hidden_by_hand(places, has_mark, limit, turned_down):
    """Count place by place: clusters by growing, and the rest by the largest first."""
    left, hidden, bare = set(range(len(places))), 0, []
    while left:
        cluster = {left.pop()}
        while True:
            near = {j for j in left for i in cluster if math.dist(places[i], places[j]) < limit}
            if not near:
                break
            cluster |= near
            left -= near
        marked = sum(has_mark[i] for i in cluster)
        if marked:
            hidden += len(cluster) - marked
        else:
            bare.append(len(cluster) - 1)
    return hidden + sum(sorted(bare)[len(bare) - min(turned_down, len(bare)) :])


@given(
    st.lists(st.tuples(*(st.integers(0, 30),) * 2, st.booleans()), max_size=10), st.integers(0, 3)
)
@run(max_examples=40, deadline=None)
def test_hidden_places_are_those_of_a_search(rows, turned_down):
    places = np.array([row[:2] for row in rows], float).reshape(-1, 2)
    has_mark = np.array([row[2] for row in rows], bool)
    expected = hidden_by_hand(places.tolist(), has_mark.tolist(), 8, turned_down)
    assert count_loss.hidden_places(places, has_mark, 8, turned_down) == expected


def test_marks_in_instances_hide_their_near_neighbours():
    """A small thing before a large one: their centres are 4 px apart, so are their dots."""
    instances = []
    for x, y, radius in ((300, 300, 40), (304, 300, 5), (700, 300, 20)):
        rows, columns = np.mgrid[:768, :1024]
        instances.append((rows - y) ** 2 + (columns - x) ** 2 <= radius**2)
    instances[0] &= ~instances[1]
    coded = [images.encode_mask(mask) for mask in instances]
    asked = sample_of([], target_points=None, target_instances=coded, target_count=3)
    for marks, expected in (
        ([(304, 300)], {"matched": 1, "merged": 1, "unmarked": 1}),
        ([(330, 300)], {"matched": 1, "merged": 1, "unmarked": 1}),
        ([(700, 300)], {"matched": 1, "merged": 0, "unmarked": 2}),
        ([(330, 300), (304, 300)], {"matched": 2, "merged": 0, "unmarked": 1}),
        ([], {"matched": 0, "merged": 0, "unmarked": 3}),
    ):
        parts = count_loss.measure(prediction_of(marks), asked, {})[None]
        assert {name: parts[name] for name in expected} == expected
        check_sums(parts, marks, instances)


def by_hand(places, limit):
    """Return how many places cannot be told apart, by joining groups until none touch."""
    groups = [[place] for place in places]
    joined = True
    while joined:
        joined = False
        for first in groups:
            for second in groups:
                near = any(math.dist(a, b) < limit for a in first for b in second)
                if first is not second and near:
                    first += second
                    groups.remove(second)
                    joined = True
                    break
            if joined:
                break
    return len(places) - len(groups)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=10, unique=True))
@run(max_examples=25, deadline=None)
def test_clusters_are_those_of_a_search(places):
    array = np.array(places, float).reshape(-1, 2)
    assert diagnostics.not_separable(array, 8) == by_hand(places, 8)


def test_two_places_exactly_at_the_limit_can_be_told_apart():
    apart = np.array([[0.0, 0.0], [8.0, 0.0]])
    assert diagnostics.not_separable(apart, 8) == 0
    assert diagnostics.not_separable(apart, 8.001) == 1
