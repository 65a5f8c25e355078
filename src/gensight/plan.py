"""The plan of a run: its cells, the file of every step, and what determines each file.

Everything here follows from the specs alone. No data set, adapter or array library is touched,
so that a dry run is quick and works anywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gensight.digests import digest_of
from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.project import Project

#: Raised by hand whenever a stage writes other rows from the same determinants.
STAGE_VERSIONS = {
    "samples": 1,
    "requests": 1,
    "generations": 1,
    "predictions": 1,
    "scores": 1,
    "summaries": 1,
    "tables": 1,
    "figures": 1,
}
STAGES = tuple(STAGE_VERSIONS)


class Cell(NamedTuple):
    """One model answering one prompt about one benchmark."""

    model: str
    benchmark: str
    prompt: str

    @property
    def folder(self) -> str:
        """Return the part of the path that every stage of the cell shares."""
        return f"{self.model}/{self.benchmark}/{self.prompt}"


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


class Plan:
    """The files of a run; every method is a pure function of the specs."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.run = project.config.run
        for name in ("samples", "requests", "answers", "prediction", "score", "summary"):
            setattr(self, name, cache(getattr(self, name)))

    # Cells and shards

    def cells(self, benchmark: str | None = None) -> list[Cell]:
        """Return the cells of the run, or of one benchmark, in the order of the run's lists."""
        return [
            Cell(model, name, prompt)
            for name in self.run.benchmarks
            if benchmark in (None, name)
            for prompt in self.prompts(name)
            for model in self.run.models
            if self.project.models[model].kind != "published"
            and self.project.answers(model, name, prompt)
        ]

    def prompts(self, benchmark: str) -> list[str]:
        """Return the prompts that the run asks of a benchmark."""
        return [p for p in self.run.prompts if p in self.project.benchmarks[benchmark].prompts]

    def shards(self, cell: Cell) -> dict[str, tuple[int, int | None]]:
        """Return the rank ranges [first, last) of a cell's shards by name; None is "to the end"."""
        size, n = self.project.models[cell.model].shard_size, self.project.n(cell.benchmark)
        if size is None:
            return {"all": (0, None)}
        if not isinstance(n, int):
            raise SpecError(f"config/models/{cell.model}.yaml: shard_size: needs a number of "
                            f"samples, but {cell.benchmark} asks for n: all")
        return {f"part_{i:03}": (first, min(first + size, n))
                for i, first in enumerate(range(0, n, size))}

    # What determines each file

    def samples(self, benchmark: str) -> dict[str, Any]:
        """Return what determines a benchmark's samples."""
        spec = self.project.benchmarks[benchmark]
        parameters = dict(spec.dataset.parameters)
        if parameters.get("seed") == "fresh":
            parameters["seed"] = fresh_seed(self.project.ledger, benchmark)
        return {
            **_stage("samples"),
            "benchmark": benchmark,
            "task": spec.task,
            "dataset": spec.dataset.module,
            "dataset_version": _version("datasets", spec.dataset.module),
            "parameters": declared.merged(
                f"config/benchmarks/{benchmark}.yaml", "dataset.parameters",
                "datasets", spec.dataset.module, parameters,
            ),
            "n": self.project.n(benchmark),
            "held_out": spec.held_out.model_dump() if spec.held_out else None,
        }

    def requests(self, benchmark: str, prompt: str) -> dict[str, Any]:
        """Return what determines a benchmark's rendered requests."""
        spec = self.project.prompt(benchmark, prompt).model_dump(exclude_none=True)
        return {
            **_stage("requests"),
            "samples": self.samples(benchmark),
            "prompt": prompt,
            "turns": spec["turns"],
        }

    def answers(self, cell: Cell) -> dict[str, Any]:
        """Return what determines a cell's generations, whatever its shards."""
        model = self.project.models[cell.model]
        spec = self.project.benchmarks[cell.benchmark]
        here = model.adapter in declared.names("models")
        return {
            **_stage("generations"),
            "requests": self.requests(cell.benchmark, cell.prompt),
            "model": cell.model,
            "adapter": model.adapter,
            "adapter_version": _version("models", model.adapter) if here else None,
            "generation": declared.merged(
                f"config/models/{cell.model}.yaml", "generation",
                "models", model.adapter, model.generation,
            ) if here else model.generation,
            "exif": spec.exif,
        }

    def prediction(self, cell: Cell, extractor: str) -> dict[str, Any]:
        """Return what determines a cell's predictions by one extractor."""
        scorers = self.project.benchmarks[cell.benchmark].scorers.values()
        parameters = next(s.parameters for s in scorers if s.extractor == extractor)
        return {
            **_stage("predictions"),
            "generations": self.answers(cell),
            "extractor": extractor,
            "extractor_version": _version("extractors", extractor),
            "parameters": declared.merged(
                f"config/benchmarks/{cell.benchmark}.yaml", "scorers.parameters",
                "extractors", extractor, parameters,
            ),
        }

    def score(self, cell: Cell, scorer: str) -> dict[str, Any]:
        """Return what determines a cell's scores by one scorer."""
        spec = self.project.benchmarks[cell.benchmark].scorers[scorer]
        return {
            **_stage("scores"),
            "predictions": self.prediction(cell, spec.extractor),
            "scorer": scorer,
            "measure": spec.measure,
            "measure_version": _version("measures", spec.measure),
            "settings": self._settings(cell, scorer, spec),
            "metrics": {name: _version("metrics", name) for name in spec.metrics},
        }

    def _settings(self, cell: Cell, scorer: str, spec: ScorerSpec) -> dict[str, Any]:
        final = self.project.prompt(cell.benchmark, cell.prompt).turns[-1]
        settings = declared.merged(
            f"config/benchmarks/{cell.benchmark}.yaml", f"scorers.{scorer}.settings",
            "measures", spec.measure, spec.settings,
        )
        return {**settings, "answer_form": final.answer_form.model_dump()}

    def summary(self, benchmark: str) -> dict[str, Any]:
        """Return what determines a benchmark's summary: its cells' scores and their roles."""
        return {
            **_stage("summaries"),
            "benchmark": benchmark,
            "scores": {
                self.score_path(cell, scorer): digest_of(self.score(cell, scorer))
                for cell in self.cells(benchmark)
                for scorer in self.project.benchmarks[benchmark].scorers
            },
            "roles": {cell.model: self.project.models[cell.model].role
                      for cell in self.cells(benchmark)},
        }

    def table(self, table: str) -> dict[str, Any]:
        """Return what determines a table: its spec, labels and summaries."""
        spec = self.project.tables[table]
        return {**_stage("tables"), "table": table, **self._report(spec)}

    def all_tables(self) -> dict[str, Any]:
        """Return what determines the document of all tables."""
        return {**_stage("tables"), "run": self.run.name,
                "tables": {name: digest_of(self.table(name)) for name in self.run.tables}}

    def figure(self, figure: str) -> dict[str, Any]:
        """Return what determines a figure: its spec, labels and what it draws from."""
        spec = self.project.figures[figure]
        return {**_stage("figures"), "figure": figure, **self._report(spec)}

    def _report(self, spec: Any) -> dict[str, Any]:
        models = {cell.model for name in spec.benchmarks for cell in self.cells(name)}
        return {
            "spec": spec.model_dump(exclude_none=True),
            "run": self.run.name,
            "models": {
                name: {
                    "display": self.project.models[name].display.model_dump(exclude_none=True),
                    "role": self.project.models[name].role,
                    "failed_above": self.project.models[name].failed_above,
                    "severity_unit": self.project.models[name].severity_unit,
                }
                for name in sorted(models)
            },
            "benchmarks": {
                name: self.project.benchmarks[name].display.model_dump(exclude_none=True)
                for name in spec.benchmarks
            },
            "protocol": [line for name in spec.benchmarks for line in self._protocol(name)],
            "summaries": {name: digest_of(self.summary(name)) for name in spec.benchmarks},
        }

    def _protocol(self, benchmark: str) -> Iterator[str]:
        """Yield the facts that a number of a benchmark cannot be compared without."""
        spec, samples = self.project.benchmarks[benchmark], self.samples(benchmark)
        seed = samples["parameters"].get("seed")
        drawn = "" if seed is None else f", seed {seed}"
        yield (f"{spec.display.label}: n = {samples['n']}{drawn}, data set "
               f"{spec.dataset.module} version {samples['dataset_version']}.")
        for scorer in spec.scorers.values():
            settings = declared.constants("measures", scorer.measure).get("DEFAULTS", {})
            failure = {**settings, **scorer.settings}.get("failure", "none")
            yield (f"{spec.display.label}: extractor {scorer.extractor} version "
                   f"{_version('extractors', scorer.extractor)}, measure {scorer.measure} version "
                   f"{_version('measures', scorer.measure)}, failed answers: {failure}.")

    # Paths

    @staticmethod
    def samples_path(benchmark: str) -> str:
        """Return the path of a benchmark's samples."""
        return f"results/samples/{benchmark}.parquet"

    @staticmethod
    def requests_path(benchmark: str, prompt: str) -> str:
        """Return the path of a benchmark's rendered requests."""
        return f"results/requests/{benchmark}/{prompt}.parquet"

    def generation_paths(self, cell: Cell) -> list[str]:
        """Return the paths of a cell's shards."""
        return [f"results/generations/{cell.folder}/{s}.parquet" for s in self.shards(cell)]

    @staticmethod
    def prediction_path(cell: Cell, extractor: str) -> str:
        """Return the path of a cell's predictions."""
        return f"results/predictions/{cell.folder}/{extractor}.parquet"

    @staticmethod
    def score_path(cell: Cell, scorer: str) -> str:
        """Return the path of a cell's scores."""
        return f"results/scores/{cell.folder}/{scorer}.parquet"

    @staticmethod
    def summary_path(benchmark: str) -> str:
        """Return the path of a benchmark's summary."""
        return f"results/summaries/{benchmark}.parquet"

    def figure_inputs(self, figure: str) -> tuple[str, ...]:
        """Return what a figure is drawn from: summaries, or the cells of a gallery."""
        spec = self.project.figures[figure]
        if spec.kind != "gallery":
            return tuple(self.summary_path(name) for name in spec.benchmarks)
        scorer = self.project.benchmarks[spec.benchmark].scorers[spec.scorer]
        inputs = [self.samples_path(spec.benchmark)]
        for cell in self.gallery_cells(figure):
            inputs += self.generation_paths(cell)
            inputs.append(self.prediction_path(cell, scorer.extractor))
            inputs.append(self.score_path(cell, spec.scorer))
        return tuple(inputs)

    def _spared(self, figure: str) -> dict[str, str]:
        """Return the pictures of a gallery by path, each with the scores that vouch for it."""
        spec = self.project.figures[figure]
        if spec.kind != "gallery":
            return {}
        extractor = self.project.benchmarks[spec.benchmark].scorers[spec.scorer].extractor
        return {
            path: self.score_path(cell, spec.scorer)
            for cell in self.gallery_cells(figure)
            for path in (*self.generation_paths(cell), self.prediction_path(cell, extractor))
        }

    def gallery_cells(self, figure: str) -> list[Cell]:
        """Return the cells of a gallery that the run has, in the figure's order."""
        spec = self.project.figures[figure]
        shown = [entry.model for entry in spec.models]
        cells = {c.model: c for c in self.cells(spec.benchmark) if c.prompt == spec.prompt}
        return [cells[model] for model in dict.fromkeys(shown) if model in cells]

    # All files

    def files(self) -> dict[str, PlannedFile]:
        """Return every file of the run by path, upstream first."""
        return {planned.path: planned for planned in self._files()}

    def _files(self) -> Iterator[PlannedFile]:
        cells = self.cells()
        for name in self.run.benchmarks:
            yield PlannedFile(self.samples_path(name), "samples", self.samples(name), ())
        for name in self.run.benchmarks:
            for prompt in self.prompts(name):
                yield PlannedFile(self.requests_path(name, prompt), "requests",
                                  self.requests(name, prompt), (self.samples_path(name),))
        for cell in cells:
            yield from self._generation_files(cell)
        for cell in cells:
            yield from self._cell_files(cell)
        for name in self.run.benchmarks:
            determinants = self.summary(name)
            yield PlannedFile(self.summary_path(name), "summaries", determinants,
                              tuple(determinants["scores"]))
        yield from self._report_files()

    def _generation_files(self, cell: Cell) -> Iterator[PlannedFile]:
        inputs = (self.samples_path(cell.benchmark),
                  self.requests_path(cell.benchmark, cell.prompt))
        for shard, path in zip(self.shards(cell), self.generation_paths(cell), strict=True):
            yield PlannedFile(path, "generations", self.generation(cell, shard), inputs)

    def generation(self, cell: Cell, shard: str) -> dict[str, Any]:
        """Return what determines one shard of a cell's generations."""
        return {**self.answers(cell), "shard": shard, "ranks": list(self.shards(cell)[shard])}

    def _cell_files(self, cell: Cell) -> Iterator[PlannedFile]:
        samples = self.samples_path(cell.benchmark)
        scorers = self.project.benchmarks[cell.benchmark].scorers
        for extractor in sorted({scorer.extractor for scorer in scorers.values()}):
            yield PlannedFile(self.prediction_path(cell, extractor), "predictions",
                              self.prediction(cell, extractor),
                              (samples, *self.generation_paths(cell)))
        for name, scorer in scorers.items():
            yield PlannedFile(self.score_path(cell, name), "scores", self.score(cell, name),
                              (samples, self.prediction_path(cell, scorer.extractor)))

    def _report_files(self) -> Iterator[PlannedFile]:
        for table in self.run.tables:
            inputs = tuple(self.summary_path(b) for b in self.project.tables[table].benchmarks)
            stem = f"results/tables/{table}"
            yield PlannedFile(f"{stem}.tex", "tables", self.table(table), inputs,
                              (f"{stem}.csv", f"{stem}.md"))
        if self.run.tables:
            yield PlannedFile("results/tables/all.tex", "tables", self.all_tables(),
                              tuple(f"results/tables/{t}.tex" for t in self.run.tables))
        for figure in self.run.figures:
            stem = f"results/figures/{figure}"
            yield PlannedFile(f"{stem}.png", "figures", self.figure(figure),
                              self.figure_inputs(figure), (f"{stem}.pdf", f"{stem}.json"),
                              self._spared(figure))

    def not_planned(self, path: str) -> str:
        """Return the line for a file that is no part of the run."""
        return (
            f"{path} is no part of the run '{self.run.name}'; add its model, benchmark, prompt, "
            f"table or figure to the lists under run: in the config"
        )

    def closing_words(self) -> str:
        """Return where the results of the run are, one line each."""
        lines = [f"run '{self.run.name}' is complete"]
        if self.run.tables:
            tables = ", ".join(f"{name}.tex/.csv/.md" for name in self.run.tables)
            lines += ["  tables     results/tables/all.tex (a whole LaTeX document)",
                      f"             results/tables/: {tables}"]
        if self.run.figures:
            lines.append(f"  figures    results/figures/: {', '.join(self.run.figures)} (.pdf, .png)")
        lines += ["  numbers    results/summaries/{benchmark}.parquet, results/scores/",
                  "  pictures   gensight export results/generations/.../all.parquet FOLDER",
                  "  logs       logs/{rule}/..."]
        return "\n".join(lines)


def _stage(stage: str) -> dict[str, Any]:
    return {"stage": stage, "stage_version": STAGE_VERSIONS[stage]}


def _version(room: str, name: str) -> int:
    return declared.constants(room, name)["VERSION"]


def fresh_seed(ledger: Path, benchmark: str) -> int:
    """Return the seed drawn for a benchmark that asks for `seed: fresh`, drawing it once.

    The draw is kept in the ledger: a rerun repeats it, a new ledger draws another.
    """
    path = ledger / "fresh_seeds" / f"{benchmark}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"seed": int.from_bytes(os.urandom(6), "big")}))
        try:
            os.link(temporary, path)  # fails if another process drew first: its seed stands
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return json.loads(path.read_text())["seed"]
