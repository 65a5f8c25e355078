"""What goes wrong on a cluster is survived and said; what was answered is not asked again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from troubles import FAILURES, HOSTED, MARK, MEMORY_MB, MINUTES, N, Troubles

from gensight.outcomes import Outcome

pytestmark = pytest.mark.slurm


def error_of(troubles: Troubles, model: str) -> str:
    """Return what was printed about the failed job of a model, the ends of its logs included."""
    starts = re.compile(r"^(?=Error in rule \w+:\n    message: SLURM|Trying to)", re.MULTILINE)
    blocks = starts.split(troubles.done.text)
    # A block may go on to the start of another job, so that its own output tells whose it is.
    errors = [block for block in blocks if block.startswith("Error in rule")]
    (found,) = [b for b in errors if f"/{model}/scenes" in b.split("\n    log: ")[0]]
    return found


def test_the_run_survives_and_nothing_is_answered_twice(troubles):
    assert troubles.done.returncode == 0, troubles.done.text
    for model, failure in FAILURES.items():
        answered = troubles.checkout.answered(model)
        assert len(answered) == len(set(answered)) == N, model
        rows = troubles.checkout.rows(model)
        assert [row["outcome"] for row in rows] == [Outcome.OK] * N
        # The first try answered two questions, the second one the others.
        jobs = {job for _, job in troubles.checkout.notes(model)}
        again = failure in ("memory", "kill") or model in ("cancelled", "late")
        assert len(jobs) == (2 if again else 1), model


@pytest.mark.parametrize(
    ("model", "state"),
    [("cancelled", "CANCELLED"), ("late", "TIMEOUT"), ("killed", "FAILED"), ("lacking", "FAILED")],
)
def test_a_second_job_gets_more_of_everything(troubles, model, state):
    assert troubles.done
    first, second = troubles.checkout.jobs_of(model)
    assert (first["JobState"], second["JobState"]) == (state, "COMPLETED")
    minutes = 1 if model == "late" else MINUTES
    for job, attempt in ((first, 1), (second, 2)):
        assert job["MinMemoryNode"] == f"{MEMORY_MB * attempt}M"
        assert job["TimeLimit"] == f"00:{minutes * attempt:02}:00"


def test_a_lost_node_gets_the_job_again(troubles):
    """Slurm itself puts the job into the queue again, as it was."""
    assert troubles.done
    (job,) = troubles.checkout.jobs_of("lost")
    assert (job["JobState"], job["Restarts"], job["Partition"]) == ("COMPLETED", "1", "gpu")


@pytest.mark.parametrize(
    ("model", "reason", "words"),
    [
        ("cancelled", "CANCELLED", "CANCELLED AT"),
        ("late", "TIMEOUT", "DUE TO TIME LIMIT"),
        ("killed", "FAILED", "died with <Signals.SIGKILL"),
        ("lacking", "FAILED", "exit code 1"),
    ],
)
def test_a_failure_names_its_reason_and_its_logs(troubles, model, reason, words):
    said = error_of(troubles, model)
    assert f"SLURM status is: '{reason}'" in said
    assert f"logs/generate_local/{model}/scenes_depth/mid/all.log" in said
    (log,) = re.findall(rf"\S+/logs/slurm/rule_generate_local/{model}\S+?/\d+\.log", said)[:1]
    assert words in Path(log).read_text()
    # The job's own log, which is shown, ends with what it was at.
    samples = {sample for row in troubles.checkout.rows(model) for sample in row["sample_ids"]}
    assert re.findall(r"^\s*asking (\S+)", said, re.MULTILINE)[-1] in samples


def test_too_little_memory_is_said_with_the_sample(troubles):
    said = error_of(troubles, "lacking")
    assert "out of memory (OutOfMemoryError: pretend GPU: tried to allocate 20.00 GiB)" in said
    samples = {sample for row in troubles.checkout.rows("lacking") for sample in row["sample_ids"]}
    (named,) = re.findall(r"while answering sample (\S+?)\)", said)
    assert named in samples


def test_jobs_get_no_key(troubles):
    """All of the environment goes to jobs, so that a key is kept in a file instead."""
    assert troubles.done
    names = troubles.checkout.rehearsal("witness", "environment").split()
    assert {MARK, "SLURM_JOB_ID", "PATH"} <= set(names)
    assert [name for name in names if name.endswith("_API_KEY")] == []
    # The hosted model was asked meanwhile, under its key, by no job of the cluster.
    assert troubles.provider.journal.charged == N
    assert [row["outcome"] for row in troubles.checkout.rows(HOSTED)] == [Outcome.OK] * N
    assert not [job for job in troubles.jobs if HOSTED in job["Comment"]]
