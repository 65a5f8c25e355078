"""The twin of PixMo-Points: built-in counting scenes as one Parquet file and a folder of pictures.

One row for each scene. The points are the scenes' own, turned into per cent of width and height;
the method alternates, so that either choice of it leaves rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gensight import atomic
from gensight.datasets._disk import TWIN_MARK
from gensight.datasets._pixmo_rows import SCHEMA
from gensight.records import Sample

ROWS_FILE = "data/train-00000-of-00001.parquet"


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write the scenes, which have counts and points, below `root` in the data set's own form."""
    rows = []
    for number, scene in enumerate(scenes):
        picture = scene.image["bytes"]
        sha256 = hashlib.sha256(picture).hexdigest()
        atomic.write_bytes(root / "images" / f"{sha256}.png", picture)
        rows.append(
            {
                "image_url": f"https://twin.invalid/{scene.image['path']}",
                "image_sha256": sha256,
                "points": [_percent(point, scene) for point in scene.target_points or []],
                "count": scene.target_count,
                "label": scene.query,
                "collection_method": ("counting", "pointing")[number % 2],
            }
        )
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    with atomic.replacing(root / ROWS_FILE) as temporary:
        pq.write_table(table, temporary)
    atomic.write_text(root / TWIN_MARK, "synthetic twin made by gensight; not the data set\n")


def _percent(point: dict[str, float], scene: Sample) -> dict[str, float]:
    return {"x": 100 * point["x"] / scene.width, "y": 100 * point["y"] / scene.height}
