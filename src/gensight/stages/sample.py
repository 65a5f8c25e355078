"""Sampling: the first n ranks of a data set, and the held-out ranks behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from gensight import datasets
from gensight.datasets import _manifest
from gensight.digests import digest_of_bytes
from gensight.errors import MissingDataError, SpecError
from gensight.records import Sample, write_rows


def sample(output: str, determinants: Mapping[str, Any], data: str | None = None) -> int:
    """Write a benchmark's samples; return their number.

    A sample of rank r is the same whatever n is: a larger n only adds ranks. `data` is the folder
    of a data set on disk; where it lies changes nothing, so it is no part of the determinants.
    """
    return write_rows(output, Sample, _samples(determinants, data), determinants)


def _samples(plan: Mapping[str, Any], data: str | None) -> Iterator[Sample]:
    module = datasets.load(plan["dataset"])
    parameters = dict(plan["parameters"])
    if hasattr(module, "FOLDER"):
        parameters |= {**_place(plan, data), "source": module.SOURCE, "left_out": _tell}
    try:
        yield from _drawn(plan, module, parameters)
    except MissingDataError as error:
        raise MissingDataError(f"{plan['benchmark']}: {error}") from error


def _tell(sample: str) -> None:
    """Name in the log a sample that cannot be read: the others of the benchmark go on."""
    print(f"left out: {sample}", flush=True)


def _drawn(plan: Mapping[str, Any], module: ModuleType, parameters: dict[str, Any]) -> Any:
    on_disk = hasattr(module, "FOLDER")
    number = _number(plan, module, parameters)
    evaluated = set()
    for row in module.iter_samples(parameters, range(number)):
        evaluated.add(row.cluster_id)
        yield row
    for row in module.iter_samples(parameters, _held_out(plan, module, parameters, number)):
        # What is fitted on held-out samples leaves out the cluster that is asked about, so scenes
        # may be shared where a data set on disk has no others; what is made here always has.
        if row.cluster_id in evaluated and not on_disk:
            raise SpecError(
                f"config/benchmarks/{plan['benchmark']}.yaml: held_out.first_rank: rank {row.rank} "
                f"belongs to the evaluated cluster {row.cluster_id}; raise first_rank to where a "
                f"cluster begins"
            )
        yield replace(row, role="held_out")


def _held_out(
    plan: Mapping[str, Any], module: ModuleType, parameters: Mapping[str, Any], number: int
) -> range:
    """Return the held-out ranks; of a data set on disk those that there are."""
    held_out = plan["held_out"]
    if not held_out:
        return range(0)
    first = held_out["first_rank"]
    last = first + held_out["n"]
    if hasattr(module, "FOLDER"):
        first, last = max(first, number), min(last, module.population(parameters))
    return range(first, last)


def _place(plan: Mapping[str, Any], data: str | None) -> dict[str, Any]:
    place: dict[str, Any] = {} if data is None else {"root": data}
    manifest = plan["manifest"]
    if manifest is None:
        return place
    path = Path(manifest["file"])
    if digest_of_bytes(path.read_bytes()) != manifest["sha256"]:
        raise SpecError(f"{path} has changed since the run was planned; start the run again")
    return {**place, "manifest": _manifest.read_manifest(path)}


def _number(plan: Mapping[str, Any], module: Any, parameters: Mapping[str, Any]) -> int:
    if plan["n"] != "all":
        return plan["n"]
    number, held_out = module.population(parameters), plan["held_out"]
    if held_out and number > held_out["first_rank"] and not hasattr(module, "FOLDER"):
        raise SpecError(
            f"config/benchmarks/{plan['benchmark']}.yaml: n: 'all' of '{plan['dataset']}' are "
            f"{number} samples, which reach into the held-out ranks; give a number, or raise "
            f"held_out.first_rank ({held_out['first_rank']})"
        )
    return number
