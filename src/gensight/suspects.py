"""Suspect labels: samples where strong models agree with each other and none with the truth.

PROTOCOLS 5.5. A sample is suspect where at least three strong models of different vendors answer
with masks that agree pairwise (IoU >= .8) and all miss the truth (IoU < .3). That makes a list for
review and no correction: models share training data and so mistakes, and removing what they share
flatters them. Numbers are therefore always given with and without.

Masks are compared on the grid of the target, to which they go by the plain resize of the scores;
ignored pixels take no part. Only answers in the asked format count: what could not be read, a flat
picture or an inverted mask says nothing about the label, and an empty mask agrees with nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gensight import images, metrics
from gensight.digests import digest_of
from gensight.errors import RecordError
from gensight.failures import class_of
from gensight.footers import Footer, read_footer, rebuild_command
from gensight.measures.overlap import areas
from gensight.records import Prediction, RowFile, Sample, SampleStore, Score
from gensight.specs.words import unknown
from gensight.stages.answers import Answers

MEASURE = "overlap"
#: Strong is a model that is better than the middle of its field in this metric.
STRENGTH = "giou"
Mask = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """How alike masks must be to agree, how unlike the truth to miss it, and how many must."""

    agree: float = 0.8
    miss: float = 0.3
    least: int = 3


@dataclass(frozen=True)
class Place:
    """Which cells of a checkout are compared: one benchmark, prompt, scorer and variant."""

    root: Path
    benchmark: str
    prompt: str = "mid"
    scorer: str = "mask"
    variant: str = "otsu"

    def samples(self) -> Path:
        """Return the benchmark's file of samples."""
        return self.root / f"results/samples/{self.benchmark}.parquet"

    def scores(self, model: str) -> Path:
        """Return a model's file of scores."""
        cell = f"{model}/{self.benchmark}/{self.prompt}/{self.scorer}"
        return self.root / f"results/scores/{cell}.parquet"

    def models(self) -> list[str]:
        """Return the models whose scores are there, by name."""
        pattern = self.scores("*").relative_to(self.root)
        return sorted(path.parts[-4] for path in self.root.glob(str(pattern)))


@dataclass(frozen=True)
class Suspect:
    """A sample whose label is doubted: the models that agree, and every IoU between and to it.

    `between` holds each pair once, in the order of `models`; `truth` one number for each model.
    """

    sample_id: str
    rank: int
    query: str | None
    licence: str | None
    label_flag: bool | None
    models: tuple[str, ...]
    between: Mapping[tuple[str, str], float]
    truth: Mapping[str, float]


@dataclass(frozen=True)
class Effect:
    """One model's metrics over the same `n` samples as all others', with and without suspects."""

    model: str
    n: int
    n_without: int
    metrics: Mapping[str, tuple[float | None, float | None]]


class ModelCell:
    """One model's scores, and the masks that they were made from."""

    def __init__(self, place: Place, model: str, vendor: str) -> None:
        """Read the scores of the place's variant.

        Raises:
            RecordError: no scores of masks, or made from other files than are there now.
            SpecError: the variant is not among them.
        """
        self.place, self.model, self.vendor = place, model, vendor
        file = RowFile(place.scores(model), Score)
        self.path, self.determinants = file.path, file.footer.determinants
        if self.determinants.get("measure") != MEASURE:
            raise RecordError(f"{self.path}: holds no scores of masks; name another --scorer")
        self.predictions = _checked_inputs(place.root, self.path, file.footer)
        self.answers = Answers()
        #: The IoU with the truth of the first answer to each sample, where it says anything.
        self.ious: dict[str, float] = {}
        self._read(file)

    def _read(self, file: RowFile[Score]) -> None:
        variants = set()
        for row in file:
            variants.add(row.variant)
            if (row.variant, row.fit, row.severity) != (self.place.variant, None, None):
                continue
            self.answers.add(row)
            if row.name == "iou" and row.raw is not None and _speaks(row):
                self.ious[row.sample_id] = row.raw
        if self.place.variant not in variants:
            raise unknown(self.path, "variant", self.place.variant, variants)
        if not self.answers.heads:
            raise RecordError(f"{self.path}: holds disturbed answers only; leave {self.model} out")

    def masks(self, wanted: Collection[str]) -> dict[str, Mask]:
        """Return the masks of the first answers to some samples, as COCO RLE."""
        return {
            row.sample_id: row.mask
            for row in RowFile(self.predictions, Prediction, self.determinants["predictions"])
            if row.sample_id in wanted
            and (row.variant, row.severity, row.repeat) == (self.place.variant, None, 0)
            and row.mask is not None
        }

    def value(self, metric: str, kept: np.ndarray) -> float | None:
        """Return a metric over some answers under the failure policy, None over none."""
        if not kept.any():
            return None
        return metrics.load(metric).aggregate(self.answers.parts(kept, raw=False))


def _speaks(row: Score) -> bool:
    """Say whether an answer is a statement about where the target is."""
    inverted = row.failure_blind is not None and class_of(row.failure_blind) == "inverted"
    return row.repeat == 0 and row.format_valid and not inverted


