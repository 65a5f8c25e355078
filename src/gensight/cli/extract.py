"""`gensight extract`: what one generated picture says, read by the pipeline's own extractors.

Without `--input` the picture's own size stands in for the input's, so nothing is said of its
aspect, and the work size (long side 1024) follows from the picture itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import cv2

from gensight import extractors, images
from gensight.cli.files import read_bytes, upright_size, write_bytes
from gensight.cli.printing import json_option, print_json, print_table
from gensight.errors import GensightError, SpecError
from gensight.extractors import Answer, Reading

RING_RADIUS_PX = 10
RING_COLOUR, RING_EDGE = (0, 255, 0), (0, 0, 0)
# Columns that hold pictures: written by --output, never printed.
PICTURES = ("grey", "normals")


@click.group()
def command() -> None:
    """Read a mask, a depth map, a count or normals from a generated picture."""


def _options(function: Callable[..., None]) -> Callable[..., None]:
    decorators = [
        click.argument("file"),
        click.option("--input", "source", metavar="FILE", help="The picture that was asked about."),
        click.option(
            "--method", metavar="NAME", help="The extractor's variant. Default: its first."
        ),
        click.option("--output", metavar="OUT", help="Write what was read as a PNG file."),
        json_option,
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


@command.command()
@_options
def mask(**options: Any) -> None:
    """Read a mask from FILE; --output writes it as 0 and 255 at the returned size."""
    _run("mask", **options)


@command.command()
@_options
def depth(**options: Any) -> None:
    """Read the grey map from FILE; --output writes it in its own 8 or 16 bits."""
    _run("depth", **options)


@command.command()
@_options
def count(**options: Any) -> None:
    """Count the dots that FILE adds to --input; --output rings them at the work size."""
    _run("dots", **options)


@command.command()
@_options
def normals(**options: Any) -> None:
    """Read the normal map from FILE; --output writes its colours."""
    _run("normals", **options)


def _run(
    extractor: str,
    *,
    file: str,
    source: str | None,
    method: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    target = None if output is None else _checked_output(output, [file, source])
    answer = _answer(file, source)
    module = extractors.load(extractor)
    reading = read(module, answer, method)
    if reading.status != "ok":
        raise GensightError(f"{file}: {reading.detail or reading.reason}")
    if target is not None:
        write_bytes(target, _picture(reading, answer))
    facts = _described(module, reading, has_source=source is not None)
    facts |= {"file": file, "input": source, "output": output, "extractor": extractor}
    if as_json:
        print_json(facts)
    else:
        print_table(_lines(facts))


def read(module: ModuleType, answer: Answer, method: str | None) -> Reading:
    """Read an answer with one variant of an extractor: `method`, or the first of its defaults.

    Raises:
        GensightError: no such variant, or one that needs the input picture, which is missing.
    """
    parameters = {"variants": [method or module.DEFAULTS["variants"][0]]}
    try:
        return module.extract(answer, parameters)[0]
    except SpecError as error:
        if method is None:
            raise
        raise GensightError(f"--method {method}: {error}") from None
    except GensightError:
        if answer.source is not None:
            raise
        raise GensightError(
            f"method {parameters['variants'][0]} compares the picture with the one that was asked "
            "about: name that with --input FILE"
        ) from None


def _answer(file: str, source: str | None) -> Answer:
    data = read_bytes(file)
    if source is None:
        width, height = upright_size(file, data)
        return Answer(image=data, source_width=width, source_height=height)
    source_data = read_bytes(source)
    width, height = upright_size(source, source_data)
    return Answer(image=data, source=source_data, source_width=width, source_height=height)


def _checked_output(output: str, others: list[str | None]) -> Path:
    path = Path(output)
    if path.suffix.lower() != ".png":
        raise GensightError(f"--output {output}: a PNG is written; name it *.png")
    if any(other and path.exists() and path.samefile(other) for other in others):
        raise GensightError(f"--output {output}: that would replace the picture that is read")
    return path


def _picture(reading: Reading, answer: Answer) -> bytes:
    for column in PICTURES:
        if column in reading.fields:
            return reading.fields[column]["bytes"]
    if "mask" in reading.fields:
        return images.encode_png(images.decode_mask(reading.fields["mask"]).astype("uint8") * 255)
    return _ringed(reading, answer)


def _ringed(reading: Reading, answer: Answer) -> bytes:
    """Return the answer at the work size with a ring around every dot that was counted."""
    white = (255, 255, 255)
    behind = white if answer.source is None else images.decode_rgb(answer.source, matte=white)
    rgb = images.decode_rgb(answer.image, matte=behind)
    size = reading.fields["work_width"], reading.fields["work_height"]
    canvas = images.resize_picture(rgb, *size).copy()
    for point in reading.fields["points"]:
        centre = round(point["x"]), round(point["y"])
        for colour, thickness in ((RING_EDGE, 4), (RING_COLOUR, 2)):
            cv2.circle(canvas, centre, RING_RADIUS_PX, colour, thickness, cv2.LINE_AA)
    return images.encode_png(canvas)


def _described(module: ModuleType, reading: Reading, *, has_source: bool) -> dict[str, Any]:
    """Return everything a reading holds except pictures, with its parameters parsed."""
    facts = {key: value for key, value in reading.fields.items() if key not in PICTURES}
    facts["parameters"] = json.loads(facts["parameters"])
    facts |= {"variant": reading.variant, "status": reading.status, "reason": reading.reason}
    facts["extractor_version"] = module.VERSION
    known = facts.get("facts") or {}
    if "foreground_share" in known:
        facts["area_share"] = known["foreground_share"]
    if "threshold" in known:
        facts["threshold"] = known["threshold"]
    if not has_source:
        facts |= {"aspect_error": None, "aspect_changed": None}
    return facts


def _lines(facts: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return what people want to see, a name and a value a line."""
    size = f"{facts['returned_width']}x{facts['returned_height']}"
    lines: list[tuple[Any, ...]] = [
        ("file", facts["file"]),
        ("picture", f"{facts['image_kind']}, {size}, {facts['bit_depth']} bit"),
        ("method", f"{facts['extractor']}, {facts['variant']}"),
    ]
    shown = ("count", "threshold", "area_share", "degenerate_output", "aspect_changed", "output")
    lines += [(key, facts[key]) for key in shown if facts.get(key) is not None]
    own = facts.get("facts") or {}
    return lines + [(k, own[k]) for k in sorted(own) if k not in (*shown, "foreground_share")]
