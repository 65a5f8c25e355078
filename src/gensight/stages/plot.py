"""Figures: curves from summaries, and galleries and grids from the cells they show."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gensight import figures
from gensight.atomic import write_bytes, write_text
from gensight.digests import digest_of
from gensight.footers import mark, read_footer
from gensight.records import RowFile, Summary
from gensight.specs.correlation_figure import CorrelationFigureSpec
from gensight.specs.figures import (
    DisturbanceCurvesSpec,
    FigureSpec,
    PanelsSpec,
    parse_figure,
)
from gensight.specs.pixel_figures import PixelGridsSpec, SizeCurvesSpec


def plot(sources: Sequence[str], output: str, determinants: Mapping[str, Any]) -> None:
    """Write a figure as .png and .pdf, and beside them, as .json, what it shows and why.

    Sources of a gallery that are not there (left out of an archive) become tiles that say so.
    """
    spec = parse_figure(f"config/figures/{determinants['figure']}.yaml", determinants["spec"])
    there = [path for path in sources if Path(path).exists()]
    figure, shown = _drawn(spec, there, determinants)
    footer = mark(digest_of(determinants), {path: read_footer(path).content for path in there})
    png = Path(output)
    write_text(png.with_suffix(".json"), shown)
    write_bytes(png.with_suffix(".pdf"), figures.figure_pdf(figure, footer))
    write_bytes(png, figures.figure_png(figure, footer))


def _drawn(
    spec: FigureSpec,
    sources: Sequence[str],
    determinants: Mapping[str, Any],
) -> tuple[Figure, str]:
    """Return a figure, and the text of its log."""
    if isinstance(spec, DisturbanceCurvesSpec):
        return _curves(spec, sources)
    if isinstance(spec, SizeCurvesSpec):
        return _size_curves(spec, sources, determinants)
    if isinstance(spec, CorrelationFigureSpec):
        return _correlations(spec, sources, determinants)
    if isinstance(spec, PixelGridsSpec):
        return _pixel_grids(spec, sources, determinants)
    found = [
        figures.GallerySource(gallery, sources, determinants).shown() for gallery in spec.galleries
    ]
    shown, choices = zip(*found, strict=True)
    if isinstance(spec, PanelsSpec):
        titles = [panel.title for panel in spec.panels]
        log = figures.examples_json(list(zip(titles, choices, strict=True)))
        return figures.draw_panels(spec, shown), log
    return figures.draw_gallery(spec, shown[0]), figures.examples_json([(None, choices[0])])


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


def _size_curves(
    spec: SizeCurvesSpec, sources: Sequence[str], determinants: Mapping[str, Any]
) -> tuple[Figure, str]:
    rows = [row for path in sources for row in RowFile(path, Summary)]
    labels = {
        name: determinants["models"][name]["display"]["label"]
        for name in spec.models
        if name in determinants["models"]
    }
    lines = figures.size_lines(spec, labels, rows)
    points = [
        {"metric": panel.label, "model": line.model, **asdict(point)}
        for panel, found in zip(spec.panels, lines, strict=True)
        for line in found
        for point in line.points
    ]
    shown = json.dumps(points, indent=1, ensure_ascii=False) + "\n"
    return figures.draw_size_curves(spec, lines), shown


def _correlations(
    spec: CorrelationFigureSpec, sources: Sequence[str], determinants: Mapping[str, Any]
) -> tuple[Figure, str]:
    files = [RowFile(path, Summary) for path in sources]
    # Which models a correlation is over, its own file says.
    told = files[0].footer.determinants["spec"]["correlations"]
    over = {one["name"]: one["models"] for one in told}
    rows = [row for file in files for row in file]
    panels = []
    for panel in spec.panels:
        models = over[panel.correlation]
        labels = {
            name: model["display"]["label"]
            for name, model in determinants["models"].items()
            if (model["role"] == "measured" if models == "measured" else name in models)
        }
        panels.append(figures.correlation_panel(panel, spec.aggregate, labels, rows))
    shown = [
        {"title": panel.title, **asdict(found)}
        for panel, found in zip(spec.panels, panels, strict=True)
    ]
    log = json.dumps(shown, indent=1, ensure_ascii=False) + "\n"
    return figures.draw_correlations(spec, panels), log


def _pixel_grids(
    spec: PixelGridsSpec, sources: Sequence[str], determinants: Mapping[str, Any]
) -> tuple[Figure, str]:
    found = [figures.PixelSource(panel, sources, determinants).shown() for panel in spec.panels]
    panels, logs = zip(*found, strict=True)
    shown = "[\n" + ",\n".join(log for log in logs if log) + "\n]\n"
    return figures.draw_pixel_grids(spec, panels), shown
