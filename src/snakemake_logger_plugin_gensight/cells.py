"""Counting finished cells: done/total, the cell, answers read and failed, elapsed, time to go.

Besides, it prints what a person must know: warnings, errors, and how the log of a failed job ends.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from logging import LogRecord
from pathlib import Path
from typing import Any, NamedTuple

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

#: A cell is finished when its scores are written.
CELL_RULE = "score"
#: A cell fails with one of these rules, or with any of those that generate.
STEP_RULES = ("extract", CELL_RULE)
#: How much of a failed job's log is shown.
LOG_LINES = 5
NOTHING_TO_DO = "Nothing to be done"
#: Snakemake's words for a script that failed: the end of the job's log says what and why.
SAID_BETTER = ("RuleException", "Error in rule")


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
    """Follows the main process's events and prints the few lines that matter."""

    def __post_init__(self) -> None:
        self._total = 0
        self._jobs: dict[Any, Job] = {}
        self._finished: set[str] = set()
        self._failed: dict[str, str] = {}
        self._started = time.monotonic()

    def emit(self, record: LogRecord) -> None:
        """Print a line for a cell that ended; an error in here never reaches Snakemake."""
        try:
            event = getattr(record, "event", None)
            self._follow(event, record.__dict__)
            if event in (None, LogEvent.ERROR):
                _pass_on(record)
        except Exception:
            self.handleError(record)

    def _follow(self, event: Any, told: Mapping[str, Any]) -> None:
        if event == LogEvent.RUN_INFO:
            self._total = int(told["stats"].get(CELL_RULE, 0))
            self._started = time.monotonic()
        elif event == LogEvent.JOB_INFO and told.get("output"):
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
        if not _is_step(job.rule):
            _say(f"{job.output}: {job.rule} failed (see {job.log})")
            _say_log_end(job.log)
            return
        is_news = job.cell not in self._failed.values()
        self._failed[job.output] = job.cell
        if is_news:
            self._print(job, f"{job.rule} failed (see {job.log})")
            _say_log_end(job.log)

    def _print(self, job: Job, what: str) -> None:
        done = len(self._finished) + len(set(self._failed.values()))
        elapsed = time.monotonic() - self._started
        left = elapsed / done * max(self._total - done, 0)
        _say(
            f"[{done}/{self._total}] {job.cell}: {what}, "
            f"elapsed {_clock(elapsed)}, to go {_clock(left)}"
        )

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _pass_on(record: LogRecord) -> None:
    """Print warnings and errors, and that there is nothing to do."""
    message = record.getMessage()
    matters = record.levelno >= logging.WARNING and not message.startswith(SAID_BETTER)
    if matters or message.startswith(NOTHING_TO_DO):
        _say(message)


def _say_log_end(path: str) -> None:
    """Print the last lines of a failed job's log, indented."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines[-LOG_LINES:]:
        _say(f"    {line}")


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
