"""Every file of a run with its determinants and inputs, upstream first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gensight.digests import digest_of
from gensight.plan import paths
from gensight.plan.cells import Cell
from gensight.plan.protocol import told_spending
from gensight.plan.reports import ReportDeterminants
from gensight.plan.stopping import with_stops
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.figures import GallerySpec
from gensight.specs.project import Project
from gensight.specs.words import nearest


@dataclass(frozen=True)
class PlannedFile:
    """A file of the run: its stage, what determines it, and the files it is made from.

    `siblings` are written by the same job (a table's .csv beside its .tex). `spared` maps inputs
    that a gallery can do without to the scores made from them: where those are current, a missing
    picture is not generated again just to be shown.
    """

    path: str
    stage: str
    determinants: dict[str, Any]
    inputs: tuple[str, ...]
    siblings: tuple[str, ...] = ()
    spared: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return the digest that the file's own metadata must carry."""
        return digest_of(self.determinants)


class Plan(ReportDeterminants):
    """The files of a run, each benchmark as far as its spending has come."""

    def __init__(self, project: Project) -> None:
        super().__init__(with_stops(project))

    def generation_paths(self, cell: Cell) -> list[str]:
        """Return the paths of a cell's shards."""
        return [paths.generation_path(cell, shard) for shard in self.shards(cell)]

    def figure_inputs(self, figure: str) -> tuple[str, ...]:
        """Return what a figure is drawn from: summaries, or the cells of its galleries."""
        spec = self.project.figures[figure]
        if not spec.galleries:
            return tuple(self.source_file(name) for name in spec.benchmarks)
        inputs = []
        for gallery in spec.galleries:
            scorer = self.project.benchmarks[gallery.benchmark].scorers[gallery.scorer]
            inputs.append(paths.samples_path(gallery.benchmark))
            for cell in self.gallery_cells(gallery):
                if gallery.shows_output:
                    inputs += self.generation_paths(cell)
                inputs.append(paths.prediction_path(cell, scorer.file))
                inputs.append(paths.score_path(cell, gallery.scorer))
        return tuple(dict.fromkeys(inputs))

    def _spared(self, figure: str) -> dict[str, str]:
        """Return the pictures of a figure's galleries by path, with the scores that vouch."""
        spared = {}
        for gallery in self.project.figures[figure].galleries:
            reading = self.project.benchmarks[gallery.benchmark].scorers[gallery.scorer].file
            for cell in self.gallery_cells(gallery):
                shown = self.generation_paths(cell) if gallery.shows_output else []
                for path in (*shown, paths.prediction_path(cell, reading)):
                    spared[path] = paths.score_path(cell, gallery.scorer)
        return spared

    def gallery_cells(self, gallery: GallerySpec) -> list[Cell]:
        """Return the cells of a gallery that the run has and its scorer reads, in its order."""
        cells = {
            cell.model: cell
            for cell in self.cells(gallery.benchmark)
            if cell.prompt == gallery.prompt and gallery.scorer in self.scorers(cell)
        }
        return [cells[model] for model in gallery.model_names if model in cells]

    def files(self) -> dict[str, PlannedFile]:
        """Return every file of the run by path, upstream first."""
        return {planned.path: planned for planned in self._files()}

    def _files(self) -> Iterator[PlannedFile]:
        cells = self.cells()
        for name in self.run.benchmarks:
            yield PlannedFile(paths.samples_path(name), "samples", self.samples(name), ())
        # What asks about other models' grids comes behind the readings of those.
        sources = {cell: self.source(cell.benchmark, cell.prompt) for cell in cells}
        for about_grids in (False, True):
            some = [cell for cell in cells if (sources[cell] is not None) == about_grids]
            yield from self._asked_files(some, about_grids)
        for name in self.run.benchmarks:
            encoders = dict.fromkeys(e for cell in self.cells(name) for e in self.encoders(cell))
            for encoder in encoders:
                yield PlannedFile(
                    paths.gallery_path(name, encoder),
                    "galleries",
                    self.gallery(name, encoder),
                    (paths.samples_path(name),),
                )
        # What compares a cell's grids with those of other sizes comes behind the vectors of all.
        for cell in cells:
            yield from self._feature_files(cell)
        for cell in cells:
            yield from self._scored_files(cell)
        for name in self.run.benchmarks:
            determinants = self.summary(name)
            yield PlannedFile(
                paths.summary_path(name), "summaries", determinants, tuple(determinants["scores"])
            )
        yield from self._report_files()

    def _asked_files(self, cells: Sequence[Cell], about_grids: bool) -> Iterator[PlannedFile]:
        """Yield requests, generations and predictions, those about grids or the others."""
        for name in self.run.benchmarks:
            for prompt in self.prompts(name):
                source = self.source(name, prompt)
                if (source is not None) == about_grids:
                    inputs = [paths.samples_path(name)]
                    if source is not None:
                        reading = self.project.benchmarks[name].source.reading
                        inputs.append(paths.prediction_path(source, reading))
                    yield PlannedFile(
                        paths.requests_path(name, prompt),
                        "requests",
                        self.requests(name, prompt),
                        tuple(inputs),
                    )
        for cell in cells:
            yield from self._generation_files(cell)
        for cell in cells:
            yield from self._prediction_files(cell)

    def _generation_files(self, cell: Cell) -> Iterator[PlannedFile]:
        inputs = (
            paths.samples_path(cell.benchmark),
            paths.requests_path(cell.benchmark, cell.prompt),
        )
        for shard, path in zip(self.shards(cell), self.generation_paths(cell), strict=True):
            yield PlannedFile(path, "generations", self.generation(cell, shard), inputs)

    def _prediction_files(self, cell: Cell) -> Iterator[PlannedFile]:
        samples = paths.samples_path(cell.benchmark)
        for reading in sorted({scorer.file for scorer in self.scorers(cell).values()}):
            yield PlannedFile(
                paths.prediction_path(cell, reading),
                "predictions",
                self.prediction(cell, reading),
                (samples, *self.generation_paths(cell)),
            )

    def _feature_files(self, cell: Cell) -> Iterator[PlannedFile]:
        for encoder, scorer in self.encoders(cell).items():
            yield PlannedFile(
                paths.features_path(cell, encoder),
                "features",
                self.features(cell, encoder),
                (paths.prediction_path(cell, scorer.file),),
            )

    def _scored_files(self, cell: Cell) -> Iterator[PlannedFile]:
        samples, scorers = paths.samples_path(cell.benchmark), self.scorers(cell)
        for judge, scorer in self.judges(cell).items():
            yield PlannedFile(
                paths.judgement_path(cell, judge),
                "judgements",
                self.judgements(cell, judge),
                (samples, paths.prediction_path(cell, scorer.file)),
            )
        for name, scorer in scorers.items():
            readings = (paths.prediction_path(cell, r) for r in self.readings(cell, scorer))
            yield PlannedFile(
                paths.score_path(cell, name),
                "scores",
                self.score(cell, name),
                (samples, *readings, *self._company(cell, scorer)),
            )

    def _company(self, cell: Cell, scorer: ScorerSpec) -> Iterator[str]:
        """Yield what a measure is given beside the readings."""
        if scorer.encoder is not None:
            yield paths.features_path(cell, scorer.encoder)
            yield paths.gallery_path(cell.benchmark, scorer.encoder)
            for other in self.siblings(cell, scorer):
                yield paths.features_path(other, scorer.encoder)
        if scorer.judge is not None:
            yield paths.judgement_path(cell, scorer.judge)

    def readings(self, cell: Cell, scorer: ScorerSpec) -> list[str]:
        """Return the readings that scores are made from: the scorer's own, and the classes."""
        classifier = self.classifier(cell)
        return list(dict.fromkeys(s.file for s in (scorer, classifier) if s is not None))

    def source_file(self, name: str) -> str:
        """Return the file of a report's benchmark, sweep or aggregate."""
        if name in self.project.sweeps:
            return paths.sweep_path(name)
        if name in self.project.aggregates:
            return paths.aggregate_path(name)
        return paths.summary_path(name)

    def _report_files(self) -> Iterator[PlannedFile]:
        for sweep in self.sweeps():
            determinants = self.sweep(sweep)
            yield PlannedFile(
                paths.sweep_path(sweep),
                "sweeps",
                determinants,
                tuple(determinants["scores"]),
                (paths.folds_path(sweep),),
            )
        for aggregate in self.aggregates():
            determinants = self.aggregate(aggregate)
            yield PlannedFile(
                paths.aggregate_path(aggregate),
                "aggregates",
                determinants,
                (*determinants["scores"], *map(paths.aggregate_path, determinants["aggregates"])),
            )
        for table in self.run.tables:
            inputs = tuple(self.source_file(name) for name in self.tables_needs(table))
            stem = f"results/tables/{table}"
            yield PlannedFile(
                f"{stem}.tex", "tables", self.table(table), inputs, (f"{stem}.csv", f"{stem}.md")
            )
        if self.run.tables:
            yield PlannedFile(
                "results/tables/all.tex",
                "tables",
                self.all_tables(),
                tuple(f"results/tables/{t}.tex" for t in self.run.tables),
            )
        for figure in self.run.figures:
            stem = f"results/figures/{figure}"
            yield PlannedFile(
                f"{stem}.png",
                "figures",
                self.figure(figure),
                self.figure_inputs(figure),
                (f"{stem}.pdf", f"{stem}.json"),
                self._spared(figure),
            )

    def not_planned(self, path: str) -> str:
        """Return the line for a file that is no part of the run, with the nearest that is."""
        return (
            f"{path} is no part of the run '{self.run.name}'{nearest(path, self.files())}; add its "
            f"model, benchmark, prompt, table or figure to the lists under run: in the config"
        )

    def closing_words(self) -> str:
        """Return where the results of the run are, one line each."""
        stops = self.project.stops
        spending = [name for name, stop in stops.items() if stop.decided is None]
        so_far = " as far as it was asked" if spending else ""
        lines = [f"run '{self.run.name}' is complete{so_far}"]
        lines += [f"  stop_when  {told_spending(self.project, name)}" for name in stops]
        if spending:
            lines.append("             go on with: gensight spend (and the same --configfile)")
        if self.run.tables:
            tables = ", ".join(f"{name}.tex/.csv/.md" for name in self.run.tables)
            lines += [
                "  tables     results/tables/all.tex (a whole LaTeX document)",
                f"             results/tables/: {tables}",
            ]
        if self.run.figures:
            lines.append(
                f"  figures    results/figures/: {', '.join(self.run.figures)} (.pdf, .png)"
            )
        lines += [
            "  numbers    results/summaries/{benchmark}.parquet, results/scores/",
            "  pictures   gensight export results/generations/.../all.parquet FOLDER",
            "  logs       logs/{rule}/...",
        ]
        return "\n".join(lines)
