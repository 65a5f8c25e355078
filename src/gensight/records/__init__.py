"""The Parquet schema of every stage, and the only reader and writer of these files."""

from gensight.footers import Footer, mark, read_footer
from gensight.records.rows import (
    Candidate,
    Feature,
    Generation,
    Judgement,
    Prediction,
    Request,
    Sample,
    Score,
    Summary,
)
from gensight.records.storage import Notes, RowFile, SampleStore, schema_of, write_rows

__all__ = [
    "Candidate",
    "Feature",
    "Footer",
    "Generation",
    "Judgement",
    "Notes",
    "Prediction",
    "Request",
    "RowFile",
    "Sample",
    "SampleStore",
    "Score",
    "Summary",
    "mark",
    "read_footer",
    "schema_of",
    "write_rows",
]
