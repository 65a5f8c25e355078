"""The Parquet schema of every stage, and the only reader and writer of these files."""

from gensight.footers import Footer, mark, read_footer
from gensight.records.rows import (
    Generation,
    Prediction,
    Request,
    Sample,
    Score,
    Summary,
)
from gensight.records.storage import Notes, RowFile, SampleStore, schema_of, write_rows

__all__ = [
    "Footer",
    "Generation",
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
