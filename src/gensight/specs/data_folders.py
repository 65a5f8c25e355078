"""Where the data sets of a config lie."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gensight.specs import declared


def data_folder(config: Mapping[str, Any], root: Path, module: str) -> Path:
    """Return a data set's folder: its own, or the one of its name below `data_root`."""
    given = config.get("data", {}).get(module)
    if given is not None:
        return root / given
    folder = declared.constants("datasets", module).get("FOLDER", module)
    return root / config.get("data_root", "data") / folder
