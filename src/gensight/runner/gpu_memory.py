"""What other processes hold of the GPUs' memory, as NVIDIA's driver tells it (`nvidia-smi`).

For servers: torch counts what its own process holds, and a server is another process, often
several. What they hold between two requests is what they held during them: vLLM takes its share at
the start and keeps it.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass

from gensight.runner.clock import Clock, SystemClock

QUERY = ("nvidia-smi", "--query-compute-apps=pid,used_memory,gpu_name")
FORMAT = "--format=csv,noheader,nounits"
#: How long the driver may take, and how often it is asked at most.
TIMEOUT_S, LOOK_EVERY_S = 20.0, 5.0
#: So often in a row it may fail to answer in time.
PATIENCE = 3
BYTES_PER_MIB, BYTES_PER_GB = 2**20, 10**9


@dataclass(frozen=True)
class Held:
    """What processes hold: GB of 1e9 bytes over all GPUs, and the GPUs' name; None: not known."""

    memory_gb: float | None = None
    device: str | None = None


class NoDriverError(Exception):
    """There is no `nvidia-smi`."""


class BusyDriverError(Exception):
    """The driver did not answer in time, as may happen while weights load."""


class HeldMemory:
    """The GPU memory of processes, looked up now and then; `read` may be called by many threads.

    `processes` returns the ids of those that count. A driver that is not there is not asked again,
    nor one that did not answer several times in a row; what was known stands meanwhile.
    """

    def __init__(self, processes: Callable[[], Set[int]], clock: Clock | None = None) -> None:
        self._processes, self._clock = processes, clock or SystemClock()
        self._guard = threading.Lock()
        self._looked_at: float | None = None
        self._found, self._patience = Held(), PATIENCE

    def read(self) -> Held:
        """Return what they hold, at most `LOOK_EVERY_S` seconds ago."""
        with self._guard:
            now = self._clock.monotonic()
            is_due = self._looked_at is None or now - self._looked_at >= LOOK_EVERY_S
            if is_due and self._patience > 0:
                self._looked_at = now
                try:
                    self._found, self._patience = held_by(self._processes()), PATIENCE
                except BusyDriverError:
                    self._patience -= 1
                except NoDriverError:
                    self._patience = 0
            return self._found


def held_by(processes: Set[int]) -> Held:
    """Return what processes hold now.

    Not known where the driver fails, knows none of the processes (they do not use a GPU, or run
    under other ids in a container), or tells no number of one of them.

    Raises:
        NoDriverError: nobody can be asked.
        BusyDriverError: nobody answered.
    """
    rows = [row for row in _rows() if row[0] in processes]
    if not rows:
        return Held()
    device = " + ".join(sorted({name for *_, name in rows}))
    if any(used is None for _, used, _ in rows):
        return Held(device=device)
    mib = sum(used for _, used, _ in rows if used is not None)
    return Held(mib * BYTES_PER_MIB / BYTES_PER_GB, device)


def _rows() -> Iterator[tuple[int, int | None, str]]:
    """Yield every process on a GPU: its id, MiB that it holds there, the GPU's name."""
    try:
        told = subprocess.run(
            [*QUERY, FORMAT], capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        ).stdout
    except OSError as error:
        raise NoDriverError(str(error)) from None
    except subprocess.TimeoutExpired as error:
        raise BusyDriverError(str(error)) from None
    except subprocess.SubprocessError:
        return
    for line in told.splitlines():
        pid, used, name = [*(word.strip() for word in line.split(",", 2)), "", ""][:3]
        if pid.isdigit() and name:
            yield int(pid), int(used) if used.isdigit() else None, name
