"""The resampling matrix: its distribution, its names, and products that no machine can change."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gensight.errors import GensightError
from gensight.statistics.resampling import (
    Design,
    bit_stream,
    collapsed,
    exact_product,
    resampling_matrix,
)

NAMES = [f"c{place:03}" for place in range(60)]


def test_every_replicate_draws_as_many_clusters_as_there_are():
    counts = resampling_matrix("toy", NAMES).counts
    assert counts.shape == (4000, 60)
    assert (counts.sum(axis=1) == 60).all()


def test_counts_are_multinomial():
    counts = resampling_matrix("toy", NAMES, replicates=20_000).counts.astype(float)
    # Mean 1, variance 1 - 1/G, covariance -1/G; standard errors are below 0.011.
    covariance = np.cov(counts.T)
    assert counts.mean(axis=0) == pytest.approx(np.ones(60), abs=0.035)
    assert np.diag(covariance) == pytest.approx(np.full(60, 59 / 60), abs=0.06)
    assert covariance[0, 1:].mean() == pytest.approx(-1 / 60, abs=0.005)


def test_strata_are_drawn_apart():
    strata = ["left"] * 20 + ["right"] * 40
    counts = resampling_matrix("toy", NAMES, strata).counts
    assert (counts[:, :20].sum(axis=1) == 20).all()
    assert (counts[:, 20:].sum(axis=1) == 40).all()


def test_the_benchmark_is_the_seed_and_nothing_else():
    one, again = (resampling_matrix("toy", NAMES, replicates=50).counts for _ in range(2))
    assert (one == again).all()
    assert (one != resampling_matrix("toys", NAMES, replicates=50).counts).any()
    # Frozen: another stream would change every bootstrapped interval that was ever printed.
    first = resampling_matrix("toy", list("abcdefgh"), replicates=3).counts
    assert first.tolist() == FIRST_ROWS


FIRST_ROWS = [
    [1, 0, 1, 1, 0, 3, 1, 1],
    [1, 1, 0, 0, 1, 0, 4, 1],
    [1, 2, 1, 1, 0, 0, 2, 1],
]


@given(st.permutations(NAMES))
@settings(max_examples=10, deadline=None)
def test_rows_in_any_order_and_repeated_give_the_same_matrix(order):
    matrix = resampling_matrix("toy", [*order, *order[:7]], replicates=20)
    assert matrix.clusters == tuple(NAMES)
    assert (matrix.counts == resampling_matrix("toy", NAMES, replicates=20).counts).all()


def test_sums_belong_to_names():
    matrix = resampling_matrix("toy", NAMES, replicates=100)
    numbers = np.random.default_rng(0).normal(0, 1, (3, 2))
    found = matrix.sums(["c041", "c003", "c017"], numbers)
    columns = matrix.counts[:, [41, 3, 17]].astype(float)
    assert found == pytest.approx(columns @ numbers)


def test_a_cluster_of_another_benchmark_is_refused():
    with pytest.raises(GensightError, match="cluster 'd1' is not among the 60 clusters"):
        resampling_matrix("toy", NAMES, replicates=10).sums(["c001", "d1"], np.ones((2, 1)))


def test_a_cluster_in_two_strata_is_refused():
    with pytest.raises(GensightError, match="'toy': cluster 'a' lies in the strata 'x' and 'y'"):
        Design.of("toy", ["a", "b", "a"], ["x", "x", "y"])


@pytest.mark.parametrize(
    ("strata", "expected"),
    [
        (["a", "b", "c"], ["(single)"] * 3),
        (["a"], ["(single)"]),
        (["a", "a", "b", "b", "b", "c"], ["a", "a", "b", "b", "b", "a"]),
        ([], []),
    ],
)
def test_strata_of_one_cluster_are_joined(strata, expected):
    assert collapsed(strata) == expected


finite = st.floats(-1e12, 1e12, allow_subnormal=True)


@given(st.lists(st.tuples(st.integers(0, 300), finite), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_products_are_exact_to_the_last_place_of_the_largest_number(rows):
    counts, numbers = zip(*rows, strict=True)
    (found,) = exact_product(np.array([counts]), np.array(numbers)[:, None])[0]
    exact = sum(Fraction(count) * Fraction(number) for count, number in rows)
    slack = Fraction(max(map(abs, numbers))) * sum(counts) / 2**51
    assert abs(Fraction(float(found)) - exact) <= slack


def test_products_do_not_depend_on_order_or_company():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 5, (70, 1100))
    numbers = rng.lognormal(0, 3, (1100, 19))
    order = rng.permutation(1100)
    together = exact_product(counts, numbers)
    assert together == pytest.approx(counts @ numbers)
    assert (exact_product(counts[:, order], numbers[order]) == together).all()
    for column in (0, 7, 18):
        assert (exact_product(counts, numbers[:, [column]])[:, 0] == together[:, column]).all()


def test_products_of_whole_numbers_are_exact():
    rng = np.random.default_rng(2)
    counts, numbers = rng.integers(0, 9, (50, 30)), rng.integers(-(2**20), 2**20, (30, 4))
    assert (exact_product(counts, numbers.astype(float)) == counts @ numbers).all()
    assert (exact_product(counts, np.zeros((30, 2))) == 0).all()


def test_the_stream_of_a_name_is_pcg64_of_its_sha256():
    # sha256(b"abc") is the standard's own example.
    seed = 0xBA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD
    assert (bit_stream("abc").random_raw(4) == np.random.PCG64(seed).random_raw(4)).all()


PROGRAM = """
import numpy as np
from gensight import metrics
from gensight.statistics import ColumnParts, column

rng = np.random.default_rng(0)
names = [f"c{i}" for i in range(300)]
models = {}
for name in ("a", "b", "c"):
    error = rng.lognormal(0, 1, 300)
    models[name] = ColumnParts({"absolute_error": error}, names, names)
found = column(metrics.load("mae"), models, "toy")
print([(low.hex(), high.hex(), ranks) for (low, high, _), _, _, ranks, _ in found.values()])
"""


def test_threads_and_hash_seeds_change_no_bit():
    printed = set()
    for threads, hash_seed in (("1", "0"), ("2", "1")):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": hash_seed}
        finished = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(finished.stdout)
    assert len(printed) == 1
