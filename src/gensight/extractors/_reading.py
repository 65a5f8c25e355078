"""What all extractors of pictures share: parameters, returned size, and unreadable answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gensight.errors import ImageError
from gensight.extractors import Answer, Reading
from gensight.images import PictureInfo, fit_long_side, inspect
from gensight.specs import declared

# From an answer whose picture is there to the columns of each variant.
ReadVariants = Callable[[Answer, dict[str, Any]], dict[str, dict[str, Any]]]

COMMON_DEFAULTS: dict[str, Any] = {
    "long_side_px": 1024,  # ProbeGen 4.1: inputs and outputs at a long side of 1024
    "assumed_aspect_tolerance": 0.02,
}
CONTRAST_DEFAULTS: dict[str, Any] = {
    "contrast_floor": 16,  # PROTOCOLS "Decided": p99 - p1 of grey at work size
    "contrast_low_percentile": 1,
    "contrast_high_percentile": 99,
}


def resolve(extractor: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return an extractor's defaults with these parameters over them.

    Raises:
        SpecError: a name, type or choice that a plan would refuse too (`gensight.specs.declared`).
    """
    place = f"extractor {extractor}"
    return declared.merged(place, "parameters", "extractors", extractor, dict(parameters))


def read_variants(
    answer: Answer, settings: dict[str, Any], matte: str, read: ReadVariants
) -> list[Reading]:
    """Return one reading per variant: `ok` with its columns, `no_output`, or `invalid: unreadable`.

    `matte` is the name of what shows through transparency; `read` decodes the picture once.
    """
    common = _work_columns(answer, settings) | {
        "matte": matte,
        "parameters": _as_json(settings),
    }
    variants = settings["variants"]
    if answer.image is None:
        return [
            Reading(variant=name, status="no_output", reason="no_image", fields=dict(common))
            for name in variants
        ]
    try:
        common |= _returned_columns(answer, settings, inspect(answer.image))
        columns = read(answer, settings)
    except ImageError as error:
        return [
            Reading(
                variant=name,
                status="invalid",
                reason="unreadable",
                fields=dict(common),
                detail=str(error),
            )
            for name in variants
        ]
    return [Reading(variant=name, fields=common | columns[name]) for name in variants]


def work_size(answer: Answer, settings: Mapping[str, Any]) -> tuple[int, int]:
    """Return (width, height) of the input at the work long side."""
    return fit_long_side(answer.source_width, answer.source_height, settings["long_side_px"])


def _work_columns(answer: Answer, settings: Mapping[str, Any]) -> dict[str, Any]:
    width, height = work_size(answer, settings)
    return {"work_width": width, "work_height": height}


def _returned_columns(
    answer: Answer, settings: Mapping[str, Any], info: PictureInfo
) -> dict[str, Any]:
    """Return the columns that the header alone decides; the size is that of the upright picture."""
    width, height = info.upright_size
    aspect_error = abs(width * answer.source_height / (height * answer.source_width) - 1)
    return {
        "image_kind": info.kind,
        "returned_width": width,
        "returned_height": height,
        "bit_depth": info.bit_depth,
        "had_alpha": info.had_alpha,
        "aspect_error": aspect_error,
        "aspect_changed": aspect_error > settings["assumed_aspect_tolerance"],
    }


def _as_json(settings: Mapping[str, Any]) -> str:
    return json.dumps({key: settings[key] for key in settings if key != "variants"}, sort_keys=True)
