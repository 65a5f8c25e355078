"""Palette grids read from replies: a strict and a lenient verdict, and the first rule broken.

Protocol: PixelBench, "Generation protocol" and Appendix G. Strict: the whole reply is one JSON
value that holds the grid. Lenient (ours): one Markdown fence, bare or `json`, whose two lines
enclose the whole trimmed reply, is taken off first, and that is recorded. Nothing else is forgiven:
no bracket is closed, no comma removed, no row padded or cut, nothing searched for inside prose.

Where the grid stands in the value is its `shape`:

- `grid`: the value is the object with `palette` and `pixels`;
- `images`: it is an object whose `images` is a list of such objects. Without a label, which is how
  one icon is asked for, it is the only one of the list; with a label it is the one entry whose
  `label` is exactly that, and what is wrong with the grids of others does not spoil it.

Keys that nothing asks for (`sample_id`, `note`) are no mistake. The rules, in order:

- of the text: `empty` (blanks only); `fenced` (strict only); `too_deep` (brackets more than 32
  deep, quoted ones not counted); `not_json` (a syntax error, which a byte order mark, a trailing
  comma, NaN and Infinity are too); `text_after` (more than one JSON value, or prose behind one);
  `repeated_key` (one object, however deep, that says the same key twice: readers differ in which
  they keep);
- of the value: `not_object`, and of shape `images` before it `no_images`, `images_not_list`,
  `image_count` (not exactly one), `no_label`, `repeated_label`;
- of the palette: `no_palette`, `palette_not_list`, `palette_length` (2 to 8), `colour` (not `#` and
  six hex digits, of either case);
- of the grid: `no_pixels`, `pixels_not_list`, `row_count`, `row_not_text`, `digit` (not an ASCII
  digit), `row_length`, `palette_index` (no colour has that number). Each is asked of all rows
  before the next one.

Any text at all gets a verdict, in a time that grows with its length and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gensight.pixels.palette_grid import FEWEST_COLOURS, MOST_COLOURS, PaletteGrid
from gensight.strict_json import BrokenRuleError, read_value, shown, without_fence

SHAPES = ("grid", "images")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
DIGITS = "0123456789"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one way of reading makes of a reply: a grid, or the first broken rule and how.

    `about` is what the reply says that the grid is of: its `label`, or `sample_id`; None: no text.
    """

    grid: PaletteGrid | None = None
    about: str | None = None
    broken_rule: str | None = None
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Both verdicts on one reply; `fence_stripped` says that the lenient one took a fence off."""

    strict: Verdict
    lenient: Verdict
    fence_stripped: bool


def read_grid(text: str, size: int, *, shape: str = "grid", label: str | None = None) -> Verdicts:
    """Read a grid of `size` x `size` cells from a reply; see the top of this file for the rules.

    >>> read_grid('{"palette": ["#000000", "#ffffff"], "pixels": ["01", "1"]}', 2).strict.detail
    'row 2 has 1 digits, not 2'

    Raises:
        ValueError: the size is below 1, there is no such shape, or it has no labels; no text
            raises anything.
    """
    _check_question(size, shape, label)
    verdict = partial(_verdict, size=size, shape=shape, label=label)
    bare = without_fence(text)
    if bare is None:
        found = verdict(text)
        return Verdicts(strict=found, lenient=found, fence_stripped=False)
    fenced = Verdict(broken_rule="fenced", detail="a fence encloses the reply")
    return Verdicts(strict=fenced, lenient=verdict(bare), fence_stripped=True)


def stored_grid(text: str) -> PaletteGrid:
    """Return the grid whose `text()` this is, of whatever size.

    Raises:
        BrokenRuleError: the text is no grid's.
    """
    value = read_value(text)
    rows = value.get("pixels") if isinstance(value, dict) else None
    return checked_grid(value, max(1, len(rows)) if isinstance(rows, list) else 1)


def checked_grid(value: Any, size: int) -> PaletteGrid:
    """Return the grid that a JSON value is, an object with `palette` and `pixels`.

    Raises:
        BrokenRuleError: it is none of `size` x `size` cells.
    """
    if not isinstance(value, dict):
        raise BrokenRuleError("not_object", f"not an object but {shown(value)}")
    palette = _listed(value, "palette")
    if not FEWEST_COLOURS <= len(palette) <= MOST_COLOURS:
        raise BrokenRuleError("palette_length", f"{len(palette)} colours, not 2 to 8")
    for colour in palette:
        if not isinstance(colour, str) or not COLOUR.fullmatch(colour):
            raise BrokenRuleError("colour", f"{shown(colour)} is not # and six hex digits")
    rows = _checked_rows(_listed(value, "pixels"), size, len(palette))
    digits = np.frombuffer("".join(rows).encode("ascii"), np.uint8)
    cells = (digits - ord("0")).reshape(size, size)
    red_green_blue = (tuple(bytes.fromhex(colour[1:])) for colour in palette)
    return PaletteGrid(tuple(red_green_blue), cells)  # type: ignore[arg-type]


def _check_question(size: int, shape: str, label: str | None) -> None:
    if size < 1:
        raise ValueError(f"a grid has a size of 1 or more, not {size}")
    if shape not in SHAPES:
        raise ValueError(f"a reply has the shape {' or '.join(SHAPES)}, not {shape!r}")
    if label is not None and shape != "images":
        raise ValueError("only a grid of several images is found by its label")


def _verdict(text: str, *, size: int, shape: str, label: str | None) -> Verdict:
    try:
        entry = _entry(read_value(text), shape, label)
        grid = checked_grid(entry, size)
        about = entry.get("label" if shape == "images" else "sample_id")
        return Verdict(grid=grid, about=about if isinstance(about, str) else None)
    except BrokenRuleError as broken:
        return Verdict(broken_rule=broken.rule, detail=broken.detail)


def _entry(value: Any, shape: str, label: str | None) -> Any:
    """Return what should be the grid, which is the whole value or one of its images."""
    if shape == "grid":
        return value
    if not isinstance(value, dict):
        raise BrokenRuleError("not_object", f"not an object but {shown(value)}")
    images = _listed(value, "images")
    if label is None:
        if len(images) != 1:
            raise BrokenRuleError("image_count", f"{len(images)} images, not 1")
        return images[0]
    named = [image for image in images if isinstance(image, dict) and image.get("label") == label]
    if not named:
        raise BrokenRuleError("no_label", f"no image has the label {shown(label)}")
    if len(named) > 1:
        raise BrokenRuleError(
            "repeated_label", f"{len(named)} images have the label {shown(label)}"
        )
    return named[0]


def _listed(value: Mapping[str, Any], key: str) -> list[Any]:
    if key not in value:
        raise BrokenRuleError(f"no_{key}", f"the object has no key '{key}'")
    if not isinstance(value[key], list):
        raise BrokenRuleError(f"{key}_not_list", f"'{key}' is no list but {shown(value[key])}")
    return value[key]


def _checked_rows(rows: list[Any], size: int, colours: int) -> list[str]:
    """Return rows that keep every rule; each rule is asked of all rows before the next one."""
    if len(rows) != size:
        raise BrokenRuleError("row_count", f"{len(rows)} rows, not {size}")
    for place, row in enumerate(rows, 1):
        if not isinstance(row, str):
            raise BrokenRuleError("row_not_text", f"row {place} is no string but {shown(row)}")
    for place, row in enumerate(rows, 1):
        other = row.lstrip(DIGITS)
        if other:
            raise BrokenRuleError("digit", f"row {place} holds {shown(other[0])}, no ASCII digit")
    for place, row in enumerate(rows, 1):
        if len(row) != size:
            raise BrokenRuleError("row_length", f"row {place} has {len(row)} digits, not {size}")
    for place, row in enumerate(rows, 1):
        if int(max(row)) >= colours:
            raise BrokenRuleError(
                "palette_index", f"row {place} names colour {max(row)} of 0 to {colours - 1}"
            )
    return rows
