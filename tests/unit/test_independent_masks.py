"""gIoU and cIoU once more, by COCO's run-length arithmetic and by the loop of LISA's evaluator.

LISA (dvlab-research/LISA, validation): a prediction takes the value 255 where the truth is ignored,
intersections and unions are counted by histograms, and an empty union is an IoU of 1.
"""

from __future__ import annotations

import numpy as np
import pytest
from ceiling_pictures import outline
from pycocotools import mask as coco

from gensight import images, metrics
from gensight.measures import overlap
from gensight.records import Prediction, Sample

SIZES = ((37, 53), (64, 48), (1, 7), (55, 90), (120, 31))


def blob(random, height, width, share):
    """Return a mask of a few rectangles and specks; empty for a share of 0."""
    mask = random.random((height, width)) < share / 8
    for _ in range(2 if share else 0):
        rows, columns = (np.sort(random.integers(0, side + 1, 2)) for side in (height, width))
        mask[slice(*rows), slice(*columns)] = True
    return mask


def cases(seed):
    """Return predicted, true and ignored pixels of odd sizes, some of them empty or full."""
    random = np.random.default_rng(seed)
    found = []
    for place in range(40):
        height, width = SIZES[place % len(SIZES)]
        predicted = blob(random, height, width, 0 if place % 8 == 0 else 0.3)
        target = blob(random, height, width, 0 if place % 6 == 0 else 0.3)
        ignored = blob(random, height, width, 0.2) if place % 3 == 0 else np.zeros_like(target)
        found.append((predicted, target, ignored))
    return found


def pair_of(predicted, target, ignored):
    head = {"sample_id": "s", "rank": 0, "cluster_id": "c"}
    sample = Sample(
        **head,
        image={},
        width=target.shape[1],
        height=target.shape[0],
        target_mask=images.encode_mask(target),
        ignore_mask=images.encode_mask(ignored) if ignored.any() else None,
    )
    mask = images.encode_mask(predicted)
    return Prediction(**head, variant="otsu", status="ok", outcome="ok", mask=mask), sample


def measured(triples):
    """Return the parts of each pair that has a pixel which counts."""
    pairs = [pair_of(*triple) for triple in triples]
    parts = [overlap.measure(*pair, {"long_side_px": 61}) for pair in pairs]
    return [one[None] for one in parts if one is not None]


def aggregated(name, parts, suffix=""):
    columns = {key: np.array([one[f"{key}{suffix}"] for one in parts]) for key in PARTS[name]}
    return metrics.load(name).aggregate(columns)


PARTS = {"giou": ("iou",), "ciou": ("intersection", "union")}


def lisa(triples):
    """Return gIoU and cIoU in per cent, as the validation loop of LISA counts them."""
    ious, sum_intersection, sum_union = [], 0, 0
    for predicted, target, ignored in triples:
        truth = np.where(ignored, 255, target.astype(int))
        if (truth == 255).all():
            continue
        output = np.where(truth == 255, 255, predicted.astype(int))
        hit = output[output == truth]
        intersection, of_output, of_truth = (
            np.histogram(values[values != 255], bins=2, range=(0, 1))[0][1]
            for values in (hit, output, truth)
        )
        union = of_output + of_truth - intersection
        ious.append(intersection / union if union else 1.0)
        sum_intersection, sum_union = sum_intersection + intersection, sum_union + union
    return 100 * np.mean(ious), 100 * sum_intersection / sum_union


@pytest.mark.parametrize("seed", range(4))
def test_lisas_loop_gives_the_same_numbers(seed):
    triples = cases(seed)
    assert any(not (target & ~ignored).any() for _, target, ignored in triples)
    parts = measured(triples)
    expected = lisa(triples)
    assert (aggregated("giou", parts), aggregated("ciou", parts)) == pytest.approx(expected)


def code(mask):
    return coco.encode(np.asfortranarray(mask.astype(np.uint8)))


@pytest.mark.parametrize("seed", range(4))
def test_run_length_arithmetic_gives_the_same_areas(seed):
    """Ignored pixels are cut out of both masks; merging is union, or intersection."""
    triples = [t for t in cases(100 + seed) if not t[2].all()]
    for triple, parts in zip(triples, measured(triples), strict=True):
        predicted, target, ignored = triple
        codes = [code(mask & ~ignored) for mask in (predicted, target)]
        joint = [int(coco.area(coco.merge(codes, intersect=both))) for both in (True, False)]
        assert [parts["intersection"], parts["union"]] == joint
        assert [parts["area_predicted"], parts["area_target"]] == [int(coco.area(c)) for c in codes]
        if joint[1]:
            iou = coco.iou(codes[:1], codes[1:], [False])[0, 0]
            assert parts["iou"] == pytest.approx(iou)


def overlaps(source, target):
    """Return how much of each source pixel lies in each target pixel, in whole numbers."""
    starts = np.arange(target)[:, None] * source, np.arange(source)[None] * target
    ends = starts[0] + source, starts[1] + target
    return np.clip(np.minimum(*ends) - np.maximum(*starts), 0, None).astype(float)


def by_area(mask, width, height):
    """Return the pixels of which at least half is covered; float64 holds these numbers exactly."""
    rows, columns = overlaps(mask.shape[0], height), overlaps(mask.shape[1], width)
    return 2 * (rows @ mask.astype(float) @ columns.T) >= mask.size


# Width and height of what came back and of the truth, as data sets and services have them.
REAL_SIZES = (
    ((1024, 768), (640, 480)),
    ((1248, 832), (640, 427)),
    ((1184, 864), (500, 365)),
    ((1024, 1024), (427, 640)),
    ((1024, 724), (1654, 1170)),
    ((896, 640), (1280, 853)),
)


def test_both_grids_are_reached_by_area():
    """Any returned size on the target's grid and at the work size, ignored pixels and all.

    OpenCV decides single pixels of nearly one half otherwise, and where it enlarges by some ratios
    (424 to 678 rows) it fills one line from its neighbour: a ten-thousandth, no more.
    """
    triples, placed, at_work = [], [], []
    for seed, (returned, size) in enumerate(REAL_SIZES):
        predicted = outline(*returned, 0.1, seed=1)
        target = np.roll(outline(*size, 0.1, seed=1), 2 * seed, axis=1)
        ignored = outline(*size, 0.03, seed=9)
        scale = 1024 / max(size)
        work = [int(side * scale + 0.5) for side in size]
        triples.append((predicted, target, ignored))
        placed.append((by_area(predicted, *size), target, ignored))
        at_work.append(tuple(by_area(mask, *work) for mask in triples[-1]))
    parts = [overlap.measure(*pair_of(*triple), {})[None] for triple in triples]
    found = aggregated("giou", parts), aggregated("ciou", parts), aggregated("ciou", parts, "_work")
    expected = (*lisa(placed), lisa(at_work)[1])
    assert found == pytest.approx(expected, rel=1e-4)
    assert 50 < min(found) < max(found) < 98
