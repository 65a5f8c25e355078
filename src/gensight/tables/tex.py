"""A table as LaTeX, with booktabs, graphicx and xcolor; and the tables of a run as a document."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from gensight.tables.cells import Cell, Column, Group, Row, Table
from gensight.tables.latex_text import escape
from gensight.tables.notes import ROLE_MARKS, note_marks
from gensight.tables.shades import colour

PACKAGES = ("booktabs", "graphicx", "xcolor", "colortbl")
# A page of 11 pt type holds about 45 rows of a \small table with its caption and notes.
# A table of more than about ten columns is shrunk to the line, and so holds more rows a page.
MAX_FLOAT_ROWS, UNSHRUNK_COLUMNS = 42, 10
# Shrunk further than this, nobody can read it.
MOST_COLUMNS = 20
_ARROWS = {True: r"\,$\uparrow$", False: r"\,$\downarrow$", None: ""}
_GREY = "black!55"


def render_tex(table: Table) -> str:
    """Return the table as LaTeX whose first line is `% gensight-digest:<hex> ...`.

    It is a float, shrunk to the line when it is too wide; a table with more rows than a page, or
    with more than `MOST_COLUMNS` columns, is several floats of one number: of some of the rows, or
    of one block of columns each. It needs the packages of `PACKAGES` and nothing else.
    """
    lines = [f"% {table.mark}", f"% needs \\usepackage{{{','.join(PACKAGES)}}}"]
    floats = [
        (panel, rows)
        for panel in _panels(table)
        for rows in _pages(_body(panel), len(panel.columns))
    ]
    for place, (panel, rows) in enumerate(floats):
        lines += _float(panel, rows, first=place == 0, last=place == len(floats) - 1)
    return "\n".join(lines) + "\n"


def _panels(table: Table) -> list[Table]:
    """Return a table in parts that can be read: whole, or a block of columns each."""
    if len(table.columns) <= MOST_COLUMNS:
        return [table]
    numbered = groupby(enumerate(table.columns), key=lambda item: item[1].block)
    return [_of_columns(table, [place for place, _ in block]) for _, block in numbered]


def _of_columns(table: Table, places: Sequence[int]) -> Table:
    """Return all rows of a table, with some of its columns."""
    groups = tuple(
        replace(
            group,
            rows=tuple(
                replace(row, cells=tuple(row.cells[place] for place in places))
                for row in group.rows
            ),
        )
        for group in table.groups
    )
    return replace(table, columns=tuple(table.columns[place] for place in places), groups=groups)


def _pages(rows: list[str], columns: int) -> list[list[str]]:
    """Share out the rows evenly over as many pages as they need; no page begins with a rule."""
    page_rows = MAX_FLOAT_ROWS * max(1.0, columns / UNSHRUNK_COLUMNS)
    share = math.ceil(len(rows) / math.ceil(len(rows) / page_rows))
    pages = [rows[first : first + share] for first in range(0, len(rows), share)]
    return [page[1:] if page[0] == r"\midrule" else page for page in pages]


def _float(table: Table, rows: list[str], first: bool, last: bool) -> list[str]:
    caption = _caption(table) if first else r"\addtocounter{table}{-1}\caption{(continued)}"
    return [
        r"\begin{table}[!htbp]",
        r"\centering",
        caption + r"\par\smallskip",
        r"\small",
        r"\setlength{\tabcolsep}{4pt}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{_alignment(table)}}}",
        r"\toprule",
        *_header(table.heading, table.columns),
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        *(_notes(table) if last else []),
        r"\end{table}",
    ]


def _caption(table: Table) -> str:
    title, caption = escape(table.title.rstrip(".")), _tied(table.caption)
    return rf"\caption{{\textbf{{{title}.}} {caption}}}\label{{{_key(table.label)}}}"


def _key(label: str) -> str:
    """Return a label key: LaTeX allows letters, digits and a few signs there, unescaped."""
    return "".join(
        char if char.isascii() and (char.isalnum() or char in ":.-") else "-" for char in label
    )


def _alignment(table: Table) -> str:
    """Return the column types, with a little air between blocks of columns."""
    parts = ["l"]
    for _, block in groupby(table.columns, key=lambda column: column.block):
        sides = "".join("l" if column.kind == "text" else "r" for column in block)
        parts.append(r"@{\hspace{12pt}}" + sides)
    return "".join(parts)


def _header(heading: str, columns: Sequence[Column]) -> list[str]:
    """Return the header lines: the blocks over their columns, then the columns."""
    tops, rules, place = [""], [], 2
    for named, block in groupby(columns, key=lambda column: column.block):
        first, *others = block
        width = 1 + len(others)
        tops.append(rf"\multicolumn{{{width}}}{{c}}{{{_block_name(first)}}}")
        if named:
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    names = [escape(heading), *(_column_name(column) for column in columns)]
    if not any(names):
        return []
    lines = [_line(names), r"\midrule"]
    return [_line(tops), " ".join(rules), *lines] if rules else lines


def _block_name(column: Column) -> str:
    """Return a block's name, and who judged below it in small print, a line each."""
    if not column.judged_by:
        return escape(column.group)
    judges = [
        rf"{{\scriptsize {escape(line)}}}"
        for judge in f"by {column.judged_by}".split("; ")
        for line in judge.replace(" (", "\n(", 1).split("\n")
    ]
    lines = r"\\".join([escape(column.group), *judges])
    return rf"\shortstack{{{lines}}}"


