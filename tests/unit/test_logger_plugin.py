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


STAGES = {"score": "scores", "extract": "predictions"}


def start(handler, job, cell=CELL, rule="score", name="mask"):
    tell(
        handler,
        LogEvent.JOB_INFO,
        jobid=job,
        rule_name=rule,
        output=[f"results/{STAGES.get(rule, 'generations')}/{cell}/{name}.parquet"],
        log=[f"logs/{rule}/{cell}/{name}.log"],
    )


def finish(handler, job):
    tell(handler, LogEvent.JOB_FINISHED, job_id=job)


def fail(handler, job):
    tell(handler, LogEvent.JOB_ERROR, jobid=job)


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


def test_samples_without_ground_truth_are_neither_read_nor_failed(handler, capsys):
    write_scores(statuses=("ok", "no_ground_truth", "invalid", "no_output", "no_ground_truth"))
    start(handler, 1)
    finish(handler, 1)
    assert [line[3] for line in lines(capsys)] == ["1 ok, 2 failed"]


@pytest.mark.parametrize("order", [("ok", "invalid"), ("invalid", "ok")])
def test_an_answer_counts_as_read_if_one_way_of_reading_can(handler, capsys, order):
    rows = [score(0, variant=str(i), status=status) for i, status in enumerate(order)]
    write_rows(f"results/scores/{CELL}/mask.parquet", Score, rows, {"stage": "scores"})
    start(handler, 1)
    finish(handler, 1)
    assert [line[3] for line in lines(capsys)] == ["1 ok, 0 failed"]


@pytest.mark.parametrize("rule", ["generate_reference", "generate_hosted", "extract", "score"])
def test_a_cell_that_failed_is_a_line_with_rule_and_log(handler, capsys, rule):
    tell(handler, LogEvent.RUN_INFO, stats={"score": 3})
    start(handler, 5, rule=rule)
    fail(handler, 5)
    assert lines(capsys) == [("1", "3", CELL, f"{rule} failed (see logs/{rule}/{CELL}/mask.log)")]


def test_a_cell_that_failed_is_one_line_however_much_of_it_fails(handler, capsys):
    tell(handler, LogEvent.RUN_INFO, stats={"score": 3})
    for job in range(4):
        start(handler, job, rule="generate_local", name=f"part_{job}")
    start(handler, 10, rule="extract")
    start(handler, 11)
    for job in (2, 0, 1, 2, 10, 11):
        fail(handler, job)
    line = f"generate_local failed (see logs/generate_local/{CELL}/part_2.log)"
    assert lines(capsys) == [("1", "3", CELL, line)]


@pytest.mark.parametrize("rule", ["generate_local", "extract", "score"])
def test_a_job_that_is_tried_again_counts_once(handler, capsys, rule):
    write_scores()
    tell(handler, LogEvent.RUN_INFO, stats={"score": 1})
    start(handler, 1, rule=rule)
    fail(handler, 1)
    start(handler, 1, rule=rule)
    finish(handler, 1)
    if rule != "score":
        start(handler, 2)
        finish(handler, 2)
    counts = [(done, total, what.split(" (")[0]) for done, total, _, what in lines(capsys)]
    assert counts == [("1", "1", f"{rule} failed"), ("1", "1", "2 ok, 1 failed")]


def test_the_scorers_of_a_cell_count_each(handler, capsys):
    write_scores()
    tell(handler, LogEvent.RUN_INFO, stats={"score": 2})
    start(handler, 1, rule="extract", name="depth")
    fail(handler, 1)
    start(handler, 2)
    finish(handler, 2)
    assert [line[:2] for line in lines(capsys)] == [("1", "2"), ("2", "2")]


@pytest.mark.parametrize("content", [None, b"", b"rubbish"])
def test_scores_that_cannot_be_read_are_a_line_and_no_error(handler, capsys, content):
    if content is not None:
        write_scores()
        Path(f"results/scores/{CELL}/mask.parquet").write_bytes(content)
    start(handler, 1)
    finish(handler, 1)
    ((*_, what),) = lines(capsys)
    assert what.startswith("its scores cannot be read (")


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (LogEvent.RUN_INFO, {}),
        (LogEvent.RUN_INFO, {"stats": None}),
        (LogEvent.JOB_INFO, {"rule_name": "score"}),
        (LogEvent.JOB_INFO, {"rule_name": "score", "jobid": 1, "output": []}),
        (LogEvent.JOB_FINISHED, {}),
        (LogEvent.JOB_ERROR, {}),
    ],
)
def test_events_of_another_shape_never_raise(handler, capsys, event, told):
    tell(handler, event, **told)
    write_scores()
    start(handler, 2)
    finish(handler, 2)
    assert LINE.search(capsys.readouterr().err)


def test_a_job_without_a_log_file_is_a_line(handler, capsys):
    output = [f"results/scores/{CELL}/mask.parquet"]
    tell(handler, LogEvent.JOB_INFO, jobid=1, rule_name="score", output=output, log=[])
    fail(handler, 1)
    assert lines(capsys) == [("1", "0", CELL, "score failed (see its log)")]


def test_other_rules_and_events_say_nothing(handler, capsys):
    tell(handler, LogEvent.RUN_INFO, stats={"total": 1})
    start(handler, 1, rule="extract")
    finish(handler, 1)
    start(handler, 2, rule="summarize")
    finish(handler, 2)
    finish(handler, 99)
    tell(handler, LogEvent.JOB_ERROR, jobid=99)
    tell(handler, LogEvent.PROGRESS, done=1, total=2)
    tell(handler, LogEvent.SHELLCMD, shellcmd="x")
    tell(handler, None)
    handler.handle(logging.LogRecord("snakemake", logging.INFO, "", 1, "plain", (), None))
    assert lines(capsys) == []


def test_another_rule_that_failed_is_a_line_with_the_end_of_its_log(handler, capsys):
    start(handler, 2, rule="sample", name="x")
    log = Path(f"logs/sample/{CELL}/x.log")
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {n}\n" for n in range(9)))
    fail(handler, 2)
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"results/generations/{CELL}/x.parquet: sample failed (see {log})",
        *(f"    line {n}" for n in range(4, 9)),
    ]


@pytest.mark.parametrize(
    ("level", "message", "shown"),
    [
        (logging.WARNING, "disk is nearly full", True),
        (logging.ERROR, "At least one job did not complete successfully.", True),
        (logging.ERROR, "RuleException:\nCalledProcessError in file x", False),
        (logging.INFO, "Nothing to be done (all requested files are up to date).", True),
        (logging.INFO, "Building DAG of jobs...", False),
    ],
)
def test_what_a_person_must_know_is_passed_on(handler, capsys, level, message, shown):
    handler.handle(logging.LogRecord("snakemake", level, "", 1, message, (), None))
    assert (message in capsys.readouterr().err) == shown


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
    # It stands in for Snakemake's own stream handler.
    assert (handler.writes_to_stream, handler.writes_to_file) == (True, False)


EMITTED = {
    "jobs.py": [
        "event=LogEvent.JOB_INFO, jobid=self.dag.jobid(self),",
        "rule_name=self.rule.name,",
        "output=format_files(self.output, as_output=True),",
        "log=format_files(self.log, as_output=True),",
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
