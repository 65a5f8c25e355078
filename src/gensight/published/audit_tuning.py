"""Every PixelBench number on tuning with pixel data that follows from others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gensight.published.cells import PublishedCell, load, select
from gensight.published.comparison import (
    Check,
    copied,
    half_unit,
    number,
    numbers,
    one,
    recomputed,
)
from gensight.published.facts import Fact, facts
from gensight.published.formulas import (
    difference,
    optimizer_steps,
    percent_of,
    plain_mean,
    total,
    weighted_mean,
)
from gensight.published.formulas_spread import sample_sd, standard_error, t_interval

PAPER = "pixelbench"
EXAMPLE, BENCHMARK = AGGREGATES = ("Example average", "Benchmark average")
# Table 12 by its quantities: the text before the first blank, and the runs behind each column.
QUANTITIES = {"1k": 2, "2k": 4, "4k": 2, "8k": 2}
TARGETS = ("16x16", "32x32", "64x64", "mix")
WITHOUT, WITH_2K, GAIN_2K = "OV-500k", "OV-500k+2k Pixel", "+2k Pixel minus OV"
SEEDS = ("s0", "s1", "s2", "s3")
TABLES = (5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17)
Tables = Mapping[int, list[PublishedCell]]


def checks(root: Path | None = None) -> Iterator[Check]:
    """Yield the checks of Tables 5 to 17, then those of the text about them."""
    tables = {table: load(PAPER, table, root) for table in TABLES}
    said = facts(PAPER, root)
    yield from _main_result(tables)
    yield from _seeds(tables, said)
    yield from _quantities(tables)
    yield from _all_quantities(tables)
    for model in dict.fromkeys(cell.model for cell in tables[14]):
        yield from _targets(tables, model)
        yield from _scales(tables, model)
    yield from _seed_spread(tables[17])
    yield from _text(tables[14], said)


def _train(train: str) -> dict[str, str]:
    return {"train": train}


def _by_benchmark(cells: list[PublishedCell], setting: dict[str, str]) -> list[PublishedCell]:
    """Return a column without its aggregate rows, in the order of print."""
    column = select(cells, setting=setting)
    return [cell for cell in column if cell.benchmark not in AGGREGATES]


def _examples(cells: list[PublishedCell], column: list[PublishedCell]) -> list[float]:
    """Return the numbers of questions of a column's benchmarks."""
    counts = select(cells, metric="n_examples")
    return [number(one(counts, benchmark=cell.benchmark)) for cell in column]


def _averages(
    place: str, label: str, cells: list[PublishedCell], setting: dict[str, str], sizes: list[float]
) -> Iterator[Check]:
    """Yield the Example average (weighted by questions) and the Benchmark average of a column."""
    column = _by_benchmark(cells, setting)
    values, inputs = numbers(column), half_unit(column[0])
    for aggregate, value in (
        (EXAMPLE, weighted_mean(values, sizes)),
        (BENCHMARK, plain_mean(values)),
    ):
        printed = one(cells, benchmark=aggregate, setting=setting)
        yield recomputed(place, f"{label}: {aggregate}", printed, value, inputs=inputs)


def _counts(place: str, label: str, cells: list[PublishedCell]) -> Iterator[Check]:
    """Yield the number of questions and of benchmarks, as the aggregate rows print them."""
    sizes = [c for c in select(cells, metric="n_examples") if c.benchmark not in AGGREGATES]
    printed = one(cells, benchmark=EXAMPLE, metric="n_examples")
    yield recomputed(place, f"{label}sum of n", printed, total(numbers(sizes)))
    printed = one(cells, benchmark=BENCHMARK, metric="n_benchmarks")
    yield recomputed(place, f"{label}number of benchmarks", printed, len(sizes))


