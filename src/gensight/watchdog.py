"""A process that keeps a command: it ends when its starter does, and leaves nothing running.

Run as a file of its own, with the standard library alone, so that it starts in no time:

    python -I -S watchdog.py PARENT_PID STOP_TIMEOUT_S COMMAND...

The command gets a process group of its own. The watchdog ends with the command's exit status (128
and the number of the signal that killed it, as shells count); what the command started then ends
at once. On SIGTERM, or when the parent is gone, however it went, all that the command has started
is told to stop and, STOP_TIMEOUT_S seconds later, killed, also processes that left its group or
lost their parent: they become the watchdog's own (PR_SET_CHILD_SUBREAPER). The command dies with
the watchdog (PR_SET_PDEATHSIG). Linux only; source: prctl(2).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
#: How often it looks after its parent; a child's end and a signal wake it at once.
LOOK_S = 0.2
#: A process that survives SIGKILL for so long hangs in the kernel: nobody can end it.
KILL_TIMEOUT_S = 10.0
STOPPING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
WATCHED = {*STOPPING, signal.SIGCHLD}


def watched(command: list[str], stop_timeout_s: float) -> list[str]:
    """Return a command such that it ends with the process which starts it.

    Start it with `start_new_session=True`, so that no Ctrl-C of the terminal reaches it first.
    """
    return [
        *(sys.executable, "-I", "-S", str(Path(__file__).resolve())),
        *(str(os.getpid()), str(stop_timeout_s), *command),
    ]


def descendants(pid: int) -> set[int]:
    """Return the processes that a process started, and those that they started, without it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # The name before it, in brackets, may hold anything, brackets too.
                told = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            parents[int(folder.name)] = int(told[1])
    found: set[int] = set()
    new = {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def main(arguments: list[str]) -> int:
    """Keep a command until it ends or is to end; return its exit status."""
    parent, stop_timeout_s, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        process = subprocess.Popen(command, process_group=0, preexec_fn=_tied(os.getpid(), before))
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    while not _has_ended(process.pid):
        told = signal.sigtimedwait(WATCHED, LOOK_S)
        if (told is not None and told.si_signo in STOPPING) or os.getppid() != parent:
            os.killpg(process.pid, signal.SIGTERM)
            _reap(process, stop_timeout_s)
            break
    _kill_all(process)
    code = process.poll()
    if code is None:
        return 128 + signal.SIGKILL
    return code if code >= 0 else 128 - code


def _tied(watchdog: int, mask: set[signal.Signals]) -> Callable[[], None]:
    """Return what the command's process does first: tie itself to the watchdog."""

    def tie() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != watchdog:  # it had gone before
            os._exit(1)

    return tie


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _has_ended(leader: int) -> bool:
    """Say whether the command has ended; reap its orphans, but not yet the command.

    Until it is reaped its number, which is its group's, is nobody else's.
    """
    while (pid := _next_ended()) is not None:
        if pid == leader:
            return True
        os.waitpid(pid, 0)
    return False


def _next_ended() -> int | None:
    """Return a child that has ended and is not reaped; ChildProcessError where no child is left."""
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return None if found is None else found.si_pid


def _reap(process: subprocess.Popen[bytes], wait_s: float) -> bool:
    """Wait until nothing is left, at most so long; say whether nothing is."""
    end = time.monotonic() + wait_s
    while True:
        try:
            while (pid := _next_ended()) is not None:
                # Popen has to see the end of its own process, for its status.
                if pid == process.pid:
                    process.wait()
                else:
                    os.waitpid(pid, 0)
        except ChildProcessError:
            return True
        left_s = end - time.monotonic()
        if left_s <= 0:
            return False
        signal.sigtimedwait(WATCHED, min(LOOK_S, left_s))


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill all that is left, and what it starts meanwhile."""
    end = time.monotonic() + KILL_TIMEOUT_S
    while time.monotonic() < end:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if _reap(process, LOOK_S):
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
