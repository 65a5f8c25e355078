"""What determines each file of a run, as plain values: nothing else may change its rows.

Each stage holds its upstream stage's determinants whole, so that a digest covers the road up to
it and a difference can be named by its key.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from gensight.digests import digest_of
from gensight.plan import paths
from gensight.plan.cells import Cell, Cells
from gensight.plan.seeds import fresh_seed
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


class Determinants(Cells):
    """Every method is a pure function of the specs, computed once."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        # Per instance: a cache on the class would keep every project alive.
        for name in ("samples", "requests", "generations", "prediction", "score", "summary"):
            setattr(self, name, cache(getattr(self, name)))

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
                f"config/benchmarks/{benchmark}.yaml",
                "dataset.parameters",
                "datasets",
                spec.dataset.module,
                parameters,
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

    def generations(self, cell: Cell) -> dict[str, Any]:
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
                f"config/models/{cell.model}.yaml",
                "generation",
                "models",
                model.adapter,
                model.generation,
            )
            if here
            else model.generation,
            "exif": spec.exif,
        }

    def generation(self, cell: Cell, shard: str) -> dict[str, Any]:
        """Return what determines one shard of a cell's generations."""
        return {**self.generations(cell), "shard": shard, "ranks": list(self.shards(cell)[shard])}

    def prediction(self, cell: Cell, extractor: str) -> dict[str, Any]:
        """Return what determines a cell's predictions by one extractor."""
        scorers = self.project.benchmarks[cell.benchmark].scorers.values()
        parameters = next(s.parameters for s in scorers if s.extractor == extractor)
        return {
            **_stage("predictions"),
            "generations": self.generations(cell),
            "extractor": extractor,
            "extractor_version": _version("extractors", extractor),
            "parameters": declared.merged(
                f"config/benchmarks/{cell.benchmark}.yaml",
                "scorers.parameters",
                "extractors",
                extractor,
                parameters,
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
            "metrics": {
                name: {"metric_version": _version("metrics", name)} for name in spec.metrics
            },
        }

    def _settings(self, cell: Cell, scorer: str, spec: ScorerSpec) -> dict[str, Any]:
        final = self.project.prompt(cell.benchmark, cell.prompt).turns[-1]
        settings = declared.merged(
            f"config/benchmarks/{cell.benchmark}.yaml",
            f"scorers.{scorer}.settings",
            "measures",
            spec.measure,
            spec.settings,
        )
        return {**settings, "answer_form": final.answer_form.model_dump()}

    def summary(self, benchmark: str) -> dict[str, Any]:
        """Return what determines a benchmark's summary: its cells' scores and their roles."""
        return {
            **_stage("summaries"),
            "benchmark": benchmark,
            "scores": {
                paths.score_path(cell, scorer): digest_of(self.score(cell, scorer))
                for cell in self.cells(benchmark)
                for scorer in self.project.benchmarks[benchmark].scorers
            },
            "roles": {
                cell.model: self.project.models[cell.model].role for cell in self.cells(benchmark)
            },
        }

    def table(self, table: str) -> dict[str, Any]:
        """Return what determines a table: its spec, labels and summaries."""
        spec = self.project.tables[table]
        return {**_stage("tables"), "table": table, **self._report(spec)}

    def all_tables(self) -> dict[str, Any]:
        """Return what determines the document of all tables."""
        return {
            **_stage("tables"),
            "run": self.run.name,
            "tables": {name: digest_of(self.table(name)) for name in self.run.tables},
        }

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
            "exif": {name: self.project.benchmarks[name].exif for name in spec.benchmarks},
            "protocol": [line for name in spec.benchmarks for line in self._protocol(name)],
            "summaries": {name: digest_of(self.summary(name)) for name in spec.benchmarks},
        }

    def _protocol(self, benchmark: str) -> Iterator[str]:
        """Yield the facts that a number of a benchmark cannot be compared without."""
        spec, samples = self.project.benchmarks[benchmark], self.samples(benchmark)
        seed = samples["parameters"].get("seed")
        drawn = "" if seed is None else f", seed {seed}"
        yield (
            f"{spec.display.label}: n = {samples['n']}{drawn}, data set "
            f"{spec.dataset.module} version {samples['dataset_version']}."
        )
        facts = declared.constants("datasets", spec.dataset.module).get("FACTS", {})
        if spec.task in facts:
            yield f"{spec.display.label}: {facts[spec.task]}."
        for scorer in spec.scorers.values():
            defaults = declared.constants("measures", scorer.measure).get("DEFAULTS", {})
            settings = {**defaults, **scorer.settings}
            told = ", ".join(f"{key} {value}" for key, value in sorted(settings.items()))
            yield (
                f"{spec.display.label}: extractor {scorer.extractor} version "
                f"{_version('extractors', scorer.extractor)}, measure {scorer.measure} version "
                f"{_version('measures', scorer.measure)} ({told})."
            )


def _stage(stage: str) -> dict[str, Any]:
    return {"stage": stage, "stage_version": STAGE_VERSIONS[stage]}


def _version(room: str, name: str) -> int:
    return declared.constants(room, name)["VERSION"]
