"""ScanNet, the 800 validation frames that Marigold drew (Dai et al., CVPR 2017).

Protocol. The truth is the sensor's depth in metres (uint16 millimetres, 0 where nothing was
measured); it counts where 0.001 < d < 10, without a crop. The list file names pairs of a picture
and its depth, `scene0406_02/color/000300.jpg scene0406_02/depth/000300.png`; the files lie below
the root or in Marigold's scannet_val_sampled_800_1.tar.

Picture and depth are 640 x 480. Recorded pictures are 1296 x 968: `export_frames` writes frames of
a .sens file with the picture at the size of its depth. A truth is never resized.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from gensight.datasets._depth import (
    between,
    check_size,
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
from gensight.datasets._members import Store
from gensight.datasets._sens import export_frames
from gensight.errors import MissingDataError, SpecError
from gensight.records import Sample

__all__ = ["expected_count", "export_frames", "iter_samples", "list_items", "missing_data"]

VERSION = 1
DEFAULTS = {
    **DISK_DEFAULTS,
    "list_file": "scannet_val_sampled_list_800_1.txt",
    "cluster": "space",
}
CHOICES = {"cluster": ["space", "scan", "image"]}
FACTS = {
    "depth": "Marigold's 800 validation frames; truth is the sensor's depth in metres, counted "
    "where 0.001 < d < 10 m, no crop; prediction clipped to 0.001-10 m after alignment",
}
FOLDER = "scannet"
LICENCE = "scannet"
SOURCE = (
    "sign the Terms of Use of ScanNet (http://www.scan-net.org), get the .sens files and write the "
    "listed frames with gensight.datasets.scannet.export_frames, or get "
    "scannet/scannet_val_sampled_800_1.tar of Marigold's evaluation data; the list is in "
    "data_split/scannet_depth of https://github.com/prs-eth/Marigold"
)
FRAMES = 800
SIZE = (480, 640)
CAPS_M = (1e-3, 10.0)
UNITS_PER_METRE = 1000.0

ARCHIVE = "scannet_val_sampled_800_1.tar"
PAIR = re.compile(
    r"(?P<scan>(?P<space>scene\d{4})_\d{2})/color/(?P<frame>\d+)\.jpg "
    r"(?P=scan)/depth/(?P=frame)\.png"
)


def expected_count(parameters: Parameters) -> int:
    """Return the number of frames in the list: 800."""
    return FRAMES


def list_items(parameters: Parameters) -> list[Item]:
    """Return the listed frames whose picture and depth are here, in the order of the list.

    Raises:
        MissingDataError: the list or files are not there.
        SpecError: the list is not one of pairs.
    """
    return listed_pairs(parameters, ARCHIVE, FRAMES, partial(_item, parameters))


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a frame.

    Raises:
        ImageError: the picture or its depth cannot be read.
        MissingDataError: a size, type or unit is not as shipped.
    """
    with item_told(item):
        picture, depth = read_picture(item.place[0]), item.place[1]
        depth_m = read_depth_png(depth, UNITS_PER_METRE)
        check_size(depth, depth_m.shape, SIZE)
        if picture[1].shape[:2] != SIZE:
            raise MissingDataError(
                f"{item.place[0]}: {picture[1].shape[1]}x{picture[1].shape[0]}, its depth 640x480; "
                f"write both from the .sens file: gensight.datasets.scannet.export_frames"
            )
        check_unit(depth, depth_m)
        valid = between(depth_m, *CAPS_M)
        return depth_sample(item, picture, depth_m, valid, caps_m=CAPS_M, licence=LICENCE)


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items)


def _item(parameters: Parameters, store: Store, pair: Sequence[str]) -> Item:
    match = PAIR.fullmatch(" ".join(pair))
    if match is None:
        raise SpecError(
            f"{parameters['list_file']}: '{' '.join(pair)}' is no pair as "
            f"scene0406_02/color/000300.jpg scene0406_02/depth/000300.png"
        )
    name = f"{FOLDER}_{match['scan']}_{int(match['frame']):06d}"
    clusters = {
        "space": f"{FOLDER}_{match['space']}",
        "scan": f"{FOLDER}_{match['scan']}",
        "image": name,
    }
    place = (store.find(pair[0]), store.find(pair[1]))
    return Item(name, clusters[parameters["cluster"]], place=place)
