"""Rounding of printed numbers: once, from the unrounded value, half away from zero.

Source: the rule that reproduces the published tables (68.15 -> 68.2, 67.25 -> 67.3). Binary
floating point cannot hold 68.15, and a sum may miss it by its last bits, so the value is first
read as the decimal number of 12 significant digits that it stands for.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

SIGNIFICANT_DIGITS = 12
# The largest float has 309 digits before the point; quantising needs room for all of them.
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)


def rounded(value: float, decimals: int, scale: float = 1.0) -> str:
    """Return `scale * value` with `decimals` decimals, an ASCII minus and never a minus zero.

    The product is formed in decimal, so 0.285 x 100 is 28.5 and not 28.499999999999996.

    Raises:
        ValueError: the value is not finite (a missing number has no rounding).

    >>> rounded(0.6815, 1, scale=100)
    '68.2'
    """
    number = Decimal(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if not number.is_finite():
        raise ValueError(f"cannot round {value}")
    product = _WIDE.multiply(number, Decimal(repr(scale)))
    result = product.quantize(Decimal(1).scaleb(-decimals), context=_WIDE)
    return f"{abs(result) if result.is_zero() else result:f}"
