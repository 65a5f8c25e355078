"""The frame around every workflow script: its output, and any traceback, in the rule's log."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

#: The variable in which a plan leaves the folder of the library that it was made with.
PLANNED_WITH = "GENSIGHT_PLANNED_WITH"
#: How a job fails that is not told otherwise.
FAILED = 1
#: Where whoever started the workflow watches, while a job's own output goes into its log.
_console: TextIO | None = None


def say(line: str) -> None:
    """Print a line into the job's log, and to whoever watches the workflow."""
    print(line, flush=True)
    if _console is not None:
        print(line, file=_console, flush=True)


@contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send file descriptors 1 and 2 into the log; a failure ends the job with a non-empty log.

    C libraries and subprocesses write there too. An error that is the user's to fix is one line,
    anything else a traceback with the sample it was met at. What was made is remembered as made
    here (see `gensight.stamps`).
    """
    with open(snakemake.log[0], "w", buffering=1, encoding="utf-8") as log:  # noqa: PTH123
        saved = os.dup(1), os.dup(2)
        with _watched(saved[1]):
            _redirect(log.fileno(), log.fileno())
            try:
                _refuse_other_code()
                _settle_without_pandas()
                yield
                _remember(snakemake.output)
                print(f"done: {', '.join(snakemake.output)}")
            except BaseException as error:
                _explain(error)
                raise SystemExit(getattr(error, "exit_code", FAILED)) from None
            finally:
                _redirect(*saved)
                os.close(saved[0])
                os.close(saved[1])


def _refuse_other_code() -> None:
    """Refuse to run another gensight than the one that planned; equal code elsewhere will do.

    Snakemake shares conda environments between checkouts whose files of environments are equal, and
    gensight in one of them is that of whichever checkout made it: the numbers would be its own, and
    say that they are this one's.
    """
    from gensight.errors import GensightError

    planned, own = os.environ.get(PLANNED_WITH), Path(__file__).resolve().parent
    if planned is not None and Path(planned) != own and _code(Path(planned)) != _code(own):
        raise GensightError(
            f"this job's Python ({sys.executable}) has the gensight of {own}, and another one, "
            f"{planned}, planned it: give this checkout environments of its own (--conda-prefix), "
            f"or install the same gensight in both"
        )


def _code(folder: Path) -> dict[str, str]:
    """Return the digest of every module below a folder; none where the folder is not seen."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.py"))
    }


@contextmanager
def _watched(descriptor: int) -> Iterator[None]:
    global _console
    with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as stream:
        _console = stream
        try:
            yield
        finally:
            _console = None


def _redirect(stdout: int, stderr: int) -> None:
    # What C code has printed waits in a buffer of its own, and would follow the descriptor.
    ctypes.CDLL(None).fflush(None)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)


def _settle_without_pandas() -> None:
    """Let Arrow find no pandas, once, in this process.

    Arrow imports pandas, where it is installed, at the first list it converts: a third of a second
    of every job for conversions that no job makes. A module that wants pandas still gets it.
    """
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(_NoPandas)


class _NoPandas:
    """An importer that knows only that pandas is not there."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse pandas, and leave every other module to the next importer."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _explain(error: BaseException) -> None:
    from gensight.errors import GensightError
    from gensight.providers.secrets import scrub

    if isinstance(error, GensightError):
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
        text = f"gensight: {error}{notes}\n"
    else:
        text = "".join(traceback.format_exception(error))
    # An SDK's exception may repeat what was sent, the key included.
    print(scrub(text), end="", file=sys.stderr)


def _remember(outputs: Any) -> None:
    from gensight.footers import read_footer
    from gensight.stamps import mark_built

    for path in outputs:
        if path.endswith((".parquet", ".tex", ".png")):
            mark_built(path, read_footer(path).content)
