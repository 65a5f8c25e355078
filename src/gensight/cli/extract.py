"""`gensight extract`: what one answer says, read by the pipeline's own extractors.

Without `--input` the picture's own size stands in for the input's, so nothing is said of its
aspect, and the work size (long side 1024) follows from the picture itself.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from gensight import extractors, images
from gensight.cli.drawings import PICTURES, drawing
from gensight.cli.files import read_bytes, upright_size, write_bytes
from gensight.cli.printing import json_option, print_json, print_table
from gensight.errors import GensightError
from gensight.extractors import Answer, Reading, palette_grid
from gensight.extractors import letter as letter_extractor
from gensight.extractors._pair import MissingSourceError
from gensight.pixels import stored_grid
from gensight.specs.words import unknown

Command = Callable[..., None]
STANDARD_INPUT = "-"
# How a grid is read: each way has a verdict of its own.
VERDICTS = tuple(palette_grid.CHOICES["variants"])
# A grid is enlarged to at least this side, by a whole number.
SHOWN_PX = 512
HEX_COLOUR = re.compile(r"#?([0-9a-fA-F]{6})")

_file = click.argument("file")
_input = click.option("--input", "source", metavar="FILE", help="The picture that was asked about.")
_method = click.option(
    "--method", metavar="NAME", help="The extractor's variant. Default: its first."
)
_output = click.option("--output", metavar="OUT", help="Write what was read as a PNG file.")
_colour = click.option(
    "--colour",
    metavar="RRGGBB",
    default="ff0000",
    show_default=True,
    help="The colour that was asked for.",
)


@click.group()
def command() -> None:
    """Read a mask, a depth map, a count, boxes, text, a number, a grid ... from one answer."""


def _options(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def _decorate(function: Command) -> Command:
        for decorator in (json_option, *reversed(decorators)):
            function = decorator(function)
        return function

    return _decorate


@command.command()
@_options(_file, _input, _method, _output)
def mask(**options: Any) -> None:
    """Read a mask from FILE; --output writes it as 0 and 255 at the returned size."""
    _run("mask", **options)


@command.command()
@_options(_file, _input, _method, _output, _colour)
def overlay(colour: str, **options: Any) -> None:
    """Read a mask from the region that FILE tints on --input; --output as for mask."""
    _run("overlay", parameters={"colour": _rgb(colour)}, **options)


@command.command()
@_options(_file, _input, _method, _output)
def depth(**options: Any) -> None:
    """Read the grey map from FILE; --output writes it in its own 8 or 16 bits."""
    _run("depth", **options)


@command.command()
@_options(_file, _input, _method, _output)
def normals(**options: Any) -> None:
    """Read the normal map from FILE; --output writes its colours."""
    _run("normals", **options)


@command.command()
@_options(_file, _input, _method, _output)
def count(**options: Any) -> None:
    """Count the dots that FILE adds to --input; --output rings them at the work size."""
    _run("dots", **options)


@command.command()
@_options(_file, _input, _method, _output, _colour)
def boxes(colour: str, **options: Any) -> None:
    """Read boxes from the mask FILE, or, with --method drawn, those drawn on --input.

    --output outlines them at the work size.
    """
    _run("boxes", parameters={"colour": _rgb(colour)}, **options)


@command.command()
@_options(
    _file,
    _input,
    _method,
    _output,
    click.option(
        "--colour",
        "colours",
        multiple=True,
        metavar="NAME=RRGGBB",
        help="A keypoint and the colour that was asked for; repeat for each.",
    ),
)
def keypoints(colours: tuple[str, ...], **options: Any) -> None:
    """Read the named points that FILE marks on --input; --output rings them at the work size."""
    if not colours:
        raise GensightError("name each keypoint and its colour, as in --colour left_wrist=ff0000")
    _run("keypoints", parameters={"colours": dict(map(_named_rgb, colours))}, **options)


@command.command()
@_options(_file, _input, _method)
def text(**options: Any) -> None:
    """Read the writing in the picture FILE (needs the extra gensight[ocr])."""
    _run("text", output=None, **options)


@command.command()
@_options(_file)
def integer(file: str, as_json: bool) -> None:
    """Read the whole number that the text FILE, or standard input for -, consists of."""
    answer = Answer(text=_reply(file), source_width=1, source_height=1)
    module = extractors.load("integer")
    reading = _checked(file, read(module, answer, None))
    _report(_described(module, reading), {"file": file, "extractor": "integer"}, as_json)


@command.command()
@_options(
    _file,
    click.option("--size", type=click.IntRange(min=1), required=True, help="Cells of a side."),
    click.option(
        "--shape",
        type=click.Choice(palette_grid.CHOICES["shape"]),
        default=palette_grid.DEFAULTS["shape"],
        show_default=True,
        help="The object itself, or the only one of its list of images.",
    ),
    _method,
    _output,
)
def grid(
    file: str, size: int, shape: str, method: str | None, output: str | None, as_json: bool
) -> None:
    """Read the palette grid that the text FILE, or standard input for -, consists of.

    Both verdicts are told. --output enlarges it, at least 512 pixels a side, each cell the same.
    """
    target = None if output is None else _checked_output(output, [file])
    answer = Answer(text=_reply(file), source_width=1, source_height=1)
    parameters = {"size": size, "shape": shape}
    reading = read(palette_grid, answer, method, parameters)
    both = {
        each.variant: each
        for each in palette_grid.extract(answer, {**parameters, "variants": [*VERDICTS]})
    }
    if as_json and reading.status != "ok":
        # A program gets both verdicts of a broken reply too, beside the line for people.
        rules = {name: each.reason or "valid" for name, each in both.items()}
        details = {f"{name}_detail": each.detail for name, each in both.items() if each.detail}
        print_json({"file": file, "extractor": "palette_grid", **rules, **details})
    if reading.reason == "fenced":
        without = both["lenient"].detail or "--method lenient reads it"
        raise GensightError(f"{file}: {reading.detail}; without it: {without}")
    facts = _described(palette_grid, _checked(file, reading))
    found = stored_grid(facts.pop("text"))
    if target is not None:
        write_bytes(target, images.encode_png(found.enlarged(math.ceil(SHOWN_PX / size))))
    facts |= {name: each.reason or "valid" for name, each in both.items()}
    facts |= {"palette": found.hex_colours(), "rows": found.rows()}
    _report(facts, {"file": file, "output": output, "extractor": "palette_grid"}, as_json)


@command.command()
@_options(
    _file,
    click.option(
        "--options",
        type=click.IntRange(2, 26),
        default=letter_extractor.DEFAULTS["options"],
        show_default=True,
        help="Letters to choose from.",
    ),
)
def letter(file: str, options: int, as_json: bool) -> None:
    """Read the one letter that the text FILE, or standard input for -, chooses."""
    answer = Answer(text=_reply(file), source_width=1, source_height=1)
    reading = _checked(file, read(letter_extractor, answer, None, {"options": options}))
    facts = _described(letter_extractor, reading)
    _report(facts, {"file": file, "extractor": "letter"}, as_json)


def _run(
    extractor: str,
    *,
    file: str,
    source: str | None,
    method: str | None,
    output: str | None,
    as_json: bool,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    target = None if output is None else _checked_output(output, [file, source])
    answer = _answer(file, source)
    module = extractors.load(extractor)
    reading = _checked(file, read(module, answer, method, parameters))
    if target is not None:
        write_bytes(target, drawing(reading, answer))
    facts = _described(module, reading)
    if source is None:
        facts |= {"aspect_error": None, "aspect_changed": None}
    named = {"file": file, "input": source, "output": output, "extractor": extractor}
    _report(facts, named, as_json)


def read(
    module: ModuleType,
    answer: Answer,
    method: str | None,
    parameters: Mapping[str, Any] | None = None,
) -> Reading:
    """Read an answer with one variant of an extractor: `method`, or the first of its defaults.

    Raises:
        GensightError: no such variant, or one that needs the input picture, which is missing.
    """
    if method is not None and method not in module.CHOICES["variants"]:
        name = module.__name__.rpartition(".")[2]
        raise unknown(f"extractor {name}", "--method", method, module.CHOICES["variants"])
    variant = method or module.DEFAULTS["variants"][0]
    try:
        return module.extract(answer, {**(parameters or {}), "variants": [variant]})[0]
    except MissingSourceError:
        raise GensightError(
            f"method {variant} compares the picture with the one that was asked "
            "about: name that with --input FILE"
        ) from None


def _checked(file: str, reading: Reading) -> Reading:
    if reading.status != "ok":
        raise GensightError(f"{file}: {reading.detail or reading.reason}")
    return reading


def _answer(file: str, source: str | None) -> Answer:
    data = read_bytes(file)
    if source is None:
        width, height = upright_size(file, data)
        return Answer(image=data, source_width=width, source_height=height)
    source_data = read_bytes(source)
    width, height = upright_size(source, source_data)
    return Answer(image=data, source=source_data, source_width=width, source_height=height)


def _reply(file: str) -> str:
    data = sys.stdin.buffer.read() if file == STANDARD_INPUT else read_bytes(file)
    try:
        # Some editors begin a file with a byte order mark, which no model said.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise GensightError(f"{file}: not a text in UTF-8") from None


def _checked_output(output: str, others: list[str | None]) -> Path:
    path = Path(output)
    if path.suffix.lower() != ".png":
        raise GensightError(f"--output {output}: a PNG is written; name it *.png")
    if any(other and path.exists() and path.samefile(other) for other in others):
        raise GensightError(f"--output {output}: that would replace the picture that is read")
    return path


def _rgb(text: str) -> list[int]:
    found = HEX_COLOUR.fullmatch(text)
    if found is None:
        raise GensightError(f"--colour {text}: expected six hex digits, such as ff0000")
    return list(bytes.fromhex(found[1]))


def _named_rgb(text: str) -> tuple[str, list[int]]:
    name, equals, colour = text.rpartition("=")
    if not name or not equals:
        raise GensightError(f"--colour {text}: expected a name and a colour, NAME=RRGGBB")
    return name, _rgb(colour)


def _described(module: ModuleType, reading: Reading) -> dict[str, Any]:
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
    return facts


def _report(facts: dict[str, Any], named: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(facts | named)
    else:
        print_table(_lines(facts | named))


def _lines(facts: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what people want to see, a name and a value a line."""
    yield "file", facts["file"]
    if "image_kind" in facts:
        size = f"{facts['returned_width']}x{facts['returned_height']}"
        yield "picture", f"{facts['image_kind']}, {size}, {facts['bit_depth']} bit"
    yield "method", f"{facts['extractor']}, {facts['variant']}"
    shown = ("count", "threshold", "area_share", "degenerate_output", "aspect_changed", "output")
    yield from ((key, facts[key]) for key in (*shown, *VERDICTS) if facts.get(key) is not None)
    yield from _found(facts)
    own = facts.get("facts") or {}
    yield from ((k, own[k]) for k in sorted(own) if k not in (*shown, "foreground_share"))


def _found(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield boxes, keypoints, lines of text, colours and rows of a grid, one a line."""
    for box in facts.get("boxes", ()):
        edges = (f"{box[edge]:.1f}" for edge in ("left", "top", "right", "bottom"))
        yield "box", f"{' '.join(edges)}, score {box['score']:.3g}"
    for point in facts.get("keypoints", ()):
        yield "keypoint", f"{point['x']:.1f} {point['y']:.1f} {point['name']}"
    for line in facts.get("text", "").splitlines():
        yield "text", line
    for colour in facts.get("palette", ()):
        yield "colour", colour
    for row in facts.get("rows", ()):
        yield "row", row
