"""Tables: summary rows set into typed cells, then written as LaTeX, CSV and Markdown."""

from gensight.rounding import rounded
from gensight.tables.build import build_table
from gensight.tables.cells import Cell, Column, Group, ModelInfo, Row, RunFacts, Table
from gensight.tables.listing import build_listing, read_entries
from gensight.tables.tex import all_document, render_tex
from gensight.tables.text import render_csv, render_markdown

__all__ = [
    "Cell",
    "Column",
    "Group",
    "ModelInfo",
    "Row",
    "RunFacts",
    "Table",
    "all_document",
    "build_listing",
    "build_table",
    "read_entries",
    "render_csv",
    "render_markdown",
    "render_tex",
    "rounded",
]
