"""Data sets: one module each, found by its name, that turns parameters into samples.

A dataset module declares, as literals at its top level, `VERSION: int` and `DEFAULTS: dict` (every
parameter with its default; None accepts any type), and offers

    iter_samples(parameters: Mapping[str, Any], ranks: Iterable[int]) -> Iterator[Sample]

and, where they apply, `population(parameters) -> int` (`n: all` needs it),
`missing_data(parameters) -> str | None` (what `gensight doctor` says) and the literal `FACTS` (by
task, printed in the notes of tables).

`parameters` are the defaults with the benchmark's `dataset.parameters` over them. Samples come in
the order of `ranks`. The sample of a rank depends on the parameters and that rank alone, never on
the other ranks: asking for more samples leaves the earlier ones as they were. A module whose data
are not where the parameters say raises MissingDataError with what to get.
"""

from __future__ import annotations

from types import ModuleType

from gensight import modules
from gensight.specs import declared

__all__ = ["available", "load"]


def available() -> tuple[str, ...]:
    """Return the names of the data set modules of this folder."""
    return declared.names("datasets")


def load(name: str) -> ModuleType:
    """Return the data set module of this name.

    Raises:
        SpecError: there is no such module; the message lists those there are.
    """
    return modules.load("datasets", name)
