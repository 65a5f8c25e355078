"""Reading one picture, as a multiple of the time that decoding it takes anyway.

The reference is `cv2.imdecode` of the same bytes, alone. The truth is at the size of the built-in
scenes (512x384); rows for information show a truth whose size does not divide the picture's, and
the stages as they run, where the grey map is stored as PNG between extraction and scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import cv2
import numpy as np
import pictures
from timing import Measurement, ratio

from gensight import images
from gensight.extractors import Answer, depth, dots, mask
from gensight.measures import depth_fit, overlap
from gensight.records import Prediction, Sample

SCENES, COCO = (512, 384), (640, 480)
BLACK = (0, 0, 0)
CAPS_M = {"min_depth_m": 0.1, "max_depth_m": 20.0}
HEAD = {"sample_id": "bench", "rank": 0, "cluster_id": "bench"}
# The four binarisers of ProbeGen Table 5.
BINARISERS = ("otsu", "threshold_128", "threshold_225", "kmeans")
# What truths of the six segmentation benchmarks measure: RefCOCO thrice, DRAM, Manga109, ReasonSeg.
SIX = ((640, 480), (640, 427), (480, 640), (500, 375), (1654, 1170), (1280, 853))


def decoded(*files: bytes) -> Callable[[], None]:
    """Return the reference: decode these files with OpenCV and do nothing else."""
    buffers = [np.frombuffer(data, np.uint8) for data in files]

    def decode() -> None:
        for buffer in buffers:
            cv2.imdecode(buffer, cv2.IMREAD_COLOR)

    return decode


def mask_path() -> Iterator[Measurement]:
    """Yield the mask path: decode, Otsu, run lengths and back, resize, IoU."""
    data = pictures.mask_answer()
    for name, size, limit in (("mask", SCENES, 1.15), ("mask_640x480", COCO, None)):
        target = images.resize_mask(pictures.blob_distance() > 5, *size)
        answer = Answer(image=data, source_width=size[0], source_height=size[1])

        def read(answer: Answer = answer, target: np.ndarray = target) -> float:
            (reading,) = mask.extract(answer, {})
            predicted = images.decode_mask(reading.fields["mask"])
            placed = images.resize_mask(predicted, target.shape[1], target.shape[0])
            return overlap.areas(placed, target).iou

        if not 0.9 < read() < 1:
            raise AssertionError(f"the mask of the bench overlaps its target by {read()}")
        yield Measurement(
            name=name,
            what=f"decode, Otsu, RLE, resize to {size[0]}x{size[1]}, IoU of a 1024x768 PNG",
            measured=ratio(decoded(data), read),
            limit=limit,
            unit="x cv2.imdecode",
        )


def binarisers_path() -> Iterator[Measurement]:
    """Yield the ablation of Table 5 on cached answers: decode once, four binarisers, both grids."""
    answers = [pictures.saved(_soft_mask(shift)) for shift in (-90, 0, 90)]
    for name, sizes, limit in (
        ("binarisers", [SCENES] * 3, 1.3),
        ("binarisers_640x480", [COCO] * 3, None),
        ("binarisers_six", SIX, None),
    ):
        read = [
            _binarised(answers[place % 3], (-90, 0, 90)[place % 3], size)
            for place, size in enumerate(sizes)
        ]
        files = [answers[place % 3] for place in range(len(sizes))]
        worst = min(min(each()) for each in read)
        if not worst > 0.8:
            raise AssertionError(f"a mask of the bench overlaps its target by {worst}")
        yield Measurement(
            name=name,
            what=f"four binarisers and their overlaps with truths of {_told(sizes)}, PNGs decoded "
            "once",
            measured=ratio(decoded(*files), lambda read=read: [each() for each in read]),
            limit=limit,
            unit="x cv2.imdecode",
        )


def _told(sizes: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{width}x{height}" for width, height in dict.fromkeys(sizes))


def _soft_mask(shift_px: int) -> np.ndarray:
    """Return the mask answer of the bench moved to the right, before it is saved."""
    soft = 255 / (1 + np.exp(-np.roll(pictures.blob_distance(), shift_px, axis=1) / 2))
    return np.repeat(soft[:, :, None], 3, axis=2)


def _binarised(data: bytes, shift_px: int, size: tuple[int, int]) -> Callable[[], list[float]]:
    """Return a function that reads one answer with every binariser and scores every mask."""
    inside = np.roll(pictures.blob_distance(), shift_px, axis=1) > 5
    target = images.encode_mask(images.resize_mask(inside, *size))
    width, height = size
    sample = Sample(**HEAD, image={}, width=width, height=height, target_mask=target)
    answer = Answer(image=data, source_width=width, source_height=height)

    def read() -> list[float]:
        found = []
        for reading in mask.extract(answer, {"variants": list(BINARISERS)}):
            stored = Prediction(
                **HEAD, variant=reading.variant, status="ok", outcome="ok", **reading.fields
            )
            parts = overlap.measure(stored, sample, {})
            found.append(parts[None]["iou"] if parts else 0.0)
        return found

    return read


def depth_path() -> Iterator[Measurement]:
    """Yield the depth path: decode, resize, the fits depth, disparity, monotone and signed."""
    data = pictures.depth_answer()
    sizes = (("depth", SCENES, 1.7), ("depth_1024x768", (pictures.WIDTH, pictures.HEIGHT), None))
    for name, size, limit in sizes:
        depth_m = images.resize_depth(pictures.depth_m(), *size)

        def read(depth_m: np.ndarray = depth_m) -> float:
            grey = images.decode_grey(data, matte=BLACK)
            placed = images.resize_picture(grey, depth_m.shape[1], depth_m.shape[0])
            fits = depth_fit.align(placed, depth_m, near="bright", **CAPS_M)
            return fits["disparity"]["absrel"]

        if not read() < 0.03:
            raise AssertionError(f"the depth of the bench is off by {read()}")
        yield Measurement(
            name=name,
            what=f"decode, resize to {size[0]}x{size[1]}, four fits of a 1024x768 PNG",
            measured=ratio(decoded(data), read),
            limit=limit,
            unit="x cv2.imdecode",
        )
    yield _depth_stages(data)


def _depth_stages(data: bytes) -> Measurement:
    """Measure extraction and scoring as the pipeline runs them, the grey map stored between."""
    depth_m = images.resize_depth(pictures.depth_m(), *SCENES)
    sample = Sample(
        **HEAD,
        **CAPS_M,
        image={},
        width=SCENES[0],
        height=SCENES[1],
        target_depth_m=images.encode_array(depth_m),
    )
    answer = Answer(image=data, source_width=SCENES[0], source_height=SCENES[1])
    settings = {"answer_form": {"kind": "depth", "near": "bright"}}

    def run() -> None:
        (reading,) = depth.extract(answer, {})
        stored = Prediction(
            **HEAD, variant=reading.variant, status="ok", outcome="ok", **reading.fields
        )
        depth_fit.measure(stored, sample, settings)

    return Measurement(
        name="depth_stages",
        what="extract (decode, store as PNG) and score (decode, four fits) of a 1024x768 PNG",
        measured=ratio(decoded(data), run),
        limit=None,
        unit="x cv2.imdecode",
    )


def counting_path() -> Iterator[Measurement]:
    """Yield the counting path: decode two pictures, red, gate, blobs."""
    source, marked = pictures.counting_pair()
    answer = Answer(
        image=marked, source=source, source_width=pictures.WIDTH, source_height=pictures.HEIGHT
    )
    (reading,) = dots.extract(answer, {})
    if reading.fields["count"] != 20:
        raise AssertionError(f"the bench shows 20 dots, {reading.fields['count']} were counted")
    yield Measurement(
        name="counting",
        what="decode input and answer, three-stage dot decoder, two 1024x768 PNGs",
        measured=ratio(decoded(source, marked), lambda: dots.extract(answer, {})),
        limit=2.0,
        unit="x cv2.imdecode of both",
    )
