"""The baselines of PixelBench's Table 25 by name, in its order, with their settings.

A setting whose value the paper lost has `assumed` in its name. To add a method, write its function
and add a line here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gensight.errors import GensightError
from gensight.pixels import (
    dpid,
    pia_reduced,
    pia_reference,
    pyxelate_like,
    resampling,
    ssim_optimal,
)
from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.source_cells import check_source
from gensight.specs.words import unknown

Function = Callable[[np.ndarray, int, Mapping[str, Any]], PaletteGrid]


_MAY_BE_ZERO = {
    "assumed_lambda",
    "assumed_epsilon",
    "assumed_seed",
    "assumed_tolerance",
    "assumed_least_connected",
    "assumed_palette_change",
    "saturation",
}
# At 1 the palette would never be cold.
_BELOW_ONE = {"assumed_cooling"}


@dataclass(frozen=True)
class Method:
    """A baseline: its row in Table 25, its function, and every setting with its default.

    `stands_for` names the program that ours is only modelled on: its numbers are never printed
    beside that program's without saying so.
    """

    row: str
    function: Function
    defaults: Mapping[str, Any] = field(default_factory=dict)
    stands_for: str | None = None


METHODS: dict[str, Method] = {
    "nearest": Method("Nearest + median cut", resampling.nearest),
    "box": Method("Box + median cut", resampling.box),
    "bicubic": Method("Bicubic + median cut", resampling.bicubic),
    "lanczos": Method("Lanczos + median cut", resampling.lanczos),
    "dpid_half": Method("DPID + median cut", dpid.dpid, dpid.HALF),
    "dpid_one": Method("DPID + median cut", dpid.dpid, dpid.ONE),
    "ssim_optimal": Method(
        "SSIM-optimal + median cut", ssim_optimal.ssim_optimal, ssim_optimal.DEFAULTS
    ),
    "pyxelate_like": Method(
        "Pyxelate", pyxelate_like.pyxelate_like, pyxelate_like.DEFAULTS, "Pyxelate 2.1"
    ),
    "pia_reduced": Method("PIA (reduced)", pia_reduced.pia_reduced, pia_reduced.DEFAULTS),
    "pia_reference": Method("PIA (reference)", pia_reference.pia_reference, pia_reference.DEFAULTS),
}


def pixelated(
    rgb: np.ndarray, size: int, name: str, settings: Mapping[str, Any] | None = None
) -> PaletteGrid:
    """Return a uint8 (H, W, 3) picture as N x N cells of at most eight colours, by this baseline.

    The whole picture is divided evenly, whatever its shape: crop it first where it is not square.
    The same picture and settings give the same grid, whatever the number of threads.

    Raises:
        GensightError: no such method, no such setting of it, or a value that it cannot have.
        ValueError: no such picture, or a size below 1.
    """
    values = settings_of(name, settings or {})
    check_source(rgb, size)
    return METHODS[name].function(rgb, size, values)


def settings_of(name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return every setting of a baseline: its defaults, and in their place those of `own`.

    Raises:
        GensightError: no such method, no such setting of it, or a value that it cannot have.
    """
    if name not in METHODS:
        raise unknown("pixels", "method", name, METHODS)
    defaults = METHODS[name].defaults
    strange = sorted(set(own) - set(defaults))
    if strange:
        known = ", ".join(defaults) or "none"
        raise GensightError(f"method {name} has no setting {strange[0]}; its settings: {known}")
    for key, value in own.items():
        expected = _expected(key, defaults[key], value)
        if expected:
            raise GensightError(f"method {name}: {key} is {expected}, not {value!r}")
    return {**defaults, **own}


def _expected(key: str, default: int | float, value: Any) -> str | None:
    """Return what a setting has to be where the value is not that."""
    whole = isinstance(default, int)
    kinds = (int,) if whole else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
    noun = "a whole number" if whole else "a number"
    if key in _BELOW_ONE:
        return None if is_number and 0 < value < 1 else f"{noun} between 0 and 1"
    if key in _MAY_BE_ZERO:
        return None if is_number and value >= 0 else f"{noun} of 0 or more"
    return None if is_number and value > 0 else f"{noun} above 0"