def _column_name(column: Column) -> str:
    if column.has_words:
        return rf"\textcolor{{{_GREY}}}{{{escape(column.header)}}}"
    return escape(column.header) + _ARROWS[column.higher_is_better]


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _body(table: Table) -> list[str]:
    """Return the rows of every block, a rule between blocks."""
    if not table.groups:
        return [_line([escape("(no rows)"), *[""] * len(table.columns)])]
    marks = note_marks(table.groups)
    lines: list[str] = []
    for group in table.groups:
        lines += [r"\midrule"] if lines else []
        lines += _group(group, len(table.columns) + 1, marks)
    return lines


def _group(group: Group, width: int, marks: dict[str, str]) -> list[str]:
    lines = []
    if group.label:
        lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escape(group.label)}}}}} \\")
    lines += [_row(row, marks) for row in group.rows]
    return lines


def _row(row: Row, marks: dict[str, str]) -> str:
    line = _line([_row_name(row, marks), *map(tex_cell, row.cells)])
    return rf"\rowcolor{{black!8}}{line}" if row.highlight else line


def _row_name(row: Row, marks: dict[str, str]) -> str:
    signs = ROLE_MARKS.get(row.role, "")
    letters = marks[row.note] if row.note else ""
    raised = "".join(rf"\textsuperscript{{{escape(sign)}}}" for sign in (signs, letters) if sign)
    return _tied(row.label) + raised


def _tied(text: str) -> str:
    """Escape the text, with no line break between a number and its per cent sign."""
    return re.sub(r"(?<=\d) (?=\\%)", "~", escape(text))


def tex_cell(cell: Cell) -> str:
    """Return one cell as LaTeX."""
    if cell.kind == "failed":
        raised = rf"\textsuperscript{{\textcolor{{{_GREY}}}{{{_number(cell.printed)}}}}}"
        return r"$\times$" + (raised if cell.printed else "")
    if cell.kind == "incomplete":
        n = cell.summary.n if cell.summary else 0
        return rf"{{\scriptsize\textit{{incomplete}} ({n})}}"
    if cell.kind == "words":
        return rf"\textcolor{{{_GREY}}}{{\scriptsize {escape(cell.printed)}}}"
    if cell.kind == "text":
        return escape(cell.printed)
    if cell.kind != "number":
        return "--"
    return _decorated(cell)


def _decorated(cell: Cell) -> str:
    shade = "" if cell.shade is None else rf"\cellcolor[HTML]{{{colour(cell.shade)}}}"
    return shade + _marked(cell)


def _marked(cell: Cell) -> str:
    text = _number(cell.printed)
    text = rf"\textbf{{{text}}}" if cell.best else text
    text = rf"\underline{{{text}}}" if cell.leading else text
    marks = ",".join(mark[0] for mark in cell.marks)
    raised = rf"\textsuperscript{{\textcolor{{{_GREY}}}{{{escape(marks)}}}}}" if marks else ""
    if cell.interval is None:
        # The mark hangs outside the cell, so that the digits of a column stay in line.
        return text + (rf"\rlap{{{raised}}}" if marks else "")
    low, high = map(_number, cell.interval)
    return text + raised + rf"\,{{\scriptsize\textcolor{{{_GREY}}}{{[{low}, {high}]}}}}"


def _number(printed: str) -> str:
    return printed.replace("-", "$-$")


def _notes(table: Table) -> list[str]:
    """Return the notes in small print below the table, a line each."""
    if not table.notes:
        return []
    return [
        r"\par\smallskip\noindent",
        r"\begin{minipage}{\linewidth}\footnotesize\raggedright",
        r"\\".join(f"{_tied(note)}\n" for note in table.notes).rstrip(),
        r"\end{minipage}",
    ]


def all_document(
    tables: Sequence[tuple[str, str]], run_name: str, run_digest: str, mark: str
) -> str:
    """Return one whole LaTeX document with the tables of a run, in the given order.

    Its first line is the mark, its heading prints the run's name and digest.

    Each table is inlined, so the file compiles wherever it is copied; the article class and
    `PACKAGES` with geometry are all it needs (texlive-latex-recommended).
    """
    lines = [
        f"% {mark}",
        r"\documentclass[11pt,a4paper]{article}",
        r"\usepackage[margin=18mm]{geometry}",
        *(rf"\usepackage{{{package}}}" for package in PACKAGES),
        # A page that holds floats only starts at its top.
        r"\makeatletter\setlength{\@fptop}{0pt}\makeatother",
        r"\begin{document}",
        r"\begin{center}",
        rf"{{\Large gensight: tables of the run \textbf{{{escape(run_name)}}}}}\\[4pt]",
        rf"{{\footnotesize digest \texttt{{{escape(run_digest)}}}}}",
        r"\end{center}",
    ]
    for name, tex in tables:
        lines += ["", f"% table {name}", tex.rstrip("\n")]
    if not tables:
        lines.append("This run names no tables.")
    return "\n".join([*lines, r"\end{document}", ""])
