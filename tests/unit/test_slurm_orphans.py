import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from cli_files import call, error

from gensight.errors import GensightError
from gensight.slurm import orphans
from gensight.slurm.orphans import Job, check_dead, runs_of

RUN = "17c722b9-449b-4d5c-b995-33a2dd478d5a"
LOG = """Using profile slurm for setting default command line arguments.

SNAKEMAKE
=========
  Host: {host}
  Command: /bin/snakemake --profile slurm results/tables/all.tex

Building DAG of jobs...
SLURM run ID: {run}
"""
JOB = Job("7", RUN, "RUNNING", "generate_local_wildcards_a_b_c_all")


def write_log(folder, text, name="2026-01-01T000000.0.snakemake.log"):
    path = folder / orphans.LOGS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_queue(monkeypatch, folder, lines):
    """Make a queue of these lines: the only command of Slurm that is there."""
    program = folder / "bin/squeue"
    program.parent.mkdir()
    printed = "".join(f"echo '{line}'\n" for line in lines)
    program.write_text(f"#!/bin/sh\n{printed}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_logs_tell_runs_of_a_cluster_and_their_arguments(tmp_path):
    write_log(tmp_path, LOG.format(host="login1", run=RUN))
    write_log(tmp_path, "Building DAG of jobs...\n", "2026-01-02T000000.0.snakemake.log")
    newer = write_log(
        tmp_path, LOG.format(host="b", run=f"mine_{RUN}"), "2026-01-03T0.snakemake.log"
    )
    first, second = runs_of(tmp_path)
    assert (first.number, first.host, first.log) == (f"mine_{RUN}", "b", newer)
    assert (second.number, second.host) == (RUN, "login1")
    assert second.arguments == ("--profile", "slurm", "results/tables/all.tex")


def test_jobs_of_other_folders_and_other_programs_are_left_alone(tmp_path, monkeypatch):
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    write_queue(
        monkeypatch,
        tmp_path,
        [
            f"7|{RUN}|RUNNING|rule_generate_local_wildcards_a_b_c_all|{mine}",
            f"8|{RUN}|PENDING|rule_cell_extract_score|{other}",
            f"9|training|RUNNING|(null)|{mine}",
        ],
    )
    assert orphans.jobs_of(mine) == [JOB]


def test_a_run_that_may_be_alive_is_left_alone(tmp_path):
    with pytest.raises(GensightError, match=f"run {RUN}: has no log .*--force"):
        check_dead([JOB], [])
    write_log(tmp_path, LOG.format(host="login1", run=RUN))
    with pytest.raises(GensightError, match=f"run {RUN}: was started on login1"):
        check_dead([JOB], runs_of(tmp_path))
    write_log(tmp_path, LOG.format(host=socket.gethostname(), run=RUN))
    check_dead([JOB], runs_of(tmp_path))


#: As much of a log as the three kinds of run have written when somebody asks.
BEGUN = LOG.split("SLURM")[0]
ALIVE = {"on a cluster": LOG, "still planning": BEGUN, "quiet": "Building DAG of jobs...\n"}


@contextmanager
def held_open(path):
    """Let another process hold a file open."""
    code = (
        f"import sys; log = open({str(path)!r}, 'a'); print('open', flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, path], **pipes) as writer:
        assert writer.stdout.readline() == b"open\n"
        yield writer.pid
        writer.stdin.close()


def locked_checkout(folder, monkeypatch):
    """Make the current folder a checkout that is locked, with an empty queue; return the lock."""
    monkeypatch.chdir(folder)
    (folder / "Snakefile").write_text("rule all:\n    input: []\n")
    write_queue(monkeypatch, folder, [])
    lock = folder / orphans.LOCKS / "0.output.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("results/tables/all.tex\n")
    return lock


@pytest.mark.parametrize("text", ALIVE.values(), ids=ALIVE)
def test_nothing_is_unlocked_under_a_run_that_lives(tmp_path, monkeypatch, text):
    lock = locked_checkout(tmp_path, monkeypatch)
    log = write_log(tmp_path, text.format(host=socket.gethostname(), run=RUN))
    write_log(tmp_path, "Unlocked working directory.\n", "2026-01-02T0.snakemake.log")
    with held_open(log) as process:
        for options in ([], ["--force"], ["--go-on"]):
            refused = error("slurm", "recover", *options)
            assert f"a run is still alive here (process {process} writes {log.name})" in refused
    assert lock.exists()
    orphans.check_quiet(tmp_path)


def test_nothing_is_unlocked_under_a_run_that_snakemake_itself_makes(tmp_path, monkeypatch):
    """An ordinary run, which knows no cluster, in the middle of its only job."""
    lock = locked_checkout(tmp_path, monkeypatch)
    lock.unlink()
    (tmp_path / "Snakefile").write_text(
        "rule one:\n    output: 'made'\n    shell: 'echo begun; read line; touch {output}'\n"
    )
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **pipes) as running:
        assert b"begun\n" in iter(running.stdout.readline, b"")
        assert orphans.is_locked(tmp_path)
        assert f"process {running.pid} writes" in error("slurm", "recover")
        assert orphans.is_locked(tmp_path)
        running.communicate(b"\n", timeout=60)
    assert (running.returncode, (tmp_path / "made").exists()) == (0, True)


def test_a_lock_that_may_be_of_another_host_is_left_alone(tmp_path, monkeypatch):
    lock = locked_checkout(tmp_path, monkeypatch)
    write_log(tmp_path, BEGUN.format(host=socket.gethostname()), "2026-01-01T0.snakemake.log")
    write_log(tmp_path, BEGUN.format(host="login1"), "2026-01-02T0.snakemake.log")
    write_log(tmp_path, "Building DAG of jobs...\n", "2026-01-03T0.snakemake.log")
    refused = error("slurm", "recover")
    assert "the newest run (2026-01-02T0.snakemake.log) was started on login1" in refused
    assert "--force" in refused and lock.exists()
    assert call("slurm", "recover", "--force").exit_code == 0
    assert not lock.exists()


def test_without_slurm_it_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    done = call("slurm", "recover")
    assert done.exit_code == 2
    assert done.stderr == (
        "gensight: squeue is not installed: this needs a machine of a Slurm cluster\n"
    )


def test_a_folder_without_jobs_has_nothing_to_recover(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Snakefile").touch()
    write_queue(monkeypatch, tmp_path, [])
    listed = call("slurm", "recover", "--dry-run")
    assert "0 jobs of this folder are in the queue; nothing was done\n" in listed.stdout
    done = call("slurm", "recover", "--", "--profile", "site", "x.parquet")
    assert done.stdout.endswith(
        "0 jobs cancelled\ngo on with: snakemake --rerun-incomplete --profile site x.parquet\n"
    )
