"""A model's wrapper as its job starts it, and wrappers written for one test."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from gensight.models import Part, Site, Turn
from gensight.models.external_command import WRAPPERS, open_model
from gensight.specs.model import LimitsSpec

ROOT = Path(__file__).resolve().parents[2]
GENERATION = {
    "wrapper": "made",
    "wrapper_version": 1,
}
LIMITS = {"start_timeout_s": 60.0, "answer_timeout_s": 60.0}
FORM = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}


def generation_of(model):
    """Return the generation block of a shipped model."""
    return yaml.safe_load((ROOT / f"config/models/{model}.yaml").read_text())["generation"]


def picture(width=8, height=6):
    """Return a PNG in which every pixel differs from its neighbours."""
    levels = np.arange(width * height * 3, dtype=np.uint32) * 7 % 256
    stream = io.BytesIO()
    Image.fromarray(levels.reshape(height, width, 3).astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def turn(*parts, seed=1):
    """Return a turn of texts and pictures; a picture and a text where none is given."""
    kinds = [
        Part("image", image=part) if isinstance(part, bytes) else Part("text", text=part)
        for part in parts or (picture(), "Paint it.")
    ]
    return Turn(tuple(kinds), FORM, seed=seed)


def write_wrapper(root, answer, *, load="", setup="{}", version=1, name="made"):
    """Write a wrapper below `root` from the bodies of its functions."""
    folder = root / WRAPPERS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "protocol.py").write_text((ROOT / WRAPPERS / "protocol.py").read_text())
    parts = [
        "import os, sys, time, signal, subprocess\nimport protocol\n",
        "class Model:",
        f"    setup = {setup}",
        "    def __init__(self, generation):\n        self.generation = generation",
        textwrap.indent(textwrap.dedent(load), " " * 8),
        "    def answer(self, turn):",
        textwrap.indent(textwrap.dedent(answer), " " * 8),
        f'if __name__ == "__main__":\n    protocol.serve({version}, Model)',
    ]
    (folder / f"{name}.py").write_text("\n".join(parts) + "\n")


def opened(root, limits=LIMITS, **generation):
    """Open the wrapper that a test has written below `root`."""
    site = Site(root=root, limits=LimitsSpec(**limits))
    return open_model({**GENERATION, **generation}, [], site)
