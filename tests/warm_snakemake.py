"""Snakemake as a fork of a process that has only imported it: most of a dry run is imports.

What runs is the same: a process of its own with its own folder, environment, arguments and output.
Nothing of gensight is imported before the fork, so that the library is that of the environment.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import site
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

#: What `python -m snakemake` and a plan import of others.
IMPORTED = (
    "snakemake.cli",
    "snakemake.caching.hash",
    "snakemake.report.html_reporter",
    "smart_open",
    "tabulate",
    "numpy",
    "pyarrow.parquet",
    "pydantic",
    "yaml",
)


class WarmSnakemake:
    """The process that forks, started when it is first needed."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m snakemake` with these arguments in a folder, and wait for its end."""
        if self._server is None:
            self._server = _started()
            atexit.register(self._server.communicate)
        assert self._server.stdin is not None and self._server.stdout is not None
        with tempfile.TemporaryDirectory() as place:
            said = [str(Path(place, name)) for name in ("stdout", "stderr")]
            asked = [["snakemake", *arguments], str(folder), dict(environment), said]
            print(json.dumps(asked), file=self._server.stdin, flush=True)
            code = int(self._server.stdout.readline())
            texts = [Path(path).read_text() for path in said]
        return subprocess.CompletedProcess(arguments, code, *texts)


def _started() -> subprocess.Popen[str]:
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, __file__], env=bare, text=True, **pipes)


def serve() -> None:
    """Fork for every line of standard input, and say with which code the fork ended."""
    for name in IMPORTED:
        import_module(name)
    assert "gensight" not in sys.modules
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become_snakemake(*json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become_snakemake(
    arguments: list[str], folder: str, environment: dict[str, str], said: list[str]
) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in zip((1, 2), said, strict=True):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # In place of the folder of this file, as a Python that starts with -m would have it.
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    # What a test lays there takes modules or the network away.
    sys.modules.pop("sitecustomize", None)
    site.execsitecustomize()
    sys.argv = arguments
    runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    serve()
