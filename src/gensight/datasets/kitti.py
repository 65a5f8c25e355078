"""KITTI, the Eigen test split with annotated depth: 652 frames of 28 drives (Uhrig et al., 2017).

Protocol. Truth is accumulated lidar, uint16 with 256 units per metre, 0 where there is none (most
pixels); it counts where 0.00001 < d < 80 and inside a box. The list of 697 lines is Marigold's and
bts's; 45 lines have no truth (`None`) and are left out.

The benchmark crop is 352 rows from the bottom and 1216 columns about the middle. `crop_order`:

- `before`  picture and truth are cropped before the model sees them, and the box is that of the
            cropped picture (Marigold); the picture is then a PNG written here;
- `after`   the whole picture is shown; crop and the box of the whole picture limit where truth
            counts (bts).

Both boxes are fractions of height and width, cut down to whole pixels. With `kb_crop: false`
nothing is cropped and the box is that of the whole picture.

Layouts below the root: raw data and annotated depth by the names of the list (also below raw/ and
below data_depth_annotated/train and /val, as they unpack), or Marigold's
kitti_eigen_split_test.tar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from gensight import images
from gensight.datasets._depth import (
    between,
    box_mask,
    check_equal_sizes,
    check_unit,
    depth_sample,
    listed_pairs,
    read_depth_png,
    read_picture,
)
from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    item_told,
    missing_by,
    population_of,
    samples_of,
)
from gensight.datasets._members import Store, Stretch
from gensight.errors import MissingDataError, SpecError
from gensight.records import Sample

VERSION = 1
DEFAULTS = {
    **DISK_DEFAULTS,
    "list_file": "eigen_test_files_with_gt.txt",
    "kb_crop": True,
    "crop_order": "before",
    "box": "eigen",
    "cluster": "drive",
}
CHOICES = {
    "crop_order": ["before", "after"],
    "box": ["eigen", "garg", "none"],
    "cluster": ["drive", "image"],
}
FACTS = {
    "depth": "652 frames of the Eigen test list with annotated depth; truth counts where 0.00001 < "
    "d < 80 m; picture and truth cropped to 352 x 1216 before prompting, Eigen box of the crop "
    "(unless kb_crop, crop_order or box is set); prediction clipped to 0.00001-80 m after "
    "alignment",
}
FOLDER = "kitti"
LICENCE = "kitti"
SOURCE = (
    "get the raw data and the annotated depth of KITTI (https://www.cvlibs.net/datasets/kitti), or "
    "kitti/kitti_eigen_split_test.tar of Marigold's evaluation data; the list is in "
    "data_split/kitti_depth of https://github.com/prs-eth/Marigold"
)
FRAMES = 652
CROP = (352, 1216)
EVERYTHING = (slice(None), slice(None))
CAPS_M = (1e-5, 80.0)
UNITS_PER_METRE = 256.0
#: First and last row, first and last column, as fractions of height and width.
BOXES = {
    "eigen": (0.3324324, 0.91351351, 0.0359477, 0.96405229),
    "garg": (0.40810811, 0.99189189, 0.03594771, 0.96405229),
    "none": (0.0, 1.0, 0.0, 1.0),
}

ARCHIVE = "kitti_eigen_split_test.tar"
NO_TRUTH = "None"
# Where the two downloads put the names of the list when they are unpacked side by side.
PICTURES_BELOW = ("", "raw/")
TRUTHS_BELOW = ("", "data_depth_annotated/train/", "data_depth_annotated/val/", "train/", "val/")
PAIR = re.compile(
    r"\d{4}_\d\d_\d\d/(?P<drive>\d{4}_\d\d_\d\d_drive_\d{4}_sync)/image_02/data/(?P<frame>\d{10})"
    r"\.png (?P=drive)/proj_depth/groundtruth/image_02/(?P=frame)\.png"
)


def expected_count(parameters: Parameters) -> int:
    """Return the number of listed frames that have a truth: 652."""
    return FRAMES


def list_items(parameters: Parameters) -> list[Item]:
    """Return the listed frames whose picture and truth are here, in the order of the list.

    Raises:
        MissingDataError: the list or files are not there.
        SpecError: the list is not the one of the split.
    """
    item_of = partial(_item, parameters)
    # The third word, the focal length, is used by metric depth alone.
    return listed_pairs(parameters, ARCHIVE, FRAMES, item_of, words=(2, 3), no_truth=NO_TRUTH)


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a frame, cropped as the parameters say.

    Raises:
        ImageError: the picture or its truth cannot be read.
        MissingDataError: a size, type or unit is not as shipped.
    """
    with item_told(item):
        picture, depth_m = read_picture(item.place[0]), _truth(item.place[1])
        check_equal_sizes(picture[1].shape, depth_m.shape)
        crop = crop_of(*depth_m.shape) if parameters["kb_crop"] else EVERYTHING
        if parameters["crop_order"] == "before" and crop != EVERYTHING:
            pixels, depth_m = picture[1][crop], depth_m[crop]
            picture, crop = (images.encode_png(pixels), pixels), EVERYTHING
        box = box_of(parameters["box"], *depth_m.shape)
        counted = box_mask(depth_m.shape, *crop) & box_mask(depth_m.shape, *box)
        valid = between(depth_m, *CAPS_M) & counted
        return depth_sample(item, picture, depth_m, valid, caps_m=CAPS_M, licence=LICENCE)


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items)


def crop_of(height: int, width: int) -> tuple[slice, slice]:
    """Return the rows and columns of the benchmark crop.

    Raises:
        MissingDataError: the picture is smaller than the crop.
    """
    top, left = height - CROP[0], int((width - CROP[1]) / 2)
    if top < 0 or width < CROP[1]:
        raise MissingDataError(
            f"the picture is {width}x{height}, smaller than the benchmark crop 1216x352; get the "
            f"files as shipped"
        )
    return slice(top, top + CROP[0]), slice(left, left + CROP[1])


def box_of(box: str, height: int, width: int) -> tuple[slice, slice]:
    """Return the rows and columns of a box: fractions of the size, cut down to whole pixels."""
    top, bottom, left, right = BOXES[box]
    return (
        slice(int(top * height), int(bottom * height)),
        slice(int(left * width), int(right * width)),
    )


def _truth(place: Stretch) -> np.ndarray:
    depth_m = read_depth_png(place, UNITS_PER_METRE)
    check_unit(place, depth_m)
    return depth_m


def _item(parameters: Parameters, store: Store, pair: Sequence[str]) -> Item:
    match = PAIR.fullmatch(" ".join(pair))
    if match is None:
        raise SpecError(
            f"{parameters['list_file']}: '{' '.join(pair)}' is no line of the Eigen test list "
            f"(picture, truth or None, focal length)"
        )
    name = f"{FOLDER}_{match['drive']}_{match['frame']}"
    clusters = {"drive": f"{FOLDER}_{match['drive']}", "image": name}
    place = (_found(store, PICTURES_BELOW, pair[0]), _found(store, TRUTHS_BELOW, pair[1]))
    return Item(name, clusters[parameters["cluster"]], place=place)


def _found(store: Store, starts: tuple[str, ...], name: str) -> Stretch | None:
    places = (store.find(f"{start}{name}") for start in starts)
    return next((place for place in places if place is not None), None)
