"""Bootstrapped intervals against resampling samples one by one, and where they end."""

import math

import numpy as np
import pytest
from scipy import stats

from gensight import metrics
from gensight.statistics import ColumnParts, interval, resampling_matrix
from gensight.statistics.bootstrap import bootstrap_t_interval
from gensight.statistics.cells import cell_of
from gensight.statistics.estimates import estimate
from gensight.statistics.resampling import ResamplingMatrix

RNG = np.random.default_rng(0)
MANY = [f"c{i:02}" for i in range(50)]
ERRORS = np.rint(np.exp(RNG.normal(1, 0.8, 50)))
MATRIX = resampling_matrix("toy", MANY)


def test_bootstrap_t_of_plain_resampling():
    means, errors = [], []
    for counts in MATRIX.counts:
        drawn = np.repeat(ERRORS, counts)
        means.append(drawn.mean())
        errors.append(stats.sem(drawn))
    means, errors = np.array(means), np.array(errors)
    found = (np.log(means) - math.log(ERRORS.mean())) / (errors / means)
    low, high = np.quantile(found, [0.025, 0.975])
    error = stats.sem(ERRORS) / ERRORS.mean()
    expected = ERRORS.mean() * np.exp([-high * error, -low * error])
    mae = interval(metrics.load("mae"), {"absolute_error": ERRORS}, MANY, benchmark="toy")
    assert mae[:2] == pytest.approx(expected)
    assert mae.method == "bootstrap-t of the log"
    # RMSE is the root of such a mean, and so are its bounds.
    root = interval(metrics.load("rmse"), {"squared_error": ERRORS}, MANY, benchmark="toy")
    assert root[:2] == pytest.approx(np.sqrt(expected))


def test_bootstrap_t_in_strata_of_plain_resampling():
    strata = ["a"] * 20 + ["b"] * 30
    counts = resampling_matrix("toy", MANY, strata).counts
    found, (one, two) = [], (slice(0, 20), slice(20, 50))

    def standard_error(values, weights=None):
        pairs = [values[part] for part in (one, two)]
        if weights is not None:
            pairs = [np.repeat(values[part], weights[part]) for part in (one, two)]
        return math.sqrt(sum(len(part) * part.var(ddof=1) for part in pairs)) / 50

    for row in counts[:400]:
        mean = (row * ERRORS).sum() / 50
        found.append(math.log(mean / ERRORS.mean()) / (standard_error(ERRORS, row) / mean))
    low, high = np.quantile(found, [0.025, 0.975])
    error = standard_error(ERRORS) / ERRORS.mean()
    metric = metrics.load("mae")
    sums = cell_of(metric, ColumnParts({"absolute_error": ERRORS}, MANY, MANY, strata)).units
    matrix = ResamplingMatrix(MANY, counts[:400].copy())
    mae = bootstrap_t_interval(sums, estimate(sums), matrix)
    assert mae[:2] == pytest.approx(ERRORS.mean() * np.exp([-high * error, -low * error]))


def test_percentiles_of_plain_resampling():
    values = ERRORS / 10
    means = [np.repeat(values, counts).mean() for counts in MATRIX.counts]
    found = interval(metrics.load("log_count_error"), {"log_error": values}, MANY, benchmark="toy")
    assert found[:2] == pytest.approx(np.quantile(means, [0.025, 0.975]))
    assert found.method == "percentile"


def test_the_log_t_interval_of_few_clusters():
    values = ERRORS[:20]
    half = stats.t.ppf(0.975, 19) * stats.sem(values) / values.mean()
    found = interval(metrics.load("mae"), {"absolute_error": values}, MANY[:20])
    assert found[:2] == pytest.approx(values.mean() * np.exp([-half, half]))
    assert found.low > 0


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize(("error", "bound"), [(0.0, None), (3.0, 3.0)])
def test_errors_that_are_all_equal_have_no_width_and_zero_no_log(n, error, bound):
    parts = {"absolute_error": np.full(n, error), "squared_error": np.full(n, error**2)}
    for name in ("mae", "rmse"):
        low, high, method = interval(metrics.load(name), parts, MANY[:n])
        assert (low, high) == (bound, bound)
        assert (method == "none") == (bound is None)


def test_an_upper_bound_without_end_is_no_interval():
    # One error in fifty counts: a third of the replicates hold none.
    parts = {"absolute_error": np.eye(50)[7] * 5}
    assert interval(metrics.load("mae"), parts, MANY) == (None, None, "none")
    assert metrics.load("mae").aggregate(parts) == 0.1
    # Replicates without it have next to no spread, which makes t all but infinite.
    nearly = {"absolute_error": np.eye(50)[7] * 5 + 1 + 1e-9 * np.arange(50)}
    assert interval(metrics.load("mae"), nearly, MANY) == (None, None, "none")


def test_a_number_without_end_is_no_interval():
    parts = {"absrel": [*([0.1] * 49), math.inf]}
    assert interval(metrics.load("absrel"), parts, MANY) == (None, None, "none")
