"""The server of a served model, for the length of the job that asks it.

It is started on a free port of loopback, waited for until it is ready, watched while it is asked,
and ended with all that it started, also when this process is killed (`gensight.watchdog`).
It gets no key of a provider: it has no use for one.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gensight.errors import GensightError
from gensight.models import Site
from gensight.providers import secrets
from gensight.runner.gpu_memory import Held, HeldMemory
from gensight.runner.listeners import LOOPBACK, free_port, is_refused, is_taken, listens
from gensight.specs.server import ServerSpec
from gensight.watchdog import KILL_TIMEOUT_S, descendants, watched

#: Ports tried before it is said that they are always taken.
MOST_PORTS = 5
#: The pauses between two looks at a server that starts, growing from the first to the second.
FIRST_LOOK_S, LONGEST_LOOK_S = 0.05, 1.0
#: How long a server that is up may take to say so; then it is asked again.
HEALTH_TIMEOUT_S = 5.0
#: The pauses between looks at whether a server that failed is dying: its connections break first.
DYING_LOOKS_S = (0.0, 0.1, 0.4)
#: One that takes no connection any more is about to end: so long its end is waited for.
ENDING_S = 5.0
#: What is told of a server's log.
LINES_TOLD, LONGEST_LINE, BYTES_READ = 6, 200, 16384
#: What programs print when their port is taken (the words of EADDRINUSE).
TAKEN = os.strerror(98).lower()
OWN_PYTHON = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


@contextmanager
def running(spec: ServerSpec, site: Site, log: Path, model: str = "") -> Iterator[Server]:
    """Run the server of a spec for the length of a block; `model` fills its `{model}`.

    What it prints is added to `log`. A port that another process took between the choice and the
    start costs another start, on another port.

    Raises:
        GensightError: its program or environment is missing, its port is taken, it ends before it
            is ready, or is not ready in time; the line holds the last lines of its log.
    """
    server = _started(spec, site, log, model)
    try:
        yield server
    finally:
        server.stop()


class Server:
    """A server that was started. `base_url` is where it is asked, as an endpoint is named."""

    def __init__(
        self, spec: ServerSpec, command: list[str], site: Site, log: Path, port: int
    ) -> None:
        self.base_url = f"http://{LOOPBACK}:{port}{spec.api}"
        self._spec, self._log, self._port = spec, log, port
        self._program = command[0]
        variables = _variables(spec, site)
        program = _program(command[0], spec, site, variables)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as written:
            self._from = written.tell()
            self._process = subprocess.Popen(
                watched([program, *command[1:]], spec.stop_timeout_s),
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                cwd=site.root,
                env=variables,
                start_new_session=True,
            )
        self._memory = HeldMemory(lambda: descendants(self._process.pid))

    def held(self) -> Held:
        """Return the GPU memory that it and all that it started hold."""
        return self._memory.read()

    def check(self) -> None:
        """Return if the server runs: to be called when a request to it failed.

        One that takes no connection any more is given a few seconds to end, so that the request
        that saw it die can tell why.

        Raises:
            GensightError: it has ended; the line holds its exit status and last lines.
        """
        for pause_s in DYING_LOOKS_S:
            if self._wait(pause_s):
                break
            if is_refused(self._port):
                self._wait(ENDING_S)
                break
        if self._process.poll() is not None:
            raise GensightError(
                f"{self._name} ended while it was asked: {self._end()}; what was answered is kept, "
                f"and the next run starts it again"
            )

    def wait(self) -> None:
        """Wait until the server is ready.

        Raises:
            PortTakenError: another process has its port.
            GensightError: it ended, or is not ready in time.
        """
        end = time.monotonic() + self._spec.timeout_s
        pause_s = FIRST_LOOK_S
        while True:
            if self._process.poll() is not None:
                raise self._ended_early()
            if self._is_strangers():
                raise PortTakenError(self._taken())
            told = self._health()
            # Somebody else may have come, and answered, since.
            if told == "200" and listens(self._process.pid, self._port):
                return
            left_s = end - time.monotonic()
            if left_s <= 0:
                raise GensightError(
                    f"{self._name} was not ready within {self._spec.timeout_s:g} s ({told} at "
                    f"http://{LOOPBACK}:{self._port}{self._spec.health}); if it only needs "
                    f"longer, raise server.timeout_s; {self._last_lines()}"
                )
            self._wait(min(pause_s, left_s))
            pause_s = min(2 * pause_s, LONGEST_LOOK_S)

    def stop(self) -> None:
        """End the server and all that it started; harmless when repeated."""
        self._process.terminate()
        # The watchdog keeps the time-outs; it is killed only if it does not.
        if not self._wait(self._spec.stop_timeout_s + 2 * KILL_TIMEOUT_S):
            self._process.kill()
            self._process.wait()

    @property
    def _name(self) -> str:
        return f"server {Path(self._program).name}"

    def _wait(self, wait_s: float) -> bool:
        """Wait for the server's end, at most so long; say whether it has ended."""
        try:
            self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _health(self) -> str:
        """Return what the server says about its health: a status, or why there is none."""
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=HEALTH_TIMEOUT_S)
        try:
            connection.request("GET", self._spec.health)
            return str(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            return str(error) or type(error).__name__
        finally:
            connection.close()

    def _is_strangers(self) -> bool:
        """Say whether somebody else listens on the port; looked at twice, as processes end."""
        return not (
            is_refused(self._port)
            or listens(self._process.pid, self._port)
            or is_refused(self._port)
        )

    def _ended_early(self) -> GensightError:
        if is_taken(self._port) or TAKEN in self._tail().lower():
            return PortTakenError(self._taken())
        return GensightError(f"{self._name} ended before it was ready: {self._end()}")

    def _taken(self) -> str:
        return f"{self._name}: another process has its port, {self._port}; {self._last_lines()}"

    def _end(self) -> str:
        status = self._process.returncode
        # A watchdog that was killed itself took the server with it.
        number = -status if status < 0 else status - 128
        is_signal = number in {*signal.Signals}
        told = f" ({signal.Signals(number).name})" if is_signal else ""
        if is_signal and number == signal.SIGKILL:
            told = " (SIGKILL: perhaps out of memory; see limits.memory_mb in the model's YAML)"
        return f"exit status {128 + number if is_signal else status}{told}; {self._last_lines()}"

    def _last_lines(self) -> str:
        lines = [" ".join(line.split())[:LONGEST_LINE] for line in self._tail().splitlines()]
        told = [line for line in lines if line][-LINES_TOLD:]
        said = (
            f"the last lines of {self._log}: {' | '.join(told)}" if told else "it printed nothing"
        )
        return secrets.scrub(said)

    def _tail(self) -> str:
        """Return the end of what this start printed."""
        with self._log.open("rb") as written:
            size = written.seek(0, os.SEEK_END)
            written.seek(max(self._from, size - BYTES_READ))
            return written.read().decode("utf-8", "replace")


class PortTakenError(GensightError):
    """Another process has the port of a server."""


def _started(spec: ServerSpec, site: Site, log: Path, model: str) -> Server:
    if spec.port != "auto" and is_taken(spec.port):
        raise GensightError(
            f"server.port: another process has port {spec.port}; stop that one, or set it to auto"
        )
    tries = MOST_PORTS if spec.port == "auto" else 1
    while True:
        port = free_port() if spec.port == "auto" else spec.port
        server = Server(spec, spec.words(port, model), site, log, port)
        try:
            server.wait()
        except PortTakenError:
            server.stop()
            tries -= 1
            if not tries:
                raise
        except BaseException:
            server.stop()
            raise
        else:
            return server


def _variables(spec: ServerSpec, site: Site) -> dict[str, str]:
    """Return the environment variables of a server."""
    variables = secrets.without_keys(os.environ)
    if spec.environment is None:
        return variables
    folder = _folder(spec.environment, site)
    for own in OWN_PYTHON:
        variables.pop(own, None)
    path = variables.get("PATH", os.defpath)
    return {
        **variables,
        "PATH": f"{folder / 'bin'}{os.pathsep}{path}",
        "PYTHONNOUSERSITE": "1",
    }


def _folder(environment: str, site: Site) -> Path:
    given = site.environments.get(environment, f".envs/{environment}")
    folder = (site.root / Path(given).expanduser()).absolute()
    if not (folder / "bin").is_dir():
        raise GensightError(
            f"server.environment: {environment}: {folder} has no bin/; make the environment there, "
            f"or name its folder in the config: environments: {{{environment}: ...}}"
        )
    return folder


def _program(word: str, spec: ServerSpec, site: Site, variables: Mapping[str, str]) -> str:
    """Return the file of a program: a path as the site's root sees it, or a name on the PATH."""
    is_path = os.sep in word
    tried = str((site.root / Path(word).expanduser()).absolute()) if is_path else word
    found = shutil.which(tried, path=variables.get("PATH", os.defpath))
    if found is None:
        place = f"environment {spec.environment}" if spec.environment else "PATH"
        where = "" if is_path else f" in the {place}"
        raise GensightError(
            f"server.command: no program {word}{where}; install it, name its environment in "
            f"server.environment, or name a server that runs in the config key 'endpoints'"
        )
    return str(Path(found).absolute())
