"""Peak memory of reading a long benchmark: it must not grow with the number of samples."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from timing import Measurement, peak_memory_mb

LIMIT_MB = 600.0
SAMPLES = 300
#: Incompressible pictures of about 2.3 MB each: 300 of them would be 700 MB at once.
MAKE = """
import numpy as np
from gensight import images
from gensight.records import Generation, Sample, write_rows

SAMPLES = {"stage": "samples"}
GENERATIONS = {"requests": {"samples": SAMPLES}, "exif": "apply", "repeats": 1}


def picture(rank):
    noise = np.random.default_rng(rank).integers(0, 256, (768, 1024, 3), np.uint8)
    return {"bytes": images.encode_png(noise), "path": None}


def samples():
    for rank in range(COUNT):
        yield Sample(
            sample_id=f"s{rank:06}", rank=rank, cluster_id=f"s{rank}", image=picture(rank),
            width=1024, height=768, target_count=rank % 5,
        )


def generations():
    for rank in range(COUNT):
        yield Generation(
            request_key=f"k{rank}", request_id=f"r{rank}", sample_ids=[f"s{rank:06}"], rank=rank,
            turn=0, final=True, outcome="ok", image=picture(rank + 1),
        )


write_rows(FOLDER + "/samples.parquet", Sample, samples(), SAMPLES)
write_rows(FOLDER + "/all.parquet", Generation, generations(), GENERATIONS)
"""
READ = """
from gensight.extractors.dots import DEFAULTS
from gensight.measures.count_match import DEFAULTS as SETTINGS
from gensight.stages.extract import extract
from gensight.stages.score import score

SAMPLES = {"stage": "samples"}
GENERATIONS = {"requests": {"samples": SAMPLES}, "exif": "apply", "repeats": 1}
PREDICTIONS = {"generations": GENERATIONS, "extractor": "dots", "parameters": DEFAULTS,
               "ranks": None}
SCORES = {
    "predictions": PREDICTIONS, "classes": None, "measure": "count_match",
    "settings": {**SETTINGS, "answer_form": {"kind": "dots", "colour": [255, 0, 0]}},
    "metrics": {"mae": {}},
}
samples, predictions = FOLDER + "/samples.parquet", FOLDER + "/dots.parquet"
extract(samples, [FOLDER + "/all.parquet"], predictions, PREDICTIONS)
score(samples, [predictions], FOLDER + "/scores.parquet", SCORES)
"""


def reading_memory() -> Iterator[Measurement]:
    """Yield the peak of writing a long file, and of extracting and scoring it."""
    with tempfile.TemporaryDirectory() as folder:
        head = f"FOLDER, COUNT = {str(Path(folder))!r}, {SAMPLES}\n"
        for name, program, what in (
            ("memory_write", MAKE, "write the samples and answers, streamed"),
            ("memory_read", READ, "extract and score them, decoding every picture"),
        ):
            yield Measurement(
                name=name,
                what=f"peak resident memory: {SAMPLES} pictures of 2.3 MB; {what}",
                measured=peak_memory_mb(head + program),
                limit=LIMIT_MB,
                unit="MB",
            )
