"""What `gensight data check` looks at: the files of each data set, counted, none decoded in vain.

A data set is `missing` where its folder is not there, empty, or a twin where the real one is asked
for (or the other way round); `partial` where something of it is not there, or the number found is
not the number that it ships; else `present`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gensight import datasets
from gensight.cli.checkout import default_parameters, parameters_of
from gensight.datasets._disk import TWIN_MARK, advised
from gensight.errors import AbsentDataError, GensightError
from gensight.licences import LICENCES
from gensight.specs.declared import disk_modules
from gensight.specs.project import Project

MISSING, PARTIAL, PRESENT = "missing", "partial", "present"


@dataclass(frozen=True)
class Holding:
    """A data set as one benchmark reads it (as its defaults say where `benchmark` is None).

    `found` and `expected` count items; `drawable` is how many of them can be drawn where pictures
    may be missing one by one. `lack` says in one line what is wrong.
    """

    module: str
    benchmark: str | None
    needed: bool
    folder: str
    state: str
    found: int | None
    expected: int | None
    drawable: int | None
    lack: str | None
    licence: str
    may_show: bool
    source: str


def examine_data(project: Project) -> list[Holding]:
    """Return every data set on disk, once for each benchmark that reads it."""
    holdings = []
    for module in disk_modules():
        users = [n for n, spec in project.benchmarks.items() if spec.dataset.module == module]
        holdings += [_holding(project, module, user) for user in users or [None]]
    return holdings


def _holding(project: Project, name: str, benchmark: str | None) -> Holding:
    module = datasets.load(name)
    folder = project.data_folder(name)
    counts: dict[str, Any] = {"found": None, "expected": None, "drawable": None}
    try:
        parameters = (
            parameters_of(project, benchmark) if benchmark else default_parameters(project, name)
        )
        lack = _count(project, module, parameters, benchmark, counts)
        state = PARTIAL if lack else PRESENT
        if lack and not _holds_it(folder, parameters["twin"]):
            state = MISSING
    except GensightError as error:  # a wrong parameter or manifest of one benchmark stops no other
        state, lack = PARTIAL, str(error)
    licence = LICENCES[module.LICENCE]
    return Holding(
        module=name,
        benchmark=benchmark,
        needed=benchmark in project.config.run.benchmarks,
        folder=_shown(project, folder),
        state=state,
        **counts,
        lack=lack,
        licence=licence.name,
        may_show=licence.may_show,
        source=module.SOURCE,
    )


def _count(
    project: Project,
    module: ModuleType,
    parameters: dict[str, Any],
    benchmark: str | None,
    counts: dict[str, Any],
) -> str | None:
    """Fill in the counts; return what is wrong with the files, or None."""
    try:
        with advised(parameters):
            if not parameters["twin"]:
                counts["expected"] = module.expected_count(parameters)
            # With a manifest the items are those of the manifest, and the whole is not counted.
            whole = {key: value for key, value in parameters.items() if key != "manifest"}
            counts["found"] = len(module.list_items(whole))
        lack = module.missing_data(parameters)
        if lack:
            return lack
        _check_whole(parameters, counts)
        if hasattr(module, "available"):
            return _count_drawable(project, module, parameters, benchmark, counts)
    except GensightError as error:
        return str(error)
    return None


def _check_whole(parameters: dict[str, Any], counts: dict[str, Any]) -> None:
    found, expected = counts["found"], counts["expected"]
    with advised(parameters):
        if expected not in (None, found):
            raise AbsentDataError(f"{found} found where the data set ships {expected}")


def _count_drawable(
    project: Project,
    module: ModuleType,
    parameters: dict[str, Any],
    benchmark: str | None,
    counts: dict[str, Any],
) -> str | None:
    counts["drawable"] = drawable = module.available(parameters)
    n = project.n(benchmark) if benchmark else 1
    least = 1 if isinstance(n, str) else n
    if drawable < least:
        command = f"gensight data urls {benchmark or module.FOLDER}"
        return f"{drawable} samples can be drawn, {least} are asked for; more pictures: {command}"
    return None


def _holds_it(folder: Path, twin: bool) -> bool:
    """Say whether a folder holds anything of the data set, or of its twin where that is asked."""
    return folder.is_dir() and any(folder.iterdir()) and (folder / TWIN_MARK).exists() == twin


def _shown(project: Project, folder: Path) -> str:
    """Return a folder as the user calls it: from the root where it lies below it."""
    return str(folder.relative_to(project.root) if folder.is_relative_to(project.root) else folder)
