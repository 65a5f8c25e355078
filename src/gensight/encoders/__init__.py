"""Encoders: pictures, and for some of them texts, as vectors whose cosines are compared.

An encoder is one module of this folder. It declares

- `VERSION`, `DEFAULTS` (its settings, among them those of `ENLARGING`), `CHOICES`, `REQUIRED`,
- `READS_TEXT`: whether it embeds texts too, into the space of its pictures,
- `STAND_IN`: whether it only stands in where there are no weights. Nothing published was computed
  with it, so its numbers are never shown beside those of another encoder,
- `open_encoder(settings, root) -> Encoder`, which loads its weights. `settings` are complete, and a
  folder that they name is looked for below `root`.

A vector depends on its picture or text and on nothing else: not on what is embedded along with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from gensight import modules
from gensight.encoders._pictures import enlarged
from gensight.specs import declared

__all__ = ["Encoder", "complete", "enlarged", "load", "names", "open_encoder"]


class Encoder(Protocol):
    """A loaded encoder. `setup` is JSON of how it was made: weights, revision, versions."""

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        ...

    @property
    def setup(self) -> str:
        """Weights, their revision, number type, and the versions of libraries, without paths."""
        ...

    def pictures(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Return the vectors of uint8 (H, W, 3) RGB pictures, float32 (n, d) of unit length.

        No pictures: (0, d). A grid is to be `enlarged` before.

        Raises:
            ValueError: a picture is of another form.
            GensightError: a vector holds NaN or infinity, or is zero.
        """
        ...

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts in the space of pictures, float32 (n, d) of unit length.

        Raises:
            SpecError: the encoder reads no texts.
            GensightError: a text is too long, or has no vector; see `pictures`.
        """
        ...


def names() -> tuple[str, ...]:
    """Return the names of all encoders: the modules of this folder."""
    return declared.names("encoders")


def load(name: str) -> ModuleType:
    """Import an encoder by name; an unknown name is a SpecError that lists the known ones."""
    return modules.load("encoders", name)


def complete(module: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings over a module's defaults; SpecError where the module does not have them so.

    Nothing is imported.
    """
    return declared.merged(f"encoder {module}", "settings", "encoders", module, dict(settings))


def open_encoder(module: str, settings: Mapping[str, Any], root: Path) -> Encoder:
    """Load the encoder of a spec: its module, its settings, and the folder it is run in.

    Raises:
        SpecError: there is no such module, or a setting is wrong.
        GensightError: a package or the weights are not there, or do not fit the model.
    """
    return load(module).open_encoder(complete(module, settings), root)
