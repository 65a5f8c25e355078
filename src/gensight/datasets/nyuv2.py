"""NYU Depth V2, the 654 labelled frames of the test split (Silberman et al., ECCV 2012).

Protocol. The truth is the raw depth of the sensor in metres; it counts where 0.001 < d < 10 and
inside the box of Eigen et al. (rows 45 to 470, columns 41 to 600 of 480 x 640). `truth: filled`
takes the in-painted depths instead, which is another measure: they exist in the .mat alone, since
the files called "filled" in Marigold's archive hold the raw map again (prs-eth/Marigold issue 114).

Layouts below the root, tried in this order by `auto`:

- `marigold_tar`  nyu_labeled_extracted.tar: ./test/<scene>/rgb_0001.png, depth_0001.png (mm)
- `folder`        the same, unpacked: test/<scene>/...
- `mat`           nyu_depth_v2_labeled.mat and splits.mat

A sample is called by its frame number from 1, which all layouts share. Depths of the first two are
those of the .mat rounded to millimetres. The bts release has other pictures and is not read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gensight import images
from gensight.datasets import _nyu_mat
from gensight.datasets._depth import (
    between,
    box_mask,
    check_size,
    check_unit,
    depth_sample,
    read_depth_png,
    read_picture,
)
from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    check_count,
    item_told,
    missing_by,
    population_of,
    root_of,
    samples_of,
)
from gensight.datasets._members import first_of, open_store
from gensight.errors import AbsentDataError, MissingDataError, SpecError
from gensight.records import Sample

VERSION = 1
DEFAULTS = {**DISK_DEFAULTS, "layout": "auto", "truth": "raw", "cluster": "recording"}
CHOICES = {
    "layout": ["auto", "marigold_tar", "folder", "mat"],
    "truth": ["raw", "filled"],
    "cluster": ["recording", "scene_type", "image"],
}
FACTS = {
    "depth": "654 test frames; truth is the sensor's raw depth in metres (unless truth: filled "
    "is set), counted where 0.001 < d < 10 m in the Eigen box (rows 45:471, columns 41:601); "
    "prediction clipped to 0.001-10 m after alignment",
}
FOLDER = "nyuv2"
LICENCE = "nyuv2"
SOURCE = (
    "get nyu_depth_v2_labeled.mat and splits.mat of NYU Depth V2 "
    "(https://cs.nyu.edu/~silberman/datasets/nyu_depth_v2.html), or "
    "nyuv2/nyu_labeled_extracted.tar of Marigold's evaluation data "
    "(https://github.com/prs-eth/Marigold)"
)
FRAMES = 654
SIZE = (480, 640)
ROWS, COLUMNS = slice(45, 471), slice(41, 601)
CAPS_M = (1e-3, 10.0)
UNITS_PER_METRE = 1000.0

# What each layout is found by.
PLACES = {"marigold_tar": "nyu_labeled_extracted.tar", "folder": "test", "mat": _nyu_mat.FILE}
PICTURE_NAME = re.compile(r"test/(?P<scene>[^/]+)/rgb_(?P<frame>\d{4})\.png")
# A letter at the end counts the parts into which a recording was cut.
SCENE_NAME = re.compile(r"(?P<recording>(?P<type>.+)_\d+)[a-z]?")


def expected_count(parameters: Parameters) -> int:
    """Return the number of frames in the test split: 654."""
    return FRAMES


def list_items(parameters: Parameters) -> list[Item]:
    """Return the frames of the test split, in the order of their numbers.

    Raises:
        MissingDataError: the files are not there, or are a partial download.
        SpecError: in-painted truth is asked of a layout that has none.
    """
    path = _path(parameters)
    items = _mat_items(path, parameters) if path.suffix == ".mat" else _items(path, parameters)
    check_count(parameters, len(items), FRAMES, "test frames")
    return sorted(items, key=lambda item: item.id)


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a frame.

    Raises:
        ImageError: the picture or its depth cannot be read.
        MissingDataError: a size, type or unit is not as shipped.
    """
    with item_told(item):
        place, picture, depth_m = _read(parameters, item.place)
        check_size(place, picture[1].shape[:2], SIZE)
        check_size(place, depth_m.shape, SIZE)
        check_unit(place, depth_m)
        valid = between(depth_m, *CAPS_M) & box_mask(SIZE, ROWS, COLUMNS)
        return depth_sample(item, picture, depth_m, valid, caps_m=CAPS_M, licence=LICENCE)


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items)


def _path(parameters: Parameters) -> Path:
    """Return the archive, folder or .mat of the layout that is asked for or found."""
    root, layout = root_of(parameters), parameters["layout"]
    if layout == "auto":
        return first_of(root, list(PLACES.values()))
    return first_of(root, [PLACES[layout]])


def _items(path: Path, parameters: Parameters) -> list[Item]:
    """Return the frames of Marigold's archive, or of the folder it unpacks to."""
    if parameters["truth"] == "filled":
        raise SpecError(
            f"dataset.parameters.truth: 'filled' needs {_nyu_mat.FILE}: the files called filled in "
            f"{path} hold the raw depth again; set layout: mat"
        )
    store = open_store(path.parent if path.is_dir() else path)
    items = []
    for name in store.names("test", ".png"):
        match = PICTURE_NAME.fullmatch(name)
        depth = store.find(name.replace("/rgb_", "/depth_")) if match else None
        if match and depth:
            place = (store.find(name), depth)
            items.append(_item(parameters, match["scene"], int(match["frame"]), place))
    return items


def _mat_items(path: Path, parameters: Parameters) -> list[Item]:
    splits = path.with_name(_nyu_mat.SPLITS)
    if not splits.is_file():
        raise AbsentDataError(f"{splits} is not there")
    frames = _nyu_mat.split_frames(splits)
    scenes = _nyu_mat.scene_names(path, frames)
    return [
        _item(parameters, scene, frame, (path, frame))
        for scene, frame in zip(scenes, frames, strict=True)
    ]


def _item(parameters: Parameters, scene: str, frame: int, place: Any) -> Item:
    """Return the item of a frame; its scene folder names one recording of one type of room."""
    match = SCENE_NAME.fullmatch(scene)
    if match is None:
        raise MissingDataError(
            f"{parameters['root']}: frame {frame} is of scene '{scene}', which is no name as "
            f"kitchen_0004; the files are not as shipped"
        )
    name = f"{FOLDER}_{frame:04d}"
    clusters = {
        "recording": f"{FOLDER}_{match['recording']}",
        "scene_type": f"{FOLDER}_{match['type']}",
        "image": name,
    }
    return Item(name, clusters[parameters["cluster"]], place=place)


def _read(
    parameters: Parameters, place: Any
) -> tuple[object, tuple[bytes, np.ndarray], np.ndarray]:
    """Return what to call the place, the picture as bytes and pixels, and the metres."""
    if isinstance(place[0], Path):
        path, frame = place
        pixels, depth_m = _nyu_mat.read_frame(path, frame, parameters["truth"])
        return f"{path}: frame {frame}", (images.encode_png(pixels), pixels), depth_m
    picture, depth = place
    return depth, read_picture(picture), read_depth_png(depth, UNITS_PER_METRE)
