"""What the sources of image-to-pixel share: the square that is shown, and the two tasks' samples.

The picture is looked at upright and over white, and its largest square about the middle is brought
to `assumed_crop_px` a side (PixelBench says that it crops to a square and not to which size). That
PNG is what image-to-pixel shows, and nothing else: no query, and an id that says nothing of the
label, since the prompt repeats it. A sample of pixel understanding has the same id and cluster, no
picture and lettered options; its picture is read all the same, so that one that cannot be read
leaves both tasks alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gensight.datasets._disk import Item, Parameters, item_told
from gensight.datasets._options import right_letter
from gensight.datasets._segmentation import read_picture
from gensight.errors import ImageError, SpecError
from gensight.images import decode_rgb, encode_png, resize_picture
from gensight.records import Sample

#: What every such module has among its DEFAULTS.
PIXEL_DEFAULTS = {"task": "image_to_pixel", "options": 10, "assumed_crop_px": 256}
WHITE = (255, 255, 255)


@dataclass(frozen=True)
class Labelled:
    """A picture file and the label of what it shows; `options` of a question, its own among them.

    `knobs` and `tags` are those of the sample; the file's name is told without its folder.
    """

    path: Path
    label: str
    options: tuple[str, ...] = ()
    knobs: dict[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


def opaque_id(prefix: str, *key: str) -> str:
    """Return an id that follows from the key and says nothing of it: prefix and 16 hex digits."""
    return f"{prefix}_{hashlib.sha256('/'.join(key).encode()).hexdigest()[:16]}"


def centre_square(picture: np.ndarray, side_px: int) -> np.ndarray:
    """Return the largest square about the middle of uint8 (H, W, 3) as (side_px, side_px, 3).

    Where it cannot lie in the middle exactly, it lies half a pixel further left or up. Shrinking is
    an area average; a smaller picture is enlarged.
    """
    height, width = picture.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = picture[top : top + side, left : left + side]
    return resize_picture(np.ascontiguousarray(square), side_px, side_px)


def read_square(path: Path, side_px: int) -> np.ndarray:
    """Return the square that is shown of a picture file, uint8 (side_px, side_px, 3) RGB.

    Raises:
        SpecError: the side is not positive.
        MissingDataError: the file is not there.
        ImageError: it is no picture, or cut off; the message names it.
    """
    if side_px < 1:
        raise SpecError(f"dataset.parameters.assumed_crop_px: {side_px} is no size; give 1 or more")
    data = read_picture(path).data
    try:
        return centre_square(decode_rgb(data, matte=WHITE), side_px)
    except ImageError as error:
        raise ImageError(f"{path}: {error}") from error


def pixel_sample(parameters: Parameters, item: Item, licence: str) -> Sample:
    """Return an item's sample of the task that the parameters name; its place is `Labelled`.

    Raises:
        MissingDataError: its picture is not there.
        ImageError: its picture cannot be read.
    """
    asked: Labelled = item.place
    with item_told(item):
        square = read_square(asked.path, parameters["assumed_crop_px"])
    common = {
        "sample_id": item.id,
        "rank": 0,
        "cluster_id": item.cluster_id,
        "licence": licence,
        "tags": list(asked.tags),
    }
    knobs = {**asked.knobs, "label": asked.label}
    if parameters["task"] == "pixel_understanding":
        letter = right_letter(asked.options, asked.label)
        options = list(asked.options)
        return Sample(**common, options=options, target_text=letter, knobs=knobs)
    side = parameters["assumed_crop_px"]
    shown = {"bytes": encode_png(square), "path": f"{item.id}.png"}
    return Sample(
        **common, image=shown, width=side, height=side, target_text=asked.label, knobs=knobs
    )


def picture_path(parameters: Parameters, item: Item) -> Path:
    """Return where an item's picture lies."""
    path: Path = item.place.path
    return path
