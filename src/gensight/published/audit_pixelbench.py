"""Every PixelBench number on drawing and reading grids that follows from others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gensight.published.cells import PublishedCell, load, select
from gensight.published.comparison import (
    Check,
    bounded,
    copied,
    half_unit,
    number,
    numbers,
    one,
    recomputed,
)
from gensight.published.facts import Fact, facts
from gensight.published.formulas import difference, percent_of, plain_mean, total
from gensight.published.formulas_correlation import kendall, pearson, spearman
from gensight.published.formulas_pixelbench import (
    image_to_pixel_aggregates,
    reciprocal_rank_bounds,
    text_to_pixel_aggregate,
)
from gensight.rounding import rounded

PAPER = "pixelbench"
SIZES = ("16x16", "32x32", "64x64")
POOLS = ("100", "500")
ITEMS = 100  # asked at each size
IMAGE_METRICS = ("top1_100way", "siglip_cosine", "dino_cosine")
SOURCES = ("PIA", "Astra-I2P")
TABLES = (1, 2, 3, 4, 22, 23, 24, 25)
Tables = Mapping[int, list[PublishedCell]]


def checks(root: Path | None = None) -> Iterator[Check]:
    """Yield the checks of Tables 1 to 4 and 22 to 25, then those of the text about them."""
    tables = {table: load(PAPER, table, root) for table in TABLES}
    for model in _models(tables[1]):
        for size in SIZES:
            yield from _drawn_from_text(tables, model, size)
        yield from _text_averages(tables, model)
    for model in _models(tables[2]):
        yield from _image_averages(tables, model)
    yield from _image_aggregates(tables[2])
    for model in _models(tables[3]):
        yield from _understanding(tables[3], model)
    yield from _correlations(tables)
    yield from _text(tables, facts(PAPER, root))


def _models(cells: list[PublishedCell]) -> list[str]:
    return list(dict.fromkeys(cell.model for cell in cells))


def _sizes(cells: list[PublishedCell], model: str, metric: str) -> list[PublishedCell]:
    return [one(cells, model=model, metric=metric, setting={"resolution": s}) for s in SIZES]


def _average(cells: list[PublishedCell], model: str, metric: str) -> PublishedCell:
    return one(cells, model=model, metric=metric, setting={"resolution": "avg"})


def _drawn_from_text(tables: Tables, model: str, size: str) -> Iterator[Check]:
    """Yield the judge total and the 500-way Top-1 of one size, and the bounds of its MRR."""
    setting = {"resolution": size}
    judged = select(tables[24], model=model, setting=setting)
    judge_total = one(judged, metric="judge_total")
    dimensions = [cell for cell in judged if cell is not judge_total]
    name = f"{model} {size}"
    yield recomputed(
        "Table 24",
        f"{name}: sum of {len(dimensions)}",
        judge_total,
        total(numbers(dimensions)),
        inputs=total([half_unit(cell) for cell in dimensions]),
    )
    judge = one(tables[1], model=model, metric="vlm_judge_total", setting=setting)
    yield recomputed(
        "Tables 1 and 24",
        f"{name}: judge",
        judge,
        number(judge_total),
        inputs=half_unit(judge_total),
    )
    top1 = one(tables[1], model=model, metric="top1_500way", setting=setting)
    share = one(tables[22], model=model, setting={**setting, "pool": "500"})
    yield copied("Tables 1 and 22", f"{name}: 500-way", top1, share, scale=ITEMS)
    for pool in POOLS:
        yield _reciprocal_rank(tables, model, {**setting, "pool": pool})


def _reciprocal_rank(tables: Tables, model: str, setting: dict[str, str]) -> Check:
    """Compare the MRR, over valid answers, with the Top-1, over all items: a miss if invalid."""
    rank = one(tables[23], model=model, setting=setting)
    top1 = number(one(tables[22], model=model, setting=setting))
    bounds = reciprocal_rank_bounds(top1 * ITEMS / _valid(rank))
    name = f"{model} {setting['resolution']}: MRR of {setting['pool']}"
    return bounded("Tables 23 and 22", name, rank, bounds)


def _valid(cell: PublishedCell) -> int:
    return int(cell.setting.get("n_valid", ITEMS))


def _text_averages(tables: Tables, model: str) -> Iterator[Check]:
    top1 = numbers(_sizes(tables[1], model, "top1_500way"))
    totals = _sizes(tables[24], model, "judge_total")
    printed = _sizes(tables[1], model, "vlm_judge_total")
    average = _average(tables[1], model, "top1_500way")
    yield recomputed("Table 1", f"{model}: Top-1, mean of 3", average, plain_mean(top1))
    average = _average(tables[1], model, "vlm_judge_total")
    mean, inputs = plain_mean(numbers(totals)), half_unit(totals[0])
    yield recomputed("Tables 1 and 24", f"{model}: judge, mean of 3", average, mean, inputs=inputs)
    aggregate = one(tables[1], model=model, metric="agg")
    for place, judge in (("Tables 1 and 24", totals), ("Table 1", printed)):
        value = text_to_pixel_aggregate(top1, numbers(judge))
        inputs = half_unit(judge[0])
        yield recomputed(place, f"{model}: Agg, mean of 6", aggregate, value, inputs=inputs)
    ranks = select(tables[23], model=model, setting={"pool": POOLS[0]})
    if any("n_valid" in cell.setting for cell in ranks):
        valid, asked = sum(map(_valid, ranks)), ITEMS * len(ranks)
        rate = one(tables[1], model=model, metric="valid_rate")
        share = percent_of(valid, asked)
        yield recomputed("Tables 1 and 23", f"{model}: {valid} of {asked} valid", rate, share)


def _image_averages(tables: Tables, model: str) -> Iterator[Check]:
    """Yield the three averages of a row of Table 2; Table 25 repeats the rows of algorithms."""
    for metric in IMAGE_METRICS:
        cells = _sizes(tables[2], model, metric)
        average = _average(tables[2], model, metric)
        inputs = 0.0 if metric == "top1_100way" else half_unit(cells[0])
        mean = plain_mean(numbers(cells))
        yield recomputed("Table 2", f"{model}: {metric}, mean of 3", average, mean, inputs=inputs)
        if not select(tables[25], model=model):
            continue
        for size, cell, other in zip(SIZES, cells, _sizes(tables[25], model, metric), strict=True):
            yield copied("Tables 2 and 25", f"{model} {size}: {metric}", cell, other)
    for metric in ("valid_rate", "flat_rate"):
        yield from _share_of_asked(one(tables[2], model=model, metric=metric))


def _share_of_asked(cell: PublishedCell) -> Iterator[Check]:
    """Yield whether a share, unless none or all, is that of a whole number of answers."""
    asked = ITEMS * len(SIZES)
    count = round(number(cell) * asked / 100)
    if 0 < count < asked:
        name = f"{cell.model}: {cell.metric}, {count} of {asked}"
        yield recomputed("Table 2", name, cell, percent_of(count, asked))


def _image_aggregates(cells: list[PublishedCell]) -> Iterator[Check]:
    """Yield the min-max aggregate over the nine rows of Table 2.

    It is the one number that the paper forms from rounded numbers, its printed averages, which
    therefore carry no error of rounding here.
    """
    rows = {
        model: numbers(_average(cells, model, metric) for metric in IMAGE_METRICS)
        for model in _models(cells)
    }
    for model, value in image_to_pixel_aggregates(rows).items():
        name = f"{model}: Agg, min-max over {len(rows)} rows"
        yield recomputed("Table 2", name, one(cells, model=model, metric="agg"), value)


def _understanding(cells: list[PublishedCell], model: str) -> Iterator[Check]:
    every = []
    for source in SOURCES:
        row = select(cells, model=model, setting={"source": source})
        average = one(row, setting={"resolution": "avg"})
        answers = numbers(cell for cell in row if cell is not average)
        yield recomputed("Table 3", f"{model}: {source}, mean of 3", average, plain_mean(answers))
        every += answers
    overall = one(cells, model=model, setting={"source": "all"})
    yield recomputed("Table 3", f"{model}: Overall, mean of 6", overall, plain_mean(every))


def _correlations(tables: Tables) -> Iterator[Check]:
    """Yield Table 4: Overall as printed against Agg to two decimals."""
    drawn = {
        "Understanding–T2P": _text_aggregates(tables),
        "Understanding–I2P (w/o DeepSeek)": _printed_image_aggregates(tables),
    }
    for benchmark, aggregates in drawn.items():
        models = [model for model in _models(tables[3]) if model in aggregates]
        understood = [
            number(one(tables[3], model=model, setting={"source": "all"})) for model in models
        ]
        drawing = [aggregates[model] for model in models]
        for metric, formula in (("pearson", pearson), ("spearman", spearman), ("kendall", kendall)):
            cell = one(tables[4], benchmark=benchmark, metric=metric)
            value = formula(understood, drawing)
            yield recomputed("Tables 4 and 3", f"{benchmark}: {metric}", cell, value)
        cell = one(tables[4], benchmark=benchmark, metric="n_models")
        yield recomputed("Tables 4 and 3", f"{benchmark}: n", cell, len(models))


def _text_aggregates(tables: Tables) -> dict[str, float]:
    """Return the T2P Agg of each model to two decimals: one more than Table 1 prints."""
    aggregates = {}
    for model in _models(tables[1]):
        top1 = numbers(_sizes(tables[1], model, "top1_500way"))
        totals = numbers(_sizes(tables[24], model, "judge_total"))
        aggregates[model] = float(rounded(text_to_pixel_aggregate(top1, totals), 2))
    return aggregates


def _printed_image_aggregates(tables: Tables) -> dict[str, float]:
    return {cell.model: number(cell) for cell in select(tables[2], metric="agg")}


def _text(tables: Tables, said: Mapping[str, Fact]) -> Iterator[Check]:
    """Yield numbers of the text that tables give, or that follow from them."""
    means = {
        model: plain_mean(numbers(_sizes(tables[24], model, "judge_total")))
        for model in _models(tables[1])
    }
    astra, sol = "GPT-6 Astra", "GPT-5.6 Sol"
    for model, key in ((astra, "astra_t2p_judge"), ("DeepSeek V4 Pro", "deepseek_t2p_judge")):
        inputs = half_unit(said[key])
        yield recomputed(
            "text and Table 24", f"{model}: judge", said[key], means[model], inputs=inputs
        )
    lead = said["judge_lead_astra_over_sol"]
    gap = difference(means[astra], means[sol])
    inputs = 2 * half_unit(lead)
    yield recomputed("text and Table 24", f"{astra} over {sol}: judge", lead, gap, inputs=inputs)
    aggregate = one(tables[1], model=astra, metric="agg")
    yield copied("text and Table 1", f"{astra}: T2P Agg", said["astra_t2p_agg"], aggregate)
    for model, metric, key in (
        (sol, "top1_100way", "sol_i2p_top1"),
        (astra, "siglip_cosine", "astra_i2p_siglip"),
        (astra, "dino_cosine", "astra_i2p_dino"),
    ):
        cells = _sizes(tables[2], model, metric)
        inputs = 0.0 if metric == "top1_100way" else half_unit(cells[0])
        mean = plain_mean(numbers(cells))
        yield recomputed("text and Table 2", f"{model}: {metric}", said[key], mean, inputs=inputs)
    yield from _source_gains(tables[3], said)


def _source_gains(cells: list[PublishedCell], said: Mapping[str, Fact]) -> Iterator[Check]:
    for model, key in (("Claude Opus 5", "opus_source_gain"), ("GPT-6 Astra", "astra_source_gain")):
        before, after = (
            one(cells, model=model, setting={"source": source, "resolution": "avg"})
            for source in SOURCES
        )
        gain = difference(number(after), number(before))
        inputs = half_unit(after) + half_unit(before)
        name = f"{model}: {SOURCES[1]} minus {SOURCES[0]}"
        yield recomputed("text and Table 3", name, said[key], gain, inputs=inputs)
    questions = ITEMS * len(SIZES) * len(SOURCES)
    yield recomputed("text", "understanding questions", said["understanding_n_total"], questions)
