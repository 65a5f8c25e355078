"""ImageNet-1K validation: one picture of each of 100 classes, as PixelBench takes them.

Protocol. PixelBench shows one validation picture of each of 100 classes, centre-cropped to a
square, and withholds the category. Which pictures is lost, and of the classes 12 are known by
captions of its figures. Those 12 are among ours (`paper_classes`); the other classes follow from
the seed by the order of sha256("seed/wnid"), and the picture of a class is drawn from its 50 by the
seed too. Three classes are never drawn, because another class has the same name (crane, cardigan,
maillot) and ten options must differ. Asking for more `classes` keeps those that were there; the
options of pixel understanding are dealt anew, because the new ones must be distractors as often.

The class's name is the first of its WordNet synset. Where the pictures are sorted into folders and
no list of names is here, image-to-pixel runs with wnids for labels, and pixel understanding does
not. The id of a sample is opaque: the paper's (`imagenet_0587`) tells the class to whoever knows
the order, and the prompt repeats it. Index, wnid and file stand in the sample's knobs.

A few files are CMYK, or PNG under the name of JPEG; kind and colours are read from the bytes.
"""

from __future__ import annotations

from gensight.datasets._disk import (
    DISK_DEFAULTS,
    Item,
    Parameters,
    draw_key,
    missing_by,
    population_of,
    samples_of,
)
from gensight.datasets._imagenet import (
    NAMES_NEEDED,
    PICTURES_OF_A_CLASS,
    ImageNet,
    read_imagenet,
)
from gensight.datasets._options import dealt
from gensight.datasets._pixel_items import (
    PIXEL_DEFAULTS,
    Labelled,
    opaque_id,
    picture_path,
    pixel_sample,
)
from gensight.datasets._segmentation import stable_index
from gensight.errors import AbsentDataError, SpecError
from gensight.records import Sample

VERSION = 1
DEFAULTS = {**DISK_DEFAULTS, **PIXEL_DEFAULTS, "classes": 100, "paper_classes": True}
CHOICES = {"task": ["image_to_pixel", "pixel_understanding"]}
FACTS = {
    "image_to_pixel": "one picture of each class; classes and pictures drawn by seed, with the 12 "
    "of the paper's that are known; largest centre square, brought to 256 px a side (assumed); "
    "category withheld",
    "pixel_understanding": "ten options: the class and nine others of the benchmark, each class a "
    "distractor equally often; class names are the first word of the synset",
}
FOLDER = "imagenet"
LICENCE = "imagenet"
SOURCE = (
    "get the validation pictures of ILSVRC 2012 from image-net.org with its development kit "
    "(ILSVRC2012_devkit_t12: meta.mat and the ground truth), or from Kaggle with "
    "LOC_synset_mapping.txt and LOC_val_solution.csv, or sorted into val/<wnid>/ with one of the "
    "lists of names"
)

#: The classes that captions of the paper name. Of two wnids a digit is damaged in print, and the
#: index beside them decides: 611 is jigsaw puzzle, 744 projectile.
PAPER_CLASSES = (
    "n01530575",
    "n02088238",
    "n02091831",
    "n02107574",
    "n02687172",
    "n02749479",
    "n03481172",
    "n03598930",
    "n03891251",
    "n04008634",
    "n04090263",
    "n04591157",
)
#: Classes whose first name an earlier class has, whatever the case: cardigan, crane, maillot.
SECOND_OF_A_NAME = ("n02963159", "n03126707", "n03710721")


def list_items(parameters: Parameters) -> list[Item]:
    """Return one picture of each drawn class, by rising wnid.

    Raises:
        AbsentDataError: lists are not there, or a drawn class has not all of its pictures.
        SpecError: more classes are asked for than there are, or fewer than options.
    """
    found = read_imagenet(parameters)
    drawn = drawn_classes(parameters, list(found.names))
    options = _options(parameters, found, drawn)
    return [_item(parameters, found, wnid, options.get(wnid, ())) for wnid in drawn]


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return the sample of a class's picture.

    Raises:
        MissingDataError: the picture is not there.
        ImageError: it cannot be read.
    """
    return pixel_sample(parameters, item, LICENCE)


def expected_count(parameters: Parameters) -> int:
    """Return the number of classes that are drawn: one picture of each."""
    return int(parameters["classes"])


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, picture_path)


def drawn_classes(parameters: Parameters, wnids: list[str]) -> list[str]:
    """Return the wnids that the benchmark takes of all, in rising order.

    Raises:
        SpecError: there are not so many that can be drawn.
    """
    first = PAPER_CLASSES if parameters["paper_classes"] else ()
    seed, number = parameters["seed"], parameters["classes"]
    others = [wnid for wnid in wnids if wnid not in {*first, *SECOND_OF_A_NAME}]
    others.sort(key=lambda wnid: draw_key(seed, wnid))
    order = [*first, *others]
    if not 1 <= number <= len(order):
        raise SpecError(
            f"dataset.parameters.classes: {number} classes cannot be drawn; give 1 to {len(order)}"
        )
    return sorted(order[:number])


def _options(
    parameters: Parameters, found: ImageNet, drawn: list[str]
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each class's options in printed order; none for image-to-pixel."""
    if parameters["task"] != "pixel_understanding":
        return {}
    nameless = [wnid for wnid in drawn if found.names[wnid] is None]
    if nameless:
        raise AbsentDataError(
            f"{parameters['root']}: options need class names, and {nameless[0]} has none; "
            f"{NAMES_NEEDED}"
        )
    return {
        wnid: tuple(str(found.names[one]) for one in ids)
        for wnid, ids in dealt(drawn, parameters["options"]).items()
    }


def _item(parameters: Parameters, found: ImageNet, wnid: str, options: tuple[str, ...]) -> Item:
    files = found.files_of(wnid)
    if len(files) != PICTURES_OF_A_CLASS:
        raise AbsentDataError(
            f"{parameters['root']}: {len(files)} pictures of {wnid} where the data set ships "
            f"{PICTURES_OF_A_CLASS}"
        )
    path = files[stable_index(len(files), parameters["seed"], wnid)]
    name = opaque_id("imagenet", path.stem)
    index = list(found.names).index(wnid)
    knobs = {"wnid": wnid, "imagenet_index": str(index), "file": path.name}
    tags = ("paper_class",) if wnid in PAPER_CLASSES else ()
    label = found.names[wnid] or wnid
    return Item(name, name, place=Labelled(path, label, options, knobs, tags))