def _checked_inputs(root: Path, path: str, footer: Footer) -> Path:
    """Return the predictions that scores were made from.

    Raises:
        RecordError: a file they were made from has changed since, or is not there.
    """
    wanted = digest_of(footer.determinants["predictions"])
    own = None
    for name, content in footer.inputs.items():
        found = read_footer(root / name)
        if found.content != content:
            raise RecordError(f"{path}: {name} has changed since; {rebuild_command(path)}")
        own = root / name if found.digest == wanted else own
    if own is None:
        raise RecordError(f"{path}: does not say what it was made from; {rebuild_command(path)}")
    return own


def strongest(cells: Sequence[ModelCell]) -> list[str]:
    """Return the models whose gIoU is above the median of these cells; none of a single one."""
    found = {cell.model: cell.value(STRENGTH, cell.answers.scored) for cell in cells}
    known = {model: value for model, value in found.items() if value is not None}
    middle = float(np.median(list(known.values()))) if known else 0.0
    return [model for model, value in known.items() if value > middle]


def find_suspects(cells: Sequence[ModelCell], rule: Rule | None = None) -> list[Suspect]:
    """Return the samples on which these models contradict the label, in the order of their ranks.

    Of the models that agree, the largest group is named; of equal groups the first, by the order
    of `cells`. Nothing is found with fewer than `rule.least` vendors.
    """
    rule = rule or Rule()
    missing: dict[str, list[ModelCell]] = defaultdict(list)
    for cell in cells:
        for sample_id, iou in cell.ious.items():
            if iou < rule.miss:
                missing[sample_id].append(cell)
    doubted = {
        sample_id: some
        for sample_id, some in missing.items()
        if len({cell.vendor for cell in some}) >= rule.least
    }
    if not doubted:
        return []
    masks = {cell.model: cell.masks(doubted) for cell in cells}
    store = SampleStore(RowFile(cells[0].place.samples(), Sample))
    found = [_suspect(store[name], some, masks, rule) for name, some in doubted.items()]
    return sorted(filter(None, found), key=lambda one: one.rank)


def _suspect(
    sample: Sample, cells: Sequence[ModelCell], masks: Mapping[str, Mapping[str, Mask]], rule: Rule
) -> Suspect | None:
    sample_id = sample.sample_id
    between = ious_between({c.model: masks[c.model][sample_id] for c in cells}, sample)
    vendors = {cell.model: cell.vendor for cell in cells}
    agreeing = {
        (one, other)
        for (one, other), iou in between.items()
        if iou >= rule.agree and vendors[one] != vendors[other]
    }
    models = largest_group([cell.model for cell in cells], agreeing)
    if len(models) < rule.least:
        return None
    return Suspect(
        sample_id=sample_id,
        rank=sample.rank,
        query=sample.query,
        licence=sample.licence,
        label_flag=sample.label_flag,
        models=models,
        between={pair: between[pair] for pair in combinations(models, 2)},
        truth={c.model: c.ious[sample_id] for c in cells if c.model in models},
    )


def ious_between(masks: Mapping[str, Mask], sample: Sample) -> dict[tuple[str, str], float]:
    """Return the IoU of every pair of masks on the grid of a sample's target.

    Empty masks have no pairs: two of them would agree perfectly about nothing.
    """
    height, width = sample.target_mask["size"]
    placed = {
        model: images.resize_mask(images.decode_mask(mask), width, height)
        for model, mask in masks.items()
    }
    ignore = sample.ignore_mask
    ignored = ignore and images.resize_mask(images.decode_mask(ignore), width, height)
    counted = {
        (one, other): areas(placed[one], placed[other], ignored)
        for one, other in combinations(placed, 2)
    }
    return {pair: found.iou for pair, found in counted.items() if found.union}


def largest_group(names: Sequence[str], pairs: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Return the most names of which any two are a pair; of equal groups the first in order.

    `pairs` hold names in the order of `names`.

    >>> largest_group("abcd", {("a", "b"), ("b", "c"), ("b", "d"), ("c", "d")})
    ('b', 'c', 'd')
    """
    best: tuple[str, ...] = ()
    for place, name in enumerate(names):
        if len(names) - place <= len(best):
            break
        others = [other for other in names[place + 1 :] if (name, other) in pairs]
        best = max(best, (name, *largest_group(others, pairs)), key=len)
    return best


def effects(cells: Sequence[ModelCell], suspects: Iterable[Suspect]) -> list[Effect]:
    """Return every model's metrics with and without the suspects, failures by the scores' policy.

    All models are measured on the answers that each of them has, so that the numbers compare.
    """
    hidden = {suspect.sample_id for suspect in suspects}
    held = [
        {key for key, scored in zip(c.answers.places, c.answers.scored, strict=True) if scored}
        for c in cells
    ]
    shared = set.intersection(*held) if held else set()
    rest = {key for key in shared if key[0] not in hidden}
    measured = [cell.determinants["metrics"] for cell in cells]
    names = [name for name in measured[0] if all(name in some for some in measured)]
    return [
        Effect(
            model=cell.model,
            n=len(shared),
            n_without=len(rest),
            metrics={
                name: (
                    cell.value(name, cell.answers.among(shared)),
                    cell.value(name, cell.answers.among(rest)),
                )
                for name in names
            },
        )
        for cell in cells
    ]
