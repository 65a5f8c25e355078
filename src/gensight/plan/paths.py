"""Where the file of every step lies: one prefix, one direction."""

from __future__ import annotations

from gensight.plan.cells import Cell


def samples_path(benchmark: str) -> str:
    """Return the path of a benchmark's samples."""
    return f"results/samples/{benchmark}.parquet"


def requests_path(benchmark: str, prompt: str) -> str:
    """Return the path of a benchmark's rendered requests."""
    return f"results/requests/{benchmark}/{prompt}.parquet"


def generation_path(cell: Cell, shard: str) -> str:
    """Return the path of one shard of a cell's generations."""
    return f"results/generations/{cell.folder}/{shard}.parquet"


def prediction_path(cell: Cell, reading: str) -> str:
    """Return the path of a cell's predictions."""
    return f"results/predictions/{cell.folder}/{reading}.parquet"


def features_path(cell: Cell, encoder: str) -> str:
    """Return the path of what an encoder makes of a cell's readings."""
    return f"results/features/{cell.folder}/{encoder}.parquet"


def gallery_path(benchmark: str, encoder: str) -> str:
    """Return the path of what an encoder makes of a benchmark's candidates."""
    return f"results/galleries/{benchmark}/{encoder}.parquet"


def judgement_path(cell: Cell, judge: str) -> str:
    """Return the path of what a judge says of a cell's readings."""
    return f"results/judgements/{cell.folder}/{judge}.parquet"


def score_path(cell: Cell, scorer: str) -> str:
    """Return the path of a cell's scores."""
    return f"results/scores/{cell.folder}/{scorer}.parquet"


def summary_path(benchmark: str) -> str:
    """Return the path of a benchmark's summary."""
    return f"results/summaries/{benchmark}.parquet"


def sweep_path(sweep: str) -> str:
    """Return the path of a sweep's numbers; its folds lie beside it."""
    return f"results/sweeps/{sweep}.parquet"


def aggregate_path(aggregate: str) -> str:
    """Return the path of an aggregate's numbers."""
    return f"results/aggregates/{aggregate}.parquet"


def folds_path(sweep: str) -> str:
    """Return the path of the list of a sweep's folds."""
    return f"results/sweeps/{sweep}.folds.csv"
