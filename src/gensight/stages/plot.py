"""Figures: disturbance curves from summaries, and galleries from the cells they show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gensight import figures, metrics
from gensight.atomic import write_bytes, write_text
from gensight.digests import digest_of
from gensight.footers import mark, read_footer
from gensight.records import (
    Generation,
    Prediction,
    RowFile,
    Sample,
    SampleStore,
    Score,
    Summary,
)
from gensight.specs.figures import (
    DisturbanceCurvesSpec,
    GalleryModelSpec,
    GallerySpec,
    parse_figure,
)


def plot(sources: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write a figure as .png and .pdf, and beside them, as .json, what it shows and why.

    Sources of a gallery that are not there (left out of an archive) become tiles that say so.
    """
    spec = parse_figure(f"config/figures/{determinants['figure']}.yaml", determinants["spec"])
    there = [path for path in sources if Path(path).exists()]
    if isinstance(spec, GallerySpec):
        figure, shown = _gallery(spec, there, determinants)
    else:
        figure, shown = _curves(spec, there)
    footer = mark(digest_of(determinants), {path: read_footer(path).content for path in there})
    png = Path(output)
    write_text(png.with_suffix(".json"), shown)
    write_bytes(png.with_suffix(".pdf"), figures.figure_pdf(figure, footer))
    write_bytes(png, figures.figure_png(figure, footer))


def _curves(spec: DisturbanceCurvesSpec, sources: Sequence[str]) -> tuple[Figure, str]:
    rows = [row for path in sources for row in RowFile(path, Summary)]
    points = [
        {"metric": panel.label, "disturbance": disturbance.label, **asdict(drawn)}
        for panel in spec.panels
        for disturbance in spec.disturbances
        for drawn in [
            figures.curve_panel(
                panel, disturbance, spec.undisturbed, figures.panel_rows(panel, rows)
            )
        ]
    ]
    shown = json.dumps(points, indent=1, ensure_ascii=False) + "\n"
    return figures.draw_disturbance_curves(spec, rows), shown


def _gallery(
    spec: GallerySpec, sources: Sequence[str], determinants: Mapping[str, Any]
) -> tuple[Figure, str]:
    cells = _Cells(sources)
    store = SampleStore(RowFile(cells.samples, Sample))
    chosen = [
        (entry, example)
        for entry in spec.models
        if entry.model in cells.scores
        for example in _examples(spec, entry, cells)
    ]
    items = [_item(spec, entry, example, cells, store, determinants) for entry, example in chosen]
    return figures.draw_gallery(spec, items), figures.examples_json([e for _, e in chosen])


def _examples(
    spec: GallerySpec, entry: GalleryModelSpec, cells: _Cells
) -> list[figures.ChosenExample]:
    higher = metrics.load(spec.metric).HIGHER_IS_BETTER
    scores = list(RowFile(cells.scores[entry.model], Score))
    leader = spec.chosen_on
    if leader is None or leader == entry.model or leader not in cells.scores:
        return figures.chosen_examples(spec, entry, scores, higher)
    shown = next((m for m in spec.models if m.model == leader), GalleryModelSpec(model=leader))
    led = figures.chosen_examples(spec, shown, RowFile(cells.scores[leader], Score), higher)
    return figures.same_examples(spec, entry, scores, led)


class _Cells:
    """The files of a gallery by stage and model."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.samples = next(path for path in sources if path.split("/")[1] == "samples")
        self.scores = self._by_model(sources, "scores")
        self.predictions = self._by_model(sources, "predictions")
        self.generations: dict[str, list[str]] = {}
        for path in sources:
            stage, model = path.split("/")[1:3]
            if stage == "generations":
                self.generations.setdefault(model, []).append(path)

    @staticmethod
    def _by_model(sources: Sequence[str], stage: str) -> dict[str, str]:
        return {p.split("/")[2]: p for p in sources if p.split("/")[1] == stage}


def _item(
    spec: GallerySpec,
    entry: GalleryModelSpec,
    example: figures.ChosenExample,
    cells: _Cells,
    store: SampleStore,
    determinants: Mapping[str, Any],
) -> figures.GalleryItem:
    sample = store[example.sample_id]
    display = determinants["models"][entry.model]
    severity = "" if entry.severity is None else f" {entry.severity:g} {display['severity_unit']}"
    return figures.GalleryItem(
        model_label=display["display"]["label"] + severity.rstrip(),
        sample_id=example.sample_id,
        input_png=sample.image["bytes"],
        output=_output(example, cells.generations.get(entry.model, [])),
        extracted=_prediction(example, cells.predictions.get(entry.model)),
        truth=sample,
        score=figures.score_text(spec, example),
        rule=example.rule,
        rule_text=example.rule_text,
        settings=read_footer(cells.scores[entry.model]).determinants["settings"],
        orient_source=determinants["exif"][spec.benchmark] == "apply",
    )


def _output(example: figures.ChosenExample, shards: Sequence[str]) -> bytes | None:
    for path in shards:
        for row in RowFile(path, Generation):
            if row.final and example.sample_id in row.sample_ids and _is_shown(row, example):
                return row.image["bytes"] if row.image else None
    return None


def _prediction(example: figures.ChosenExample, path: str | None) -> Prediction | None:
    for row in RowFile(path, Prediction) if path else ():
        same = row.sample_id == example.sample_id and row.variant == example.variant
        if same and _is_shown(row, example):
            return row
    return None


def _is_shown(row: Any, example: figures.ChosenExample) -> bool:
    return (row.repeat, row.severity) == (example.repeat, example.severity)
