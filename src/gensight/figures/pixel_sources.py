"""The files that panels of grids are drawn from: samples, and the readings of whole cells.

Which samples are shown is said by rank, by label or by a rule, never by a list of ids, and is
logged. Samples whose licence forbids showing are passed over, with the answers to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gensight import images
from gensight.figures.pictures import shrunk
from gensight.figures.pixel_panels import (
    GridPanel,
    GridTile,
    ShownModel,
    ShownSample,
    grid_tile,
)
from gensight.figures.rules import rule_text
from gensight.figures.sources import GallerySource, licence_names
from gensight.records import Prediction, RowFile, Sample
from gensight.specs.figures import GalleryModelSpec
from gensight.specs.pixel_figures import PixelPanelSpec

NOT_KEPT = "reading not in this archive"


@dataclass
class _Choice:
    """The samples that a panel shows, and how they were chosen."""

    sample_ids: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)

    def add(self, sample_id: str, why: str) -> None:
        """Take a sample, if it is not taken yet."""
        if sample_id not in self.why:
            self.sample_ids.append(sample_id)
            self.why[sample_id] = why


class PixelSource:
    """One panel of grids, its files, and what the plan says of its models."""

    def __init__(
        self, spec: PixelPanelSpec, files: Sequence[str], determinants: Mapping[str, Any]
    ) -> None:
        """Take the files that exist, by their paths below results/, and the figure's plan."""
        self.spec, self.files = spec, files
        self.cells = {
            size: GallerySource(spec.cells(size), files, determinants) for size in spec.sizes
        }
        self.first = self.cells[spec.sizes[0]]
        self.orient = determinants["exif"][spec.benchmark] == "apply"

    def shown(self) -> tuple[GridPanel, str]:
        """Return what the panel draws, and as JSON objects, one a line, what its log says."""
        choice = self._choice()
        entries = [(entry, self._shown_model(entry)) for entry in self.spec.models]
        here = [(entry, size) for entry, _ in entries for size in self.spec.sizes]
        here = [pair for pair in here if self._planned(*pair)]
        models = [shown for entry, shown in entries if any(one == entry for one, _ in here)]
        panel = GridPanel(
            spec=self.spec,
            samples=[self._shown_sample(sample_id) for sample_id in choice.sample_ids],
            models=models,
            sizes=[size for size in self.spec.sizes if any(size == one for _, one in here)],
            tiles=self._tiles(here, choice.sample_ids),
            notes=self._notes(choice),
            gaps=choice.gaps,
        )
        return panel, self._log(panel, choice)

    def _shown_model(self, entry: GalleryModelSpec) -> ShownModel:
        known = entry.model in self.first.plan["models"]
        label = self.first.label(entry).replace(" °", "°") if known else entry.model
        return ShownModel(entry.model, entry.severity, label)

    def _planned(self, entry: GalleryModelSpec, size: int) -> bool:
        """Say whether the run has a cell: its scores or its readings are there."""
        cells = self.cells[size]
        there = (cells.scores_path(cells.spec, entry.model), cells.prediction_path(entry.model))
        return any(path in self.files for path in there)

    def _tiles(
        self, here: Iterable[tuple[GalleryModelSpec, int]], sample_ids: Sequence[str]
    ) -> dict[tuple[ShownModel, int, str], GridTile]:
        found = {}
        for entry, size in here:
            model, path = self._shown_model(entry), self.cells[size].prediction_path(entry.model)
            if path not in self.files:
                found |= {(model, size, s): GridTile(words=NOT_KEPT) for s in sample_ids}
                continue
            for row in RowFile(path, Prediction):
                wanted = (row.variant, row.repeat, row.severity) == (
                    self.spec.variant,
                    0,
                    entry.severity,
                )
                if wanted and row.sample_id in sample_ids:
                    found[(model, size, row.sample_id)] = grid_tile(row)
        return found

    @cached_property
    def _ranked(self) -> list[tuple[str, str | None]]:
        """Return the evaluated samples by rank: id and label."""
        file = self.first.store.samples
        columns = [file.column(name) for name in ("rank", "sample_id", "target_text", "role")]
        rows = sorted(zip(*columns, strict=True), key=lambda row: row[0])
        return [(sample_id, label) for _, sample_id, label, role in rows if role == "evaluated"]

    @cached_property
    def _hidden(self) -> dict[str, str]:
        return {} if self.spec.show_restricted else self.first.restricted

    def _choice(self) -> _Choice:
        samples = self.spec.samples
        if samples.labels is not None:
            return self._by_label(samples.labels)
        return self._by_rank() if samples.first is not None else self._by_rule()

    def _by_rank(self) -> _Choice:
        found, samples = _Choice(), self.spec.samples
        wanted = samples.skip + (samples.first or 0)
        for n, (sample_id, _) in enumerate(self._may_be_shown(found)):
            if n >= samples.skip:
                found.add(sample_id, f"rank order, after {samples.skip}")
            if n + 1 == wanted:
                break
        if not found.sample_ids:
            told = f"none of {len(self._ranked)} samples may be shown"
            found.gaps.append(told if found.passed_over else "there are not so many samples")
        return found

    def _may_be_shown(self, found: _Choice) -> Iterable[tuple[str, str | None]]:
        for sample_id, label in self._ranked:
            if sample_id in self._hidden:
                found.passed_over.append(sample_id)
            else:
                yield sample_id, label

    def _by_label(self, labels: Sequence[str]) -> _Choice:
        found = _Choice()
        for label in labels:
            ids = [sample_id for sample_id, known in self._ranked if known == label]
            free = [sample_id for sample_id in ids if sample_id not in self._hidden]
            if free:
                found.add(free[0], "label")
            elif ids:
                found.passed_over.append(ids[0])
            else:
                found.gaps.append(f"{label}: not among the samples of this run")
        return found

    def _by_rule(self) -> _Choice:
        """Choose among the answers of one model at one size."""
        found, samples = _Choice(), self.spec.samples
        source = self.cells[samples.chosen_at or self.spec.sizes[0]]
        leader = self._leader(source)
        if leader is None:
            found.gaps.append("no model of this panel is in the run")
            return found
        choice = source.chosen(leader)
        for example in choice.examples:
            told = f"{example.rule}: {example.rule_text}, chosen on {source.label(leader)}"
            found.add(example.sample_id, f"{told} at {source.spec.prompt}")
        found.gaps += [gap.why for gap in choice.gaps]
        if any(one.restricted for one in (*choice.examples, *choice.gaps)):
            found.passed_over += [s for s, _ in self._ranked if s in self._hidden]
        return found

    def _leader(self, source: GallerySource) -> GalleryModelSpec | None:
        entries = list(self.spec.models)
        if self.spec.samples.chosen_on is not None:
            named = GalleryModelSpec(model=self.spec.samples.chosen_on)
            entries = [e for e in entries if e.model == named.model] + [named, *entries]
        there = (e for e in entries if source.scores_path(source.spec, e.model) in self.files)
        return next(there, None)

    def _shown_sample(self, sample_id: str) -> ShownSample:
        sample: Sample = self.first.store[sample_id]
        label = sample.target_text or " ".join((sample.query or sample_id).split())
        for name, stored in (("source", sample.image), ("drawing", sample.target_image)):
            if stored is not None:
                orient = self.orient and name == "source"
                rgb = images.decode_rgb(stored["bytes"], matte=(255, 255, 255), orient=orient)
                return ShownSample(sample_id, label, shrunk(rgb), name)
        return ShownSample(sample_id, label)

    def _notes(self, choice: _Choice) -> list[str]:
        notes = []
        for rule in self.spec.samples.rules or ():
            told = rule_text(rule, self.spec.metric)
            notes += [f"Samples: {told}."] if f"Samples: {told}." not in notes else []
        if choice.passed_over:
            names = licence_names(self.first.restricted[s] for s in choice.passed_over)
            n = len(choice.passed_over)
            notes.append(f"Passed over, since their licence forbids showing ({names}): {n}.")
        drawn = [s for s in choice.sample_ids if s in self.first.restricted]
        if drawn:
            names = licence_names(self.first.restricted[s] for s in drawn)
            notes.append(f"For your own eyes only, not to be shared: {names}.")
        return notes

    def _log(self, panel: GridPanel, choice: _Choice) -> str:
        rows = [
            {
                "panel": self.spec.title,
                "benchmark": self.spec.benchmark,
                "sample_id": sample.sample_id,
                "label": sample.label,
                "chosen": choice.why[sample.sample_id],
                "passed_over": len(choice.passed_over),
                "answers": [
                    {"model": m.model, "severity": m.severity, "size": size}
                    | _told(panel.tile(m, size, sample))
                    for m in panel.models
                    for size in panel.sizes
                ],
            }
            for sample in panel.samples
        ]
        return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _told(tile: GridTile) -> dict[str, Any]:
    return {"shown": tile.picture is not None, "why_not": tile.words or None}