def _main_result(tables: Tables) -> Iterator[Check]:
    """Yield Table 6 (with and without 2k pixel examples) and its numbers of questions."""
    cells = tables[6]
    yield from _counts("Table 6", "", cells)
    for cell in tables[5]:
        other = one(cells, benchmark=cell.benchmark, metric="n_examples")
        yield copied("Tables 5 and 6", f"{cell.benchmark}: n", cell, other)
    sizes = _examples(cells, _by_benchmark(cells, _train(WITHOUT)))
    for train in (WITHOUT, WITH_2K):
        yield from _averages("Table 6", train, cells, _train(train), sizes)
    gains = select(cells, setting=_train(GAIN_2K))
    for gain in gains:
        yield _gain("Table 6", gain.benchmark, gain, cells, WITH_2K, WITHOUT)
    column = _by_benchmark(cells, _train(GAIN_2K))
    for aggregate, value in (
        (EXAMPLE, weighted_mean(numbers(column), sizes)),
        (BENCHMARK, plain_mean(numbers(column))),
    ):
        printed = one(tables[7], benchmark=aggregate, setting=_train(GAIN_2K))
        inputs = half_unit(column[0])
        yield recomputed("Tables 7 and 6", f"2k: {aggregate}", printed, value, inputs=inputs)


def _gain(
    place: str, label: str, gain: PublishedCell, cells: list[PublishedCell], after: str, before: str
) -> Check:
    """Compare a gain with the difference of its row: the paper rounds it after subtracting."""
    row = select(cells, model=gain.model, benchmark=gain.benchmark)
    ends = [one(row, setting=_train(train)) for train in (after, before)]
    value = difference(*numbers(ends))
    inputs = total([half_unit(end) for end in ends])
    return recomputed(place, f"{label}: gain", gain, value, inputs=inputs)


def _seeds(tables: Tables, said: Mapping[str, Fact]) -> Iterator[Check]:
    """Yield what the four seeds of Table 11 give: means, and the paired gains of the text."""
    for train in (WITHOUT, WITH_2K):
        for aggregate in AGGREGATES:
            seeds = select(tables[11], benchmark=aggregate, setting=_train(train))
            printed = one(tables[6], benchmark=aggregate, setting=_train(train))
            mean, inputs = plain_mean(numbers(seeds)), half_unit(seeds[0])
            name = f"{train}: {aggregate}, mean of {len(seeds)} seeds"
            yield recomputed("Tables 6 and 11", name, printed, mean, inputs=inputs)
    for seed, gain in zip(SEEDS, _paired_gains(tables[11], BENCHMARK), strict=True):
        printed = said[f"prt_gain_{seed}"]
        inputs = 2 * half_unit(printed)
        yield recomputed(
            "text and Table 11", f"{seed}: {BENCHMARK} gain", printed, gain, inputs=inputs
        )
    for aggregate in AGGREGATES:
        printed = one(tables[7], benchmark=aggregate, setting=_train(GAIN_2K))
        mean = plain_mean(_paired_gains(tables[11], aggregate))
        inputs = 2 * half_unit(tables[11][0])
        name = f"2k: {aggregate}, mean of paired gains"
        yield recomputed("Tables 7 and 11", name, printed, mean, inputs=inputs)


def _paired_gains(cells: list[PublishedCell], aggregate: str) -> list[float]:
    def accuracy(train: str, seed: str) -> float:
        return number(one(cells, benchmark=aggregate, setting={"train": train, "seed": seed}))

    return [difference(accuracy(WITH_2K, seed), accuracy(WITHOUT, seed)) for seed in SEEDS]


def _column(quantity: str) -> dict[str, str]:
    return _train(f"+{quantity} Pixel minus four-seed OV mean")


def _quantities(tables: Tables) -> Iterator[Check]:
    """Yield Table 12 column by column: its aggregates, and the numbers that Table 7 prints."""
    cells = tables[12]
    for quantity in QUANTITIES:
        for aggregate in AGGREGATES:
            printed = one(cells, benchmark=aggregate, setting=_column(quantity))
            train = _train(f"+{quantity} Pixel minus OV")
            finer = one(tables[7], benchmark=aggregate, setting=train)
            name = f"{quantity}: {aggregate}"
            yield recomputed(
                "Tables 12 and 7",
                name,
                printed,
                number(finer),
                inputs=half_unit(finer),
                also=[finer],
            )
    for quantity in (*QUANTITIES, "all"):
        sizes = _examples(tables[6], _by_benchmark(cells, _column(quantity)))
        yield from _averages("Table 12", quantity, cells, _column(quantity), sizes)


