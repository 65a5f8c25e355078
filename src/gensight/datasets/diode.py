"""DIODE, the validation split: laser-scanned depth, indoors and outdoor (Vasiljevic et al., 2019).

Protocol. Depth in metres counts where the mask file says so and nowhere else: 0.6 and 350 m limit
the aligned prediction alone (Marigold's evaluation), so a benchmark sets `caps_limit_truth: false`
of the measure. A masked pixel without a finite, positive depth never counts. Indoors and outdoor
are strata: a mix of the two moves the mean more than models do (PROTOCOLS 1.1).

Layouts below the root: val/indoors/scene_00019/scan_00183/..., the same without val/, or Marigold's
diode_val.tar. A picture is NAME.png (1024 x 768), its depth NAME_depth.npy (768, 1024, 1), float32,
its mask NAME_depth_mask.npy (768, 1024), above 0 where valid.

771 pictures are shipped: 325 indoors and 446 outdoor. The index of the devkit (diode_meta.json)
lists 612 of them and is never used. `list_file`, one picture a line with or without its depth and
mask, restricts the data set to what it names.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from gensight.datasets._depth import (
    check_size,
    check_unit,
    depth_sample,
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
from gensight.datasets._members import Store, Stretch, first_of, open_store, read_list
from gensight.errors import MissingDataError, SpecError
from gensight.records import Sample
from gensight.truths import MASK_ALONE

VERSION = 1
DEFAULTS = {**DISK_DEFAULTS, "part": "all", "cluster": "scan", "list_file": ""}
CHOICES = {"part": ["indoors", "outdoor", "all"], "cluster": ["scan", "scene", "image"]}
FACTS = {
    "depth": "validation split; truth in metres counts where the mask file says so, without limits "
    "or crop; prediction clipped to 0.6-350 m after alignment; 20 scans in 6 scenes",
}
FOLDER = "diode"
LICENCE = "diode"
SOURCE = (
    "get val.tar.gz of DIODE (https://diode-dataset.org) and unpack it, or diode/diode_val.tar of "
    "Marigold's evaluation data (https://github.com/prs-eth/Marigold)"
)
COUNTS = {"indoors": 325, "outdoor": 446, "all": 771}
SIZE = (768, 1024)
CAPS_M = (0.6, 350.0)

PLACES = ("val", "indoors", "outdoor", "diode_val.tar")
PICTURE_NAME = re.compile(
    r"(?P<part>indoors|outdoor)/scene_(?P<scene>\d{5})/scan_(?P<scan>\d{5})/"
    r"(?P<stem>(?P=scene)_(?P=scan)_(?P=part)_\d{3}_\d{3})\.png"
)


def expected_count(parameters: Parameters) -> int:
    """Return the number of pictures: 325 indoors, 446 outdoor, or those of the list file.

    Raises:
        SpecError: the list file is not one.
        MissingDataError: the list file is not there.
    """
    listed = _listed(parameters)
    return COUNTS[parameters["part"]] if listed is None else len(listed)


def list_items(parameters: Parameters) -> list[Item]:
    """Return the pictures of the part, in the order of their names.

    Raises:
        MissingDataError: the files are not there, or are a partial download.
        SpecError: the list file is not one.
    """
    store = _store(root_of(parameters))
    listed = _listed(parameters)
    names = _pictures(store, parameters["part"]) if listed is None else listed
    matches = map(PICTURE_NAME.fullmatch, sorted(names))
    items = [_item(store, match, parameters) for match in matches if match]
    items = [item for item in items if None not in item.place]
    what = f"pictures ({parameters['part']}) with depth and mask"
    check_count(parameters, len(items), expected_count(parameters), what)
    return items


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a picture.

    Raises:
        ImageError: the picture cannot be read.
        MissingDataError: an array cannot be read, or a size, type or unit is not as shipped.
    """
    with item_told(item):
        picture, depth_m, valid = read_picture(item.place[0]), *_truth(*item.place[1:])
        check_size(item.place[0], picture[1].shape[:2], SIZE)
        sample = depth_sample(item, picture, depth_m, valid, caps_m=CAPS_M, licence=LICENCE)
        return replace(sample, tags=[MASK_ALONE])


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items)


def _store(root: Path) -> Store:
    path = first_of(root, PLACES)
    # The lists of names start with the part, whether or not there is a folder above it.
    return open_store(root if path.name in COUNTS else path)


def _pictures(store: Store, part: str) -> list[str]:
    parts = [name for name in COUNTS if name != "all"] if part == "all" else [part]
    return [name for part in parts for name in store.names(part, ".png")]


def _listed(parameters: Parameters) -> list[str] | None:
    """Return the pictures of this part that the list file names, None without a list file."""
    if not parameters["list_file"]:
        return None
    path = root_of(parameters, parameters["list_file"]) / parameters["list_file"]
    if path.suffix == ".json":
        raise SpecError(
            f"{path}: dataset.parameters.list_file: give a list of one picture a line; "
            f"diode_meta.json knows 612 of the 771 pictures"
        )
    names = [words[0] for words in read_list(path, (1, 2, 3))]
    for name in names:
        if not PICTURE_NAME.fullmatch(name):
            raise SpecError(
                f"{path}: '{name}' is no picture of DIODE; write it as "
                f"indoors/scene_00019/scan_00183/00019_00183_indoors_000_010.png"
            )
    part = parameters["part"]
    return [name for name in names if part == "all" or name.startswith(f"{part}/")]


def _item(store: Store, match: re.Match[str], parameters: Parameters) -> Item:
    sample_id = f"{FOLDER}_{match['stem']}"
    clusters = {
        "scan": f"{FOLDER}_scan_{match['scan']}",
        "scene": f"{FOLDER}_scene_{match['scene']}",
        "image": sample_id,
    }
    stem = match[0].removesuffix(".png")
    endings = (".png", "_depth.npy", "_depth_mask.npy")
    place = tuple(store.find(f"{stem}{ending}") for ending in endings)
    return Item(sample_id, clusters[parameters["cluster"]], stratum=match["part"], place=place)


def _truth(depth: Stretch, mask: Stretch) -> tuple[np.ndarray, np.ndarray]:
    """Return metres, float32 (H, W), and the mask, bool (H, W), after their checks."""
    depth_m, marked = _array(depth, "f"), _array(mask, "biuf")
    if depth_m.ndim == 3 and depth_m.shape[2] == 1:
        depth_m = depth_m[:, :, 0]
    check_size(depth, depth_m.shape, SIZE)
    check_size(mask, marked.shape, SIZE)
    # The type of the mask is not documented; above 0 is valid in every one it could have.
    valid = marked > 0
    check_unit(depth, depth_m[valid])
    return depth_m.astype(np.float32, copy=False), valid


def _array(place: Stretch, kinds: str) -> np.ndarray:
    """Return the array of a .npy file whose type is of one of these kinds."""
    try:
        array = np.load(io.BytesIO(place.read()), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise MissingDataError(f"{place}: cannot be read as .npy: {error}") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise MissingDataError(f"{place}: holds no plain array of the type that DIODE ships")
    return array
