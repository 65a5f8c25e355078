"""Which rows of a result file may not be shown: those of samples whose licence forbids it.

Samples carry their licence. Generations and predictions repeat, or are made from, the input: their
licence is that of the samples of the same results tree, found by the layout of the tree. A sample
that is not in that file has an unknown licence, and an unknown licence shows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gensight.errors import GensightError
from gensight.licences import LICENCES, may_show

OWN_EYES = "--include-restricted exports all, for your own eyes"
#: The stages whose files lie under their model, benchmark and prompt.
STAGES = ("generations", "predictions", "judgements", "scores")
#: Stands for the licence of a sample that has none, or that is not in its samples file.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Restrictions:
    """The rows that are left out, by number, with the licence that keeps each from being shown."""

    rows: Mapping[int, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Return how many rows are left out."""
        return len(self.rows)

    @property
    def licences(self) -> list[str]:
        """Return the tags of the licences that forbid showing."""
        return sorted(set(self.rows.values()))

    @property
    def told(self) -> str:
        """Return in one line how many rows are left out and why."""
        names = "; ".join(LICENCES[tag].name if tag in LICENCES else tag for tag in self.licences)
        return f"{self.number} rows may not be shown ({names}); {OWN_EYES}"


def restrictions_of(result: str, file: pq.ParquetFile) -> Restrictions:
    """Return the rows of a result file that may not be shown; a foreign file has none.

    Raises:
        GensightError: the licences of its samples cannot be found.
    """
    columns = file.schema_arrow.names
    if "licence" in columns:
        tags = [[tag] for tag in file.read(columns=["licence"]).column(0).to_pylist()]
    elif "sample_ids" in columns or "sample_id" in columns:
        name = "sample_ids" if "sample_ids" in columns else "sample_id"
        values = file.read(columns=[name]).column(0).to_pylist()
        licences = _licences_of_samples(result)
        tags = [[licences.get(one, UNKNOWN) for one in _listed(value)] for value in values]
    else:
        return Restrictions()
    hidden = ((row, [tag for tag in some if not may_show(tag)]) for row, some in enumerate(tags))
    return Restrictions({row: forbidding[0] or UNKNOWN for row, forbidding in hidden if forbidding})


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _licences_of_samples(result: str) -> dict[str, str | None]:
    """Return the licence of each sample of the benchmark that a result file belongs to."""
    samples = _samples_file(result)
    try:
        table = pq.read_table(samples, columns=["sample_id", "licence"])
    except FileNotFoundError:
        raise GensightError(
            f"{result}: the licences of its samples stand in {samples}, which is not there; run: "
            f"snakemake --cores 2 results/samples/{samples.name}; or {OWN_EYES}"
        ) from None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise GensightError(f"{samples}: cannot be read for licences ({reason})") from None
    ids, tags = (table.column(name).to_pylist() for name in ("sample_id", "licence"))
    return dict(zip(ids, tags, strict=True))


def _samples_file(result: str) -> Path:
    """Return samples/{benchmark}.parquet beside {stage}/{model}/{benchmark}/{prompt}/{file}."""
    parents = Path(result).absolute().parents
    if len(parents) < 5 or parents[3].name not in STAGES:
        raise GensightError(
            f"{result}: is not in a results tree (results/generations/MODEL/BENCHMARK/PROMPT/), so "
            f"the licences of its samples cannot be found; export it from there; or {OWN_EYES}"
        )
    return parents[4] / "samples" / f"{parents[1].name}.parquet"
