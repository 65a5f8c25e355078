"""Modules found by name: each folder of extractors, measures, metrics, ... is a room of them."""

from __future__ import annotations

import importlib
from types import ModuleType

from gensight.specs import declared
from gensight.specs.words import unknown


def load(room: str, name: str) -> ModuleType:
    """Import a module of a room of the library, e.g. `mask` of `extractors`.

    Raises:
        SpecError: there is no such module; the message names the nearest and lists all.
    """
    known = declared.names(room)
    if name not in known:
        raise unknown(f"src/gensight/{room}", "module", name, known)
    return importlib.import_module(f"gensight.{room}.{name}")
