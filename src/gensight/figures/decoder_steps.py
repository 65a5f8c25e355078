"""How the three-stage decoder of dots comes to its count, step by step.

Source: ProbeGen 3.4 and Figure 8. The input; the marked output; its saturated red pixels; those of
them that changed against the input; the blobs that the shape filter accepts and rejects; and the
count beside the true points. Every step is made by the extractor's own code from the parameters
that the reading was made with, at the work size. Masks are drawn on white and marks a little wider
than they are, so that a small dot is seen on a tile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np
from matplotlib.figure import Figure

from gensight.extractors import Answer
from gensight.extractors._blobs import accepted, blob_centres, outlines, rejections
from gensight.extractors._pair import decode_pair
from gensight.extractors._reading import resolve, work_size
from gensight.extractors._red import Marks
from gensight.figures import pictures, style
from gensight.figures.items import GalleryItem, Tile, unread
from gensight.figures.layout import (
    CAPTION_PT,
    LEFT_IN,
    Placed,
    Strip,
    names_strip,
    tiles_strip,
    wrapped,
    write,
)
from gensight.figures.tiles import output_tile, source_picture
from gensight.specs.figures import DecoderStepsSpec
from gensight.truths import true_count

STEPS = (
    "1  Input",
    "2  Marked output",
    "3  Saturated red",
    "4  Changed against the input",
    "5  Blobs: accepted ○, rejected □",
    "6  Counted ●, true ○",
)
PER_LINE, GAP_IN, NAME_PT = 3, 0.1, 6.5
TILE_IN = (style.WIDTH_IN - 2 * LEFT_IN - (PER_LINE - 1) * GAP_IN) / PER_LINE
_LIMITS = ("area", "circularity", "inertia", "colour")


def strips(spec: DecoderStepsSpec, items: Sequence[GalleryItem]) -> list[Strip]:
    """Return, per answer, its name and two lines of three steps."""
    found = []
    for item in items:
        tiles = step_tiles(item)
        found.append(_name_strip(item))
        for first in range(0, len(STEPS), PER_LINE):
            last = first + PER_LINE
            found += _line(STEPS[first:last], tiles[first:last])
    return found


def _name_strip(item: GalleryItem) -> Strip:
    details = "  ·  ".join([f"“{item.query}”", item.sample_id, item.rule])

    def draw(figure: Figure, top_in: float) -> None:
        look = {"va": "top", "fontsize": 7, "fontweight": "bold"}
        write(figure, LEFT_IN, top_in + 0.04, item.model_label, **look)
        look = {"va": "top", "fontsize": CAPTION_PT, "color": style.GREY}
        write(figure, LEFT_IN, top_in + 0.17, wrapped(details, 138, 1)[0], **look)

    return Strip(0.27, draw)


def _line(names: Sequence[str], tiles: Sequence[Tile]) -> list[Strip]:
    lefts = [LEFT_IN + i * (TILE_IN + GAP_IN) for i in range(len(tiles))]
    heads = [(name, left_in, TILE_IN) for name, left_in in zip(names, lefts, strict=True)]
    width = style.characters(TILE_IN, CAPTION_PT)
    placed = [
        Placed(tile, left_in, wrapped(tile.words, width, 2) if tile.picture is not None else ())
        for tile, left_in in zip(tiles, lefts, strict=True)
    ]
    return [names_strip(heads, NAME_PT), tiles_strip(placed, TILE_IN)]


def step_tiles(item: GalleryItem) -> list[Tile]:
    """Return the six tiles of an answer; from the first that cannot be made on, words."""
    source = source_picture(item)
    shown = [Tile(source), output_tile("counting", item, source)]
    missing = unread(item, "count")
    if missing is None and item.output is None:
        missing = shown[1]
    if missing is not None:
        return shown + [missing] * 4
    return shown + _decoded(item, source)


def _decoded(item: GalleryItem, source: np.ndarray) -> list[Tile]:
    settings = resolve("dots", json.loads(item.extracted.parameters or "{}"))
    answer = Answer(
        image=item.output,
        source=item.input_png,
        source_width=item.truth.width,
        source_height=item.truth.height,
        orient_source=item.orient_source,
    )
    marks = Marks(*decode_pair(answer, work_size(answer, settings)))
    red, gated = marks.red(settings), marks.gated(settings)
    dropped = "" if np.array_equal(red, gated) else "; what had not changed is pale"
    return [
        Tile(_on_white(red, red), _components(red)),
        Tile(_on_white(red, gated), _components(gated) + dropped),
        _blobs_tile(marks.marked, gated, settings),
        _count_tile(item, source, blob_centres(gated, settings)),
    ]


def _components(mask: np.ndarray) -> str:
    n = cv2.connectedComponents(mask)[0] - 1
    return f"{n} connected part{'' if n == 1 else 's'}"


def _on_white(red: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Draw a 0/255 mask in vermilion on white, and pale where a pixel of `red` was not kept."""
    picture = np.full((*red.shape, 3), 255, np.uint8)
    wide = [cv2.dilate(mask, np.ones((3, 3), np.uint8)) > 0 for mask in (red, kept)]
    picture[wide[0]] = np.round(0.3 * np.array(pictures.VERMILION) + 0.7 * 255).astype(np.uint8)
    picture[wide[1]] = pictures.VERMILION
    picture[[0, -1]] = picture[:, [0, -1]] = pictures.INVALID_RGB
    return picture


