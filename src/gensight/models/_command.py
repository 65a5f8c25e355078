"""A process that answers JSON lines with JSON lines: started, asked, and surely ended.

What it prints that is no answer goes into the job's log, and so does its standard error, whose last
lines are told when it ends too early. It ends with this process, however that ends, and with it all
that it started (`gensight.watchdog`).
"""

from __future__ import annotations

import json
import os
import queue
import re
import select
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import IO, Any

from gensight.errors import GensightError, ModelMemoryError
from gensight.models import storable
from gensight.watchdog import KILL_TIMEOUT_S, watched

#: How long a process that is asked to end may take, and how often one that runs is looked at.
END_S = 5.0
LOOK_S = 0.05
#: One that has to be ended has nothing to tidy: it is killed as soon as it has been told.
STOP_TIMEOUT_S = 0.0
#: What shells and the watchdog add to the number of the signal that ended a process.
SIGNALLED = 128
#: What is told of the standard error of a process that ended too early.
LINES_TOLD = 6
LONGEST_TOLD = 200
CHUNK = 65536


class CommandEndedError(GensightError):
    """A process ended before it answered, or was ended since it gave no answer in time."""


class Command:
    """One running process; errors call it `name`, and `noise` counts lines that answer nothing."""

    def __init__(self, name: str, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        self.name, self.noise = name, 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._told: deque[str] = deque(maxlen=LINES_TOLD)
        self._closed = False
        try:
            self._process = subprocess.Popen(
                watched(list(argv), STOP_TIMEOUT_S),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(variables),
                start_new_session=True,
            )
        except OSError as error:
            raise GensightError(f"{name}: cannot be started: {error}") from None
        assert self._process.stdin is not None
        # A pipe takes 64 KiB, and a process need not read: no write may wait for it.
        os.set_blocking(self._process.stdin.fileno(), False)
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

        Half a surrogate pair in an answer becomes U+FFFD, as in `Reply`.

        Raises:
            ModelMemoryError: the process was killed, as the system does when memory runs out.
            CommandEndedError: it ended, or did not read the line and answer it within `limit_s`
                seconds. It is closed then.
            GensightError: it had been closed before.
        """
        if self._closed:
            raise GensightError(f"{self.name}: has ended")
        deadline = monotonic() + limit_s
        try:
            self._send(message, deadline)
            return self._answer(is_answer, deadline)
        except TimeoutError:
            self.close(0)
            raise CommandEndedError(
                f"{self.name}: no answer within {limit_s:g} s{self._last_lines()}"
            ) from None
        except BrokenPipeError:
            raise self._ended_early() from None

    def close(self, patience_s: float | None = None) -> None:
        """Let the process end, or end it, with all that it started; harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        _close_quietly(self._process.stdin)
        if not self._ends_within(END_S if patience_s is None else patience_s):
            self._process.terminate()
            # The watchdog ends all there is; it is killed only if it does not.
            if not self._ends_within(2 * KILL_TIMEOUT_S):
                self._process.kill()
                self._process.wait()
        for pump in self._pumps:
            pump.join(END_S)
        for stream in (self._process.stdout, self._process.stderr):
            _close_quietly(stream)

    def end(self, patience_s: float) -> int | None:
        """Close its input and return its status; None where it had to be ended."""
        _close_quietly(self._process.stdin)
        ended = self._ends_within(patience_s)
        self.close(0)
        return self._process.returncode if ended else None

    def _send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Write one line; BrokenPipeError where nobody can read it, TimeoutError where none did."""
        stdin = self._process.stdin
        assert stdin is not None
        writable = select.poll()
        writable.register(stdin, select.POLLOUT)
        rest = json.dumps(message).encode() + b"\n"
        while rest:
            _check_time(deadline)
            if writable.poll(1000 * LOOK_S):
                with suppress(BlockingIOError):
                    rest = rest[os.write(stdin.fileno(), rest[:CHUNK]) :]

    def _answer(
        self, is_answer: Callable[[Mapping[str, Any]], bool], deadline: float
    ) -> dict[str, Any]:
        """Return the first line that answers; errors as `_send`."""
        while True:
            # Also of a process that prints all the time.
            _check_time(deadline)
            try:
                line = self._lines.get(timeout=LOOK_S)
            except queue.Empty:
                if self._process.poll() is not None and not self._has_more_lines():
                    raise BrokenPipeError from None
                continue
            answer = _object(line)
            if answer is not None and is_answer(answer):
                return answer
            self.noise += 1
            _log(line)

    def _ends_within(self, wait_s: float) -> bool:
        try:
            self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _has_more_lines(self) -> bool:
        """Say whether a process that has ended had written lines that are still to be read."""
        self._pumps[0].join(END_S)
        return not self._lines.empty()

    def _ended_early(self) -> GensightError:
        self.close()
        status = self._process.returncode
        # A watchdog that was killed itself took the process with it.
        number = -status if status < 0 else status - SIGNALLED
        if number == signal.SIGKILL:
            return ModelMemoryError(
                f"{self.name}: was killed (SIGKILL), probably out of memory; what was answered "
                f"is kept: the job is tried again with more memory where the profile has retries, "
                f"else raise limits.memory_mb in the model's YAML{self._last_lines()}"
            )
        how = _signal_name(number) if 0 < number < signal.NSIG else f"status {status}"
        return CommandEndedError(f"{self.name}: ended with {how}{self._last_lines()}")

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


def _check_time(deadline: float) -> None:
    if monotonic() > deadline:
        raise TimeoutError


def _signal_name(number: int) -> str:
    """Return a signal's name; those of real time, but for the first and the last, have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    # With all that is in it: nothing that a process tells may fail when it is stored.
    return json.loads(storable(json.dumps(found, ensure_ascii=False)))


def _log(line: bytes) -> None:
    """Write bytes to the job's log as they are."""
    while line:
        line = line[os.write(2, line) :]


def _close_quietly(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with suppress(OSError):
            stream.close()
