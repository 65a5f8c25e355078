"""Counting finished cells: done/total, the cell, answers read and failed, elapsed, time to go."""

from __future__ import annotations

import sys
import time
from logging import LogRecord
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

#: A cell is finished when its scores are written.
CELL_RULE = "score"


class LogHandler(LogHandlerBase):
    """Follows the main process's events; every other record is left to Snakemake's own logger."""

    def __post_init__(self) -> None:
        self._total = 0
        self._done = 0
        self._failed = 0
        self._outputs: dict[int, str] = {}
        self._started = time.monotonic()

    def emit(self, record: LogRecord) -> None:
        """Print a line for a cell that ended."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._total = int(record.__dict__["stats"].get(CELL_RULE, 0))
            self._started = time.monotonic()
        elif event == LogEvent.JOB_INFO and record.__dict__.get("rule_name") == CELL_RULE:
            self._outputs[record.__dict__["jobid"]] = str(record.__dict__["output"][0])
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record.__dict__.get("job_id"), self._readings)
        elif event == LogEvent.JOB_ERROR:
            self._finish(record.__dict__.get("jobid"), self._failure)

    def _finish(self, job: Any, describe: Any) -> None:
        output = self._outputs.pop(job, None)
        if output is None:
            return
        self._done += 1
        elapsed = time.monotonic() - self._started
        left = elapsed / self._done * max(self._total - self._done, 0)
        cell = "/".join(output.split("/")[2:5])
        print(
            f"[{self._done}/{self._total}] {cell}: {describe(output)}, "
            f"elapsed {_clock(elapsed)}, to go {_clock(left)}",
            file=sys.stderr,
            flush=True,
        )

    @staticmethod
    def _readings(output: str) -> str:
        """Return how many answers of a cell could be read; several readings count once."""
        import pyarrow.parquet as pq

        columns = ["sample_id", "repeat", "severity", "status"]
        rows = pq.read_table(output, columns=columns).to_pylist()
        answers = {(r["sample_id"], r["repeat"], r["severity"]): r["status"] for r in rows}
        ok = sum(status == "ok" for status in answers.values())
        return f"{ok} ok, {len(answers) - ok} failed"

    @staticmethod
    def _failure(output: str) -> str:
        return "job failed (see its log)"

    # It prints beside Snakemake's own stream logger instead of replacing it.
    writes_to_stream = False
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
