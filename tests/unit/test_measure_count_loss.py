"""Where counted things are lost: every place is booked once, and the picture's difficulty."""

import doctest
import math

import numpy as np
import pytest
from count_loss_rows import GREY, check_sums, measured, prediction_of, sample_of
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from spine_rows import prediction

from gensight import images, metrics
from gensight.errors import RecordError
from gensight.failures import diagnostics
from gensight.measures import count_loss

PLACES = [(100, 100), (300, 100), (500, 100), (700, 600)]


@pytest.mark.parametrize(
    ("marks", "places", "facts", "expected"),
    [
        (PLACES, PLACES, {}, {"matched": 4}),
        (PLACES[:3], PLACES, {}, {"matched": 3, "unmarked": 1}),
        ([*PLACES[:3], (900, 300)], PLACES, {}, {"matched": 3, "misplaced": 1}),
        ([*PLACES, (900, 300)], PLACES, {}, {"matched": 4, "extra": 1}),
        ([], PLACES, {}, {"unmarked": 4}),
        (PLACES[:2], PLACES, {"n_rejected_circularity": 1}, {"undecoded": 1, "unmarked": 1}),
        (PLACES[:2], PLACES, {"n_rejected_colour": 9}, {"undecoded": 2, "unmarked": 0}),
        # Specks are no marks.
        (PLACES[:2], PLACES, {"n_rejected_area": 9}, {"undecoded": 0, "unmarked": 2}),
        # Two places 5 px apart show as one blob.
        ([(102, 100)], [(100, 100), (105, 100)], {}, {"matched": 1, "merged": 1}),
        # Without a mark nothing can have been merged with it.
        ([], [(100, 100), (105, 100)], {}, {"merged": 0, "unmarked": 2}),
        # A turned-down mark may have been the blob of a pair: one place merged, one not decoded.
        (
            [],
            [(100, 100), (105, 100)],
            {"n_rejected_circularity": 1},
            {"merged": 1, "undecoded": 1, "unmarked": 0},
        ),
        # ... of the largest cluster without a mark, and of one only.
        (
            [],
            [(100, 100), (105, 100), (500, 500), (505, 500), (510, 500)],
            {"n_rejected_inertia": 1},
            {"merged": 2, "undecoded": 1, "unmarked": 2},
        ),
        # The mark of one pair says nothing of the other.
        (
            [(101, 100)],
            [(100, 100), (105, 100), (500, 500), (505, 500)],
            {},
            {"matched": 1, "merged": 1, "unmarked": 2},
        ),
        # A mark belongs to the nearest place: not to the pair within its gate, ...
        (
            [(115, 100)],
            [(100, 100), (105, 100), (115, 100)],
            {},
            {"matched": 1, "merged": 0, "unmarked": 2},
        ),
        # ... and here to the pair.
        (
            [(102, 100)],
            [(100, 100), (105, 100), (115, 100)],
            {},
            {"matched": 1, "merged": 1, "unmarked": 1},
        ),
        # Two marks beside a third place: as many as can be are matched, so one is the pair's.
        (
            [(112, 100), (116, 100)],
            [(100, 100), (105, 100), (115, 100)],
            {},
            {"matched": 2, "merged": 1, "unmarked": 0},
        ),
        # A chain of three with two marks hides the third.
        (
            [(100, 100), (114, 100)],
            [(100, 100), (107, 100), (114, 100)],
            {},
            {"matched": 2, "merged": 1},
        ),
        # All are found although two are near each other: nothing was lost.
        (
            [(98, 100), (107, 100)],
            [(100, 100), (105, 100)],
            {},
            {"matched": 2, "merged": 0},
        ),
        ([], [], {}, {"matched": 0, "unmarked": 0}),
        ([(9, 9)], [], {}, {"extra": 1}),
    ],
)
def test_places_are_booked_once(marks, places, facts, expected):
    parts = measured(marks, places, **facts)
    for name, value in expected.items():
        assert parts[name] == value, name
    check_sums(parts, marks, places)


points = st.lists(st.tuples(st.integers(0, 1023), st.integers(0, 767)), max_size=12)


