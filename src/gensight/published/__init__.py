"""What the papers print: loaded as data, recomputed, never measured and never ranked.

The numbers stand in `resources/published/`, one file for each paper and table. `load` reads a
table, `find` one number, `audit` recomputes every number that follows from others in print. The
formulas are plain functions; the metrics of measured runs call the same ones.
"""

from __future__ import annotations

from gensight.published.cells import PAPERS, PublishedCell, find, load, select, tables
from gensight.published.facts import Fact, UnitCount, facts, genius_counts

__all__ = [
    "PAPERS",
    "Fact",
    "PublishedCell",
    "UnitCount",
    "facts",
    "find",
    "genius_counts",
    "load",
    "select",
    "tables",
]
