"""Palette grids from replies: 2 to 8 colours and `size` x `size` cells, in JSON.

Protocol: PixelBench, "Generation protocol": completed replies with invalid JSON, palette references
or grid sizes score zero; nothing is repaired. Variants are two readings of the whole reply
(`gensight.pixels.grid_text` has the rules and their names):

- `strict`: the reply is one JSON value, as the paper asks;
- `lenient`: one Markdown fence that encloses it is taken off first (the fact `fence_stripped`).

`shape` says where the grid stands: `grid`, an object with `palette` and `pixels`, as image-to-pixel
asks, or `images`, an object whose list of that name holds them, as text-to-pixel asks: exactly one,
or, where several icons were asked for, one with the sample's label. `size` is the number of cells
of a side. Both are those of the form of answer (`grid` where it says none), unless parameters say
others. A reply that breaks a rule is invalid, its reason the first rule broken.

What was read stands in `text`, as canonical JSON: `PaletteGrid.text()`, upper-case hex, no other
keys. Degenerate case: a grid whose cells all have one colour is valid and flagged
`degenerate_output` (the paper's "flat"). No text at all is `no_output`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gensight.errors import SpecError
from gensight.extractors import Answer, Reading
from gensight.extractors._reading import resolve
from gensight.pixels.grid_text import Verdict, Verdicts, read_grid
from gensight.pixels.palette_grid import PaletteGrid
from gensight.strict_json import shown

VERSION = 1

DEFAULTS: dict[str, Any] = {"variants": ["strict", "lenient"], "size": None, "shape": None}
CHOICES = {"variants": ["strict", "lenient"], "shape": [None, "grid", "images"]}


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read one grid per variant, the reply parsed once.

    `facts` hold the verdict of both variants (1 is valid), so that either row tells what the other
    says.

    Raises:
        SpecError: neither the parameters nor the form of answer say a size, or it is below 1.
    """
    settings = resolve("palette_grid", parameters)
    size = answer.form.get("size") if settings["size"] is None else settings["size"]
    shape = settings["shape"] or answer.form.get("shape") or "grid"
    if not isinstance(size, int) or size < 1:
        raise SpecError(
            f"extractor palette_grid: parameters.size: expected 1 or more, got {size}; or ask a "
            f"prompt whose answer form is a palette_grid"
        )
    columns = {"parameters": json.dumps({"shape": shape, "size": size})}
    if answer.text is None:
        return [
            Reading(variant=name, status="no_output", reason="no_text", fields=dict(columns))
            for name in settings["variants"]
        ]
    verdicts = read_grid(answer.text, size, shape=shape, label=answer.label)
    by_name = {"strict": verdicts.strict, "lenient": verdicts.lenient}
    columns["facts"] = _both(verdicts)
    return [_reading(name, by_name[name], answer.echo, columns) for name in settings["variants"]]


def _reading(variant: str, verdict: Verdict, echo: str | None, columns: dict[str, Any]) -> Reading:
    facts = dict(columns["facts"])
    if verdict.grid is None:
        return Reading(
            variant=variant,
            status="invalid",
            reason=verdict.broken_rule,
            fields={**columns, "facts": facts},
            detail=f"the reply is no palette grid ({verdict.broken_rule}): {verdict.detail}",
        )
    facts |= _counts(verdict.grid)
    found = {
        "text": verdict.grid.text(),
        "degenerate_output": len(verdict.grid.used_colours) == 1,
        "facts": facts,
    }
    # Another name breaks no rule (assumed: the paper does not say), and is told all the same.
    detail = None
    if None not in (echo, verdict.about) and verdict.about != echo:
        detail = (
            f"the grid is said to be of {shown(verdict.about)}, and {shown(echo)} was asked for"
        )
    return Reading(variant=variant, fields={**columns, **found}, detail=detail)


def _both(verdicts: Verdicts) -> dict[str, float]:
    return {
        "fence_stripped": float(verdicts.fence_stripped),
        "valid_lenient": float(verdicts.lenient.grid is not None),
        "valid_strict": float(verdicts.strict.grid is not None),
    }


def _counts(grid: PaletteGrid) -> dict[str, float]:
    return {
        "n_colours": float(len(grid.palette)),
        "n_used_colours": float(len(grid.used_colours)),
    }
