"""Reference answers in palette grids: the truth drawn, the truth spoilt, and nothing drawn at all.

    drawer      pixelates the sample's drawing: what the interface can hold at its best
    flat_grid   one colour, whatever is asked: sees nothing
    noise_grid  cells dealt by chance, the same for the same sample: valid, and shows nothing

A drawer's `grid_disturbance` spoils the picture before it is cut to eight colours: `collapse` draws
at so many times fewer cells a side, `turn` by so many degrees, `fade` mixes in so many per cent of
white. An answer about several icons draws each under its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from gensight import images
from gensight.digests import canonical_json, seed_of
from gensight.errors import GensightError, SpecError
from gensight.models import Outcome, Reply, Turn
from gensight.models.reference.canvas import WHITE, known_truth
from gensight.pixels.palette_grid import PaletteGrid
from gensight.pixels.quantisation import median_cut
from gensight.pixels.resampling import box_reduced

if TYPE_CHECKING:
    from gensight.records import Sample

NOISE_COLOURS = 8


def asked_size(turn: Turn, method: str) -> int:
    """Return the cells of a side that a turn asks for.

    Raises:
        GensightError: it asks for no grid.
    """
    form = turn.answer_form
    if form.get("content") != "palette_grid":
        raise GensightError(
            f"reference method '{method}' answers with a palette grid, and the prompt asks for "
            f"'{form.get('content', form['kind'])}'; set `tasks` in the model's YAML"
        )
    return int(form["size"])


def as_asked(turn: Turn, grids: Sequence[PaletteGrid]) -> Reply:
    """Return grids in the shape that a turn asks for: one alone, or each under its label."""
    if turn.answer_form["shape"] == "grid":
        return Reply(outcome=Outcome.OK, text=grids[0].text())
    entries = [
        {"label": sample.query, "palette": grid.hex_colours(), "pixels": grid.rows()}
        for sample, grid in zip(about(turn), grids, strict=True)
    ]
    return Reply(outcome=Outcome.OK, text=canonical_json({"images": entries}))


def about(turn: Turn) -> list[Sample]:
    """Return the samples of a turn; GensightError where it carries none."""
    return [known_truth(turn), *turn.companions]


class Drawer:
    """Pixelates the drawing of every sample that is asked for, spoilt if the block says so."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.disturbance = settings["grid_disturbance"]
        for severity in settings["severities"]:
            _check_severity(self.disturbance, severity)

    def answer(self, turn: Turn) -> Reply:
        """Return the drawings as grids.

        Raises:
            GensightError: a sample has no drawing, or the turn asks for something else.
            SpecError: the disturbance has no such severity.
        """
        _check_severity(self.disturbance, turn.severity)
        size = asked_size(turn, "drawer")
        drawings = [drawing_of(sample) for sample in about(turn)]
        return as_asked(turn, [self._grid(drawing, size, turn.severity) for drawing in drawings])

    def _grid(self, drawing: np.ndarray, size: int, severity: float | None) -> PaletteGrid:
        if self.disturbance is None or not severity:
            return median_cut(box_reduced(drawing, size))
        if self.disturbance == "collapse":
            return collapsed(drawing, size, int(severity))
        if self.disturbance == "turn":
            turned = Image.fromarray(drawing).rotate(
                severity, resample=Image.Resampling.BICUBIC, fillcolor=WHITE
            )
            return median_cut(box_reduced(np.asarray(turned), size))
        share = severity / 100
        faded = np.rint((1 - share) * drawing + share * 255).astype(np.uint8)
        return median_cut(box_reduced(faded, size))


def _check_severity(disturbance: str | None, severity: float | None) -> None:
    """Refuse what a disturbance cannot do; 0 and none leave the drawing as it is."""
    allowed = {
        "collapse": (lambda s: s == int(s), "a whole number of times"),
        "fade": (lambda s: s <= 100, "at most 100 per cent"),
    }
    fits, told = allowed.get(disturbance or "", (lambda s: True, ""))
    if severity and not fits(severity):
        raise SpecError(
            f"generation: severities: {severity} is no severity of '{disturbance}'; write {told}"
        )


def collapsed(drawing: np.ndarray, size: int, factor: int) -> PaletteGrid:
    """Return a grid of `size` cells a side that shows no more than one of `size / factor` could.

    A factor that does not divide the size leaves narrower blocks at the far edges.
    """
    small = median_cut(box_reduced(drawing, -(-size // factor)))
    cells = small.cells.repeat(factor, axis=0).repeat(factor, axis=1)[:size, :size]
    return PaletteGrid(small.palette, np.ascontiguousarray(cells))


def drawing_of(sample: Sample) -> np.ndarray:
    """Return a sample's drawing over white, uint8 (H, W, 3) RGB.

    Raises:
        GensightError: it has none.
    """
    if sample.target_image is None:
        raise GensightError(
            f"sample '{sample.sample_id}': target_image is missing, so a reference model cannot "
            f"draw it; ask a benchmark whose data set has drawings"
        )
    return images.decode_rgb(sample.target_image["bytes"], matte=WHITE)


class FlatGrid:
    """Answers with one colour."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        self.level = settings["level"]

    def answer(self, turn: Turn) -> Reply:
        """Return grids of one grey level."""
        size = asked_size(turn, "flat_grid")
        palette = ((self.level,) * 3, (0, 0, 0))
        flat = PaletteGrid(palette, np.zeros((size, size), np.uint8))
        return as_asked(turn, [flat for _ in about(turn)])


class NoiseGrid:
    """Answers with cells dealt by chance, from a digest of the sample alone."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return grids of eight colours and no order."""
        size = asked_size(turn, "noise_grid")
        return as_asked(turn, [_noise(sample.sample_id, size) for sample in about(turn)])


def _noise(sample_id: str, size: int) -> PaletteGrid:
    dealt = np.random.default_rng(seed_of("noise grid", sample_id, size))
    palette = tuple(map(tuple, dealt.integers(0, 256, (NOISE_COLOURS, 3)).tolist()))
    return PaletteGrid(palette, dealt.integers(0, NOISE_COLOURS, (size, size), np.uint8))


class FirstOption:
    """Answers every question with its first letter: right as often as chance."""

    fit_digest = ""

    def __init__(self, settings: Mapping[str, Any], held_out: Sequence[Sample] = ()) -> None:
        pass

    def answer(self, turn: Turn) -> Reply:
        """Return the letter A."""
        return Reply(outcome=Outcome.OK, text="A")
