"""A throw-away Slurm on this machine: nodes cpu1, cpu2 and gpu1, which has two pretend GPUs.

    python tests/slurm/cluster.py COMMAND ...     run a command beside a cluster
    python tests/slurm/cluster.py                 say whether a cluster could be started here

Everything listens on 127.0.0.1. Slurm reads its configuration from /etc/slurm alone (the jobs that
Snakemake submits know no other place), so that a configuration which is not ours is never touched,
and ours is removed when the cluster ends. The cluster is held by a process of its own, which ends
it when the process that asked for it ends, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

VARIABLE = "GENSIGHT_TEST_SLURM"
ETC = Path("/etc/slurm")
#: How a configuration that we wrote begins; the folder of its cluster follows.
MARK = "# A throw-away cluster of gensight's tests, in "
NAME = "throwaway"
NODES = ("cpu1", "cpu2", "gpu1")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
#: One cluster at a time; the second one waits.
LOCK = Path(tempfile.gettempdir()) / "gensight-slurm.lock"
START_S, STOP_S, WAIT_S = 60, 20, 600

SLURM_CONF = """\
{mark}{state}
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={state}/munge/sock
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=16817
StateSaveLocation={state}/spool/ctld
SlurmdSpoolDir={state}/spool/%n
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd-%n.pid
SlurmctldLogFile={state}/log/slurmctld.log
SlurmdLogFile={state}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=5
SlurmdParameters=config_overrides
ReturnToService=0
MinJobAge=1800
KillWait=5
GresTypes=gpu
NodeName=cpu[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[16819-16820] CPUs=4 RealMemory=8000
NodeName=gpu1 NodeHostname={host} NodeAddr=127.0.0.1 Port=16821 CPUs=4 RealMemory=8000 \
Gres=gpu:fake:2
PartitionName=cpu Nodes=cpu[1-2] Default=YES MaxTime=1:00:00 DefMemPerCPU=200 State=UP
PartitionName=gpu Nodes=gpu1 MaxTime=1:00:00 DefMemPerCPU=200 State=UP
"""
#: Character devices, of which nothing is asked: a GPU without a file is not accepted.
GRES_CONF = """\
{mark}{state}
AutoDetect=off
NodeName=gpu1 Name=gpu Type=fake File=/dev/null,/dev/zero
"""
CONFIGURATION = {"slurm.conf": SLURM_CONF, "gres.conf": GRES_CONF}


class NoClusterError(Exception):
    """A cluster cannot be started here; the message is one line."""


def why_not(etc: Path = ETC) -> str | None:
    """Return why no cluster can be started here, in one line, or None."""
    if os.environ.get(VARIABLE) != "1":
        return f"{VARIABLE} is not 1: no Slurm is started"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not found: install slurm-wlm and munge"
    if os.geteuid() != 0:
        return "only root can start slurmd for other nodes' names"
    for name in CONFIGURATION:
        if (etc / name).exists() and state_of(etc / name) is None:
            return f"{etc / name} is not ours: no Slurm is started beside another one"
    return None


def state_of(conf: Path) -> Path | None:
    """Return the folder of the cluster that a configuration of ours belongs to; None if foreign."""
    first = conf.read_text(encoding="utf-8", errors="replace").split("\n", 1)[0]
    return Path(first.removeprefix(MARK)) if first.startswith(MARK) else None


@contextmanager
def cluster() -> Iterator[Path]:
    """Hold a cluster; yields its folder (with `log/`). It ends with this process at the latest.

    Raises:
        NoClusterError: it cannot be started here, or did not come up.
    """
    holder = subprocess.Popen(
        [sys.executable, __file__, "--hold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # An interrupt that the terminal sends to everybody is not for the holder.
        start_new_session=True,
    )
    try:
        told = holder.stdout.readline().rstrip("\n")
        if not told.startswith("/"):
            raise NoClusterError(told or "the process that holds the cluster died")
        yield Path(told)
    finally:
        holder.stdin.close()
        holder.wait(timeout=WAIT_S)
        holder.stdout.close()


def hold() -> int:
    """Start a cluster, say where it is, and end it when stdin does or a signal comes."""
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, _leave)
    reason = why_not()
    if reason is not None:
        print(reason, flush=True)
        return 1
    with _lock():
        _end_what_was_left()
        state = Path(tempfile.mkdtemp(prefix="gensight-slurm-"))
        try:
            _start(state)
            print(state, flush=True)
            sys.stdin.read()
        except NoClusterError as error:
            print(error, flush=True)
            return 1
        finally:
            for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(name, signal.SIG_IGN)
            _stop(state)
    return 0


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextmanager
def _lock() -> Iterator[None]:
    with LOCK.open("w") as lock:
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SystemExit("another cluster of these tests does not end") from None
                time.sleep(0.5)
        yield


def _end_what_was_left() -> None:
    """End a cluster whose holder was killed: the lock is free, and the configuration is ours."""
    conf = ETC / "slurm.conf"
    if conf.exists():
        state = state_of(conf)
        if state is None:
            raise SystemExit(f"{conf} is not ours")
        _stop(state)


def _start(state: Path) -> None:
    for name in ("munge", "log", "spool/ctld", *(f"spool/{node}" for node in NODES)):
        (state / name).mkdir(parents=True, mode=0o700)
    key = state / "munge/key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    ETC.mkdir(exist_ok=True)
    for name, text in CONFIGURATION.items():
        host = socket.gethostname().split(".")[0]
        (ETC / name).write_text(text.format(mark=MARK, state=state, host=host, name=NAME))
    munge = {"key-file": key, "socket": state / "munge/sock", "pid-file": state / "munged.pid"}
    munge |= {"log-file": state / "log/munged.log", "seed-file": state / "munge/seed"}
    options = [f"--{name}={path}" for name, path in munge.items()]
    _run("munged", "--force", "--num-threads=2", *options)
    _run("slurmctld", "-c")
    for node in NODES:
        _run("slurmd", "-N", node)
    deadline = time.monotonic() + START_S
    while set(_told("sinfo", "-h", "-N", "-o", "%t").split()) != {"idle"}:
        if time.monotonic() > deadline:
            raise NoClusterError(f"Slurm did not come up: {_last_words(state)}")
        time.sleep(0.2)


def _stop(state: Path) -> None:
    """End jobs, daemons and configuration of a cluster; harmless if some are not there."""
    if (state / "slurmctld.pid").exists():
        _told("scancel", "--user=root")
        deadline = time.monotonic() + STOP_S
        while _told("squeue", "-h", "-o", "%A") and time.monotonic() < deadline:
            time.sleep(0.2)
    # What a lost node ran is nobody's any more, and would outlive the cluster.
    for pid in left_of_jobs():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    daemons = [
        pid
        for pattern in ("slurmd-*.pid", "slurmctld.pid", "munged.pid")
        for path in sorted(state.glob(pattern))
        if (pid := _daemon(path)) is not None
    ]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in daemons:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + STOP_S / 2
        while any(Path(f"/proc/{pid}").exists() for pid in daemons):
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
    for name in CONFIGURATION:
        if (ETC / name).exists() and state_of(ETC / name) == state:
            (ETC / name).unlink()
    shutil.rmtree(state, ignore_errors=True)


def left_of_jobs() -> list[int]:
    """Return the processes that jobs of such a cluster started and that still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended meanwhile
            continue
        is_ours = f"SLURM_CLUSTER_NAME={NAME}".encode() in variables
        if is_ours and any(each.startswith(b"SLURM_JOB_ID=") for each in variables):
            found.append(int(process.name))
    return found


def _daemon(pid_file: Path) -> int | None:
    """Return the process of a pid file if it still is one of Slurm's or munge's."""
    try:
        pid = int(pid_file.read_text())
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return None
    return pid if name in PROGRAMS else None


def _run(*command: str) -> None:
    # A daemon keeps what it is given: nothing of this process's, or its parent waits for it.
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise NoClusterError(f"{command[0]} ended with exit code {done.returncode}")


def _told(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip()


def _last_words(state: Path) -> str:
    lines = [
        f"{path.name}: {line}"
        for path in sorted((state / "log").glob("*.log"))
        for line in path.read_text(errors="replace").splitlines()[-2:]
    ]
    return " | ".join(lines)


def main(arguments: list[str]) -> int:
    """Run a command beside a cluster, or say whether one could be started here."""
    if arguments == ["--hold"]:
        return hold()
    reason = why_not()
    if reason is not None:
        print(reason, file=sys.stderr)
        return 1
    if not arguments:
        print("a cluster can be started here")
        return 0
    with cluster():
        return subprocess.run(arguments).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
