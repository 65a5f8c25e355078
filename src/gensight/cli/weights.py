"""Where the weights of a model or an encoder are, as far as the file system tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Settings that name weights which this process loads: of a model, of an agent's tool.
NAMED_BY = ("model", "segmenter")
TO_COME = "weights to be downloaded at the first start"


def weights_told(settings: Mapping[str, Any], root: Path) -> str | None:
    """Return what is to be known of weights beforehand; None: they are here, or none are named.

    A folder below `root` goes before a repository of the hub, whose cache is looked at, and whose
    files are not: half a download is found when it is loaded.
    """
    named = next((settings[name] for name in NAMED_BY if settings.get(name)), None)
    if named is None or (root / str(named)).expanduser().is_dir():
        return None
    name = str(named)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        return f"no folder {name}"
    snapshots = hub_cache() / f"models--{name.replace('/', '--')}" / "snapshots"
    if snapshots.is_dir() and any(snapshots.iterdir()):
        return None
    is_offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    return f"no weights of {name} here, and HF_HUB_OFFLINE is set" if is_offline else TO_COME


def hub_cache() -> Path:
    """Return where the hub's library keeps what it downloads (its variables have the last word)."""
    home = os.environ.get("HF_HOME") or Path(
        os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home, "hub")).expanduser()
