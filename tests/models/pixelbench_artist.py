"""What hosted models say to PixelBench: grids, letters and points, by a script.

A model of the script draws with our own drawings and reduces what it is shown; how coarsely, and
how often it names the right letter, is its skill. The judge gives points by the picture alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fakes.billing import Asked, Painted
from PIL import Image

from gensight.datasets import icons
from gensight.models.reference.drawers import collapsed
from gensight.pixels.palette_grid import PaletteGrid
from gensight.records import Prediction, RowFile, Sample

JUDGE = "gemini-3.5-flash"
MOST = {
    "subject_identity": 20,
    "defining_attributes": 25,
    "structure_proportion": 20,
    "detail_quality": 20,
    "pixel_art_execution": 10,
    "palette_contrast": 5,
}
SIZE = re.compile(r"(\d+) by \d+ cells")
SAMPLE_ID = re.compile(r'"sample_id": "([^"]*)"')
LABELS = re.compile(r"in the order of the lines\.\n\n(.*?)\n\nYour whole reply", re.DOTALL)
OPTION = re.compile(r"^([A-J])\. (.*)$", re.MULTILINE)
GRID = re.compile(r'\{"palette".*\}')
#: The share of pictures of which the judge first says nothing that can be read.
MUMBLED = 0.05


@dataclass(frozen=True)
class Skill:
    """How a model of the script answers.

    `blocks`: so many cells a side are one, in what it draws. `right`, `shuffled`: its share of
    right letters, of grids and of shuffled ones. `slips` maps a size to how its grid of the first
    sample of a benchmark goes wrong: `prose`, `fence`, `short` (a row is missing) or `flat`.
    """

    blocks: int
    right: float
    shuffled: float = 0.2
    slips: Mapping[int, str] = field(default_factory=dict)


#: By the id that is asked for.
SKILLS = {
    "gpt-6-astra": Skill(1, 0.9, slips={32: "prose"}),
    "gpt-5.6-sol": Skill(1, 0.8),
    "claude-opus-5": Skill(2, 0.7, slips={16: "short"}),
    "gemini-3.6-flash": Skill(2, 0.6, slips={32: "flat", 64: "flat"}),
    "deepseek-v4-pro": Skill(8, 0.3, slips={64: "fence"}),
}


class Artist:
    """Answers the requests of a checkout whose results are in a folder."""

    def __init__(self, results: Path) -> None:
        self.shelf = Shelf(results)

    def __call__(self, asked: Asked) -> Painted:
        """Answer a request of any model."""
        if asked.model == JUDGE:
            return Painted(text=points(asked))
        if OPTION.search(asked.text):
            return Painted(text=self._letter(asked))
        return Painted(text=self._grid(asked))

    def _grid(self, asked: Asked) -> str:
        size = int(SIZE.search(asked.text)[1])
        skill = SKILLS[asked.model]
        labels = LABELS.search(asked.text)
        picture = _drawn(labels[1]) if labels else _shown(asked)
        subject = labels[1] if labels else SAMPLE_ID.search(asked.text)[1]
        slip = skill.slips.get(size) if subject in self.shelf.firsts() else None
        said = _said(collapsed(picture, size, skill.blocks), slip)
        said = {"label" if labels else "sample_id": subject, **said}
        text = json.dumps({"images": [said]} if labels else said)
        if slip == "prose":
            return f"Here is the icon: {text}"
        return f"```json\n{text}\n```" if slip == "fence" else text

    def _letter(self, asked: Asked) -> str:
        options = tuple(name for _, name in OPTION.findall(asked.text))
        skill, grid = SKILLS[asked.model], GRID.search(asked.text)
        share = 0.1 if grid is None else skill.shuffled
        if grid is not None and grid[0] in self.shelf.grids():
            share = skill.right
        drawn = dealt(asked.model, asked.text)
        is_known = drawn[0] < share * 256
        return self.shelf.letters()[options] if is_known else "ABCDEFGHIJ"[drawn[1] % 10]


class Shelf:
    """What the results of a checkout hold, read again where a file is new."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self._guard = threading.Lock()
        self._read: dict[Path, list[Any]] = {}

    def firsts(self) -> set[str]:
        """Return the labels and ids of the first samples, whose grids go wrong."""
        return {
            name
            for path in self.results.glob("samples/*.parquet")
            for row in self._rows(path, Sample)
            if row.rank == 0
            for name in (row.query, row.sample_id)
        }

    def letters(self) -> dict[tuple[str, ...], str]:
        """Return the right letter by the ten options."""
        return {
            tuple(row.options): row.target_text
            for path in self.results.glob("samples/*understanding*.parquet")
            for row in self._rows(path, Sample)
        }

    def grids(self) -> set[str]:
        """Return the grids that were read of pictures, as questions about them quote them."""
        return {
            row.text
            for path in self.results.glob("predictions/*/pixelbench_i2p/*/grid.parquet")
            for row in self._rows(path, Prediction)
        }

    def _rows(self, path: Path, kind: type) -> list[Any]:
        with self._guard:
            if path not in self._read:
                self._read[path] = list(RowFile(path, kind))
            return self._read[path]


def points(asked: Asked) -> str:
    """Return a judge's points: by the picture alone, and one less when it is judged again.

    Of some pictures the first reply is no JSON.
    """
    (picture,) = asked.pictures
    drawn = dealt(hashlib.sha256(picture).hexdigest())
    mumbles = drawn[-1] < MUMBLED * 256
    if mumbles and asked.attempt == 0:
        return "I would call it a fine icon."
    again = asked.attempt > mumbles
    given = {
        name: {"score": max(level % (most + 1) - again, 0), "reason": "seen"}
        for level, (name, most) in zip(drawn, MOST.items(), strict=False)
    }
    told = {"observed_subject": "a thing", **given, "confidence": "low", "failure_flags": []}
    return json.dumps(told)


def _said(grid: PaletteGrid, slip: str | None) -> dict[str, Any]:
    """Return a grid as it is said: of one colour, or a row short, if it slips so."""
    cells = np.zeros_like(grid.cells) if slip == "flat" else grid.cells
    rows = PaletteGrid(grid.palette, cells).rows()
    return {"palette": grid.hex_colours(), "pixels": rows[:-1] if slip == "short" else rows}


@cache
def _drawn(label: str) -> np.ndarray:
    """Return our own drawing of a label, or of another thing where there is none of it."""
    known = label if label in icons.LABELS else icons.LABELS[dealt(label)[0] % len(icons.LABELS)]
    return icons.draw(known, "first", 256)


def _shown(asked: Asked) -> np.ndarray:
    (picture,) = asked.pictures
    with Image.open(io.BytesIO(picture)) as opened:
        return np.asarray(opened.convert("RGB"))


def dealt(*words: str) -> bytes:
    """Return bytes that follow from some words."""
    return hashlib.sha256("\n".join(words).encode()).digest()


class Scripted:
    """What makes a fake answer by the model that is asked, as painters cannot."""

    artist: Artist

    def success(self, asked: Asked, painted: Painted, fault: Any) -> Any:
        """Answer by the script, whatever was painted."""
        return super().success(asked, self.artist(asked), fault)  # type: ignore[misc]
