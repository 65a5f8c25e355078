"""The licences of data sets: what may be shown of a sample's picture, and of what is made from it.

A sample carries a tag of this table in its column `licence`. Export, galleries and reports leave
out the pictures of a tag that forbids showing, and the answers to them, which may repeat the input.
No tag, or one that is not in the table, shows nothing: silence is no permission.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Licence:
    """A licence in one line, and whether pictures under it may be shown to others."""

    name: str
    may_show: bool


LICENCES: dict[str, Licence] = {
    "gensight": Licence("made by gensight, Apache-2.0", True),
    "noto_emoji": Licence("Noto Color Emoji: SIL OFL 1.1", True),
    "middlebury": Licence("Middlebury Stereo 2014, as scikit-image ships it", True),
    "nyuv2": Licence("NYU Depth V2: no licence text, research use", False),
    "diode": Licence("DIODE: MIT", True),
    "scannet": Licence("ScanNet Terms of Use: signed, no redistribution", False),
    "kitti": Licence("KITTI: CC BY-NC-SA 3.0", True),
    "coco_flickr": Licence("COCO: annotations CC BY 4.0, photographs under Flickr terms", False),
    "reasonseg": Licence("ReasonSeg: no licence stated for the data", False),
    "dram": Licence("DRAM: research only", False),
    "manga109": Licence("Manga109: by application; masks CC BY-NC-ND 4.0", False),
    "imagenet": Licence("ImageNet: research only, no redistribution", False),
    "own_pictures": Licence("pictures of the user's own, whose terms are not known", False),
    "pixmo": Licence("PixMo-Points: points ODC-BY 1.0, pictures belong to their sites", False),
}


def may_show(tag: str | None) -> bool:
    """Say whether pictures of a sample with this licence tag may be shown; None: no tag, so no."""
    return tag in LICENCES and LICENCES[tag].may_show
