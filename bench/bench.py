"""Measure speed and size against the project's limits; write bench.json.

Times are ratios of interleaved repetitions in one run, so they compare between machines; run it on
an otherwise idle one. Exit code 1 when a limit is missed.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import columns
import cv2
import memory
import numpy as np
import pipeline
import pixels
import speed
from timing import Measurement

OUTPUT = Path(__file__).resolve().parents[1] / "bench.json"

# Each entry yields measurements with their limits; one module per subject.
MEASUREMENTS: tuple[Callable[[], Iterator[Measurement]], ...] = (
    speed.mask_path,
    speed.binarisers_path,
    speed.depth_path,
    speed.counting_path,
    pixels.pia_path,
    pixels.pia_benchmark,
    memory.reading_memory,
    columns.cells,
    pipeline.empty_cells,
    pipeline.nothing_to_do,
    pipeline.whole_plan,
)


def main() -> int:
    """Run every measurement, print a line each, and write them all to bench.json."""
    rows = []
    for measurement in MEASUREMENTS:
        for result in measurement():
            rows.append(result.as_row())
            limit = "" if result.limit is None else f" (limit {result.limit:g})"
            print(
                f"{result.name:16} {result.measured:8.3f} {result.unit}{limit}: {result.verdict}",
                flush=True,
            )
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "opencv": cv2.__version__,
        "machine": platform.machine(),
    }
    OUTPUT.write_text(json.dumps({"machine": machine, "results": rows}, indent=2) + "\n")
    return int(any(row["verdict"] == "over" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
