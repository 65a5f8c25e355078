"""Data sets: one module each, found by its name, that turns parameters into samples.

A dataset module declares, as literals at its top level, `VERSION: int` and `DEFAULTS: dict` (every
parameter with its default; None accepts any type), and offers

    iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]

`parameters` are the defaults with the benchmark's `dataset.parameters` over them. Samples come in
the order of `ranks`. The sample of a rank depends on the parameters and that rank alone, never on
the other ranks: asking for more samples leaves the earlier ones as they were. A module whose data
are not where the parameters say raises MissingDataError with what to get.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from gensight.errors import SpecError

__all__ = ["available", "load"]


def available() -> tuple[str, ...]:
    """Return the names of the data set modules of this folder."""
    folder = Path(__file__).parent
    modules = {path.stem for path in folder.glob("*.py")}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return tuple(sorted(name for name in modules | packages if not name.startswith("_")))


def load(name: str) -> ModuleType:
    """Return the data set module of this name.

    Raises:
        SpecError: there is no such module; the message lists those there are.
    """
    if name not in available():
        known = ", ".join(available())
        raise SpecError(f"src/gensight/datasets: no data set module {name!r}; there are {known}")
    return importlib.import_module(f"{__name__}.{name}")
