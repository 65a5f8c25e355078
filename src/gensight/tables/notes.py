"""The notes under a table: what its marks mean, what was left out, and the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from gensight.rounding import rounded
from gensight.specs.tables import TableSpec
from gensight.tables.cells import (
    COMPETING_ROLES,
    SIGNS,
    Cell,
    Column,
    Group,
    ModelInfo,
    RunFacts,
)
from gensight.tables.rules import failing_share
from gensight.tables.shades import shade_notes

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ROLE_MARKS = {"published": "§"}
_ROLE_NOTES = {
    "published": "a published number, not measured here; never ranked with the other rows",
}


def note_marks(groups: Iterable[Group]) -> dict[str, str]:
    """Return the letter of each distinct model note, in the order of the rows (aa after z)."""
    notes = [row.note for group in groups for row in group.rows if row.note]
    return {note: _letter(place) for place, note in enumerate(dict.fromkeys(notes))}


def _letter(place: int) -> str:
    cycle, place = divmod(place, len(LETTERS))
    return LETTERS[place] * (cycle + 1)


def table_notes(
    spec: TableSpec,
    columns: Sequence[Column],
    groups: Sequence[Group],
    infos: Mapping[str, ModelInfo],
    benchmarks: Mapping[str, str],
    facts: RunFacts,
) -> list[str]:
    """Return the notes in printing order; a mark is explained only where it occurs."""
    cells = [cell for group in groups for row in group.rows for cell in row.cells]
    empty = [] if any(group.rows for group in groups) else ["No model of this run does this task."]
    notes = [*empty, *_mark_notes(spec, columns, groups, cells, infos), *_column_notes(columns)]
    notes += shade_notes(columns, groups, spec.options.shades)
    notes += _left_out(cells, benchmarks)
    notes += _unread(columns, groups)
    notes += _provenance(groups, infos)
    notes += _counted(columns, groups)
    notes += _flags(columns, groups)
    notes += _smallest_differences(spec, columns, groups)
    notes += _rank_flips(columns, groups)
    notes += [f"{mark}: {text}." for text, mark in _stripped(note_marks(groups))]
    notes += [*spec.notes, *facts.protocol]
    return [*notes, f"Run {facts.name}, digest {facts.digest[:12]}."]


def _stripped(marks: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(note.rstrip(". "), mark) for note, mark in marks.items()]


def _mark_notes(
    spec: TableSpec,
    columns: Sequence[Column],
    groups: Sequence[Group],
    cells: Sequence[Cell],
    infos: Mapping[str, ModelInfo],
) -> list[str]:
    kinds = {cell.kind for cell in cells}
    marks = {mark for cell in cells for mark in cell.marks}
    roles = {row.role for group in groups for row in group.rows}
    notes = []
    if any(cell.best for cell in cells):
        notes.append(_best_note(spec, cells))
    if any(column.kind == "rank" for column in columns):
        notes.append("rank: the ranks that a row may have in its group, all rows at once, 95 %.")
    rows = [row for group in groups for row in group.rows]
    if any(c.kind == "failed" for row in rows if row.role == "published" for c in row.cells):
        notes.append("×§: the paper's own mark of a failure to give a valid output.")
    if any(c.kind == "failed" for row in rows if row.role != "published" for c in row.cells):
        shares = {
            failing_share(infos[row.model], spec.options)
            for group in groups
            for row in group.rows
            if row.role != "published" and any(cell.kind == "failed" for cell in row.cells)
        }
        limits = " or ".join(f"{100 * (1 - share):g} %" for share in sorted(shares))
        notes.append(
            "×: format failure, the share of answers in the asked format is below "
            f"{limits} even at its upper 95 % Wilson bound; the small number is the score."
        )
    if "incomplete" in kinds:
        notes.append(
            "incomplete (n): answers never arrived, n were scored; no number until they do."
        )
    if kinds & {"not_applicable", "undefined"}:
        notes.append("–: does not apply, or has no value.")
    if "floor" in marks:
        notes.append(
            "f: sets the floor of its column, the best row that cannot see the picture "
            "or cannot understand the task."
        )
    if "ceiling" in marks:
        notes.append("c: sets the ceiling of its column, the truth through the same interface.")
    if any(column.kind == "readable" for column in columns):
        notes.append(
            "valid/n: answers in the asked format, of those scored; where a benchmark classifies "
            "failures, it does so of measured rows: others need only be readable and not flat."
        )
    notes += [f"{ROLE_MARKS[role]}: {_ROLE_NOTES[role]}." for role in ROLE_MARKS if role in roles]
    notes += [f"{sign}: {words}." for sign, words in SIGNS.items() if sign in marks]
    if any(row.highlight for group in groups for row in group.rows):
        notes.append("Grey: the default setting.")
    return notes


def _provenance(groups: Sequence[Group], infos: Mapping[str, ModelInfo]) -> list[str]:
    """Say of measured rows whose adapter never met the real model, and who else may answer."""
    shown = {
        row.model: row.label
        for group in groups
        for row in group.rows
        if row.role == "measured"
        and row.model in infos
        and any(cell.number is not None for cell in row.cells)
    }
    never = [label for model, label in shown.items() if not infos[model].proven]
    notes = [
        f"{label}: answers of {', '.join(infos[model].answered_as)} are taken too."
        for model, label in shown.items()
        if infos[model].answered_as
    ]
    if never:
        notes.append(
            "Never run by the makers of gensight, whose tests of these adapters are against "
            f"stand-ins: {', '.join(never)}."
        )
    return notes


def _best_note(spec: TableSpec, cells: Sequence[Cell]) -> str:
    if spec.options.bold == "top_two":
        return "Bold: best measured row of its group, as printed; underlined: the second."
    if spec.options.bold != "best_set":
        return "Bold: best measured row of its group, as printed."
    sizes = {cell.summary.group_size for cell in cells if cell.best and cell.summary}
    told = ", ".join(str(size) for size in sorted(size for size in sizes if size is not None))
    return (
        "Bold: may be the best of its group by simultaneous 95 % rank intervals; underlined: the "
        f"best number (family: the measured rows of a group in one column, here {told})."
    )


def _column_notes(columns: Sequence[Column]) -> list[str]:
    """Explain differences between fits, gains and factors, each once."""
    specs = [column.spec for column in columns if not column.has_words]
    notes = [
        f"{spec.header} = {spec.fit} − {spec.minus_fit}."
        for spec in specs
        if spec.minus_fit is not None
    ]
    if any(spec.statistic == "gain" for spec in specs):
        notes.append("gain = 100 (value − floor) / (ceiling − floor).")
    scaled: dict[float, list[str]] = {}
    for spec in specs:
        if spec.scale != 1 and spec.statistic != "gain":
            scaled.setdefault(spec.scale, []).append(spec.header)
    for scale, headers in scaled.items():
        notes.append(f"Printed × {scale:g}: {', '.join(dict.fromkeys(headers))}.")
    return list(dict.fromkeys(notes))


def _rank_flips(columns: Sequence[Column], groups: Sequence[Group]) -> list[str]:
    """Warn where leaving failed answers out would order the measured rows differently.

    PROTOCOLS 1.4: a model must not rise by refusing what is hard.
    """
    rows = [row for group in groups for row in group.rows if row.role in COMPETING_ROLES]
    flipped: list[Column] = []
    for index, column in enumerate(columns):
        if column.has_words or column.spec.statistic != "value" or column.spec.minus_fit:
            continue
        shown = [row.cells[index].summary for row in rows if row.cells[index].kind == "number"]
        kept = [row for row in shown if row is not None and row.value is not None]
        orders = {
            tuple(row.model for row in sorted(kept, key=attrgetter(name)))
            for name in ("value", "valid_only", "common_valid")
            if all(getattr(row, name) is not None for row in kept)
        }
        if len(orders) > 1:
            flipped.append(column)
    if not flipped:
        return []
    return [
        "Warning: without failed answers (valid only, or common valid) the measured rows rank "
        f"differently in {_named(flipped).rstrip('.')}."
    ]


def _named(columns: Sequence[Column]) -> str:
    """Return columns by their groups, each group named once: "IoU mid, low; Time mid"."""
    told = []
    for group, block in groupby(columns, key=attrgetter("group")):
        headers = ", ".join(column.header for column in block)
        told.append(f"{group} {headers}".strip())
    return "; ".join(told)


def _counted(columns: Sequence[Column], groups: Sequence[Group]) -> list[str]:
    """Say how many samples parts and common numbers hold, and what a failed count costs."""
    parts: dict[str, set[int]] = {}
    common: dict[str, set[int]] = {}
    constants: dict[str, set[float]] = {}
    for row in (row for group in groups for row in group.rows):
        for column, cell in zip(columns, row.cells, strict=True):
            summary = cell.summary
            if summary is None or column.has_words:
                continue
            if summary.stratum is not None:
                parts.setdefault(summary.stratum.replace("_", " "), set()).add(summary.n)
            if column.spec.statistic == "common_valid" and summary.common_n is not None:
                common.setdefault(column.header, set()).add(summary.common_n)
            if summary.failure_constant is not None:
                constants.setdefault(column.group, set()).add(summary.failure_constant)
    notes = [f"{part}: n = {_numbers(found)}." for part, found in sorted(parts.items())]
    notes += [f"{h}: over {_numbers(found)} samples." for h, found in sorted(common.items())]
    notes += [
        f"{group}: a failed answer is scored as the worse of 0 and {_numbers(found)} (median of "
        "held-out counts, else 5)."
        for group, found in sorted(constants.items())
    ]
    return notes


def _numbers(found: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in sorted(found))


def _flags(columns: Sequence[Column], groups: Sequence[Group]) -> list[str]:
    """Name the cells whose uncertainty is not to be trusted, by what is wrong with it.

    Where it is said of every measured number of a column, the column alone is named.
    """
    rows = [row for group in groups for row in group.rows if row.role in COMPETING_ROLES]
    wholes: dict[str, list[Column]] = {}
    cells: dict[str, list[str]] = {}
    for place, column in enumerate(columns):
        if column.has_words:
            continue
        name = f"{column.group} {column.header}".strip()
        flags = {row.label: s.uncertainty_flag for row in rows if (s := row.cells[place].summary)}
        if len(flags) > 1 and len(set(flags.values())) == 1:
            if flag := next(iter(flags.values())):
                wholes.setdefault(flag, []).append(column)
            continue
        for label, flag in flags.items():
            if flag:
                cells.setdefault(flag, []).append(f"{label} ({name})")
    notes = []
    for flag in sorted({*wholes, *cells}):
        told = [_named(wholes[flag])] if flag in wholes else []
        told += [", ".join(dict.fromkeys(cells[flag]))] if flag in cells else []
        notes.append(f"{flag}: {'; '.join(told).rstrip('.')}.")
    return notes


def _smallest_differences(
    spec: TableSpec, columns: Sequence[Column], groups: Sequence[Group]
) -> list[str]:
    """Say what two rows must differ by to be told apart (PROTOCOLS 2.5)."""
    between = spec.options.smallest_difference
    if between == "none":
        return []
    name = "smallest_difference" if between == "models" else f"smallest_difference_{between}"
    told = []
    for place, column in enumerate(columns):
        rows = [row.cells[place].summary for group in groups for row in group.rows]
        known = [getattr(row, name) for row in rows if row is not None and getattr(row, name)]
        if known and not column.has_words:
            size = rounded(max(known), column.spec.decimals, column.spec.scale)
            told.append(f"{column.group} {column.header} {size}".strip())
    if not told:
        return []
    return [
        f"Smallest difference between {between} that these samples tell with a power of 80 %: "
        f"{'; '.join(dict.fromkeys(told))}."
    ]


def _unread(columns: Sequence[Column], groups: Sequence[Group]) -> list[str]:
    """Say of every judged number for how many valid answers no reply could be read (JDG-1)."""
    told: dict[str, None] = {}
    for group in groups:
        for row in group.rows:
            for column, cell in zip(columns, row.cells, strict=True):
                share = _unread_share(cell)
                if share:
                    words = f"{row.label}, {column.group}: {column.header}: {100 * share:.1f} %"
                    told[words.replace(" : ", " ")] = None
    if not told:
        return []
    return [
        f"Valid answers about which no judge's reply could be read, left out of the number: "
        f"{'; '.join(told)}."
    ]


def _unread_share(cell: Cell) -> float:
    row = cell.summary
    if cell.kind != "number" or row is None or row.judged_by is None:
        return 0.0
    if row.coverage is None or row.format_valid is None:
        return 0.0
    return max(0.0, row.format_valid - row.coverage)


def _left_out(cells: Sequence[Cell], benchmarks: Mapping[str, str]) -> list[str]:
    """Say which interval is printed, and how many samples had no usable truth."""
    methods = sorted(
        {
            (cell.summary.interval_method or "unnamed").replace("_", " ")
            for cell in cells
            if cell.interval is not None and cell.summary is not None
        }
    )
    notes = [f"[low, high]: 95 % interval ({', '.join(methods)})."] if methods else []
    missing: dict[str, int] = {}
    for cell in cells:
        if cell.summary is not None and cell.summary.no_ground_truth:
            name = cell.summary.benchmark
            missing[name] = max(missing.get(name, 0), cell.summary.no_ground_truth)
    for name, count in sorted(missing.items()):
        label = benchmarks.get(name, name.replace("_", " "))
        notes.append(f"{label}: {count} without usable truth or source, left out.")
    return notes
