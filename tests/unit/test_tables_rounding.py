from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensight.tables import rounded


@pytest.mark.parametrize(
    ("value", "decimals", "scale", "expected"),
    [
        # Averages of six printed numbers that stand in the published tables.
        ((72.7 + 55.7 + 76.7 + 72.8 + 77.5 + 53.5) / 6, 1, 1, "68.2"),
        ((73.1 + 52.8 + 76.7 + 69.2 + 78.3 + 53.4) / 6, 1, 1, "67.3"),
        (0.6815, 1, 100, "68.2"),
        (-68.15, 1, 1, "-68.2"),
        (0.285, 0, 100, "29"),
        (2.5, 0, 1, "3"),
        (-2.5, 0, 1, "-3"),
        (0.04, 1, 1, "0.0"),
        (-0.04, 1, 1, "0.0"),
        (-0.0, 2, 1, "0.00"),
        (68.149999999999991, 1, 1, "68.2"),
        (68.1499999, 1, 1, "68.1"),
        (1e300, 0, 1, "1" + "0" * 300),
        (5, 2, 1, "5.00"),
        (12345.678, 0, 1, "12346"),
    ],
)
def test_rounds_once_half_away_from_zero(value, decimals, scale, expected):
    assert rounded(value, decimals, scale) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_missing_number_has_no_rounding(value):
    with pytest.raises(ValueError, match="cannot round"):
        rounded(value, 1)


@given(st.integers(-(10**9), 10**9), st.integers(0, 4))
def test_agrees_with_exact_arithmetic_on_decimal_numbers(thousandths, decimals):
    exact = Fraction(thousandths, 1000)
    step = Decimal(1).scaleb(-decimals)
    decimal = Decimal(thousandths) / 1000
    expected = Decimal(decimal).quantize(step, ROUND_HALF_UP)
    result = rounded(float(exact), decimals)
    assert Decimal(result) == expected
    assert not (result.startswith("-") and Decimal(result) == 0)
