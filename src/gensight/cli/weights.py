"""Where the weights of a model or an encoder are, as far as the file system tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gensight.specs.conventions import ASSUMED

#: Settings that name weights which this process loads: of a model, of an agent's tool.
NAMED_BY = ("model", "segmenter")


class WeightsTold(NamedTuple):
    """What is to be known of weights beforehand; `is_lack`: without them nothing runs."""

    text: str
    is_lack: bool


def weights_told(settings: Mapping[str, Any], root: Path) -> WeightsTold | None:
    """Return what is to be known of weights; None: they are here, or none are named.

    A folder below `root` goes before a repository of the hub, as when they are loaded. Of the hub's
    cache one file of the revision is enough: half a download shows when it is loaded.
    """
    named = next((settings[name] for name in NAMED_BY if settings.get(name)), None)
    if named is None or (root / str(named)).is_dir():
        return None
    name = str(named)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        return WeightsTold(f"no folder {name}", is_lack=True)
    revision = settings.get("revision") or settings.get(f"{ASSUMED}revision") or "main"
    if _is_kept(hub_cache() / f"models--{name.replace('/', '--')}", str(revision)):
        return None
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return WeightsTold(f"no weights {name} here, and HF_HUB_OFFLINE is set", is_lack=True)
    return WeightsTold(f"weights {name} to be downloaded at the first start", is_lack=False)


def _is_kept(repository: Path, revision: str) -> bool:
    """Say whether a cache holds a file of a revision: of a commit, or of what a branch was."""
    reference = repository / "refs" / revision
    commit = reference.read_text().strip() if reference.is_file() else revision
    snapshot = repository / "snapshots" / commit
    return snapshot.is_dir() and any(snapshot.iterdir())


def hub_cache() -> Path:
    """Return where the hub's library keeps what it downloads (its variables have the last word)."""
    home = os.environ.get("HF_HOME") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home, "hub")).expanduser()