def _blobs_tile(marked: np.ndarray, gated: np.ndarray, settings: Mapping[str, Any]) -> Tile:
    """Ring each accepted outline and box each rejected one, over the pale answer."""
    picture = pictures.pale(marked)
    # In the order of the detector's own outlines, which say nothing of where they lie.
    contours, _ = cv2.findContours(gated, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    line = max(round(max(picture.shape) / 340), 1)
    for contour, outline in zip(contours, outlines(gated), strict=True):
        x, y, width, height = cv2.boundingRect(contour)
        if accepted([outline], settings):
            centre = (x + (width - 1) / 2, y + (height - 1) / 2)
            radius = max(width, height) / 2 + 2 * line
            pictures.draw_circles(picture, [centre], radius, (255, 255, 255), 3 * line)
            pictures.draw_circles(picture, [centre], radius, pictures.GREEN, line)
        else:
            first = (x - 2 * line, y - 2 * line)
            last = (x + width - 1 + 2 * line, y + height - 1 + 2 * line)
            cv2.rectangle(picture, first, last, pictures.VERMILION, line)
    return Tile(picture, _verdicts(gated, settings))


def _verdicts(gated: np.ndarray, settings: Mapping[str, Any]) -> str:
    counts = rejections(gated, settings)
    told = [f"{counts[f'n_rejected_{limit}']:.0f} by {limit}" for limit in _LIMITS]
    told = [words for words in told if not words.startswith("0 ")]
    rejected = f"{sum(counts.values()):.0f} rejected"
    kept = f"{len(blob_centres(gated, settings))} accepted"
    return f"{kept}, {rejected}{': ' if told else ''}{', '.join(told)}"


def _count_tile(item: GalleryItem, source: np.ndarray, centres: Sequence[dict[str, float]]) -> Tile:
    picture = pictures.pale(source)
    sample, answer = item.truth, item.extracted
    true_places = pictures.places(
        sample.target_points or [], (sample.width, sample.height), picture
    )
    work = (answer.work_width or 1, answer.work_height or 1)
    pictures.draw_circles(picture, true_places, 9, pictures.BLUE, 2)
    pictures.draw_dots(picture, pictures.places(list(centres), work, picture))
    count = true_count(sample)
    truth = "no usable truth" if count is None else f"truth {count}"
    # OpenCV's detector may differ between versions: the number that was scored is never hidden.
    scored = "" if answer.count == len(centres) else f", {answer.count} when it was scored"
    return Tile(picture, f"counted {len(centres)}{scored}; {truth}")
