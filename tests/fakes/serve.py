"""A fake as a process of its own: `python -m fakes.serve google --port-file F --journal F.jsonl`.

The port file appears when the fake listens and holds the number of its port. A line of the journal
is in its file before the reply is sent. The process ends after --stop-after seconds or on SIGTERM;
with 1 and the errors on stderr if the fake itself failed.

It can be a server that a spec starts: on --port, which it says on stderr when it listens, after a
--start-after pause, and dying with status 3 when a paid request comes after --die-after others.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from fakes import wire
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.bfl import BFLFake
from fakes.billing import Journal, Limits, Scenario
from fakes.chat import DeepSeekFake, MoonshotFake, VllmFake
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake
from fakes.painters import Gallery
from fakes.server import Fake

FAKES: dict[str, type[Fake]] = {
    "anthropic": AnthropicFake,
    "ark": ArkFake,
    "bfl": BFLFake,
    "deepseek": DeepSeekFake,
    "google": GoogleFake,
    "moonshot": MoonshotFake,
    "openai": OpenAIFake,
    "vllm": VllmFake,
}
#: Scripts with a name; any other --scenario is read as a script itself.
SCENARIOS = {
    "ok": "",
    "safe": (
        "probability 0.15 wait_429 retry_after_s=0.05 seed=1; probability 0.1 overloaded_503 "
        "seed=2; probability 0.1 error_500 seed=3"
    ),
    "slow": "default slow delay_s=0.3",
}
LONGEST_START_S = 60.0
#: The exit status of a fake that dies.
DEATH = 3
TESTS = Path(__file__).parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Run one fake until it is told to stop."""
    told = _parser().parse_args(arguments)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        fake = _fake(told)
        fake.journal = Journal(told.journal)
        if told.die_after is not None:
            fake = _mortal(fake, told.die_after)
        fake.wanted_port = told.port
        if stop.wait(told.start_after):
            return 0
        with fake:
            if told.port:
                print(f"fake {told.provider}: listens on port {fake.port}", file=sys.stderr)
            if told.port_file is not None:
                _write(Path(told.port_file), str(fake.port))
            stop.wait(told.stop_after)
    except Exception as error:
        print(f"fake {told.provider}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _fake(told: argparse.Namespace) -> Fake:
    """Return the fake that a command line asks for, without a journal on disk yet."""
    limits = None
    if told.requests_per_minute is not None:
        limits = Limits(told.requests_per_minute, told.window_s)
    return FAKES[told.provider](
        painter=None if told.results is None else Gallery(told.results, method=told.method),
        scenario=Scenario.parse(SCENARIOS.get(told.scenario, told.scenario)),
        limits=limits,
    )


def _mortal(fake: Fake, lives: int) -> Fake:
    """Let a fake die, as programs do, when one paid request comes after so many others."""
    decide, lock, left = fake.handle, threading.Lock(), [lives]

    def handle(raw: wire.Raw, time_s: float) -> Any:
        if raw.method == "POST":
            with lock:
                if not left[0]:
                    print("fake: RuntimeError: the device is lost", file=sys.stderr, flush=True)
                    os._exit(DEATH)
                left[0] -= 1
        return decide(raw, time_s)

    fake.handle = handle  # type: ignore[method-assign]
    return fake


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fakes.serve", description=__doc__)
    parser.add_argument("provider", choices=sorted(FAKES))
    parser.add_argument("--port-file")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--start-after", type=float, default=0.0, help="seconds before it listens")
    parser.add_argument("--die-after", type=int, help="paid requests that it lives for")
    parser.add_argument("--journal", required=True)
    parser.add_argument("--scenario", default="ok")
    parser.add_argument("--results", help="a checkout's results: answers are then painted truly")
    parser.add_argument("--method", default="oracle", help="the reference model that paints")
    parser.add_argument("--requests-per-minute", type=int)
    parser.add_argument("--window-s", type=float, default=60.0)
    parser.add_argument("--stop-after", type=float, default=600.0)
    return parser


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)


class Served:
    """A fake in a process of its own, for the length of a `with` block; its files in `folder`.

    Options are those of the command line, with underscores: `Served("google", tmp_path,
    scenario="slow", results=checkout / "results")`.
    """

    def __init__(self, provider: str, folder: Path, **options: Any) -> None:
        self.provider, self.folder, self.options = provider, Path(folder), options
        self.journal_path = self.folder / f"{provider}.jsonl"
        self._port_file = self.folder / f"{provider}.port"
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Served:
        self._port_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "fakes.serve", self.provider]
        given = {"port_file": self._port_file, "journal": self.journal_path, **self.options}
        for name, value in given.items():
            command += [f"--{name.replace('_', '-')}", str(value)]
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        self._process = subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + LONGEST_START_S
        while not self._port_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"fake {self.provider} did not start: {self._end()}")
            time.sleep(0.02)
        return self

    def __exit__(self, *raised: object) -> None:
        said = self._end()
        assert self._process is not None
        if self._process.returncode and raised[0] is None:
            raise RuntimeError(
                f"fake {self.provider} ended with {self._process.returncode}: {said}"
            )

    def _end(self) -> str:
        """Stop the process and return what it complained about."""
        assert self._process is not None
        self._process.terminate()
        try:
            return self._process.communicate(timeout=LONGEST_START_S)[1]
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.communicate()[1]

    @property
    def url(self) -> str:
        """Return the base address, as a `Connection` takes it."""
        return f"http://127.0.0.1:{self._port_file.read_text()}{FAKES[self.provider].PREFIX}"

    @property
    def journal(self) -> Journal:
        """Return the journal as it is now."""
        return Journal.read(self.journal_path)


if __name__ == "__main__":
    sys.exit(main())
