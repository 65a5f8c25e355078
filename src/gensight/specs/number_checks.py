"""Checks of what names numbers: how many samples, and which metric of which scorer."""

from __future__ import annotations

from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.conventions import NATIVE_DEFAULT
from gensight.specs.figures import GallerySpec, MetricPanelSpec
from gensight.specs.run import StopSpec
from gensight.specs.tables import ColumnSpec
from gensight.specs.words import refuse_unknown


def check_n(place: str, benchmark: BenchmarkSpec, n: int | str) -> None:
    """Refuse to evaluate a held-out rank, and all of a data set that has no end.

    How many `all` are, only the sampling job knows.

    Raises:
        SpecError: one line that begins with `place`.
    """
    module = benchmark.dataset.module
    if n == "all" and not declared.has_function("datasets", module, "population"):
        raise SpecError(
            f"{place}: 'all' needs a data set of known size; '{module}' makes as many samples as "
            f"are asked for: give a number"
        )
    held_out = benchmark.held_out
    if held_out and isinstance(n, int) and n > held_out.first_rank:
        raise SpecError(
            f"{place}: {n} reaches into the held-out ranks; lower it or raise the "
            f"benchmark's held_out.first_rank ({held_out.first_rank})"
        )


def check_number(
    file: str,
    key: str,
    number: ColumnSpec | MetricPanelSpec | GallerySpec | StopSpec,
    benchmark: BenchmarkSpec,
) -> None:
    """Check that a benchmark has the number that a column, panel, gallery or rule names.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    if isinstance(number, GallerySpec):
        refuse_unknown(file, f"{key}task", [number.task], [benchmark.task])
    refuse_unknown(file, f"{key}prompt", [number.prompt], benchmark.prompts)
    refuse_unknown(file, f"{key}scorer", [number.scorer], benchmark.scorers)
    scorer = benchmark.scorers[number.scorer]
    refuse_unknown(file, f"{key}metric", [number.metric], scorer.metrics)
    fits = list(declared.constants("measures", scorer.measure).get("FITS", (None,)))
    if NATIVE_DEFAULT in fits:
        fits.append("native")
    refuse_unknown(file, f"{key}fit", [number.fit], fits)
    stratum = getattr(number, "stratum", None)
    if stratum is not None and stratum.startswith("first_"):
        refuse_unknown(file, f"{key}stratum", [stratum], [f"first_{n}" for n in benchmark.subsets])
    if isinstance(number, ColumnSpec) and number.minus_fit is not None:
        refuse_unknown(file, f"{key}minus_fit", [number.minus_fit], fits)
    defaults = declared.constants("extractors", scorer.extractor).get("DEFAULTS", {})
    variants = {**defaults, **scorer.parameters}.get("variants")
    if variants is None:  # the extractor does not say beforehand what it will read
        return
    if number.variant is not None or len(variants) > 1:
        # What the repeats of one request agree on is a variant of its own.
        agreed = [f"{variant}_consensus" for variant in variants]
        allowed = [*variants, *(agreed if number.variant in agreed else [])]
        refuse_unknown(file, f"{key}variant", [number.variant], allowed)
