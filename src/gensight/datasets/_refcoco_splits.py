"""The variants of RefCOCO: their folders, who made their splits, and how many items these hold."""

from __future__ import annotations

from gensight.datasets._disk import Parameters
from gensight.errors import SpecError

# The folder of a variant, who made its splits (the first by default), and which splits those are.
FOLDERS = {"refcoco": "refcoco", "refcoco_plus": "refcoco+", "refcocog": "refcocog"}
SPLITS = {
    ("refcoco", "unc"): ("train", "val", "testA", "testB", "test"),
    ("refcoco", "google"): ("train", "val", "test"),
    ("refcoco_plus", "unc"): ("train", "val", "testA", "testB", "test"),
    ("refcocog", "umd"): ("train", "val", "test"),
    ("refcocog", "google"): ("train", "val"),
}
# References and sentences as shipped (lichengunc/refer and its demo; RefCOCOg: luogen1996/MCN issue
# 7); None where no count is known.
COUNTS: dict[tuple[str, str, str], tuple[int, int | None]] = {
    ("refcoco", "unc", "train"): (42404, 120624),
    ("refcoco", "unc", "val"): (3811, 10834),
    ("refcoco", "unc", "testA"): (1975, 5657),
    ("refcoco", "unc", "testB"): (1810, 5095),
    ("refcoco", "unc", "test"): (3785, 10752),
    ("refcoco", "google", "val"): (5000, None),
    ("refcoco", "google", "test"): (5000, None),
    ("refcoco_plus", "unc", "train"): (42278, None),
    ("refcoco_plus", "unc", "val"): (3805, 10758),
    ("refcoco_plus", "unc", "testA"): (1975, 5726),
    ("refcoco_plus", "unc", "testB"): (1798, 4889),
    ("refcoco_plus", "unc", "test"): (3773, 10615),
    ("refcocog", "umd", "train"): (42226, 80512),
    ("refcocog", "umd", "val"): (2573, 4896),
    ("refcocog", "umd", "test"): (5023, 9602),
    ("refcocog", "google", "val"): (5000, None),
}


def maker_of(parameters: Parameters) -> str:
    """Return who made the split, after looking whether there is such a split.

    Raises:
        SpecError: there is none.
    """
    variant, split = parameters["variant"], parameters["split"]
    makers = [maker for name, maker in SPLITS if name == variant]
    maker = makers[0] if parameters["split_by"] == "auto" else parameters["split_by"]
    if maker not in makers:
        raise SpecError(
            f"dataset.parameters.split_by: {variant} has no split by '{maker}'; allowed: "
            f"{', '.join(makers)}"
        )
    if split not in SPLITS[variant, maker]:
        raise SpecError(
            f"dataset.parameters.split: {variant} by {maker} has no split '{split}'; allowed: "
            f"{', '.join(SPLITS[variant, maker])}"
        )
    return maker
