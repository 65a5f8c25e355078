"""RefCOCO, RefCOCO+ and RefCOCOg: one object of a COCO photograph, named by a sentence.

Protocol (ProbeGen tables 2 and 6; LISA's reading of lichengunc/refer). One sample is a photograph,
a sentence and the mask of the object; `unit: ref` draws one sentence of each reference by the seed
(assumed: the paper says "examples"), `unit: sentence` takes them all. Which sentence is drawn
follows from the seed and the reference's id alone. The sentence is stripped and in lower case as in
LISA; `assumed_phrase: raw` takes what the annotator typed instead of the cleaned form, and both
stand in `knobs`. The split is val (assumed), of UNC for RefCOCO and RefCOCO+, of UMD for RefCOCOg.

Files below `root`: refcoco/, refcoco+/ and refcocog/ with refs(<split_by>).p and instances.json, or
Parquet mirrors in the same folders (`layout`, `_refer_mirror`), and COCO's train2014 pictures in
`image_folder`. Masks are rasterised as COCO does, parts joined by union (`_coco`). The annotation's
size is the stored raster's: the benchmark sets `exif: ignore`.

`twin_mask` is another referred object of the same split and picture, where there is one (query
sensitivity). `other_masks` are all other annotated objects of the picture, referred to or not, with
crowds; of a mirror, which lacks them, those that are referred to, or None. The stratum is the band
of the share of the picture that the object covers, by COCO's own area. `label_flags` names the
user's copy of Ref-L4's review, a file or its folder (`_ref_l4`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from gensight.datasets._coco import segmentation_mask
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
from gensight.datasets._ref_l4 import NO_FLAGS, LabelFlags, flag_file, read_flags
from gensight.datasets._refcoco_splits import COUNTS, FOLDERS, SPLITS, maker_of
from gensight.datasets._refer import Expression, Reference, read_references
from gensight.datasets._refer_mirror import mirror_files, read_mirror
from gensight.datasets._segmentation import (
    check_size,
    read_picture,
    segmentation_sample,
    stable_index,
)
from gensight.errors import MissingDataError, SpecError
from gensight.images import encode_mask
from gensight.records import Sample

VERSION = 1
DEFAULTS = {
    **DISK_DEFAULTS,
    "variant": "refcoco",
    "layout": "auto",
    "split_by": "auto",
    "split": "val",
    "unit": "ref",
    "image_folder": "train2014",
    "label_flags": "",
    "assumed_phrase": "sent",
    "assumed_area_band_edges": [0.01, 0.05, 0.2],
}
CHOICES = {
    "variant": ["refcoco", "refcoco_plus", "refcocog"],
    "layout": ["auto", "refer", "mirror"],
    "split_by": ["auto", "unc", "umd", "google"],
    "split": ["train", "val", "testA", "testB", "test"],
    "unit": ["ref", "sentence"],
    "assumed_phrase": ["sent", "raw"],
}
# What tables print beside the numbers of a task.
FACTS = {
    "segmentation": "photographs of COCO train2014, which models trained on COCO have seen; split "
    "val of UNC (RefCOCO, RefCOCO+) or UMD (RefCOCOg) unless the benchmark says otherwise "
    "(assumed); Google's split shares photographs between train and val; unit: one sentence of "
    "each reference, drawn by the seed (assumed); masks by COCO's rasteriser, parts joined; no "
    "ignored pixels; orientation tags not applied",
}
FOLDER = "refcoco"
LICENCE = "coco_flickr"
SOURCE = (
    "get refcoco.zip, refcoco+.zip and refcocog.zip as github.com/lichengunc/refer says and unpack "
    "them side by side, with COCO's train2014 photographs (cocodataset.org) in train2014/ or in "
    "the folder that dataset.parameters.image_folder names"
)


@dataclass(frozen=True)
class Asked:
    """What one sample asks: a sentence of a reference, and the object of another question."""

    reference: Reference
    expression: Expression
    twin: Reference | None
    label_flag: bool | None


def list_items(parameters: Parameters) -> list[Item]:
    """Return the samples of the split: one sentence of each reference, or every sentence.

    Raises:
        SpecError: the variant has no such split.
        MissingDataError: a file is missing, partial, or another one than the data set ships.
    """
    references = _references(parameters)
    _check_counts(parameters, references)
    flags = _flags(parameters)
    by_picture: dict[int, list[Reference]] = defaultdict(list)
    for reference in references:
        by_picture[reference.image_id].append(reference)
    items = []
    for reference in references:
        twin = _twin(reference, by_picture[reference.image_id], parameters["seed"])
        for expression in _asked(reference, parameters):
            flag = flags.of(reference.annotation_id, (expression.sent, expression.raw))
            items.append(_item(Asked(reference, expression, twin, flag), parameters))
    return items


def read_item(parameters: Parameters, item: Item) -> Sample:
    """Return one sample; the picture's bytes are the file's.

    Raises:
        MissingDataError: picture or mask is missing, damaged, or has another size than annotated.
        ImageError: the picture cannot be read.
    """
    asked: Asked = item.place
    with item_told(item):
        picture = read_picture(_picture_path(parameters, item))
        height, width = asked.reference.size
        check_size(picture, width, height, "its entry in instances.json")
        masks = [
            None
            if one is None
            else segmentation_mask(one.annotation["segmentation"], height, width)
            for one in (asked.reference, asked.twin)
        ]
        sample = segmentation_sample(
            item,
            picture,
            masks[0],
            twin=masks[1],
            query=_phrase(asked.expression, parameters),
            query_kind="referring",
            licence=LICENCE,
            label_flag=asked.label_flag,
            knobs={"raw": asked.expression.raw, "sent": asked.expression.sent},
        )
        return replace(sample, other_masks=_other_masks(asked.reference))


def _other_masks(reference: Reference) -> list[dict[str, Any]] | None:
    """Return the masks of the picture's other objects that have a pixel; None: not known."""
    if reference.others is None:
        return None
    masks = [segmentation_mask(one["segmentation"], *reference.size) for one in reference.others]
    return [encode_mask(mask) for mask in masks if mask.any()]


