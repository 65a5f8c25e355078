"""Digests depend on values alone: not on order, process, hash seed or platform."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.digests import canonical_json, differences, digest_of, digest_of_bytes, seed_of

TREE = {"b": [1, 2.0, None, True], "a": {"é": "深", "z": "\n\"'"}, "10": 0.1, "9": -0.0}
TREE_JSON = '{"10":0.1,"9":-0.0,"a":{"z":"\\n\\"\'","é":"深"},"b":[1,2.0,null,true]}'


def test_canonical_json_by_hand():
    assert canonical_json(TREE) == TREE_JSON


def test_digests_by_hand():
    # printf '{"a":1}' | sha256sum, and of no bytes at all
    assert digest_of({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    assert digest_of_bytes(b"") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


@pytest.mark.parametrize("hash_seed", ["0", "1", "random"])
def test_another_process_computes_the_same(hash_seed):
    code = (
        "from gensight.digests import digest_of, seed_of\n"
        f"print(digest_of({TREE!r}), seed_of('oracle', 3, None))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": hash_seed, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [digest_of(TREE), str(seed_of("oracle", 3, None))]


# Pairs that a person would call different must have different digests.
DIFFERENT = [
    (1, 1.0),
    (1, "1"),
    (1, True),
    (None, 0),
    (None, ""),
    ([], {}),
    ([1, 2], [2, 1]),
    ({"a": None}, {}),
    ("é", "e\u0301"),
    ({"a": {"b": 1}}, {"a.b": 1}),
    (0.0, -0.0),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_have_different_digests(one, other):
    assert digest_of(one) != digest_of(other)


def test_the_order_of_keys_does_not_matter():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


def test_seeds_are_63_bits_and_depend_on_every_part():
    seeds = {seed_of(*parts) for parts in [("a", 1), ("a", 2), ("b", 1), ("a", "1", ""), ("a1",)]}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seed_of("a", 1) == seed_of("a", "1")


# (old, new, every difference)
TREES = [
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 2}, [("a", 1, 2)]),
    ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 3, "d": 2}}}, [("a.b.c", 1, 3)]),
    ({"a": 1, "b": 2}, {"b": 3}, [("a", 1, "(absent)"), ("b", 2, 3)]),
    ({}, {"a": {"b": 1}}, [("a", "(absent)", {"b": 1})]),
    ({"a": {"b": 1}}, {"a": 1}, [("a", {"b": 1}, 1)]),
    ({"a": [1, 2, 3]}, {"a": [1, 4]}, [("a.1", 2, 4), ("a.2", 3, "(absent)")]),
    ({"a": None}, {}, [("a", None, "(absent)")]),
    ({"a": 2}, {"a": 2.0}, [("a", 2, 2.0)]),
]


@pytest.mark.parametrize(("old", "new", "expected"), TREES)
def test_differences_find_the_leaf(old, new, expected):
    assert list(differences(old, new)) == expected


trees = st.recursive(
    st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), trees))
def test_a_tree_does_not_differ_from_itself(tree):
    assert list(differences(tree, tree)) == []


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("ab"), trees, min_size=1), st.integers())
def test_a_changed_leaf_is_the_only_difference(tree, value):
    key = sorted(tree)[0]
    changed = {**tree, key: ["changed", value]}
    assert list(differences(tree, changed)) == [(key, tree[key], ["changed", value])]
