"""Synthetic twins: the files of the data sets in their true form, holding built-in scenes instead.

A twin lets every reader run where the data set may not be had: same folders, names, codings and
traps, none of its pixels or texts. Each data set has a module here with

    write(root: Path, scenes: Sequence[Sample]) -> None

which lays the scenes of its task into `root` and marks it (`_disk.TWIN_MARK`), so that a twin is
never taken for the data set. Twins follow from the number of scenes alone, byte for byte.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from gensight.datasets import scenes
from gensight.datasets._disk import TWIN_MARK
from gensight.errors import GensightError
from gensight.records import Sample
from gensight.specs import declared

__all__ = ["TASKS", "write_twin"]

#: The task whose scenes a data set's twin holds.
TASKS = {
    "nyuv2": "depth",
    "diode": "depth",
    "scannet": "depth",
    "kitti": "depth",
    "refcoco": "segmentation",
    "reasonseg": "segmentation",
    "dram": "segmentation",
    "manga109": "segmentation",
    "pixmo_points": "counting",
}
# Not the seed of the demo: a twin shall not repeat its rows.
SCENES = {"seed": 109, "width": 384, "height": 288}


def write_twin(
    folder: Path, n: int, *, overwrite: bool = False, tasks: Mapping[str, str] = TASKS
) -> list[str]:
    """Write the twins of the data sets of `tasks` with n scenes each; return their names.

    Each lies in `folder` under the name that it has below a data root. `overwrite` removes twins
    that lie there, and nothing else ever.

    Raises:
        GensightError: a folder is there already and is not a twin that may be overwritten, or
            cannot be written.
    """
    places = {name: folder / declared.constants("datasets", name)["FOLDER"] for name in tasks}
    try:
        for place in places.values():
            _check(place, overwrite)
        _write(places, n, tasks)
    except OSError as error:
        raise GensightError(
            f"{folder}: twins cannot be written there ({error.strerror}: {error.filename}); name "
            f"another folder"
        ) from None
    return list(places)


def _write(places: Mapping[str, Path], n: int, tasks: Mapping[str, str]) -> None:
    drawn: dict[str, list[Sample]] = {}
    for name, place in places.items():
        task = tasks[name]
        if task not in drawn:
            drawn[task] = list(scenes.iter_samples({**SCENES, "task": task}, range(n)))
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(parents=True)
        importlib.import_module(f"{__name__}.{name}").write(place, drawn[task])


def _check(place: Path, overwrite: bool) -> None:
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not (place / TWIN_MARK).is_file():
        raise GensightError(f"{place} is there and is no twin; name another folder")
    if not overwrite:
        raise GensightError(f"{place} holds a twin; name another folder, or add --overwrite")