def expected_count(parameters: Parameters) -> int | None:
    """Return the number of samples as shipped; None for a twin or where no count is known."""
    if parameters["twin"]:
        return None
    counts = COUNTS.get((parameters["variant"], maker_of(parameters), parameters["split"]))
    return None if counts is None else counts[parameters["unit"] == "sentence"]


def _picture_path(parameters: Parameters, item: Item) -> Path:
    # The name alone: a mirror's entry may carry the folders of its maker.
    name = Path(str(item.place.reference.picture["file_name"])).name
    return Path(parameters["root"]) / parameters["image_folder"] / name


population = population_of(list_items)
iter_samples = samples_of(list_items, read_item)
missing_data = missing_by(list_items, _picture_path)


def _references(parameters: Parameters) -> Sequence[Reference]:
    variant, split_by = parameters["variant"], maker_of(parameters)
    folder = root_of(parameters, FOLDERS[variant]) / FOLDERS[variant]
    if _layout(folder, parameters["layout"]) == "refer":
        return read_references(folder, split_by, parameters["split"])
    if split_by == "google":
        raise SpecError(
            "dataset.parameters.split_by: the mirrors hold no Google split; use layout: refer"
        )
    test_name = "testA" if "testA" in SPLITS[variant, split_by] else "test"
    return read_mirror(folder, parameters["split"], test_name)


def _layout(folder: Path, layout: str) -> str:
    """Return how a folder holds the references; the original files go before a mirror."""
    if layout != "auto":
        found = layout
    else:
        found = "mirror" if not any(folder.glob("refs(*).p")) and mirror_files(folder) else "refer"
    if found == "mirror" and not mirror_files(folder):
        raise MissingDataError(f"{folder} holds no Parquet file")
    return found


def _check_counts(parameters: Parameters, references: Sequence[Reference]) -> None:
    key = (parameters["variant"], maker_of(parameters), parameters["split"])
    expected, sentences = COUNTS.get(key, (None, None))
    where = f"in {'/'.join(key)}"
    if expected is not None:
        check_count(parameters, len(references), expected, f"references {where}")
    if sentences is not None:
        found = sum(len(reference.expressions) for reference in references)
        check_count(parameters, found, sentences, f"sentences {where}")


def _flags(parameters: Parameters) -> LabelFlags:
    if not parameters["label_flags"]:
        return NO_FLAGS
    place = Path(parameters["root"]) / parameters["label_flags"]
    return read_flags(flag_file(place, FOLDERS[parameters["variant"]], parameters["split"]))


def _asked(reference: Reference, parameters: Parameters) -> Iterable[Expression]:
    if parameters["unit"] == "sentence":
        return reference.expressions
    drawn = stable_index(len(reference.expressions), parameters["seed"], reference.id)
    return (reference.expressions[drawn],)


def _twin(reference: Reference, others: Sequence[Reference], seed: int) -> Reference | None:
    """Return another referred object of the picture, drawn by the seed; None without one."""
    other = [one for one in others if one.annotation_id != reference.annotation_id]
    return other[stable_index(len(other), seed, reference.id, "twin")] if other else None


def _item(asked: Asked, parameters: Parameters) -> Item:
    reference = asked.reference
    return Item(
        id=f"{reference.image_id}/{reference.id}/{asked.expression.id}",
        cluster_id=str(reference.image_id),
        stratum=area_band(reference.area_share, parameters["assumed_area_band_edges"]),
        place=asked,
    )


def area_band(share: float, edges: Sequence[float]) -> str:
    """Return the name of the band of a share of the picture; a lower edge belongs to its band."""
    percent = [f"{100 * edge:g}" for edge in edges]
    if not percent:
        return "area"
    names = [f"{low}-{high}" for low, high in pairwise(percent)]
    names = [f"< {percent[0]}", *names, f">= {percent[-1]}"]
    return f"area {names[sum(share >= edge for edge in edges)]} %"


def _phrase(expression: Expression, parameters: Parameters) -> str:
    chosen = expression.raw if parameters["assumed_phrase"] == "raw" else expression.sent
    return chosen.strip().lower()