@given(points, points, st.integers(0, 3))
@run(max_examples=25, deadline=None)
def test_sums_hold_for_any_marks(marks, places, turned_down):
    parts = measured(marks, places, n_rejected_circularity=turned_down)
    check_sums(parts, marks, places)
    error = parts["extra"] - parts["merged"] - parts["undecoded"] - parts["unmarked"]
    assert error == len(marks) - len(places)


@given(points)
@run(max_examples=15, deadline=None)
def test_nearest_neighbours_are_those_of_a_search(places):
    array = np.array(places, float).reshape(-1, 2)
    expected = [
        min(math.dist(place, other) for j, other in enumerate(places) if j != i)
        for i, place in enumerate(places)
        if len(places) > 1
    ]
    assert diagnostics.nearest_neighbour_px(array).tolist() == pytest.approx(expected)


def test_many_points_are_searched_in_blocks():
    array = np.random.default_rng(0).random((600, 2))
    found = diagnostics.nearest_neighbour_px(array)
    distances = np.hypot(*(array[:, None] - array[None]).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_allclose(found, distances.min(axis=1))


def test_the_difficulty_of_the_picture():
    parts = measured([], [(100, 100), (110, 100), (150, 100)])
    # Distances to the nearest other place: 10, 10, 40.
    assert parts["nearest_neighbour_px"] == 10
    assert parts["nearest_high_px"] == pytest.approx(25)
    assert parts["input_red_share"] == 0
    assert "nearest_neighbour_px" not in measured([], [(100, 100)])


def test_red_things_in_the_input():
    picture = GREY.copy()
    picture[:, :256] = (255, 0, 0)
    assert diagnostics.input_red_share(picture) == pytest.approx(0.25, abs=1e-3)
    parts = count_loss.measure(prediction_of([]), sample_of(PLACES, picture), {})[None]
    assert parts["input_red_share"] == pytest.approx(0.25, abs=1e-3)
    small = np.ascontiguousarray(picture[::8, ::8])
    assert diagnostics.input_red_share(small) == pytest.approx(0.25, abs=0.01)


def test_places_of_instances_are_their_centres():
    instances = []
    for x, y in ((200, 200), (600, 300)):
        mask = np.zeros((768, 1024), bool)
        mask[y - 20 : y + 20, x - 20 : x + 20] = True
        instances.append(images.encode_mask(mask))
    asked = sample_of([], target_points=None, target_instances=instances, target_count=2)
    parts = count_loss.measure(prediction_of([(210, 190)]), asked, {})[None]
    assert (parts["matched"], parts["unmarked"]) == (1, 1)
    assert parts["nearest_neighbour_px"] == pytest.approx(math.dist((200, 200), (600, 300)))


def test_failed_answers_and_missing_truth():
    parts = count_loss.failed(sample_of(PLACES), {})[None]
    assert parts["unanswered"] == 4
    check_sums(parts, [], PLACES)
    bare = sample_of([], target_points=None, target_count=3)
    assert count_loss.failed(bare, {}) is None
    assert count_loss.measure(prediction_of([]), bare, {}) is None


def test_a_count_without_places_names_the_extractor():
    with pytest.raises(RecordError, match="extractor 'dots'"):
        count_loss.measure(prediction(0, count=3), sample_of(PLACES), {})


def test_shares_are_over_all_things_and_add_up():
    rows = [
        measured([(102, 100)], [(100, 100), (105, 100)]),
        measured([*PLACES[:3], (900, 300)], PLACES),
        count_loss.failed(sample_of(PLACES), {})[None],
    ]
    names = {name for row in rows for name in row}
    parts = {name: [row.get(name, math.nan) for row in rows] for name in names}
    shares = {
        name: metrics.load(f"{name}_share").aggregate(parts)
        for name in ("merged", "undecoded", "misplaced", "unmarked", "unanswered", "extra")
    }
    assert shares["merged"] == pytest.approx(10)
    assert shares["unanswered"] == pytest.approx(40)
    # Of ten places four are found.
    assert math.fsum(shares.values()) - shares["extra"] == pytest.approx(100 * 6 / 10)
    assert metrics.load("crowding_px").aggregate(parts) > 5


def test_examples_hold():
    assert doctest.testmod(count_loss).failed == 0
