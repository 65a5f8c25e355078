"""The files that galleries are drawn from: what was chosen of each cell, and its pictures.

Only the row groups that hold a chosen sample are read. Files that are not there (left out of an
archive) become tiles that say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from gensight import metrics
from gensight.figures.examples import Choice, ChosenExample, choose, same_samples
from gensight.figures.items import GalleryItem
from gensight.figures.panels import Shown
from gensight.figures.score_words import failure_text, number_text, score_text
from gensight.footers import read_footer
from gensight.licences import LICENCES, may_show
from gensight.plan import paths
from gensight.plan.cells import Cell
from gensight.records import Generation, Prediction, RowFile, Sample, SampleStore, Score
from gensight.specs.figures import ComparisonSpec, GalleryModelSpec, GallerySpec
from gensight.truths import true_count

RowT = TypeVar("RowT", Generation, Prediction)


class GallerySource:
    """One gallery of a figure, its files, and what the plan says of its models."""

    def __init__(
        self, spec: GallerySpec, files: Sequence[str], determinants: Mapping[str, Any]
    ) -> None:
        """Take the files that exist, by their paths below results/, and the figure's plan."""
        self.plan, self.files = determinants, files
        self.samples_path = paths.samples_path(spec.benchmark)
        self.store = SampleStore(RowFile(self.samples_path, Sample))
        self.spec = self._resolved(spec)

    def _resolved(self, spec: GallerySpec) -> GallerySpec:
        """Return the spec with a `chosen_on` that is in the run, or with none.

        A comparison needs one: without its own it is the first of its models that the run has.
        """
        here = [name for name in spec.model_names if self.scores_path(spec, name) in self.files]
        leader = spec.chosen_on if spec.chosen_on in here else None
        if leader is None and isinstance(spec, ComparisonSpec):
            leader = here[0] if here else None
        return spec.model_copy(update={"chosen_on": leader})

    def shown(self) -> tuple[Shown, Choice]:
        """Return what the gallery draws, and the choice for its log."""
        items, gaps, logged = [], [], Choice()
        for entry in self.spec.models:
            if self.scores_path(self.spec, entry.model) not in self.files:
                continue
            choice = self._choice(entry)
            logged.examples.extend(choice.examples)
            logged.gaps.extend(choice.gaps)
            items += [self._item(entry, example) for example in choice.examples]
            gaps += [(self.label(entry), gap.why) for gap in choice.gaps]
        return Shown(items, gaps, self._notes(logged), self._leader(logged)), logged

    def _leader(self, logged: Choice) -> str | None:
        """Return the label of the model that all samples were chosen on, if others follow it."""
        if self.spec.chosen_on is None:
            return None
        leader = self._entry(self.spec.chosen_on)
        shown = {(example.model, example.severity) for example in logged.examples}
        return self.label(leader) if shown - {(leader.model, leader.severity)} else None

    def _entry(self, model: str) -> GalleryModelSpec:
        """Return a model as the spec lists it; one that only chooses need not be listed."""
        listed = [entry for entry in self.spec.models if entry.model == model]
        return listed[0] if listed else GalleryModelSpec(model=model)

    def _choice(self, entry: GalleryModelSpec) -> Choice:
        if self.spec.chosen_on is None:
            return self.chosen(entry)
        if entry == self._entry(self.spec.chosen_on):
            return self._led
        return same_samples(self._fitted(entry), entry, self._scores(entry.model), self._led)

    @cached_property
    def _led(self) -> Choice:
        """Return what is chosen on the model that the others follow."""
        return self.chosen(self._entry(self.spec.chosen_on))

    def chosen(self, entry: GalleryModelSpec) -> Choice:
        """Return what the rules choose among a model's own answers."""
        higher = metrics.load(self.spec.metric).HIGHER_IS_BETTER
        hidden = () if self.spec.show_restricted else self.restricted
        scores = self._scores(entry.model)
        return choose(self._fitted(entry), entry, scores, higher, hidden)

    def _fitted(self, entry: GalleryModelSpec) -> GallerySpec:
        """Return the spec with the fit that is stored: `native` goes by the model."""
        fit = self.plan["native"][entry.model] if self.spec.fit == "native" else self.spec.fit
        return self.spec.model_copy(update={"fit": fit})

    @cached_property
    def restricted(self) -> dict[str, str]:
        """Return the licences of the samples that may not be shown, by sample.

        A synthetic twin is made here: it may be shown whatever the data set's licence.
        """
        file = self.store.samples
        if file.footer.determinants.get("parameters", {}).get("twin"):
            return {}
        tags = zip(file.column("sample_id"), file.column("licence"), strict=True)
        return {sample_id: tag for sample_id, tag in tags if not may_show(tag)}

    def _notes(self, logged: Choice) -> list[str]:
        """Return what is to be said of samples that may not be shown, if there are any."""
        passed_over = max((e.restricted for e in (*logged.examples, *logged.gaps)), default=0)
        if passed_over:
            names = licence_names(self.restricted.values())
            return [f"Passed over, since their licence forbids showing ({names}): {passed_over}."]
        drawn = {e.sample_id for e in logged.examples} & self.restricted.keys()
        if drawn:
            names = licence_names(self.restricted[sample_id] for sample_id in drawn)
            return [f"For your own eyes only, not to be shared: {names}."]
        return []

    def _cell(self, model: str) -> Cell:
        return Cell(model, self.spec.benchmark, self.spec.prompt)

    def scores_path(self, spec: GallerySpec, model: str) -> str:
        """Return where the scores of one of the gallery's cells lie."""
        return paths.score_path(Cell(model, spec.benchmark, spec.prompt), spec.scorer)

    def _scores(self, model: str) -> Iterator[Score]:
        """Yield a cell's scores; an unmarked copy where nothing was to be marked is right."""
        for row in RowFile(self.scores_path(self.spec, model), Score):
            unmarked = row.failure_blind == "unmarked_copy"
            if unmarked and true_count(self.store[row.sample_id]) == 0:
                yield replace(row, failure_blind="ok")
            else:
                yield row

    def label(self, entry: GalleryModelSpec) -> str:
        """Return a model's label, with the severity that is shown of a disturbed one."""
        shown = self.plan["models"][entry.model]
        label = shown["display"]["label"]
        if entry.severity is None:
            return label
        return f"{label} {entry.severity:g} {shown['severity_unit']}".rstrip()

    def _item(self, entry: GalleryModelSpec, example: ChosenExample) -> GalleryItem:
        sample = self.store[example.sample_id]
        footer = read_footer(self.scores_path(self.spec, entry.model))
        return GalleryItem(
            model_label=self.label(entry),
            sample_id=example.sample_id,
            input_png=sample.image["bytes"],
            output=self._output(example),
            extracted=self._prediction(example),
            truth=sample,
            score=score_text(self.spec, example),
            number=number_text(self.spec, example),
            failure=failure_text(example),
            rule=example.rule,
            fit=example.fit,
            settings=footer.determinants["settings"],
            orient_source=self.plan["exif"][self.spec.benchmark] == "apply",
        )

    def _output(self, example: ChosenExample) -> bytes | None:
        folder = f"results/generations/{self._cell(example.model).folder}/"
        for path in self.files:
            if path.startswith(folder):
                for row in _rows_about(example, path, Generation, "sample_ids"):
                    if row.final:
                        return row.image["bytes"] if row.image else None
        return None

    def prediction_path(self, model: str) -> str:
        """Return where the readings of one of the gallery's cells lie."""
        reading = self.plan["readings"][self.spec.benchmark][self.spec.scorer]
        return paths.prediction_path(self._cell(model), reading)

    def _prediction(self, example: ChosenExample) -> Prediction | None:
        path = self.prediction_path(example.model)
        if path not in self.files:
            return None
        rows = _rows_about(example, path, Prediction, "sample_id")
        return next((row for row in rows if row.variant == example.variant), None)


def licence_names(tags: Iterable[str | None]) -> str:
    """Return the names of licences, each once, in one line."""
    found = sorted({LICENCES[tag].name if tag in LICENCES else str(tag) for tag in tags})
    return "; ".join(found)


def _rows_about(
    example: ChosenExample, path: str, row_type: type[RowT], column: str
) -> Iterator[RowT]:
    """Yield the rows of a file about an example's sample, repeat and severity.

    `column` holds a sample's id, or a list of ids; only groups with the sample are read.
    """
    file, first = RowFile(path, row_type), 0
    about = [_names_sample(value, example.sample_id) for value in file.column(column)]
    for group in range(file.file.num_row_groups):
        last = first + file.file.metadata.row_group(group).num_rows
        rows = file.group(group) if any(about[first:last]) else []
        for row, wanted in zip(rows, about[first:last], strict=False):
            if wanted and (row.repeat, row.severity) == (example.repeat, example.severity):
                yield row
        first = last


def _names_sample(value: Any, sample_id: str) -> bool:
    return sample_id in value if isinstance(value, list) else value == sample_id
