"""Tables: a run's summaries set into .tex, .csv and .md, and one document of all tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gensight import published
from gensight.atomic import write_text
from gensight.digests import digest_of
from gensight.footers import mark, read_footer
from gensight.records import RowFile, Summary
from gensight.specs.tables import ListingSpec, TableSpec
from gensight.tables import (
    ModelInfo,
    RunFacts,
    Table,
    all_document,
    build_listing,
    build_table,
    read_entries,
    render_csv,
    render_markdown,
    render_tex,
)
from gensight.tables.citations import Citations
from gensight.tables.listing import PRINTED


def tabulate(summaries: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write one table beside `output` (a .tex path) in all three formats."""
    plan = determinants
    rows = [
        row
        for path, digest in zip(summaries, plan["summaries"].values(), strict=True)
        for row in RowFile(path, Summary, digest)
    ]
    spec = TableSpec.model_validate(plan["spec"])
    how = None if plan["published"] is None else plan["published"]["how"]
    if how == "only":
        spec = _as_printed(spec)
    elif how is None and spec.listing is not None:
        spec = spec.model_copy(update={"listing": _without_print(spec.listing)})
    facts = RunFacts(
        name=plan["run"], mark=_mark(summaries, plan), protocol=tuple(plan["protocol"])
    )
    if spec.listing is not None:
        table = build_listing(spec, read_entries(spec, Path.cwd(), plan.get("sent")), facts)
    else:
        table = _built(spec, rows, facts, plan)
    tex = Path(output)
    # The .tex carries the mark by which the three are known, so it is written last.
    write_text(tex.with_suffix(".csv"), render_csv(table))
    write_text(tex.with_suffix(".md"), render_markdown(table))
    write_text(tex, render_tex(table))


def _built(
    spec: TableSpec, rows: Sequence[Summary], facts: RunFacts, plan: Mapping[str, Any]
) -> Table:
    labels = {name: entry["label"] for name, entry in plan["benchmarks"].items()}
    models = {name: _info(entry, plan, labels) for name, entry in plan["models"].items()}
    citations = _citations(spec, plan)
    return build_table(spec, rows, models, labels, facts, plan["subjects"], citations)


def collect_tables(tables: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write the document that holds every table of the run."""
    texts = [(Path(path).stem, Path(path).read_text(encoding="utf-8")) for path in tables]
    run_digest = digest_of(determinants)
    document = all_document(
        texts, determinants["run"], run_digest[:12], _mark(tables, determinants)
    )
    write_text(Path(output), document)


def _mark(inputs: Sequence[str], determinants: Mapping[str, Any]) -> str:
    contents = {path: read_footer(path).content for path in inputs}
    return mark(digest_of(determinants), contents)


def _as_printed(spec: TableSpec) -> TableSpec:
    """Return a table with words about printed numbers: what we say of ours is not true of them."""
    cited = spec.published
    if cited is None:
        return spec
    paper = {"probegen": "ProbeGen", "genius": "GENIUS", "pixelbench": "PixelBench"}[cited.paper]
    caption = f"As {paper} prints it in its Table {cited.table}; nothing here was measured."
    listing = spec.listing
    if listing is not None and listing.sent:
        listing = _without_print(listing, "longer")
    return spec.model_copy(update={"caption": caption, "notes": [], "listing": listing})


def _without_print(listing: ListingSpec, *others: str) -> ListingSpec:
    """Return a listing without the fields that hold what a paper prints, and without `others`."""
    columns = [
        column
        for column in listing.columns
        if not column.field.startswith(PRINTED) and column.field not in others
    ]
    return listing.model_copy(update={"columns": columns})


def _citations(spec: TableSpec, plan: Mapping[str, Any]) -> Citations | None:
    """Return the numbers that the paper prints in this table, where the run shows them."""
    cited = spec.published
    if plan["published"] is None or cited is None:
        return None
    return Citations(cited.paper, cited.table, published.load(cited.paper, cited.table, Path.cwd()))


def _info(
    entry: Mapping[str, Any], plan: Mapping[str, Any], labels: Mapping[str, str]
) -> ModelInfo:
    display = dict(entry["display"])
    exposed = _exposures(entry["exposure"], plan["tasks"], labels)
    notes = [note for note in (display.pop("note", None), *exposed) if note]
    return ModelInfo(
        **display,
        note="; ".join(note.rstrip(". ") for note in notes) or None,
        role=entry["role"],
        failed_above=entry["failed_above"],
        severity_unit=entry.get("severity_unit", ""),
        hosted=entry["hosted"],
        proven=entry["proven"],
        answered_as=tuple(entry["answered_as"]),
        cited_as=entry["published"],
    )


def _exposures(
    exposure: Mapping[str, str], tasks: Mapping[str, str], labels: Mapping[str, str]
) -> list[str]:
    """Say what of this table a model is known to have been trained on (ProbeGen section 3)."""
    told: dict[str, list[str]] = {}
    for name, words in exposure.items():
        here = [benchmark for benchmark, task in tasks.items() if name in (benchmark, task)]
        if here:
            told.setdefault(words, []).extend(labels[benchmark] for benchmark in here)
    return [f"exposed to {', '.join(names)}: {words}" for words, names in told.items()]
