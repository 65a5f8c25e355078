"""Seeds that are drawn once and kept: `seed: fresh`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gensight.atomic import write_text
from gensight.errors import SpecError


def fresh_seed(ledger: Path, benchmark: str) -> int:
    """Return the seed drawn for a benchmark that asks for `seed: fresh`, drawing it once.

    The draw is kept in the ledger: a rerun repeats it, a new ledger draws another. Of two
    processes that draw at once, the first to link its file wins, and both use its seed.

    Raises:
        SpecError: the ledger cannot be read or written, or its file holds no seed.
    """
    path = ledger / "fresh_seeds" / f"{benchmark}.json"
    try:
        return _kept_seed(path)
    except OSError as error:
        raise SpecError(
            f"config/config.yaml (or --configfile): ledger: cannot keep the seed of '{benchmark}' "
            f"in {path} ({error.strerror}); name a folder that can be written"
        ) from None


def _kept_seed(path: Path) -> int:
    if not path.exists():
        drawn = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
        write_text(drawn, json.dumps({"seed": int.from_bytes(os.urandom(6), "big")}))
        try:
            os.link(drawn, path)
        except FileExistsError:
            pass
        finally:
            drawn.unlink()
    try:
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    except (ValueError, KeyError, TypeError):
        raise SpecError(f"{path}: holds no seed; remove it to draw another") from None
