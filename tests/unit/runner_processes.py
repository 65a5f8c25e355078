"""Runners in processes of their own, which can be killed: forked from one that has all imported."""

import multiprocessing
import os
import sys
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from runner_rig import HurriedClock

from gensight.errors import GensightError

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["runner_processes", "google.genai", "httpx2"])
LONGEST_S = 60.0


def started(rig, words, clock=None, said=None) -> BaseProcess:
    """Start a process that asks, and writes what it says to a file."""
    process = _context.Process(target=_ask, args=(rig, words, clock, said), daemon=True)
    process.start()
    return process


@contextmanager
def running(*given):
    """Run a process for the length of a block, at most."""
    process = started(*given)
    try:
        yield process
    finally:
        if process.is_alive():
            process.kill()
        process.join(LONGEST_S)


def _ask(rig, words, clock, said):
    from gensight.models import _bfl

    _bfl.POLL_INTERVAL_S = 0.01
    with Path(said or os.devnull).open("a", buffering=1) as out:

        def say(line):
            print(line, file=out)

        try:
            rig.ask(words, clock or HurriedClock(), say)
        except GensightError as error:
            say(f"{type(error).__name__}: {error}")
            sys.exit(getattr(error, "exit_code", 1))
