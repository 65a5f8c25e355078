"""A twin of DRAM: lists of names, paintings, and label PNG files of Pascal VOC's ids.

The targets of a scene stand for two of the eleven classes in turn; what they are called says
nothing of what they look like. A strip of the label has an id outside of the classes, so it is
ignored. Scenes are dealt to the four movements; `dram` holds them all, and the unseen movements
repeat every fourth. Masks are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gensight import atomic
from gensight.datasets.dram import BACKGROUND, CLASSES
from gensight.images import encode_png
from gensight.records import Sample
from gensight.twins._scene_pictures import ScenePicture, mark_twin, scene_pictures

MOVEMENTS = ("realism", "impressionism", "post_impressionism", "expressionism")
# VOC's aeroplane and its border: neither is a class of DRAM.
OTHER_CLASS, BORDER = 1, 255


def write(root: Path, scenes: Sequence[Sample]) -> None:
    """Write the twin below `root`.

    Raises:
        GensightError: a scene is no segmentation sample, or there is none.
    """
    lists: dict[str, list[str]] = {name: [] for name in (*MOVEMENTS, "unseen")}
    for picture in scene_pictures(scenes):
        for movement, name in _names(picture).items():
            lists[movement].append(name)
            atomic.write_bytes(root / "test" / f"{name}.jpg", picture.jpeg)
            atomic.write_bytes(root / "labels" / f"{name}.png", encode_png(_label(picture)))
    lists["dram"] = [name for movement in MOVEMENTS for name in lists[movement]]
    lists["dram_with_unseen"] = [*lists["dram"], *lists["unseen"]]
    for name, names in lists.items():
        atomic.write_text(root / "test" / f"{name}.txt", "\n".join(names))
    mark_twin(root)


def _names(picture: ScenePicture) -> dict[str, str]:
    """Return the lists that a scene belongs to, and its name in each."""
    movement = MOVEMENTS[picture.number % len(MOVEMENTS)]
    stem = f"scene_{picture.number:06d}"
    names = {movement: f"{movement}/{stem}"}
    if movement == MOVEMENTS[0]:
        # One part more than the others, as in the data set.
        names["unseen"] = f"unseen/cubism/{stem}"
    return names


def _label(picture: ScenePicture) -> np.ndarray:
    """Return the ids of a scene, uint8 (H, W)."""
    label = np.full((picture.height, picture.width), BACKGROUND, np.uint8)
    label[:2] = OTHER_CLASS
    label[-2:] = BORDER
    ids = sorted(CLASSES)
    for index, (_, mask) in enumerate(picture.targets()):
        label[mask] = ids[(2 * picture.number + index) % len(ids)]
    return label
