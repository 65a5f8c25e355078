"""A run whose main process is killed leaves jobs and a lock; one command clears both."""

from __future__ import annotations

import json
import os
import signal

import pytest
import yaml
from slurm_checkout import PROFILES, SlurmCheckout, wait_for

pytestmark = pytest.mark.slurm

N, MODEL = 4, "held"
TARGET = f"results/generations/{MODEL}/scenes_depth/mid/all.parquet"
#: Both GPUs, in the words of a site that knows no `gpu`.
GRES = ("--set-resources", "generate_local:gpu=0", "generate_local:gres=gpu:fake:2")


def in_queue(checkout: SlurmCheckout) -> list[str]:
    return [job["JobState"] for job in checkout.jobs() if job["JobState"] in ("RUNNING", "PENDING")]


def test_what_a_killed_run_left_is_cleared_and_it_goes_on(place):
    place.make_scenes_small(N)
    place.add_rehearsed(MODEL, {"failure": "wait"}, limits={"gpu": 1, "memory_mb": 300})
    run = {"name": "r", "models": [MODEL], "benchmarks": ["scenes_depth"], "prompts": ["mid"]}
    (place.folder / "config/config.yaml").write_text(yaml.safe_dump({"run": run}))
    started = place.start(*GRES, "--", TARGET)
    try:
        wait_for(lambda: place.rehearsal(MODEL, "failing"), "the job to run")
        refused = place.gensight("slurm", "recover", check=False)
        assert (refused.returncode, in_queue(place)) == (2, ["RUNNING"])
        assert "is still alive" in refused.stderr and "Traceback" not in refused.stderr
        os.kill(started.snakemake, signal.SIGKILL)
        started.wait()
    finally:
        started.stop()
    # Nobody looks after the job any more, and the folder is locked.
    assert in_queue(place) == ["RUNNING"]
    locked = place.on_slurm(*GRES, "--", TARGET)
    assert locked.returncode != 0 and "cannot be locked" in locked.text

    listed = place.gensight("slurm", "recover", "--dry-run").stdout
    (job,) = place.jobs_of(MODEL)
    assert f"{job['JobId']}  RUNNING  generate_local_wildcards_{MODEL}_scenes_depth" in listed
    assert in_queue(place) == ["RUNNING"]

    told = place.gensight("slurm", "recover")
    again = f"snakemake --rerun-incomplete {' '.join((*PROFILES, *GRES))} -- {TARGET}"
    assert "1 jobs cancelled\n" in told.stdout and f"go on with: {again}\n" in told.stdout
    assert in_queue(place) == []
    assert not list((place.folder / ".snakemake/locks").glob("*"))

    gone_on = place.gensight("slurm", "recover", "--go-on", check=False)
    assert gone_on.returncode == 0, gone_on.stdout + gone_on.stderr
    answered = place.answered(MODEL)
    assert len(answered) == len(set(answered)) == N
    places = [json.loads(row["place"]) for row in place.rows(MODEL)]
    # The first two were answered before the kill; both jobs had both GPUs.
    jobs = [each["job"] for each in places]
    assert jobs[:2] == [job["JobId"]] * 2 and job["JobId"] not in jobs[2:]
    assert {each["visible_devices"] for each in places} == {"0,1"}
