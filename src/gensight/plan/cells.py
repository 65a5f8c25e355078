"""The cells of a run, and the shards that their generations are cut into."""

from __future__ import annotations

from typing import NamedTuple

from gensight.errors import SpecError
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.conventions import CLASSIFIER
from gensight.specs.project import Project


class Cell(NamedTuple):
    """One model answering one prompt about one benchmark."""

    model: str
    benchmark: str
    prompt: str

    @property
    def folder(self) -> str:
        """Return the part of the path that every stage of the cell shares."""
        return f"{self.model}/{self.benchmark}/{self.prompt}"


class Cells:
    """Who answers what in a run."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.run = project.config.run

    def cells(self, benchmark: str | None = None) -> list[Cell]:
        """Return the cells of the run, or of one benchmark, in the order of the run's lists."""
        return [
            Cell(model, name, prompt)
            for name in self.run.benchmarks
            if benchmark in (None, name)
            for prompt in self.prompts(name)
            for model in self.run.models
            if self.project.models[model].kind != "published"
            and self.project.takes_part(model, name, prompt)
        ]

    def prompts(self, benchmark: str) -> list[str]:
        """Return the prompts that the run asks of a benchmark."""
        return [p for p in self.run.prompts if p in self.project.benchmarks[benchmark].prompts]

    def scorers(self, cell: Cell) -> dict[str, ScorerSpec]:
        """Return the scorers that read a cell, by name."""
        scorers = self.project.benchmarks[cell.benchmark].scorers
        return {name: spec for name, spec in scorers.items() if self._reads(spec, cell)}

    def _reads(self, scorer: ScorerSpec, cell: Cell) -> bool:
        model = self.project.models[cell.model]
        if scorer.prompts is None:
            asked = model.answers == "image" or not self._asks_for_pictures(cell.benchmark)
        else:
            asked = cell.prompt in scorer.prompts
        role = scorer.roles is None or model.role in scorer.roles
        subject = scorer.subjects is None or cell.model in self.project.subjects(scorer.subjects)
        return asked and role and subject

    def _asks_for_pictures(self, benchmark: str) -> bool:
        prompts = self.project.benchmarks[benchmark].prompts
        return any(self.project.prompt(benchmark, name).answers == "image" for name in prompts)

    def source(self, benchmark: str, prompt: str) -> Cell | None:
        """Return the cell whose grids a prompt asks about, or None."""
        spec, asked = self.project.benchmarks[benchmark], self.project.prompt(benchmark, prompt)
        if spec.source is None or not asked.shows_a_grid:
            return None
        source = spec.source
        return Cell(source.model, source.benchmark, f"{source.prompt}_{asked.size}")

    def siblings(self, cell: Cell, scorer: ScorerSpec) -> list[Cell]:
        """Return the same model's cells that a scorer looks across at, in the run's order."""
        wanted = [p for p in self.prompts(cell.benchmark) if p in (scorer.across or ())]
        others = [cell._replace(prompt=prompt) for prompt in wanted if prompt != cell.prompt]
        asked = [other for other in others if self.project.takes_part(*other)]
        return [other for other in asked if scorer.encoder in self.encoders(other)]

    def judges(self, cell: Cell) -> dict[str, ScorerSpec]:
        """Return the judges of a cell, each with a scorer that goes by it."""
        return {s.judge: s for s in self.scorers(cell).values() if s.judge is not None}

    def asked_models(self) -> set[str]:
        """Return every model that the run asks: those that answer, and those that judge them."""
        judges = {name for cell in self.cells() for name in self.judges(cell)}
        judging = (model for name in judges for model in self.project.judges[name].models)
        return {*self.run.models, *judging}

    def encoders(self, cell: Cell) -> dict[str, ScorerSpec]:
        """Return the encoders of a cell's readings, each with a scorer that goes by it."""
        return {s.encoder: s for s in self.scorers(cell).values() if s.encoder is not None}

    def classifier(self, cell: Cell) -> ScorerSpec | None:
        """Return the scorer that finds the classes of failure of a cell, or None."""
        found = [s for s in self.scorers(cell).values() if s.extractor == CLASSIFIER]
        return found[0] if found else None

    def sweep_cells(self, sweep: str) -> list[Cell]:
        """Return the cells that a sweep pools: its subjects, in the run's order."""
        spec = self.project.sweeps[sweep]
        return [
            cell
            for cell in self.cells(spec.benchmark)
            if cell.prompt == spec.prompt
            and cell.model in self.project.subjects(spec.subjects)
            and spec.scorer in self.scorers(cell)
        ]

    def sweeps(self) -> list[str]:
        """Return the sweeps that the run's tables are about, each once."""
        return [name for name in self._needed() if name in self.project.sweeps]

    def aggregates(self) -> list[str]:
        """Return the aggregates that the run's reports are about, each behind those it needs."""
        named = [name for name in self._needed() if name in self.project.aggregates]
        return list(dict.fromkeys(n for name in named for n in self.project.all_aggregates(name)))

    def _needed(self) -> list[str]:
        needed = [name for table in self.run.tables for name in self.tables_needs(table)]
        needed += [n for f in self.run.figures for n in self.project.figures[f].benchmarks]
        return list(dict.fromkeys(needed))

    def tables_needs(self, table: str) -> list[str]:
        """Return the benchmarks, sweeps and aggregates that a table is made from in this run.

        A table of a paper's own numbers is made from nothing else.
        """
        spec = self.project.tables[table]
        if self.run.published == "only" and spec.published is not None:
            return []
        return spec.benchmarks

    def shards(self, cell: Cell) -> dict[str, tuple[int, int | None]]:
        """Return the rank ranges [first, last) of a cell's shards by name; None is "to the end"."""
        size = self.project.models[cell.model].shard_size
        n = self.project.ranks(cell.benchmark, cell.prompt)
        if size is None:
            return {"all": (0, None)}
        if not isinstance(n, int):
            raise SpecError(
                f"config/models/{cell.model}.yaml: shard_size: needs a number of "
                f"samples, but {cell.benchmark} asks for n: all"
            )
        return {
            f"part_{i:03}": (first, min(first + size, n))
            for i, first in enumerate(range(0, n, size))
        }
