"""The place where a job runs: its host and, on a cluster, what the scheduler gave it."""

from __future__ import annotations

import os
import socket

from gensight.digests import canonical_json

#: What Slurm tells a job, and the GPUs that it may see.
VARIABLES = {
    "partition": "SLURM_JOB_PARTITION",
    "node": "SLURMD_NODENAME",
    "job": "SLURM_JOB_ID",
    "visible_devices": "CUDA_VISIBLE_DEVICES",
}


def place_of_this_job() -> str:
    """Return the host, and partition, node, job and visible devices if they are told, as JSON."""
    found = {
        name: os.environ[variable] for name, variable in VARIABLES.items() if variable in os.environ
    }
    return canonical_json({"host": socket.gethostname(), **found})
