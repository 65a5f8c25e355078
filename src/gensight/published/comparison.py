"""One printed number against the number that other printed ones give.

A recomputed number is rounded once, half away from zero, to the decimals in print. `exact`: it has
the digits in print. `within rounding`: it misses them by no more than half a unit of the last
printed digit plus half a unit of its inputs, which are known to their printed digits only.
`differs`: by more, so that rounding cannot explain it. A number that is merely printed twice must
be the same both times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from gensight.errors import GensightError
from gensight.published.cells import PublishedCell, select
from gensight.published.facts import Fact
from gensight.rounding import rounded

EXACT, WITHIN, DIFFERS = "exact", "within rounding", "differs"
RESULTS = (EXACT, WITHIN, DIFFERS)
Printed = PublishedCell | Fact
# Sums of binary fractions miss a tolerance that they meet exactly by their last bits.
_SLACK = 1e-9


@dataclass(frozen=True)
class Check:
    """One printed number, what it should be, and whether rounding explains the difference.

    `place` is where it is printed, with where its inputs are; `name` says which number it is. The
    two identify a check. `cells` are the table cells that it vouches for.
    """

    paper: str
    place: str
    name: str
    printed: str
    recomputed: str
    tolerance: float
    result: str
    cells: tuple[PublishedCell, ...] = ()


def half_unit(printed: Printed) -> float:
    """Return half a unit of the last digit in print: 0.05 for 68.2, 0.5 for 87."""
    return float(Decimal("0.5").scaleb(-decimals(printed.printed)))


def decimals(text: str) -> int:
    """Return the number of digits behind the point of a printed number."""
    return len(text.partition(".")[2])


def number(printed: Printed) -> float:
    """Return the value of a printed number.

    Raises:
        GensightError: it is a mark, not a number.
    """
    if printed.value is None:
        raise GensightError(f"{describe(printed)}: {printed.printed} is not a number")
    return float(printed.value)


def numbers(printed: Iterable[Printed]) -> list[float]:
    """Return the values of printed numbers, in order; errors as `number`."""
    return [number(one) for one in printed]


def describe(printed: Printed) -> str:
    """Return where a number is printed, for a message."""
    if isinstance(printed, Fact):
        return f"{printed.paper} text, {printed.key}"
    place = f"{printed.paper} Table {printed.table}"
    return f"{place}, {printed.model} {printed.benchmark} {printed.metric}"


def one(cells: Iterable[PublishedCell], **names: str | Mapping[str, str]) -> PublishedCell:
    """Return the only cell that has these names (see `select`).

    Raises:
        GensightError: there is none, or several.
    """
    fitting = select(cells, **names)
    if len(fitting) != 1:
        asked = ", ".join(f"{key} {value}" for key, value in names.items())
        raise GensightError(
            f"resources/published: {len(fitting)} cells have {asked}; restore the files"
        )
    return fitting[0]


def recomputed(
    place: str,
    name: str,
    printed: Printed,
    value: float,
    *,
    inputs: float = 0.0,
    also: Iterable[PublishedCell] = (),
) -> Check:
    """Compare a printed number with the value that its inputs give.

    `inputs` is how far rounding of the inputs may have moved the value: half a unit of a mean's
    inputs, a sum of half units for a sum, 0 for counts.
    """
    tolerance = half_unit(printed) + inputs
    return _check(place, name, printed, value, tolerance, also)


def copied(place: str, name: str, printed: Printed, source: Printed, scale: float = 1.0) -> Check:
    """Compare a number with the one it repeats, digit for digit; marks must be the same mark."""
    also = [source] if isinstance(source, PublishedCell) else []
    if printed.value is None or source.value is None:
        result = EXACT if printed.printed == source.printed else DIFFERS
        cells = (*_cells(printed), *also)
        return Check(
            printed.paper, place, name, printed.printed, source.printed, 0.0, result, cells
        )
    return _check(place, name, printed, scale * number(source), 0.0, also)


def bounded(place: str, name: str, printed: Printed, bounds: tuple[float, float]) -> Check:
    """Say whether a printed number lies within bounds, give or take half a unit of its own."""
    low, high = bounds
    slack = half_unit(printed) + _SLACK
    result = EXACT if low - slack <= number(printed) <= high + slack else DIFFERS
    shown = f"{low:.4f} to {high:.4f}"
    cells = _cells(printed)
    return Check(printed.paper, place, name, printed.printed, shown, slack, result, cells)


def _check(
    place: str,
    name: str,
    printed: Printed,
    value: float,
    tolerance: float,
    also: Iterable[PublishedCell],
) -> Check:
    digits = decimals(printed.printed)
    if Decimal(rounded(value, digits)) == printed.value:
        result = EXACT
    elif abs(value - number(printed)) <= tolerance + _SLACK:
        result = WITHIN
    else:
        result = DIFFERS
    shown = rounded(value, digits + 3)
    cells = (*_cells(printed), *also)
    return Check(printed.paper, place, name, printed.printed, shown, tolerance, result, cells)


def _cells(printed: Printed) -> tuple[PublishedCell, ...]:
    return (printed,) if isinstance(printed, PublishedCell) else ()
