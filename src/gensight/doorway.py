"""The frame around every workflow script: its output, and any traceback, in the rule's log."""

from __future__ import annotations

import ctypes
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def logged(snakemake: Any) -> Iterator[None]:
    """Send file descriptors 1 and 2 into the log; a failure ends the job with a non-empty log.

    C libraries and subprocesses write there too. An error that is the user's to fix is one line,
    anything else a traceback with the sample it was met at. What was made is remembered as made
    here (see `gensight.stamps`).
    """
    with open(snakemake.log[0], "w", buffering=1, encoding="utf-8") as log:  # noqa: PTH123
        saved = os.dup(1), os.dup(2)
        _redirect(log.fileno(), log.fileno())
        try:
            _settle_without_pandas()
            yield
            _remember(snakemake.output)
            print(f"done: {', '.join(snakemake.output)}")
        except BaseException as error:
            _explain(error)
            raise SystemExit(1) from None
        finally:
            _redirect(*saved)
            os.close(saved[0])
            os.close(saved[1])


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

    if isinstance(error, GensightError):
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", []))
        print(f"gensight: {error}{notes}", file=sys.stderr)
    else:
        traceback.print_exception(error)


def _remember(outputs: Any) -> None:
    from gensight.footers import read_footer
    from gensight.stamps import mark_built

    for path in outputs:
        if path.endswith((".parquet", ".tex", ".png")):
            mark_built(path, read_footer(path).content)
