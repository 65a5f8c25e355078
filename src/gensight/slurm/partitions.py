"""The partitions of a cluster: which of them has what a model's job needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gensight.errors import GensightError
from gensight.slurm import commands
from gensight.slurm.jobs import JobNeeds

#: One generic resource of a node: gpu:4, gpu:a100:4, gpu:a100:4(S:0-1).
GPUS = re.compile(r"(?:^|,)gpu(?::[^,:()]+)?:(\d+)")
#: Slurm's writing of a time: days-hours:minutes:seconds, shortened from the left.
TIME = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)")
MINUTES_PER_DAY, MINUTES_PER_HOUR = 24 * 60, 60


@dataclass(frozen=True)
class Partition:
    """A partition that takes jobs. `gpus` is the most that one of its nodes has.

    `longest_minutes` is None where it sets no limit.
    """

    name: str
    gpus: int = 0
    longest_minutes: int | None = None
    is_default: bool = False

    def suits(self, gpus: int, minutes: int) -> bool:
        """Say whether one of its nodes can run a job of so many GPUs for so long."""
        return self.gpus >= gpus and minutes <= (self.longest_minutes or minutes)


@cache
def partitions() -> tuple[Partition, ...]:
    """Return the partitions of the cluster; none where there is no Slurm, or it does not answer."""
    if not commands.is_here("sinfo"):
        return ()
    try:
        return read(commands.rows("sinfo", "PGla"))
    except GensightError:
        return ()


def read(rows: Iterable[Sequence[str]]) -> tuple[Partition, ...]:
    """Read sinfo's rows (name, generic resources, time limit, availability).

    A partition has several rows where its nodes differ; the default one is marked with a star.
    """
    found: dict[str, Partition] = {}
    for marked, resources, limit, availability in rows:
        name = marked.removesuffix("*")
        gpus = sum(int(number) for number in GPUS.findall(resources))
        before = found.get(name, Partition(name))
        if availability == "up":
            found[name] = Partition(name, max(gpus, before.gpus), _minutes(limit), name != marked)
    return tuple(found.values())


def _minutes(limit: str) -> int | None:
    match = TIME.fullmatch(limit)
    if match is None:  # "infinite", "n/a"
        return None
    days, hours, minutes, _ = (int(part or 0) for part in match.groups())
    return days * MINUTES_PER_DAY + hours * MINUTES_PER_HOUR + minutes


def with_gpus(
    asked: str | None, needs: JobNeeds, known: Sequence[Partition], rule: str
) -> str | None:
    """Return the partition of a job of a rule, given the one that the run asks for all jobs.

    `asked` (None: the cluster's default; may list several) is kept if it has what the jobs need, or
    if nothing is known better: Slurm then says why it refuses them.

    Raises:
        GensightError: it has not, and several others have.
    """
    names = _names(asked, known)
    suited = [
        partition.name for partition in known if partition.suits(needs.gpus, needs.runtime_minutes)
    ]
    if needs.gpus == 0 or not suited or set(names) & set(suited):
        return asked
    if len(suited) > 1:
        raise GensightError(
            f"{needs.name}: its jobs need a GPU for {needs.runtime_minutes} minutes: "
            f"{', '.join(names)} has none, and several partitions have ({', '.join(suited)}); "
            f"choose one: --set-resources {rule}:slurm_partition={suited[0]}"
        )
    return suited[0]


def at_most(minutes: int, attempt: int, asked: str | None, known: Sequence[Partition]) -> int:
    """Return the time of a job at its n-th attempt: n times as much, if the partition gives that.

    `asked` as in `with_gpus`. Slurm leaves a job that asks for more waiting for ever.
    """
    names = _names(asked, known)
    given = [partition.longest_minutes for partition in known if partition.name in names]
    if not given or None in given:
        return minutes * attempt
    return max(minutes, min(minutes * attempt, *(longest for longest in given if longest)))


def _names(asked: str | None, known: Sequence[Partition]) -> list[str]:
    return asked.split(",") if asked else [each.name for each in known if each.is_default]
