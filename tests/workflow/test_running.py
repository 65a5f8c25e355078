"""Running: equal bytes wherever and however it runs, kills, two at once, logs, bad answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import QUIET, Checkout, write_small_config

pytestmark = pytest.mark.workflow

COUNTING = "results/summaries/scenes_counting.parquet"
KINDS = (".parquet", ".csv", ".tex", ".md")

SLOW_ADAPTER = '''
"""A model that is slow, and notes every question it is asked."""
import os, time
from pathlib import Path
from gensight.models import Reply

VERSION = 1
READS_TRUTH = False
DEFAULTS = {"seconds": 0.0, "journal": "", "stop_at": None}


class Slow:
    fit_digest = ""

    def __init__(self, generation):
        self.generation = generation

    def answer(self, turn):
        journal = Path(self.generation["journal"])
        with journal.open("a") as stream:
            stream.write(f"{turn.seed}\\n")
        asked = len(journal.read_text().splitlines())
        if asked == self.generation["stop_at"] and not journal.with_suffix(".stopped").exists():
            journal.with_suffix(".stopped").touch()
            raise RuntimeError("the model broke")
        time.sleep(self.generation["seconds"])
        return Reply("ok", images=(turn.parts[0].image,))


def open_model(generation, held_out, site):
    return Slow(generation)
'''


def add_slow_model(checkout: Checkout, **generation: object) -> Path:
    """Give a checkout a local protocol's adapter, and a model on it."""
    journal = checkout.folder / "journal"
    checkout.add_protocol(SLOW_ADAPTER)
    block = {"seconds": 0.0, "journal": str(journal), "stop_at": None, **generation}
    checkout.write_yaml(
        "config/models/slow.yaml",
        {"adapter": "stand_in", "generation": block, "display": {"label": "Slow"}},
    )
    checkout.edit("config/config.yaml", run__models=["slow"], run__tables=[])
    checkout.edit("config/config.yaml", run__benchmarks=["scenes_counting"], run__prompts=["mid"])
    checkout.edit("config/config.yaml", run__n={"scenes_counting": 8})
    return journal


def test_equal_inputs_give_equal_bytes(finished_results: Checkout, tmp_path: Path) -> None:
    """Another folder, one core instead of two, another hash seed."""
    other = Checkout(tmp_path / "elsewhere" / "checkout")
    write_small_config(other)
    environment = {**other.environment(), "PYTHONHASHSEED": "7"}
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *QUIET],
        cwd=other.folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    assert other.digests(*KINDS) == finished_results.digests(*KINDS)


def test_a_job_that_breaks_keeps_what_it_had_and_logs_the_sample(checkout: Checkout) -> None:
    journal = add_slow_model(checkout, stop_at=6)
    done = checkout.snakemake(COUNTING, *QUIET, check=False)
    assert done.returncode != 0
    assert checkout.adapter_calls() == 7, "one bad sample keeps none of the others from an answer"
    log = (checkout.folder / "logs/generate_local/slow/scenes_counting/mid/all.log").read_text()
    assert "RuntimeError: the model broke" in log
    assert re.search(r"no answer: scenes_\S+: RuntimeError: the model broke", log)
    assert "1 questions have no answer (1 error)" in log
    checkout.run(COUNTING)
    # Eight answers, and one question that had no answer: nothing was asked twice.
    assert checkout.adapter_calls() == 8
    assert len(journal.read_text().splitlines()) == 9


