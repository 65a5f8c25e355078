"""Reading one picture, as a multiple of the time that decoding it takes anyway.

The reference is `cv2.imdecode` of the same bytes, alone. The truth is at the size of the built-in
scenes (512x384); rows for information show a truth whose size does not divide the picture's, and
the stages as they run, where the grey map is stored as PNG between extraction and scoring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
    common = {"sample_id": "bench", "rank": 0, "cluster_id": "bench"}
    sample = Sample(
        **common,
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
            **common, variant=reading.variant, status="ok", outcome="ok", **reading.fields
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
