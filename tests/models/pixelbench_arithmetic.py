"""The arithmetic of PixelBench's tables, written out over the files of the folder we stand in.

Nothing of gensight counts here but its readers of files: vectors, replies and points come from
them, and every number is made of those again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from pixelbench_artist import MOST
from pixelbench_checkout import HOSTED, SIZES, N

from gensight.records import Candidate, Feature, Generation, Judgement, RowFile, Sample
from gensight.vocabulary import vocabulary

T2P, I2P = "pixelbench_t2p", "pixelbench_i2p"
SOURCES = {"pia": "pixelbench_understanding_pia", "astra": "pixelbench_understanding_astra"}
READERS = [name for name in HOSTED if name != "deepseek_v4_pro"]
JUDGE = "pixel_icon_gemini"


def rows(kind: type, path: str) -> list[Any]:
    return list(RowFile(f"results/{path}.parquet", kind))


@cache
def samples(benchmark: str) -> list[Sample]:
    return rows(Sample, f"samples/{benchmark}")


@cache
def gallery(benchmark: str, encoder: str) -> tuple[list[str], np.ndarray]:
    """Return the names and the vectors (float64) of the candidates."""
    found = [c for c in rows(Candidate, f"galleries/{benchmark}/{encoder}") if c.size is None]
    return [c.name for c in found], np.array([c.vector for c in found], np.float64)


@cache
def cosines(model: str, benchmark: str, size: int, encoder: str) -> dict[str, np.ndarray]:
    """Return the cosines of each valid grid with all candidates, by sample."""
    cell = f"features/{model}/{benchmark}/grid_{size}/{encoder}"
    _, vectors = gallery(benchmark, encoder)
    return {
        row.sample_id: vectors @ np.array(row.vector, np.float64)
        for row in rows(Feature, cell)
        if row.variant == "strict"
    }


def ranks(model: str, benchmark: str, size: int, names: list[str]) -> list[int | None]:
    """Return the rank of each sample's target among some candidates, None without a valid grid."""
    all_names, _ = gallery(benchmark, "siglip_so400m")
    kept = [all_names.index(name) for name in names]
    found = cosines(model, benchmark, size, "siglip_so400m")
    told: list[int | None] = []
    for sample in samples(benchmark):
        if sample.sample_id not in found:
            told.append(None)
            continue
        near = found[sample.sample_id][kept]
        place = names.index(sample.target_text if benchmark == T2P else sample.sample_id)
        told.append(int((near >= near[place] - 1e-6).sum()))
    return told


def top1(model: str, benchmark: str, size: int, names: list[str]) -> float:
    return 100 * sum(rank == 1 for rank in ranks(model, benchmark, size, names)) / N


def paired(model: str, size: int, encoder: str) -> float:
    """Return the mean cosine of grids with their sources, 0 where there is no valid one."""
    names, _ = gallery(I2P, encoder)
    found = cosines(model, I2P, size, encoder)
    return math.fsum(found[name][names.index(name)] for name in found) / N


def mismatched(model: str, size: int, encoder: str) -> float:
    """Return the mean over grids of their mean cosine with the sources of others."""
    names, _ = gallery(I2P, encoder)
    found = cosines(model, I2P, size, encoder)
    return math.fsum(np.delete(found[n], names.index(n)).mean() for n in found) / N


def judged(model: str, size: int, dimension: str | None = None) -> float:
    """Return the mean of a judge's points, of one dimension or in all, 0 without a valid grid."""
    told = rows(Judgement, f"judgements/{model}/{T2P}/grid_{size}/{JUDGE}")
    read = [r for r in told if r.variant == "strict" and r.status == "ok" and not r.rescored]
    assert len({r.sample_id for r in read}) == len(read)
    names = MOST if dimension is None else [dimension]
    return sum(r.points[name] for r in read for name in names) / N


def right(model: str, source: str, prompt: str) -> float:
    """Return the share of right letters (%) of the questions that were asked."""
    true = {s.sample_id: s.target_text for s in samples(SOURCES[source])}
    told = [
        (true[row.sample_ids[0]], row.text)
        for row in rows(Generation, f"generations/{model}/{SOURCES[source]}/{prompt}/all")
        if row.final and row.outcome != "no_source"
    ]
    return 100 * sum(one == other for one, other in told) / len(told)


def mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found)


def vocabulary_names() -> list[str]:
    return [one.label for one in vocabulary()]


def own_names() -> list[str]:
    """Return the 100 concepts, all of them however few are asked."""
    return [one.label for one in vocabulary() if one.number <= 100]


def source_names() -> list[str]:
    return [sample.sample_id for sample in samples(I2P)]


def t2p_agg(model: str) -> float:
    every = vocabulary_names()
    six = [top1(model, T2P, size, every) for size in SIZES]
    return mean([*six, *(judged(model, size) for size in SIZES)])


def i2p_averages(model: str) -> dict[str, float]:
    """Return the three averages over sizes that I2P's aggregates are made of."""
    return {
        "top1": mean(top1(model, I2P, size, source_names()) for size in SIZES),
        "siglip": mean(paired(model, size, "siglip_so400m") for size in SIZES),
        "dino": mean(paired(model, size, "dinov2_large") for size in SIZES),
    }


def i2p_agg(model: str) -> float:
    """Return the mean of the averages, each rounded as printed and set between its extremes."""
    digits = {"top1": 1, "siglip": 3, "dino": 3}
    row_set = [*READERS, "nearest", "ssim_optimal", "pia_reduced"]
    printed = {
        name: {key: round(value, digits[key]) for key, value in i2p_averages(name).items()}
        for name in row_set
    }
    parts = []
    for key, value in printed.get(model, i2p_averages(model)).items():
        column = [row[key] for row in printed.values()]
        parts.append(100 * (value - min(column)) / (max(column) - min(column)))
    return mean(parts)


def i2p_agg_fix(model: str) -> float:
    """Return the mean between anchors: chance, mismatched pairs, the source in as many cells."""
    found = i2p_averages(model)
    parts = [100 * (found["top1"] - 1) / 99]
    for key, encoder in (("siglip", "siglip_so400m"), ("dino", "dinov2_large")):
        low = mean(mismatched("box", size, encoder) for size in SIZES)
        high = mean(ceiling(size, encoder) for size in SIZES)
        parts.append(100 * (found[key] - low) / (high - low))
    return mean(parts)


def ceiling(size: int, encoder: str) -> float:
    found = rows(Candidate, f"galleries/{I2P}/{encoder}")
    whole = {c.name: np.array(c.vector, np.float64) for c in found if c.size is None}
    small = {c.name: np.array(c.vector, np.float64) for c in found if c.size == size}
    return mean(whole[name] @ small[name] for name in source_names())


def overall(model: str) -> float:
    return mean(right(model, source, f"letter_{size}") for source in SOURCES for size in SIZES)


def half_up(value: float, decimals: int) -> float:
    """Round as print does: halves away from zero."""
    scale = 10**decimals
    return math.copysign(math.floor(abs(value) * scale + 0.5), value) / scale