def start(checkout: Checkout, target: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", target, *QUIET],
        cwd=checkout.folder,
        env=checkout.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_a_killed_main_process_loses_nothing_and_asks_nothing_twice(checkout: Checkout) -> None:
    journal = add_slow_model(checkout, seconds=0.4)
    checkout.run("results/requests/scenes_counting/mid.parquet")
    process = start(checkout, COUNTING)
    wait_for(lambda: checkout.adapter_calls() >= 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    # The orphaned job lives on; a new run at once waits for its locks instead of asking again.
    checkout.snakemake("--unlock")
    checkout.snakemake(COUNTING, "--rerun-incomplete", *QUIET)
    asked = journal.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 8
    assert checkout.adapter_calls() == 8


def test_two_processes_at_once_ask_nothing_twice(checkout: Checkout) -> None:
    journal = add_slow_model(checkout, seconds=0.2)
    checkout.run("results/requests/scenes_counting/mid.parquet")
    cell = "results/generations/slow/scenes_counting/mid/all.parquet"
    first = start(checkout, cell)
    wait_for(lambda: checkout.adapter_calls() >= 1)
    # Snakemake's own lock is taken off on purpose: the ledger must hold by itself.
    second = checkout.snakemake(cell, "--nolock", "--rerun-incomplete", *QUIET)
    assert second.returncode == 0
    first.wait()
    asked = journal.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 8


BAD_ANSWERS = '''
"""A model that returns one broken file after another, then good ones."""
import struct, zlib
from gensight import images
from gensight.models import Reply
import numpy as np

VERSION = 1
READS_TRUTH = False
DEFAULTS = {"seed": 0}


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


GOOD = images.encode_png(np.zeros((120, 160, 3), np.uint8))
HEADER = struct.pack(">IIBBBBB", 20000, 20000, 8, 2, 0, 0, 0)
HUGE = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", HEADER)
ANSWERS = [b"", GOOD[: len(GOOD) // 2], b"<html>502 Bad Gateway</html>", HUGE,
           images.encode_png(np.zeros((100, 300, 3), np.uint8))]


class Broken:
    fit_digest = ""
    asked = 0

    def answer(self, turn):
        self.asked += 1
        if self.asked == 6:
            return Reply("refused_output", detail="no")
        if self.asked == 7:
            return Reply("quota")
        return Reply("ok", images=((ANSWERS + [None, None, turn.parts[0].image])[self.asked - 1],))


def open_model(generation, held_out, site):
    return Broken()
'''


def test_bad_answers_are_invalid_and_the_rest_goes_on(checkout: Checkout) -> None:
    import pyarrow.parquet as pq

    checkout.add_protocol(BAD_ANSWERS)
    checkout.write_yaml(
        "config/models/broken.yaml",
        {"adapter": "stand_in", "display": {"label": "Broken"}},
    )
    checkout.edit("config/config.yaml", run__models=["broken", "oracle"], run__tables=["counting"])
    checkout.edit("config/config.yaml", run__benchmarks=["scenes_counting"], run__prompts=["mid"])
    checkout.edit("config/config.yaml", run__n={"scenes_counting": 8}, unresolved="keep")
    checkout.run()
    predictions = checkout.folder / "results/predictions/broken/scenes_counting/mid/dots.parquet"
    rows = pq.read_table(predictions).to_pylist()
    found = [(row["status"], row["reason"], row["aspect_changed"]) for row in rows]
    assert found == [
        ("invalid", "unreadable", None),
        ("invalid", "unreadable", False),  # its header can be read
        ("invalid", "unreadable", None),
        ("invalid", "unreadable", None),
        ("ok", None, True),
        ("no_output", "refused_output", None),
        ("no_output", "quota", None),
        ("ok", None, False),
    ]
    summary = pq.read_table(checkout.folder / COUNTING).to_pylist()
    row = next(
        r for r in summary if (r["model"], r["metric"], r["stratum"]) == ("broken", "mae", None)
    )
    # A quota error is nobody's answer: it is not scored, and blocks the cell.
    assert (row["n"], row["infrastructure"]) == (7, 1)
    # One answer is a flat picture: it is read (as 0), and is not in the asked format.
    assert row["n_valid"] == 1
    assert row["coverage"] == pytest.approx(1 / 7)
    table = (checkout.folder / "results/tables/counting.csv").read_text()
    assert "incomplete" in table


def test_every_job_has_a_log_that_is_not_empty(finished: Checkout) -> None:
    logs = list((finished.folder / "logs").rglob("*.log"))
    jobs = {path.relative_to(finished.folder).parts[1] for path in logs}
    assert {"sample", "render", "generate_reference", "extract", "score", "summarize"} <= jobs
    assert all(path.stat().st_size for path in logs)


def test_cells_are_counted_on_standard_error_without_carriage_returns(checkout: Checkout) -> None:
    checkout.edit("config/config.yaml", run__models=["oracle", "constant"], run__prompts=["mid"])
    done = checkout.snakemake(COUNTING, "--logger", "gensight")
    lines = [line for line in done.stderr.splitlines() if line.startswith("[")]
    assert len(lines) == 2
    assert lines[0].startswith("[1/2] ") and lines[1].startswith("[2/2] ")
    assert all("4 ok, 0 failed" in line and "elapsed" in line for line in lines)
    assert "\r" not in done.stderr + done.stdout


def test_shards_cover_the_benchmark_and_keep_the_numbers(finished: Checkout) -> None:
    import pyarrow.parquet as pq

    before = pq.read_table(finished.folder / COUNTING).to_pylist()
    calls = finished.adapter_calls()
    finished.edit("config/models/echo.yaml", shard_size=3)
    assert finished.planned() == {}
    finished.replace("src/gensight/extractors/dots.py", "VERSION = 1", "VERSION = 2")
    finished.run(COUNTING)
    folder = finished.folder / "results/generations/echo/scenes_counting/mid"
    assert {"part_000.parquet", "part_001.parquet"} <= {path.name for path in folder.iterdir()}
    assert finished.adapter_calls() == calls
    assert pq.read_table(finished.folder / COUNTING).to_pylist() == before


def test_a_cluster_run_plans_the_same_jobs(finished: Checkout) -> None:
    profile = ("--profile", "slurm")
    assert finished.planned(*profile, "results/tables/all.tex") == {}
    local = finished.snakemake(
        "results/tables/all.tex", *profile, "--executor", "local", "--cores", "2"
    )
    assert "Nothing to be done" in local.stdout + local.stderr


def test_lint_finds_nothing(checkout: Checkout) -> None:
    done = checkout.snakemake("--lint", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_environment_of_jobs_is_no_part_of_results(finished: Checkout) -> None:
    text = b"".join(
        path.read_bytes()
        for path in (finished.folder / "results").rglob("*")
        if path.suffix in KINDS
    )
    assert os.fsencode(str(finished.folder)) not in text
    assert os.fsencode(sys.prefix) not in text
