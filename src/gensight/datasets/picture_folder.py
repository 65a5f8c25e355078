"""A folder of pictures of one's own: every PNG, JPEG or WebP file below it is a source to redraw.

The label of a picture is the name of the folder that it lies in, or, directly below the data set's
folder, the stem of its file name; underscores are read as blanks. Image-to-pixel never shows it,
and the id of a sample says nothing of it. Pixel understanding asks for it among the labels of the
other pictures: options are dealt over the labels, so that pictures of one label have the same.
"""

from __future__ import annotations

from pathlib import Path

from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    missing_by,
    population_of,
    root_of,
    samples_of,
)
from gensight.datasets._options import dealt
from gensight.datasets._pixel_items import (
    PIXEL_DEFAULTS,
    Labelled,
    opaque_id,
    picture_path,
    pixel_sample,
)
from gensight.errors import AbsentDataError
from gensight.records import Sample

VERSION = 1
DEFAULTS = {**DISK_DEFAULTS, **PIXEL_DEFAULTS}
CHOICES = {"task": ["image_to_pixel", "pixel_understanding"]}
FACTS = {
    "image_to_pixel": "pictures of the user's own; largest centre square, brought to 256 px a side "
    "(assumed); label withheld",
    "pixel_understanding": "ten options: the picture's label and nine others of the folder, each "
    "label a distractor equally often",
}
FOLDER = "pictures"
LICENCE = "own_pictures"
SOURCE = "put pictures there (png, jpg, jpeg, webp), in one folder for each label or side by side"
ENDINGS = (".png", ".jpg", ".jpeg", ".webp")


def list_items(parameters: Parameters) -> list[Item]:
    """Return the pictures by rising name; files and folders that begin with a dot are no pictures.

    Raises:
        AbsentDataError: the folder is not there, or holds no picture.
        SpecError: there are fewer labels than options.
    """
    root = root_of(parameters)
    paths = [path for path in sorted(root.rglob("*")) if _is_picture(path.relative_to(root), path)]
    if not paths:
        raise AbsentDataError(f"{root} holds no picture")
    labels = {path: _label(root, path) for path in paths}
    options = _options(parameters, sorted(set(labels.values())))
    return [
        _item(root, path, Labelled(path, label, options.get(label, ())))
        for path, label in labels.items()
    ]


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a picture.

    Raises:
        MissingDataError: it is not there any more.
        ImageError: it cannot be read.
    """
    return pixel_sample(parameters, item, LICENCE)


def expected_count(parameters: Parameters) -> int | None:
    """Return None: the folder holds as many pictures as its owner likes."""
    return None


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, picture_path)


def _is_picture(name: Path, path: Path) -> bool:
    hidden = any(part.startswith(".") for part in name.parts)
    return not hidden and path.suffix.lower() in ENDINGS and path.is_file()


def _label(root: Path, path: Path) -> str:
    name = path.stem if path.parent == root else path.parent.name
    return " ".join(name.replace("_", " ").split()) or path.name


def _options(parameters: Parameters, labels: list[str]) -> dict[str, list[str]]:
    if parameters["task"] != "pixel_understanding":
        return {}
    return dealt(labels, parameters["options"])


def _item(root: Path, path: Path, asked: Labelled) -> Item:
    file = path.relative_to(root).as_posix()
    name = opaque_id("picture", file)
    knobs = {"file": file}
    return Item(name, name, place=Labelled(path, asked.label, tuple(asked.options), knobs))
