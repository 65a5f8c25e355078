"""Sampling: the first n ranks of a data set, and the held-out ranks behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from gensight import datasets
from gensight.errors import SpecError
from gensight.records import Sample, write_rows


def sample(output: str, determinants: Mapping[str, Any]) -> int:
    """Write a benchmark's samples; return their number.

    A sample of rank r is the same whatever n is: a larger n only adds ranks.
    """
    return write_rows(output, Sample, _samples(determinants), determinants)


def _samples(plan: Mapping[str, Any]) -> Iterator[Sample]:
    module, parameters = datasets.load(plan["dataset"]), plan["parameters"]
    evaluated = set()
    for row in module.iter_samples(parameters, range(_number(plan, module))):
        evaluated.add(row.cluster_id)
        yield row
    held_out = plan["held_out"]
    if held_out:
        ranks = range(held_out["first_rank"], held_out["first_rank"] + held_out["n"])
        for row in module.iter_samples(parameters, ranks):
            _check_unseen(row, evaluated, plan["benchmark"])
            yield replace(row, role="held_out")


def _check_unseen(row: Sample, evaluated: set[str], benchmark: str) -> None:
    """Refuse a held-out sample of an evaluated scene: what is fitted on it would have seen it."""
    if row.cluster_id in evaluated:
        raise SpecError(
            f"config/benchmarks/{benchmark}.yaml: held_out.first_rank: rank {row.rank} belongs to "
            f"the evaluated cluster {row.cluster_id}; raise first_rank to where a cluster begins"
        )


def _number(plan: Mapping[str, Any], module: Any) -> int:
    if plan["n"] != "all":
        return plan["n"]
    number, held_out = module.population(plan["parameters"]), plan["held_out"]
    if held_out and number > held_out["first_rank"]:
        raise SpecError(
            f"config/benchmarks/{plan['benchmark']}.yaml: n: 'all' of '{plan['dataset']}' are "
            f"{number} samples, which reach into the held-out ranks; give a number, or raise "
            f"held_out.first_rank ({held_out['first_rank']})"
        )
    return number
