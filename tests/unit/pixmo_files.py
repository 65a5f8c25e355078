"""Small PixMo-Points folders in the true form, for tests."""

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gensight.datasets import pixmo_points
from gensight.images import encode_png

POINTS = pa.list_(pa.struct([("x", pa.float64()), ("y", pa.float64())]))
SCHEMA = pa.schema(
    [
        ("image_url", pa.string()),
        ("image_sha256", pa.string()),
        ("points", POINTS),
        ("count", pa.int64()),
        ("label", pa.string()),
        ("collection_method", pa.string()),
    ]
)


def picture(number, width=64, height=48):
    """Return a small picture that no other number has."""
    pixels = np.full((height, width, 3), 200, np.uint8)
    pixels[0, 0] = (number % 256, number // 256, 7)
    return encode_png(pixels)


def sha_of(data):
    return hashlib.sha256(data).hexdigest()


def row(number, count=1, **columns):
    """Return the row of the picture of this number, with points along its diagonal."""
    given = {
        "image_url": f"https://pictures.invalid/{number}.png",
        "image_sha256": sha_of(picture(number)),
        "points": [{"x": 2.0 * place, "y": 3.0 * place} for place in range(count)],
        "count": count,
        "label": "thing",
        "collection_method": "pointing",
    }
    return {**given, **columns}


def write_parquet(path, rows, group=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, row_group_size=group)


def write_json_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))


def write_pictures(root, numbers):
    folder = root / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        data = picture(number)
        (folder / f"{sha_of(data)}.png").write_bytes(data)


def parameters(root, **given):
    source = pixmo_points.SOURCE
    return {**pixmo_points.DEFAULTS, "root": str(root), "source": source, **given}
