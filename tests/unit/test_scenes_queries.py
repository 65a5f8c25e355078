"""Expressions: hand-made things for the logic; every query of real scenes read back in words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gensight.datasets.scenes.colours import COLOURS, PALETTES, differences, prototype_differences
from gensight.datasets.scenes.expressions import Expression, Seen, identify, is_minimal, orders_of
from gensight.datasets.scenes.facts import facts_of
from gensight.datasets.scenes.parameters import locate, parse
from gensight.datasets.scenes.queries import LIKE, RELATIONS, find_twins
from gensight.datasets.scenes.randomness import stream
from gensight.datasets.scenes.scene import build, median_colours, see

RGB = {"red": (200, 30, 40), "blue": (40, 70, 200), "green": (40, 150, 60)}


def thing(
    shape="sphere", colour="red", size="small", hanging=False, left=0, depth=2.0, volume=None
):
    return Seen(
        shape=shape,
        colour=colour,
        size=size,
        hanging=hanging,
        volume_m3=volume or {"small": 1.0, "large": 4.0}[size],
        left_px=left,
        right_px=left + 10,
        min_depth_m=depth,
        mean_depth_m=depth + 0.1,
    )


def facts(*things, medians=None):
    if medians is None:
        medians = np.array([RGB[one.colour] for one in things], float)
    return facts_of(things, medians, 500)


def named(known, *pairs, extremum=None):
    return Expression(tuple(known.clauses[pair] for pair in pairs), extremum)


def judge(known, expression):
    everything = known.everything
    return (
        identify(expression, known.orders, everything),
        is_minimal(expression, known.orders, everything),
    )


RED, BLUE = ("colour", "red"), ("colour", "blue")
SPHERE, BOX = ("shape", "sphere"), ("shape", "box")
LARGE = ("size", "large")
CROWD = (
    thing("sphere", "red"),
    thing("box", "red"),
    thing("sphere", "blue"),
    thing("sphere", "red", "large", left=100),
)


@pytest.mark.parametrize(
    ("things", "pairs", "expected"),
    [
        (CROWD, (RED, BOX), (1, False)),  # "box" alone would do
        (CROWD, (BOX,), (1, True)),
        (CROWD, (RED, SPHERE), (None, False)),  # two red spheres
        (CROWD, (BLUE,), (2, True)),
        (CROWD, (BLUE, SPHERE), (2, False)),
        (CROWD, (LARGE,), (3, True)),
        ((*CROWD, thing("box", "blue"), thing("box", "red")), (BLUE, SPHERE), (2, True)),
        (
            (*CROWD, thing("sphere", "blue", "large"), thing("box", "red", "large")),
            (LARGE, RED, SPHERE),
            (3, True),
        ),
        (CROWD[:1], (RED, SPHERE), (0, False)),  # a single thing needs no word
    ],
)
def test_attributes(things, pairs, expected):
    known = facts(*things)
    assert judge(known, named(known, *pairs)) == expected


ROW = (
    thing("sphere", "red", left=0),
    thing("sphere", "blue", left=60),
    thing("box", "red", left=200),
    thing("sphere", "red", left=300),
)


def apart(where, first, second, box):
    """Two spheres and a box that differ in one place only."""
    return thing(**{where: first}), thing(**{where: second}), thing("box", **{where: box})


@pytest.mark.parametrize(
    ("things", "pairs", "extremum", "expected"),
    [
        (ROW, (BLUE,), "leftmost", (1, False)),  # only one is blue
        (ROW, (SPHERE,), "leftmost", (0, False)),  # it is leftmost of all
        (ROW, (BOX,), "leftmost", (2, False)),
        (ROW, (RED,), "rightmost", (3, False)),
        ((*ROW, thing("box", "green", left=400)), (RED,), "rightmost", (3, True)),
        ((*ROW, thing("box", "blue", left=400)), (RED, SPHERE), "rightmost", (3, False)),
        # A gap of 39 pixels is less than 8 % of 500.
        (apart("left", 0, 49, 300), (SPHERE,), "leftmost", (None, False)),
        (apart("left", 0, 50, -90), (SPHERE,), "leftmost", (0, True)),
        # 14 % farther is unclear, 20 % is clear.
        (apart("depth", 2, 2.28, 1), (SPHERE,), "nearest", (None, False)),
        (apart("depth", 2, 2.4, 1), (SPHERE,), "nearest", (0, True)),
        (apart("depth", 2, 2.4, 9), (SPHERE,), "farthest", (1, True)),
    ],
)
def test_extrema(things, pairs, extremum, expected):
    known = facts(*things)
    assert judge(known, named(known, *pairs, extremum=extremum)) == expected


def test_nearest_needs_both_depths():
    """A thing whose nearest point is in front but whose middle is not is nobody's nearest."""
    long_one = dataclasses.replace(thing(), min_depth_m=1.0, mean_depth_m=3.0)
    orders = orders_of((long_one, thing(depth=2.0)), 500)
    assert orders.ahead["nearest"] == (0, 0)


def test_close_colours_are_unclear():
    """Two names whose rendered medians are closer than 20 units identify nothing."""
    things = (thing(colour="red"), thing(colour="blue"))
    near = facts(*things, medians=np.array([[200, 30, 40], [205, 40, 60]], float))
    assert judge(near, named(near, RED)) == (None, False)
    assert judge(facts(*things), named(facts(*things), RED)) == (0, True)


