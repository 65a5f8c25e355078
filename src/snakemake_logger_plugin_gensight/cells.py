"""Counting finished cells: done/total, the cell, answers read and failed, elapsed, time to go."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from logging import LogRecord
from typing import Any, NamedTuple

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

#: A cell is finished when its scores are written.
CELL_RULE = "score"
#: A cell fails with one of these rules, or with any of those that generate.
STEP_RULES = ("extract", CELL_RULE)


class Job(NamedTuple):
    """One step of a cell; a job that Snakemake tries again keeps its output."""

    rule: str
    output: str
    log: str

    @property
    def cell(self) -> str:
        """Return model/benchmark/prompt: every stage of a cell has them at the same place."""
        return "/".join(self.output.split("/")[2:5])


class LogHandler(LogHandlerBase):
    """Follows the main process's events; every other record is left to Snakemake's own logger."""

    def __post_init__(self) -> None:
        self._total = 0
        self._jobs: dict[Any, Job] = {}
        self._finished: set[str] = set()
        self._failed: dict[str, str] = {}
        self._started = time.monotonic()

    def emit(self, record: LogRecord) -> None:
        """Print a line for a cell that ended; an error in here never reaches Snakemake."""
        try:
            self._follow(getattr(record, "event", None), record.__dict__)
        except Exception:
            self.handleError(record)

    def _follow(self, event: Any, told: Mapping[str, Any]) -> None:
        if event == LogEvent.RUN_INFO:
            self._total = int(told["stats"].get(CELL_RULE, 0))
            self._started = time.monotonic()
        elif event == LogEvent.JOB_INFO and _is_step(told.get("rule_name", "")):
            log = next(iter(told.get("log") or ()), "its log")
            self._jobs[told["jobid"]] = Job(told["rule_name"], str(told["output"][0]), str(log))
        elif event == LogEvent.JOB_FINISHED and told["job_id"] in self._jobs:
            self._finish(self._jobs[told["job_id"]])
        elif event == LogEvent.JOB_ERROR and told["jobid"] in self._jobs:
            self._fail(self._jobs[told["jobid"]])

    def _finish(self, job: Job) -> None:
        self._failed.pop(job.output, None)
        if job.rule == CELL_RULE and job.output not in self._finished:
            self._finished.add(job.output)
            self._print(job, _readings(job.output))

    def _fail(self, job: Job) -> None:
        """Say that a cell failed once, however many shards, tries or later steps fail with it."""
        is_news = job.cell not in self._failed.values()
        self._failed[job.output] = job.cell
        if is_news:
            self._print(job, f"{job.rule} failed (see {job.log})")

    def _print(self, job: Job, what: str) -> None:
        done = len(self._finished) + len(set(self._failed.values()))
        elapsed = time.monotonic() - self._started
        left = elapsed / done * max(self._total - done, 0)
        print(
            f"[{done}/{self._total}] {job.cell}: {what}, "
            f"elapsed {_clock(elapsed)}, to go {_clock(left)}",
            file=sys.stderr,
            flush=True,
        )

    # It prints beside Snakemake's own stream logger instead of replacing it.
    writes_to_stream = False
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False


def _is_step(rule: str) -> bool:
    return rule in STEP_RULES or rule.startswith("generate_")


def _readings(output: str) -> str:
    """Return how many answers of a cell could be read.

    Several readings of an answer count once; one without ground truth is no failure.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = ["sample_id", "repeat", "severity", "status"]
    try:
        rows = pq.read_table(output, columns=columns).to_pylist()
    except (OSError, pa.ArrowException) as error:
        return f"its scores cannot be read ({type(error).__name__})"
    answers = [((r["sample_id"], r["repeat"], r["severity"]), r["status"]) for r in rows]
    ok = {answer for answer, status in answers if status == "ok"}
    asked = {answer for answer, status in answers if status != "no_ground_truth"}
    return f"{len(ok)} ok, {len(asked - ok)} failed"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
