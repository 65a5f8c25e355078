"""What the oracle marks on the input: rectangles, tints, named dots, two colours, writing."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_turns import (
    BOXES,
    FLAT,
    HEIGHT,
    KEYPOINTS,
    OVERLAY,
    SCALE,
    TURNS_OF_TWO,
    WIDTH,
    WORD,
    WRITING,
    answer,
    box_sample,
    boxes_sample,
    keypoints_sample,
    photograph,
    pixels,
    points_sample,
    sample,
    turn,
)

from gensight import images
from gensight.errors import GensightError
from gensight.models.reference import marks

WORK = (WIDTH * SCALE, HEIGHT * SCALE)


def plain():
    return images.resize_picture(photograph(), *WORK).astype(int)


def changed_by(reply):
    return (pixels(reply) != plain()).any(axis=2)


def test_lines_run_along_the_edges_of_the_true_boxes():
    marked = pixels(answer("oracle", turn(boxes_sample((10, 20, 40, 60)), BOXES)))
    changed = (marked != plain()).any(axis=2)
    assert (marked[changed] == (255, 0, 0)).all()
    expected = np.zeros(changed.shape, bool)
    expected[20 * 8 - 2 : 60 * 8 + 2, 10 * 8 - 2 : 40 * 8 + 2] = True
    expected[20 * 8 + 2 : 60 * 8 - 2, 10 * 8 + 2 : 40 * 8 - 2] = False
    np.testing.assert_array_equal(changed, expected)


def test_boxes_at_the_border_keep_what_lies_inside():
    changed = changed_by(answer("oracle", turn(boxes_sample((0, 0, WIDTH, HEIGHT)), BOXES)))
    expected = np.ones(changed.shape, bool)
    expected[2:-2, 2:-2] = False
    np.testing.assert_array_equal(changed, expected)


def test_no_boxes_leave_the_input_as_it_is():
    assert not changed_by(answer("oracle", turn(boxes_sample(), BOXES))).any()


def test_counted_instances_are_framed_tightly():
    masks = [np.zeros((HEIGHT, WIDTH), bool) for _ in range(2)]
    masks[0][10:30, 20:50] = True
    masks[1][60:61, 100:101] = True
    item = sample(target_instances=[images.encode_mask(mask) for mask in masks])
    same = boxes_sample((20, 10, 50, 30), (100, 60, 101, 61))
    assert answer("oracle", turn(item, BOXES)) == answer("oracle", turn(same, BOXES))


def test_points_without_boxes_are_framed_by_squares_apart():
    changed = changed_by(answer("oracle", turn(points_sample((20, 20), (90, 70)), BOXES)))
    for x, y in [(20, 20), (90, 70)]:
        middle = (np.array([x, y]) + 0.5) * SCALE
        near = np.argwhere(changed)[:, ::-1]
        near = near[np.abs(near + 0.5 - middle).max(axis=1) < 40]
        np.testing.assert_allclose((near.min(axis=0) + near.max(axis=0) + 1) / 2, middle)
        assert near.max() - near.min() > 0


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 700)), min_size=2, max_size=9))
def test_squares_of_distant_points_do_not_meet(points):
    points = np.array(sorted(set(points)), float)
    boxes = marks.squares_around(points)
    reach = marks.LINE_WIDTH_PX / 2
    for one, other in itertools.combinations(range(len(points)), 2):
        if np.linalg.norm(points[one] - points[other]) < 40:
            continue  # the smallest squares may meet
        gap = np.maximum(boxes[one, :2] - boxes[other, 2:], boxes[other, :2] - boxes[one, 2:])
        assert gap.max() >= 2 * reach - 1e-9


def test_a_tint_goes_half_way_to_its_colour_inside_the_target_alone():
    item = box_sample(16, 24, 48, 72)
    tinted = pixels(answer("oracle", turn(item, OVERLAY))).astype(int)
    inside = np.zeros(tinted.shape[:2], bool)
    inside[24 * 8 : 72 * 8, 16 * 8 : 48 * 8] = True
    np.testing.assert_array_equal(tinted[~inside], plain()[~inside])
    half = (plain()[inside] + (255, 0, 0)) / 2
    assert np.abs(tinted[inside] - half).max() <= 0.5


def test_keypoints_have_their_own_colours():
    item = keypoints_sample(left=(10, 40), right=(100.5, 20.25))
    marked = pixels(answer("oracle", turn(item, KEYPOINTS)))
    for name, place in {"left": (10, 40), "right": (100.5, 20.25)}.items():
        found = np.argwhere((marked == KEYPOINTS["colours"][name]).all(axis=2))[:, ::-1]
        centre = (np.array(place) + 0.5) * SCALE - 0.5
        assert np.abs(found.mean(axis=0) - centre).max() <= 0.5
    assert ((marked != plain()).any(axis=2)).sum() < 500


def test_a_keypoint_without_a_declared_colour_is_named():
    with pytest.raises(GensightError, match=r"no colour for the keypoint 'nose'.*left, right"):
        answer("oracle", turn(keypoints_sample(nose=(3, 3)), KEYPOINTS))


def test_neighbours_take_turns_between_two_colours():
    item = points_sample((10, 10), (12, 10), (14, 10), (16, 10), (90, 70))
    marked = pixels(answer("oracle", turn(item, TURNS_OF_TWO)))
    row, columns = 10 * SCALE + 4, [x * SCALE + 4 for x in (10, 12, 14, 16)]
    red, blue = [255, 0, 0], [0, 0, 255]
    assert [marked[row, x].tolist() for x in columns] == [red, blue, red, blue]


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=25, unique=True))
def test_nearest_neighbours_never_share_a_colour(points):
    points = np.array(points, float).reshape(-1, 2)
    second = marks.takes_turns(points)
    assert second.shape == (len(points),)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    for index in range(len(points) if len(points) > 1 else 0):
        nearest = np.flatnonzero(distances[index] == distances[index].min())
        if len(nearest) == 1:
            assert second[index] != second[nearest[0]]


def test_dots_alone_on_a_flat_canvas():
    item = points_sample((10, 10), (64, 48))
    marked = pixels(answer("oracle", turn(item, FLAT)))
    assert marked.shape == (WORK[1], WORK[0], 3)
    red = (marked == (255, 0, 0)).all(axis=2)
    assert (marked[~red] == 255).all()
    assert red[10 * SCALE + 4, 10 * SCALE + 4]
    assert red[48 * SCALE + 4, 64 * SCALE + 4]


@pytest.mark.parametrize("text", ["turquoise", "seven", "Größe", "a rather long answer " * 4])
def test_writing_is_black_on_a_white_bar_and_inside_it(text):
    written = pixels(answer("oracle", turn(sample(target_text=text), WRITING)))
    bar = round(marks.BAR_SHARE * WORK[1])
    np.testing.assert_array_equal(written[:-bar], plain()[:-bar])
    ink = (written[-bar:] < 128).all(axis=2)
    assert 0.002 < ink.mean() < 0.3
    columns, rows = np.flatnonzero(ink.any(axis=0)), np.flatnonzero(ink.any(axis=1))
    assert min(columns[0], rows[0]) > 0
    assert columns[-1] < WORK[0] - 1
    assert rows[-1] < bar - 1


def test_longer_words_are_wider_and_an_empty_one_leaves_no_ink():
    def width(text):
        written = pixels(answer("oracle", turn(sample(target_text=text), WRITING)))
        return (written[-50:] < 128).all(axis=2).any(axis=0).sum()

    assert 0 == width("") < width("red") < width("turquoise")


def test_the_word_is_also_told():
    assert answer("oracle", turn(sample(target_text="red"), WORD)).text == "red"


@pytest.mark.parametrize(
    ("form", "column"),
    [(OVERLAY, "mask"), (BOXES, "count"), (KEYPOINTS, "keypoints"), (WRITING, "text")],
)
def test_missing_truth_is_named(form, column):
    with pytest.raises(GensightError, match=f"sample 's7': target_{column} is missing"):
        answer("oracle", turn(sample("s7"), form))