@pytest.mark.parametrize(("volume", "is_named"), [(1.79, False), (1.8, True)])
def test_sizes_need_a_volume_ratio(volume, is_named):
    known = facts(thing(size="small"), thing(size="large", volume=volume))
    assert (LARGE in known.clauses) is is_named


def test_hidden_twins_of_one_thing_do_not_exist():
    """Two equal things, or one alone, cannot be told apart: no pair of queries."""
    random = stream("test")
    assert find_twins(facts(thing()), random) is None
    assert find_twins(facts(thing(), thing()), random) is None


def test_palette_names_hold():
    """Names are 20 units apart in both palettes, and each shifted shade keeps its name."""
    for palette in PALETTES.values():
        shades = np.array([palette[name] for name in COLOURS])
        apart = differences(shades, shades)[~np.eye(len(COLOURS), dtype=bool)]
        assert apart.min() > 15
    base = np.array([PALETTES["base"][name] for name in COLOURS])
    shifted = np.array([PALETTES["shifted"][name] for name in COLOURS])
    assert differences(shifted, base).argmin(axis=1).tolist() == list(range(len(COLOURS)))
    assert prototype_differences()[0, 0] == pytest.approx(0)


@pytest.fixture(scope="module")
def scenes():
    built = []
    for extra in ({}, {"split": "ood"}):
        parameters = parse({"task": "segmentation", **extra})
        for rank in range(0, 20, 2):
            address = locate(parameters, rank)
            scene = build(parameters, address.scene, address.knobs)
            seen = see(scene.layout, scene.silhouettes)
            built.append((scene, seen, median_colours(scene.picture, scene.silhouettes)))
    return built


def read_noun(phrase, seen):
    """Return the indices that a plain noun phrase fits, word by word."""
    words = phrase.removeprefix("the ").split()
    fit = set(range(len(seen)))
    for word in words:
        if word == "object":
            continue
        fit &= {
            i
            for i, one in enumerate(seen)
            if word in (one.shape, one.colour, one.size) or (word == "hanging" and one.hanging)
        }
    return fit


def read(text, seen):
    """Return the indices that a query names, from its words alone, without any margin."""
    text = text.removeprefix("the ")
    for word, phrase in RELATIONS.items():
        if f" {phrase} " in text:
            noun, anchor = text.split(f" {phrase} ")
            (there,) = read_noun(anchor, seen)
            return {
                i
                for i in read_noun(noun, seen)
                if i != there and beyond(word, seen[i], seen[there])
            }
        if text.startswith(f"{word} "):
            fit = read_noun(text.removeprefix(f"{word} "), seen)
            return {i for i in fit if all(beyond(word, seen[i], seen[j]) for j in fit - {i})}
    if text.startswith("other object that has the same "):
        kind, anchor = text.removeprefix("other object that has the same ").split(" as ")
        (there,) = read_noun(anchor, seen)
        value = getattr(seen[there], kind)
        return {i for i, one in enumerate(seen) if i != there and getattr(one, kind) == value}
    if text.endswith(" no other object has"):
        kind = text.split()[2]
        values = [getattr(one, kind) for one in seen]
        return {i for i, value in enumerate(values) if values.count(value) == 1}
    if " that " in text:
        meaning = {phrase: word for word, phrase in LIKE.items()}
        looks = text.removeprefix("object that ").split(" and ")
        return read_noun(" ".join(meaning[look] for look in looks), seen)
    return read_noun(text, seen)


def beyond(word, one, other):
    return {
        "leftmost": one.right_px < other.left_px,
        "rightmost": one.left_px > other.right_px,
        "nearest": one.min_depth_m < other.min_depth_m,
        "farthest": one.min_depth_m > other.min_depth_m,
    }[word]


def test_every_query_names_its_target_in_words(scenes):
    forms = set()
    for scene, seen, _ in scenes:
        for query in scene.queries:
            assert read(query.text, seen) == {query.target}, query.text
            forms.add(query.form)
    assert len(forms) >= 5


def test_twins_differ_in_target_and_kind(scenes):
    for scene, _, _ in scenes:
        first, second = scene.queries
        assert first.target != second.target
        assert {first.kind, second.kind} == {"referring", "reasoning"}


def test_leaving_out_a_word_leaves_a_distractor(scenes):
    """For plain phrases: without any one word, more than one thing fits."""
    checked = 0
    for scene, seen, _ in scenes:
        for query in scene.queries:
            words = query.text.removeprefix("the ").split()
            if query.form != "attributes":
                continue
            for left_out in range(len(words)):
                kept = words[:left_out] + words[left_out + 1 :]
                if words[left_out] != "object":
                    assert len(read_noun(" ".join(kept), seen)) > 1, query.text
                    checked += 1
    assert checked > 10


def test_named_colours_keep_their_margin(scenes):
    """Every colour word used is 20 units away from all things of other colours."""
    for scene, seen, medians in scenes:
        apart = differences(medians, medians)
        for query in scene.queries:
            for clause in query.expression.clauses:
                if clause.kind == "colour":
                    inside = np.array([one.colour == clause.value for one in seen])
                    assert apart[np.ix_(inside, ~inside)].min() >= 20


def test_large_things_are_large(scenes):
    for _, seen, _ in scenes:
        large = [one.volume_m3 for one in seen if one.size == "large"]
        small = [one.volume_m3 for one in seen if one.size == "small"]
        assert not large or not small or min(large) >= 1.8 * max(small)