def _all_quantities(tables: Tables) -> Iterator[Check]:
    """Yield Table 12 row by row: all runs pooled, and the 2k column that Table 6 prints."""
    cells = tables[12]
    for printed in select(cells, setting=_column("all")):
        row = [one(cells, benchmark=printed.benchmark, setting=_column(q)) for q in QUANTITIES]
        value = weighted_mean(numbers(row), list(QUANTITIES.values()))
        inputs = half_unit(row[0])
        name = f"{printed.benchmark}: all, weighted by runs"
        yield recomputed("Table 12", name, printed, value, inputs=inputs)
        same = one(cells, benchmark=printed.benchmark, setting=_column("2k"))
        other = one(tables[6], benchmark=printed.benchmark, setting=_train(GAIN_2K))
        yield copied("Tables 12 and 6", f"{printed.benchmark}: 2k", same, other)


def _targets(tables: Tables, model: str) -> Iterator[Check]:
    """Yield Table 14 of one model: its aggregates, which Table 9 repeats."""
    cells = select(tables[14], model=model)
    yield from _counts("Table 14", f"{model}: ", cells)
    for target in TARGETS:
        setting = {"target_resolution": target}
        sizes = _examples(cells, _by_benchmark(cells, setting))
        yield from _averages("Table 14", f"{model} {target}", cells, setting, sizes)
        for aggregate in AGGREGATES:
            printed = one(tables[9], model=model, benchmark=aggregate, setting=setting)
            other = one(cells, benchmark=aggregate, setting=setting)
            yield copied("Tables 9 and 14", f"{model} {target}: {aggregate}", printed, other)


def _scales(tables: Tables, model: str) -> Iterator[Check]:
    """Yield Table 8 of one model: what Table 13 repeats, its gains, and the same gains finer."""
    without, with_pixel, gained = "FV-64k", "FV-64k+3k Pixel", "FV+Pixel minus FV"
    for aggregate in AGGREGATES:
        names = {"model": model, "benchmark": aggregate}
        for train in (without, with_pixel, gained):
            printed, other = (one(tables[t], setting=_train(train), **names) for t in (8, 13))
            yield copied("Tables 8 and 13", f"{model}, {train}: {aggregate}", printed, other)
        gain = one(tables[8], setting=_train(gained), **names)
        label = f"{model}: {aggregate}"
        yield _gain("Table 8", label, gain, tables[8], with_pixel, without)
        mixed = one(tables[9], setting={"target_resolution": "mix"}, **names)
        inputs = half_unit(mixed)
        yield recomputed("Tables 8 and 9", f"{label}: gain", gain, number(mixed), inputs=inputs)
        swept = one(tables[15], setting={"n_pixel": "3k"}, **names)
        yield copied("Tables 15 and 9", f"{label}, 3k", swept, mixed)


def _seed_spread(cells: list[PublishedCell]) -> Iterator[Check]:
    """Yield Table 17: mean, SD, standard error and 95 % interval over three seeds."""
    for aggregate in AGGREGATES:
        row = select(cells, benchmark=aggregate)
        seeds = select(row, metric="delta")
        values, inputs = numbers(seeds), half_unit(seeds[0])
        low, high = t_interval(values)
        for metric, value in (
            ("delta_mean", plain_mean(values)),
            ("delta_sd", sample_sd(values)),
            ("delta_sem", standard_error(values)),
            ("delta_ci95_low", low),
            ("delta_ci95_high", high),
        ):
            printed = one(row, metric=metric)
            name = f"{aggregate}: {metric.removeprefix('delta_')}"
            yield recomputed("Table 17", name, printed, value, inputs=inputs)


def _text(cells: list[PublishedCell], said: Mapping[str, Fact]) -> Iterator[Check]:
    share = percent_of(number(said["prt_quantity_main"]), number(said["prt_ov_instructions"]))
    yield recomputed("text", "2k in per cent of all examples", said["prt_share_of_2k"], share)
    batch = int(said["qwen_batch"].value)
    for key, examples in (("qwen_steps_with_3k", "qwen_total"), ("qwen_steps_without", "qwen_fv")):
        steps = optimizer_steps(int(said[examples].value), batch)
        yield recomputed("text", f"steps of {examples}", said[key], steps)
    printed = one(
        select(cells, model="Qwen3-VL-Instruct 8B"), benchmark=EXAMPLE, metric="n_examples"
    )
    yield copied(
        "text and Table 14", "questions with fixed data", said["fixed_data_units"], printed
    )
