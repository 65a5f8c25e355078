"""ILSVRC 2012 validation as it lies on disk: its classes, and which pictures show which.

A class is a WordNet id (wnid). Its index, 0 to 999, is its place among the sorted wnids, and that
is what papers and models count by. The development kit counts otherwise: its ILSVRC2012_ID, 1 to
1000, follows no such order (1 is a fox, index 0 a tench), so the numbers of its ground truth mean
nothing without its own meta.mat.

Classes and their names come from LOC_synset_mapping.txt or synset_words.txt (each line a wnid and
its words), from meta.mat, or, without names, from the folders that the pictures are sorted into.
Which picture shows which class comes from those folders (val/<wnid>/*.JPEG), from
LOC_val_solution.csv, or from ILSVRC2012_validation_ground_truth.txt with meta.mat.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gensight.datasets._disk import Parameters, root_of
from gensight.datasets._segmentation import read_bytes
from gensight.errors import AbsentDataError, MissingDataError

CLASSES = 1000
PICTURES = 50_000
PICTURES_OF_A_CLASS = 50
WNID = re.compile(r"n\d{8}")
FILE_NAME = "ILSVRC2012_val_{number:08d}.JPEG"

MAPPINGS = ("LOC_synset_mapping.txt", "synset_words.txt")
META = "meta.mat"
GROUND_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
SOLUTION = "LOC_val_solution.csv"
# Where downloads put lists and pictures when they are unpacked side by side.
LISTS_BELOW = ("", "ILSVRC", "devkit", "devkit/data", "ILSVRC2012_devkit_t12/data", "data")
PICTURES_BELOW = ("val", "ILSVRC/Data/CLS-LOC/val", "Data/CLS-LOC/val", "ILSVRC2012_img_val", "")
# Wnid and first name by ILSVRC2012_ID.
Kit = dict[int, tuple[str, str | None]]
NAMES_NEEDED = f"put LOC_synset_mapping.txt of Kaggle or {META} of the development kit there"


@dataclass(frozen=True)
class ImageNet:
    """The validation set below a folder.

    `names` are all wnids in rising order, each with its first name, or None where no list of names
    is here. The pictures lie in `folder`, in a folder for each wnid, or side by side: then `listed`
    says which of them show a wnid.
    """

    names: Mapping[str, str | None]
    folder: Path
    listed: Mapping[str, Sequence[str]] | None

    def files_of(self, wnid: str) -> list[Path]:
        """Return the picture files of a class by rising name; none where its folder is missing."""
        if self.listed is None:
            return sorted((self.folder / wnid).glob("*.JPEG"))
        return [self.folder / name for name in self.listed[wnid]]


def read_imagenet(parameters: Parameters) -> ImageNet:
    """Return the classes and which files show them; no picture is looked at.

    Raises:
        AbsentDataError: a list that is needed is not there, or is not whole.
        MissingDataError: a list is not what its name says.
    """
    root = root_of(parameters)
    folder, kit = _sorted_folder(root), _kit(root)
    listed = _listed(root, kit) if folder is None else None
    shown = _wnids_below(folder) if folder is not None else list(listed or ())
    names = _mapping(root) or dict(kit.values()) or dict.fromkeys(shown)
    strangers = sorted(set(shown) - set(names))
    if strangers or len(names) != CLASSES or not (folder or len(shown) == CLASSES):
        stranger = f", and {strangers[0]} is none of them" if strangers else ""
        raise AbsentDataError(
            f"{root}: {len(names)} classes are named and {len(shown)} have pictures where the data "
            f"set ships {CLASSES}{stranger}"
        )
    return ImageNet(dict(sorted(names.items())), folder or _flat_folder(root), listed)


def _found(root: Path, name: str) -> Path | None:
    places = (root / below / name for below in LISTS_BELOW)
    return next((place for place in places if place.is_file()), None)


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise MissingDataError(f"{path}: the list is no text; download it again") from error


def _mapping(root: Path) -> dict[str, str | None]:
    """Return the first name of each wnid; empty where there is no such list."""
    found: dict[str, str | None] = {}
    path = next((place for name in MAPPINGS if (place := _found(root, name))), None)
    for line in _text(path).splitlines() if path else ():
        wnid, _, words = line.partition(" ")
        if not WNID.fullmatch(wnid) or not words.strip() or wnid in found:
            raise MissingDataError(f"{path}: '{line}' is no line of a wnid and its words")
        found[wnid] = _first_name(words)
    return found


def _first_name(words: str) -> str:
    return words.split(",")[0].strip()


def _kit(root: Path) -> Kit:
    """Return wnid and first name by ILSVRC2012_ID; empty where meta.mat is not there."""
    path = _found(root, META)
    if path is None:
        return {}
    from scipy.io import loadmat

    try:
        synsets = loadmat(io.BytesIO(read_bytes(path)), squeeze_me=True)["synsets"]
        rows = [(int(row["ILSVRC2012_ID"]), str(row["WNID"]), str(row["words"])) for row in synsets]
    # What damage raises in there is of many kinds, MatReadError, zlib's and IndexError among them.
    except Exception as error:
        raise MissingDataError(f"{path}: is no meta.mat of ILSVRC 2012; get it again") from error
    # The synsets above the thousand classes have numbers too, the higher ones.
    return {number: (wnid, _first_name(words)) for number, wnid, words in rows if number <= CLASSES}


def _sorted_folder(root: Path) -> Path | None:
    """Return the folder whose subfolders are called by wnids; None where there is none."""
    places = (root / below for below in PICTURES_BELOW)
    return next((place for place in places if place.is_dir() and _wnids_below(place)), None)


def _wnids_below(folder: Path) -> list[str]:
    return [
        path.name
        for path in sorted(folder.iterdir())
        if WNID.fullmatch(path.name) and path.is_dir()
    ]


def _listed(root: Path, kit: Kit) -> dict[str, list[str]]:
    """Return the file names of every wnid by rising name, where the pictures lie side by side."""
    solution, truth = _found(root, SOLUTION), _found(root, GROUND_TRUTH)
    if solution is not None:
        pairs = _solved(solution)
    elif truth is not None:
        pairs = _counted(truth, kit)
    else:
        raise AbsentDataError(
            f"{root}: nothing says which picture shows what: neither val/<wnid>/*.JPEG nor "
            f"{SOLUTION} nor {GROUND_TRUTH} is there"
        )
    if len(pairs) != PICTURES:
        raise AbsentDataError(
            f"{solution or truth}: tells {len(pairs)} pictures where the data set ships {PICTURES}"
        )
    listed: dict[str, list[str]] = {}
    for name, wnid in sorted(pairs.items()):
        listed.setdefault(wnid, []).append(name)
    return listed


def _solved(path: Path) -> dict[str, str]:
    """Return wnid by file name from Kaggle's list: the first word of each prediction string."""
    rows = list(csv.DictReader(io.StringIO(_text(path))))
    try:
        pairs = {f"{row['ImageId']}.JPEG": row["PredictionString"].split()[0] for row in rows}
    except (KeyError, IndexError, AttributeError) as error:
        raise MissingDataError(f"{path}: has no ImageId and PredictionString in a row") from error
    wrong = next((wnid for wnid in pairs.values() if not WNID.fullmatch(wnid)), None)
    if wrong is not None:
        raise MissingDataError(f"{path}: '{wrong}' is no wnid; get the list as shipped")
    return pairs


def _counted(path: Path, kit: Kit) -> dict[str, str]:
    """Return wnid by file name from the kit's list: line k is the ILSVRC2012_ID of picture k."""
    if not kit:
        raise AbsentDataError(
            f"{path}: its numbers are ILSVRC2012_ID, which is not the order of the wnids, and only "
            f"{META} of the same development kit says which is which; it is not there"
        )
    try:
        return {
            FILE_NAME.format(number=place): kit[int(line)][0]
            for place, line in enumerate(_text(path).split(), 1)
        }
    except (KeyError, ValueError) as error:
        raise MissingDataError(f"{path}: {error} is no ILSVRC2012_ID of {META}") from error


def _flat_folder(root: Path) -> Path:
    first = FILE_NAME.format(number=1)
    places = [root / below for below in PICTURES_BELOW]
    for place in places:
        if (place / first).is_file() or next(place.glob("ILSVRC2012_val_*.JPEG"), None):
            return place
    return root / "val"
