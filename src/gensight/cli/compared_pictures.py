"""The pictures of compared samples: input, A and B side by side, one PNG for each sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gensight import images
from gensight.cli.files import make_folder, write_bytes
from gensight.comparison import Item
from gensight.errors import GensightError, ImageError
from gensight.licences import may_show
from gensight.records import Generation, RowFile, Sample

HEIGHT_PX = 320
GAP_PX = 8
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Written(NamedTuple):
    """How many pictures were written, may not be shown, and lack an answer in this tree."""

    pictures: int
    restricted: int
    without_answer: int


def write_pictures(
    items: Sequence[Item],
    scores: Sequence[Path],
    severities: Sequence[float | None],
    folder: Path,
) -> Written:
    """Write input, A and B of these samples, at the severities that are compared; return counts.

    A sample is left out where its licence lets nothing be shown. An answer without a picture, or
    one that is not in this tree, is a grey field.

    Raises:
        GensightError: a file lies in no tree of results, the samples of the benchmark are not in
            that of A, or the folder cannot be written or holds something.
    """
    first = scores[0]
    wanted = {item.sample_id for item in items}
    samples = {row.sample_id: row for row in _samples(first) if row.sample_id in wanted}
    answers = [_answers(p, items, s) for p, s in zip(scores, severities, strict=True)]
    make_folder(folder)
    if any(folder.iterdir()):
        raise GensightError(f"--pictures: {folder} is not empty; name another folder")
    written = restricted = without = 0
    for place, item in enumerate(items):
        sample = samples.get(item.sample_id)
        if sample is None or not may_show(sample.licence):
            restricted += 1
            continue
        key = (item.sample_id, item.repeat)
        pictures = [sample.image["bytes"], *(found.get(key) for found in answers)]
        name = f"{place:03}_{UNSAFE.sub('_', item.sample_id)}.png"
        write_bytes(folder / name, images.encode_png(_row(pictures)))
        without += None in pictures
        written += 1
    return Written(written, restricted, without)


def _tree(scores: Path) -> tuple[Path, str, str, str]:
    """Return the results folder, model, benchmark and prompt of a file of scores."""
    place = scores.absolute()
    if len(place.parts) < 6 or place.parents[3].name != "scores":
        raise GensightError(
            f"--pictures: {scores} is not in a results tree "
            f"(results/scores/MODEL/BENCHMARK/PROMPT/), where inputs and answers would be"
        )
    model, benchmark, prompt = place.parts[-4:-1]
    return place.parents[4], model, benchmark, prompt


def _samples(scores: Path) -> RowFile[Sample]:
    results, _, benchmark, _ = _tree(scores)
    path = results / "samples" / f"{benchmark}.parquet"
    if not path.exists():
        raise GensightError(f"--pictures: {path} is not there; it holds the inputs")
    return RowFile(path, Sample)


def _answers(
    scores: Path, items: Sequence[Item], severity: float | None
) -> dict[tuple[str, int], bytes]:
    results, model, benchmark, prompt = _tree(scores)
    wanted = {(item.sample_id, item.repeat) for item in items}
    found = {}
    for path in sorted((results / "generations" / model / benchmark / prompt).glob("*.parquet")):
        for row in RowFile(path, Generation):
            key = (row.sample_ids[0], row.repeat)
            if row.final and row.image and key in wanted and row.severity == severity:
                found[key] = row.image["bytes"]
    return found


def _row(pictures: Sequence[bytes | None]) -> np.ndarray:
    """Return pictures of one height in a row, uint8 (H, W, 3)."""
    tiles = [_tile(picture) for picture in pictures]
    gap = np.full((HEIGHT_PX, GAP_PX, 3), 255, np.uint8)
    return np.hstack([part for tile in tiles for part in (tile, gap)][:-1])


def _tile(picture: bytes | None) -> np.ndarray:
    try:
        rgb = images.decode_rgb(picture, matte=(255, 255, 255)) if picture else None
    except ImageError:
        rgb = None
    if rgb is None:
        return np.full((HEIGHT_PX, HEIGHT_PX, 3), 200, np.uint8)
    width = max(1, round(rgb.shape[1] * HEIGHT_PX / rgb.shape[0]))
    return images.resize_picture(rgb, width, HEIGHT_PX)
