"""How things are measured: ratios of interleaved repetitions, and memory of a fresh process."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

REPEATS = 61
READ_PEAK = """
with open("/proc/self/status") as status:
    peak_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(peak_kb / 1024)
"""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measured value beside its limit; a limit of None is for information only."""

    name: str
    what: str
    measured: float
    limit: float | None
    unit: str

    @property
    def verdict(self) -> str:
        """`ok`, `over` or, without a limit, `information`."""
        if self.limit is None:
            return "information"
        return "ok" if self.measured <= self.limit else "over"

    def as_row(self) -> dict[str, Any]:
        """Return the object of bench.json."""
        return asdict(self) | {"measured": round(self.measured, 4), "verdict": self.verdict}


def fastest_s(functions: Sequence[Callable[[], object]], repeats: int = REPEATS) -> list[float]:
    """Return the least seconds of each function; they take turns, so that load falls on all."""
    least = [float("inf")] * len(functions)
    gc.disable()
    try:
        for _ in range(repeats):
            for place, function in enumerate(functions):
                start = time.perf_counter()
                function()
                least[place] = min(least[place], time.perf_counter() - start)
    finally:
        gc.enable()
    return least


def ratio(reference: Callable[[], object], function: Callable[[], object]) -> float:
    """Return how many times longer a function takes than the reference."""
    reference_s, function_s = fastest_s([reference, function])
    return function_s / reference_s


def peak_memory_mb(program: str) -> float:
    """Run a Python program in a fresh process and return its peak resident memory in MiB."""
    finished = subprocess.run(
        [sys.executable, "-c", program + READ_PEAK], capture_output=True, text=True, check=True
    )
    return float(finished.stdout.split()[-1])
