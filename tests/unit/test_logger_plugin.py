"""One line per finished cell, from the events that Snakemake itself emits."""

import logging
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry
from spine_rows import score

from gensight.records import Score, write_rows
from snakemake_logger_plugin_gensight import LogHandler

CELL = "oracle/tiny_masks/mid"
LINE = re.compile(r"\[(\d+)/(\d+)\] (\S+): (.+), elapsed (\d+:\d\d), to go (\d+:\d\d)\n")


@pytest.fixture
def handler():
    return LogHandler(SimpleNamespace(), None)


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tell(handler, event, **attributes):
    """Hand the plugin a record as the logging module makes it from Snakemake's `extra`."""
    record = logging.LogRecord("snakemake", logging.INFO, __file__, 1, "message", (), None)
    record.__dict__.update({"event": event, **attributes})
    handler.handle(record)


def start(handler, job, cell=CELL, rule="score"):
    tell(
        handler,
        LogEvent.JOB_INFO,
        jobid=job,
        rule_name=rule,
        output=[f"results/scores/{cell}/mask.parquet"],
    )


def finish(handler, job):
    tell(handler, LogEvent.JOB_FINISHED, job_id=job)


def write_scores(cell=CELL, statuses=("ok", "ok", "invalid")):
    rows = [score(i, status=status) for i, status in enumerate(statuses)]
    write_rows(f"results/scores/{cell}/mask.parquet", Score, rows, {"stage": "scores"})


def lines(capsys):
    out, err = capsys.readouterr()
    assert out == "" and "\r" not in err
    found = [LINE.fullmatch(line) for line in err.splitlines(keepends=True)]
    assert all(found)
    return [match.groups()[:4] for match in found]


def test_a_line_per_finished_cell(handler, capsys):
    write_scores()
    write_scores("echo/tiny_masks/mid", ["ok"])
    tell(handler, LogEvent.RUN_INFO, stats={"score": 2, "extract": 2, "total": 4})
    start(handler, 5)
    start(handler, 6, "echo/tiny_masks/mid")
    finish(handler, 6)
    finish(handler, 5)
    assert lines(capsys) == [
        ("1", "2", "echo/tiny_masks/mid", "1 ok, 0 failed"),
        ("2", "2", CELL, "2 ok, 1 failed"),
    ]


def test_several_readings_of_one_answer_count_once(handler, capsys):
    rows = [score(0, variant=v, fit=f) for v in ("otsu", "kmeans") for f in ("depth", None)]
    rows += [score(0, severity=2.0), score(0, repeat=1)]
    write_rows(f"results/scores/{CELL}/mask.parquet", Score, rows, {"stage": "scores"})
    start(handler, 1)
    finish(handler, 1)
    assert [line[3] for line in lines(capsys)] == ["3 ok, 0 failed"]


def test_a_failed_job_is_a_line(handler, capsys):
    tell(handler, LogEvent.RUN_INFO, stats={"score": 3})
    start(handler, 5)
    tell(handler, LogEvent.JOB_ERROR, jobid=5, rule_name="score")
    assert lines(capsys) == [("1", "3", CELL, "job failed (see its log)")]


def test_other_rules_and_events_say_nothing(handler, capsys):
    tell(handler, LogEvent.RUN_INFO, stats={"total": 1})
    start(handler, 1, rule="extract")
    finish(handler, 1)
    finish(handler, 99)
    tell(handler, LogEvent.JOB_ERROR, jobid=99)
    tell(handler, LogEvent.PROGRESS, done=1, total=2)
    tell(handler, LogEvent.SHELLCMD, shellcmd="x")
    tell(handler, None)
    handler.handle(logging.LogRecord("snakemake", logging.INFO, "", 1, "plain", (), None))
    assert lines(capsys) == []


def test_a_job_is_counted_once_even_if_its_end_is_told_twice(handler, capsys):
    write_scores()
    start(handler, 5)
    finish(handler, 5)
    finish(handler, 5)
    assert len(lines(capsys)) == 1


def test_snakemake_finds_the_plugin_by_its_name(handler):
    registry = LoggerPluginRegistry()
    registry.collect_plugins()
    assert registry.get_plugin("gensight").log_handler is LogHandler
    # It prints beside Snakemake's own handler: Snakemake must not take it for its stream.
    assert (handler.writes_to_stream, handler.writes_to_file) == (False, False)


EMITTED = {
    "jobs.py": [
        "event=LogEvent.JOB_INFO, jobid=self.dag.jobid(self),",
        "rule_name=self.rule.name,",
        "output=format_files(self.output, as_output=True),",
        "jobid=self.dag.jobid(self), input=",
        "event=LogEvent.JOB_ERROR,",
    ],
    "scheduling/job_scheduler.py": ["event=LogEvent.JOB_FINISHED, job_id=job.jobid"],
    "workflow.py": ["event=LogEvent.RUN_INFO, stats=stats_dict"],
    "dag.py": ["stats_dict[unique_job] = count"],
}


@pytest.mark.parametrize(("module", "words"), EMITTED.items())
def test_the_attributes_are_those_that_snakemake_emits(module, words):
    source = (Path(snakemake.__file__).parent / module).read_text(encoding="utf-8")
    source = " ".join(source.split())
    assert [w for w in words if w not in source] == []
