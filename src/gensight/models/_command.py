"""A process that answers JSON lines with JSON lines: started, asked, and surely ended.

What it prints that is no answer goes into the job's log, and so does its standard error, whose last
lines are told when it ends too early. It ends with this process, however that ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import IO, Any

from gensight.errors import GensightError, ModelMemoryError

#: `prctl` option of Linux: the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1
#: How long a process that is asked to end may take, and how often one that runs is looked at.
END_S = 5.0
LOOK_S = 0.05
#: What is told of the standard error of a process that ended too early.
LINES_TOLD = 6
LONGEST_TOLD = 200
CHUNK = 65536


class Command:
    """One running process; errors call it `name`, and `noise` counts lines that answer nothing."""

    def __init__(self, name: str, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self.name, self.noise = name, 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._told: deque[str] = deque(maxlen=LINES_TOLD)
        self._closed = False
        try:
            # A group of its own, so that what the process starts can be ended with it.
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(variables),
                start_new_session=True,
                preexec_fn=_end_with_parent(),
            )
        except OSError as error:
            raise GensightError(f"{name}: cannot be started: {error}") from None
        self._pumps = [
            threading.Thread(target=pump, args=(stream,), daemon=True)
            for pump, stream in (
                (self._pump_answers, self._process.stdout),
                (self._pump_errors, self._process.stderr),
            )
        ]
        for pump in self._pumps:
            pump.start()

    def ask(
        self,
        message: Mapping[str, Any],
        is_answer: Callable[[Mapping[str, Any]], bool],
        limit_s: float,
    ) -> dict[str, Any]:
        """Send one line and return the first line that answers it; other lines are logged.

        Raises:
            ModelMemoryError: the process was killed, as the system does when memory runs out.
            GensightError: it ended, or gave no answer within `limit_s` seconds. It is closed then.
        """
        self._send(message)
        deadline = monotonic() + limit_s
        while True:
            try:
                line = self._lines.get(timeout=LOOK_S)
            except queue.Empty:
                if self._has_ended() and not self._has_more_lines():
                    raise self._ended_early() from None
                if monotonic() > deadline:
                    self.close(0)
                    raise GensightError(
                        f"{self.name}: no answer within {limit_s:g} s{self._last_lines()}"
                    ) from None
                continue
            answer = _object(line)
            if answer is not None and is_answer(answer):
                return answer
            self.noise += 1
            _log(line)

    def close(self, patience_s: float | None = None) -> None:
        """Let the process end, or end it, with all that it started; harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        _close_quietly(self._process.stdin)
        deadline = monotonic() + (END_S if patience_s is None else patience_s)
        while not self._has_ended() and monotonic() < deadline:
            sleep(LOOK_S)
        # The process is not reaped yet, so that its number still stands for its group.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pump in self._pumps:
            pump.join(END_S)
        for stream in (self._process.stdout, self._process.stderr):
            _close_quietly(stream)

    def end(self, patience_s: float) -> int | None:
        """Close its input and return its status; None where it had to be ended."""
        _close_quietly(self._process.stdin)
        deadline = monotonic() + patience_s
        while not self._has_ended() and monotonic() < deadline:
            sleep(LOOK_S)
        ended = self._has_ended()
        self.close(0)
        return self._process.returncode if ended else None

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._closed:
            raise GensightError(f"{self.name}: has ended")
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise self._ended_early() from None

    def _has_ended(self) -> bool:
        """Say whether the process has ended, without reaping it."""
        if self._process.returncode is not None:
            return True
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, options) is not None

    def _has_more_lines(self) -> bool:
        """Say whether a process that has ended had written lines that are still to be read."""
        self._pumps[0].join(END_S)
        return not self._lines.empty()

    def _ended_early(self) -> GensightError:
        self.close()
        status = self._process.returncode
        if status == -signal.SIGKILL:
            return ModelMemoryError(
                f"{self.name}: was killed (SIGKILL), probably out of memory; what was answered "
                f"is kept: the job is tried again with more memory where the profile has retries, "
                f"else raise limits.memory_mb in the model's YAML{self._last_lines()}"
            )
        how = f"with {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return GensightError(f"{self.name}: ended {how}{self._last_lines()}")

    def _last_lines(self) -> str:
        return f"; its last lines: {' | '.join(self._told)}" if self._told else ""

    def _pump_answers(self, stream: IO[bytes]) -> None:
        for line in stream:
            self._lines.put(line)

    def _pump_errors(self, stream: IO[bytes]) -> None:
        rest = b""
        while chunk := os.read(stream.fileno(), CHUNK):
            _log(chunk)
            # Progress bars return to the start of their line.
            *whole, rest = re.split(rb"[\r\n]+", rest + chunk)
            for line in whole:
                self._tell(line)
            rest = rest[-CHUNK:]
        self._tell(rest)

    def _tell(self, line: bytes) -> None:
        text = " ".join(line.decode(errors="replace").split())
        if text:
            self._told.append(text[:LONGEST_TOLD])


def _end_with_parent() -> Callable[[], None]:
    """Return what a new process does first, so that it ends when this one is killed."""
    # Loaded before the fork: after it nothing may be imported.
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def _arrange() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return _arrange


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _log(line: bytes) -> None:
    """Write bytes to the job's log as they are."""
    while line:
        line = line[os.write(2, line) :]


def _close_quietly(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(OSError):
            stream.close()
