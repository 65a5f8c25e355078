"""The class of an answer by its looks, beside the input picture and without any truth.

Protocol: the blind rules of PROTOCOLS 3.3 (`gensight.failures.blind`). `task` is the benchmark's:
what is right in one task is a failure in another. Transparency shows black where a drawing is
asked for (segmentation, depth) and the input where marks are (counting); the class is in
`failure_blind`, as `class` or `class:detail`, and the features that decided are in `facts`.

Degenerate cases: a picture that cannot be read has the class `unreadable`; that is a reading, so
its status is ok. An answer without a picture, in text only, has no class (`no_output`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gensight.errors import GensightError, ImageError
from gensight.extractors import Answer, Reading
from gensight.extractors._reading import COMMON_DEFAULTS, read_variants, resolve
from gensight.failures.classifier import blind
from gensight.failures.thresholds import THRESHOLDS
from gensight.images import decode_rgb

VERSION = 2
# Modules whose versions count as its own: it computes with their rules.
USES = {"extractors": ["dots"]}

DEFAULTS: dict[str, Any] = {
    "variants": ["blind"],
    "task": "segmentation",
    **COMMON_DEFAULTS,
    **THRESHOLDS,
}
CHOICES = {"variants": ["blind"], "task": ["segmentation", "depth", "counting"]}

MATTES = {"segmentation": "black", "depth": "black", "counting": "input"}
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def extract(answer: Answer, parameters: Mapping[str, Any]) -> list[Reading]:
    """Read the class of an answer (one variant, `blind`).

    An unreadable input is the sample's fault, not the answer's: it raises GensightError.
    """
    settings = resolve("failure_class", parameters)
    readings = read_variants(answer, settings, MATTES[settings["task"]], _read)
    return [_classed(reading) for reading in readings]


def _classed(reading: Reading) -> Reading:
    """Return the reading of a picture that cannot be read as what it is here: a class."""
    if reading.reason != "unreadable":
        return reading
    fields = {**reading.fields, "failure_blind": "unreadable"}
    return replace(reading, status="ok", reason=None, fields=fields)


def _read(answer: Answer, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    source = _decode_source(answer)
    behind = source if MATTES[settings["task"]] == "input" else BLACK
    picture = decode_rgb(answer.image, matte=behind)
    limits = {name: settings[name] for name in THRESHOLDS}
    verdict = blind(source, picture, settings["task"], limits)
    columns = {
        "failure_blind": verdict.name,
        "degenerate_output": verdict.failure_class == "degenerate",
        "facts": verdict.features,
    }
    return {"blind": columns}


def _decode_source(answer: Answer) -> np.ndarray:
    if answer.source is None:
        raise GensightError("failure classes compare with the input picture: give `source`")
    try:
        return decode_rgb(answer.source, matte=WHITE, orient=answer.orient_source)
    except ImageError as error:
        raise GensightError(f"the sample's input picture cannot be read: {error}") from error
