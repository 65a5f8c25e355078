"""Letting the replies of a generations file that was laid in answer for their keys."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gensight.digests import digest_of


def adopted_folder(ledger: Path, model: str) -> Path:
    """Return where a model's adopted files are kept."""
    return ledger / "adopted" / model


def adopt(ledger: Path, model: str, generations: Path) -> Path:
    """Keep a generations file in the ledger: a link where the file system allows, else a copy.

    Files of the same path but other content stand beside each other: nothing is replaced.
    """
    stat = generations.stat()
    name = digest_of([str(generations), stat.st_size, stat.st_ino])[:32]
    target = adopted_folder(ledger, model) / f"{name}.parquet"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(generations, target)
        except OSError:  # another file system
            temporary = target.with_name(f".{target.name}.{os.getpid()}")
            shutil.copyfile(generations, temporary)
            os.replace(temporary, target)
    return target
