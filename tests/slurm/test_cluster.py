"""The throw-away cluster leaves the machine as it was, and touches no other cluster's files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import cluster
import pytest
from slurm_checkout import wait_for

needs_cluster = pytest.mark.slurm
#: Asks for a cluster, says where it is, and waits.
ASKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import cluster
with cluster.cluster() as state:
    print(state, flush=True)
    {then}
"""


def daemons() -> set[str]:
    """Return the programs of a cluster that run on this machine."""
    names = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            names.add(path.read_text().strip())
    return names & {"munged", "slurmctld", "slurmd", "slurmstepd"}


def configured() -> list[str]:
    return [name for name in cluster.CONFIGURATION if (cluster.ETC / name).exists()]


@needs_cluster
@pytest.mark.parametrize("end", ["exception", signal.SIGTERM, signal.SIGKILL])
def test_the_machine_is_as_before_however_it_ends(end):
    then = "raise ValueError" if end == "exception" else "time.sleep(600)"
    asker = subprocess.Popen(
        [sys.executable, "-c", ASKER.format(then=then), str(Path(cluster.__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with asker.stdout:
        state = Path(asker.stdout.readline().strip())
    if end != "exception":
        assert daemons() >= {"munged", "slurmctld", "slurmd"}
        assert configured() == list(cluster.CONFIGURATION)
        # As a lost node leaves them: Slurm knows nothing of it any more.
        variables = {"SLURM_CLUSTER_NAME": cluster.NAME, "SLURM_JOB_ID": "1"}
        left = subprocess.Popen(["sleep", "600"], env={**os.environ, **variables})
        os.kill(asker.pid, end)
        assert left.wait(timeout=60) == -signal.SIGKILL
    assert asker.wait(timeout=60) != 0
    wait_for(lambda: not configured() and not daemons() and not state.exists(), "its end")
    assert cluster.left_of_jobs() == []


@pytest.mark.parametrize("name", cluster.CONFIGURATION)
def test_another_clusters_configuration_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setenv(cluster.VARIABLE, "1")
    monkeypatch.setattr(cluster.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(cluster.os, "geteuid", lambda: 0)
    assert cluster.why_not(tmp_path) is None
    (tmp_path / name).write_text("ClusterName=ours\n")
    assert cluster.why_not(tmp_path) == (
        f"{tmp_path / name} is not ours: no Slurm is started beside another one"
    )
    (tmp_path / name).write_text(f"{cluster.MARK}/tmp/gone\nClusterName=throwaway\n")
    assert cluster.why_not(tmp_path) is None


def test_without_the_variable_nothing_starts(monkeypatch):
    monkeypatch.delenv(cluster.VARIABLE, raising=False)
    told = subprocess.run([sys.executable, cluster.__file__], capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (
        1,
        f"{cluster.VARIABLE} is not 1: no Slurm is started\n",
    )
