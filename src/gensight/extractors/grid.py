"""One answer read with every combination of some parameters of another extractor.

For sweeps such as ProbeGen A.2 and Table 8: `extractor` and `variant` say who reads, `parameters`
what stays fixed, `grid` which parameters vary over which lists of values. One reading per element
of the cartesian product, keys in alphabetical order, the last one fastest. Its variant is named by
its values, `max_area=800-saturation_floor=150`; its `parameters` are that combination. Only the
columns in `keep` are kept, since a thousand copies of a mask help nobody.

An extractor that has `read_grid` decodes the picture once for all (`dots`); any other reads it once
per combination.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from gensight import extractors
from gensight.errors import SpecError
from gensight.extractors import Answer, Reading
from gensight.extractors._reading import resolve

VERSION = 1

DEFAULTS: dict[str, Any] = {
    "extractor": None,
    "variant": None,
    "parameters": {},
    "grid": {},
    "keep": ["count"],
}
REQUIRED = ["extractor"]
CHOICES = {
    "keep": ["count", "points", "mask", "grey", "normals", "boxes", "keypoints", "text"],
}
# What `stages` needs to tell a picture in the asked format, whatever else is kept.
ALWAYS_KEPT = ("degenerate_output",)
NAMEABLE = re.compile(r"[a-z0-9_.-]+")


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read an answer once per combination of the grid.

    Raises:
        SpecError: the grid is empty, or names what the extractor does not have.
    """
    settings = resolve("grid", parameters)
    if settings["extractor"] == "grid":
        raise SpecError("extractor grid: parameters.extractor: a grid cannot sweep a grid")
    module = extractors.load(settings["extractor"])
    variant = settings["variant"] or module.DEFAULTS["variants"][0]
    cells = combinations(settings["grid"])
    fixed = {**settings["parameters"], "variants": [variant]}
    readings = _readings(module, answer, [{**fixed, **cell} for cell in cells], settings["keep"])
    return [
        _kept(cell, reading, settings["keep"])
        for cell, reading in zip(cells, readings, strict=True)
    ]


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of a grid, keys in alphabetical order, the last one fastest.

    >>> combinations({"b": [1, 2], "a": [3]})
    [{'a': 3, 'b': 1}, {'a': 3, 'b': 2}]

    Raises:
        SpecError: there is no parameter, or one without a list of values.
    """
    place = "extractor grid: parameters.grid"
    if not grid:
        raise SpecError(f"{place}: it is empty; name a parameter and the values it takes")
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise SpecError(f"{place}.{key}: expected a list of values, got {values!r}")
    keys = sorted(grid)
    cells = [
        dict(zip(keys, chosen, strict=True))
        for chosen in itertools.product(*(grid[key] for key in keys))
    ]
    if len({variant_name(cell) for cell in cells}) < len(cells):
        raise SpecError(f"{place}: a value is listed twice")
    return cells


def variant_name(combination: Mapping[str, Any]) -> str:
    """Return the name of a combination: its keys and values, in alphabetical order.

    >>> variant_name({"min_circularity": 0.6, "max_area": 800})
    'max_area=800-min_circularity=0.6'
    """
    return "-".join(f"{key}={_word(key, combination[key])}" for key in sorted(combination))


def _word(key: str, value: Any) -> str:
    if isinstance(value, list):
        return "_".join(_word(key, element) for element in value)
    # JSON spells true, false, null and numbers; "+" of an exponent is no part of a name.
    text = value if isinstance(value, str) else json.dumps(value).replace("+", "")
    if not NAMEABLE.fullmatch(text):
        raise SpecError(f"extractor grid: parameters.grid.{key}: {value!r} cannot be in a name")
    return text


def _readings(
    module: ModuleType, answer: Answer, every: list[dict[str, Any]], keep: Sequence[str]
) -> list[Reading]:
    if set(keep) <= set(getattr(module, "GRID_COLUMNS", ())):
        return module.read_grid(answer, every)
    return [module.extract(answer, parameters)[0] for parameters in every]


def _kept(combination: dict[str, Any], reading: Reading, keep: Sequence[str]) -> Reading:
    missing = [column for column in keep if column not in reading.fields]
    if reading.status == "ok" and missing:
        raise SpecError(f"extractor grid: parameters.keep: nothing was read as {missing[0]}")
    columns = [column for column in (*keep, *ALWAYS_KEPT) if column in reading.fields]
    return Reading(
        variant=variant_name(combination),
        status=reading.status,
        reason=reading.reason,
        fields={
            **{column: reading.fields[column] for column in columns},
            "parameters": json.dumps(combination, sort_keys=True),
        },
        detail=reading.detail,
    )
