"""What determines each file of a run, as plain values: nothing else may change its rows.

Each stage holds its upstream stage's determinants whole, so that a digest covers the road up to
it and a difference can be named by its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from gensight.digests import digest_of, digest_of_bytes
from gensight.errors import SpecError
from gensight.plan import paths
from gensight.plan.cells import Cell, Cells
from gensight.plan.seeds import fresh_seed
from gensight.specs import declared
from gensight.specs.benchmark import ScorerSpec
from gensight.specs.conventions import LONG_SIDE_PX, NATIVE_DEFAULT
from gensight.specs.model import ModelSpec
from gensight.specs.project import Project
from gensight.vocabulary import kinds_hash, vocabulary_hash

#: Raised by hand whenever a stage writes other rows from the same determinants.
STAGE_VERSIONS = {
    "samples": 3,
    "requests": 3,
    "generations": 3,
    "predictions": 3,
    "features": 2,
    "galleries": 2,
    "judgements": 2,
    "scores": 3,
    "summaries": 3,
    "sweeps": 2,
    "aggregates": 1,
    "tables": 2,
    "figures": 1,
}
STAGES = tuple(STAGE_VERSIONS)


class Determinants(Cells):
    """Every method is a pure function of the specs, computed once."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        # Per instance: a cache on the class would keep every project alive.
        cached = ("samples", "requests", "generations", "prediction", "features", "gallery")
        for name in (*cached, "judgements", "score", "summary", "sweep", "aggregate"):
            setattr(self, name, cache(getattr(self, name)))

    def samples(self, benchmark: str) -> dict[str, Any]:
        """Return what determines a benchmark's samples."""
        spec = self.project.benchmarks[benchmark]
        parameters = dict(spec.dataset.parameters)
        if parameters.get("seed") == "fresh":
            parameters["seed"] = fresh_seed(self.project.ledger, benchmark)
        module = spec.dataset.module
        constants = declared.constants("datasets", module)
        resources = constants.get("RESOURCES", ())
        if self.run.twin and "twin" in constants.get("DEFAULTS", {}):
            parameters["twin"] = True
        merged = declared.merged(
            f"config/benchmarks/{benchmark}.yaml",
            "dataset.parameters",
            "datasets",
            module,
            parameters,
        )
        for key in constants.get("CAME_LATER", ()):
            if merged[key] == constants["DEFAULTS"][key]:
                del merged[key]
        return {
            **stage_of("samples"),
            "benchmark": benchmark,
            "task": spec.task,
            "dataset": module,
            "dataset_version": version_of("datasets", module),
            "parameters": merged,
            "manifest": self._manifest(benchmark),
            **({"resources": self._hashes(resources)} if resources else {}),
            "n": self.project.n(benchmark),
            "held_out": spec.held_out.model_dump() if spec.held_out else None,
        }

    def _hashes(self, files: Sequence[str]) -> dict[str, str]:
        """Return the digests of files of the checkout that a data set reads."""
        return {name: digest_of_bytes(self._resource(name)) for name in files}

    def _resource(self, name: str) -> bytes:
        try:
            return (self.project.root / name).read_bytes()
        except OSError as error:
            raise SpecError(f"{name}: cannot be read ({error.strerror}); restore it") from None

    def _manifest(self, benchmark: str) -> dict[str, str] | None:
        """Return a benchmark's manifest as path and digest, or None."""
        name = self.project.benchmarks[benchmark].dataset.manifest
        if name is None:
            return None
        try:
            content = (self.project.root / name).read_bytes()
        except OSError as error:
            raise SpecError(
                f"config/benchmarks/{benchmark}.yaml: dataset.manifest: {name} cannot be read "
                f"({error.strerror}); write one with: gensight data manifest {benchmark}"
            ) from None
        return {"file": name, "sha256": digest_of_bytes(content)}

    def requests(self, benchmark: str, prompt: str) -> dict[str, Any]:
        """Return what determines a benchmark's rendered requests."""
        spec = self.project.prompt(benchmark, prompt)
        found = {
            **stage_of("requests"),
            "samples": self.samples(benchmark),
            "prompt": prompt,
            "ranks": self.run.prompt_ranks.get(prompt),
            "turns": spec.model_dump(exclude_none=True)["turns"],
        }
        if spec.size is not None:
            found["size"] = spec.size
        together = self.project.benchmarks[benchmark].samples_per_request
        if together > 1:
            found["samples_per_request"] = together
        cell, source = self.source(benchmark, prompt), self.project.benchmarks[benchmark].source
        if cell is not None and source is not None:
            if source.reading not in {scorer.file for scorer in self.scorers(cell).values()}:
                raise SpecError(
                    f"config/benchmarks/{benchmark}.yaml: source.reading: '{source.model}' is not "
                    f"read into '{source.reading}' under '{cell.prompt}' by any scorer of "
                    f"'{source.benchmark}' (see its prompts, roles and subjects); let one read it"
                )
            predictions = self.prediction(cell, source.reading)
            found["source"] = {"predictions": predictions, "variant": source.variant}
        return found

    def generations(self, cell: Cell) -> dict[str, Any]:
        """Return what determines a cell's generations, whatever its shards."""
        model, benchmark = self.project.models[cell.model], self.project.benchmarks[cell.benchmark]
        found = {
            **stage_of("generations"),
            "requests": self.requests(cell.benchmark, cell.prompt),
            **self._asked(cell.model),
            "repeats": model.repeats,
            "exif": benchmark.exif,
        }
        if benchmark.input_long_side_px != LONG_SIDE_PX:
            found["input_long_side_px"] = benchmark.input_long_side_px
        return found

    def _asked(self, name: str) -> dict[str, Any]:
        """Return what determines a model's answers besides what it is asked."""
        model = self.project.models[name]
        here = model.adapter in declared.names("models")
        file, generation = f"config/models/{name}.yaml", model.generation
        if here:
            generation = declared.merged(file, "generation", "models", model.adapter, generation)
        return {
            "model": name,
            "adapter": model.adapter,
            "adapter_version": version_of("models", model.adapter) if here else None,
            "generation": generation,
        }

    def generation(self, cell: Cell, shard: str) -> dict[str, Any]:
        """Return what determines one shard of a cell's generations."""
        return {**self.generations(cell), "shard": shard, "ranks": list(self.shards(cell)[shard])}

    def prediction(self, cell: Cell, reading: str) -> dict[str, Any]:
        """Return what determines a cell's predictions of one reading."""
        scorers = self.project.benchmarks[cell.benchmark].scorers.values()
        scorer = next(s for s in scorers if s.file == reading)
        generations = self.generations(cell)
        # Said where it matters alone: what was read before of one sample a request still fits.
        together = "samples_per_request" in generations["requests"]
        return {
            **stage_of("predictions"),
            **({"shares_latency": True} if together else {}),
            "generations": generations,
            "extractor": scorer.extractor,
            "extractor_version": version_of("extractors", scorer.extractor),
            "uses": _used("extractors", scorer.extractor),
            "parameters": declared.merged(
                f"config/benchmarks/{cell.benchmark}.yaml",
                "scorers.parameters",
                "extractors",
                scorer.extractor,
                scorer.parameters,
            ),
            "within": self._within(cell.benchmark, scorer),
            "ranks": scorer.ranks,
        }

    def _within(self, benchmark: str, scorer: ScorerSpec) -> dict[str, Any] | None:
        """Return what determines the extractor that another one calls with a grid of parameters."""
        inner = scorer.parameters.get("extractor")
        if not isinstance(inner, str):
            return None
        grid = scorer.parameters.get("grid", {})
        first = {key: values[0] for key, values in grid.items() if values}
        return {
            "extractor_version": version_of("extractors", inner),
            "parameters": declared.merged(
                f"config/benchmarks/{benchmark}.yaml",
                "scorers.parameters.grid",
                "extractors",
                inner,
                {**scorer.parameters.get("parameters", {}), **first},
            ),
        }

    def features(self, cell: Cell, encoder: str) -> dict[str, Any]:
        """Return what determines the features of a cell's readings."""
        return {
            **stage_of("features"),
            "predictions": self.prediction(cell, self.encoders(cell)[encoder].file),
            **self._encoder(encoder),
        }

    def gallery(self, benchmark: str, encoder: str) -> dict[str, Any]:
        """Return what determines the features of a benchmark's candidates."""
        spec = self.project.benchmarks[benchmark]
        candidates = spec.candidates
        if candidates is None:
            raise SpecError(
                f"config/benchmarks/{benchmark}.yaml: candidates: the encoder '{encoder}' has "
                f"nothing to compare with; say what"
            )
        found = {
            **stage_of("galleries"),
            "samples": self.samples(benchmark),
            "exif": spec.exif,
            "candidates": candidates.model_dump(),
            **self._encoder(encoder),
        }
        if candidates.template is None:
            # Of all prompts that there are: another run of the same benchmark has the same file.
            sizes = {self.project.prompt(benchmark, name).size for name in spec.prompts}
            found["sizes"] = sorted(size for size in sizes if size is not None)
        if candidates.vocabulary is not None:
            found["vocabulary_sha256"] = vocabulary_hash(self.project.root)
        return found

    def _encoder(self, name: str) -> dict[str, Any]:
        spec, file = self.project.encoders[name], f"config/encoders/{name}.yaml"
        settings = declared.merged(file, "settings", "encoders", spec.module, spec.settings)
        return {
            "encoder": name,
            "module": spec.module,
            "module_version": version_of("encoders", spec.module),
            "uses": _used("encoders", spec.module),
            "settings": settings,
        }

    def judgements(self, cell: Cell, judge: str) -> dict[str, Any]:
        """Return what determines a judge's judgements of a cell's readings."""
        spec = self.project.judges[judge]
        return {
            **stage_of("judgements"),
            "predictions": self.prediction(cell, self.judges(cell)[judge].file),
            "judge": judge,
            "spec": spec.model_dump(exclude={"display"}),
            "rubrics": {n: self.project.rubrics[n].model_dump() for n in spec.rubrics},
            "models": {name: self._asked(name) for name in spec.models},
            "exif": self.project.benchmarks[cell.benchmark].exif,
        }

    def score(self, cell: Cell, scorer: str) -> dict[str, Any]:
        """Return what determines a cell's scores by one scorer."""
        spec = self.project.benchmarks[cell.benchmark].scorers[scorer]
        classifier = self.classifier(cell)
        found = self._score(cell, scorer, spec, classifier)
        if spec.encoder is not None:
            found["features"] = self.features(cell, spec.encoder)
            found["gallery"] = self.gallery(cell.benchmark, spec.encoder)
            if spec.across is not None:
                found["across"] = {
                    paths.features_path(other, spec.encoder): digest_of(
                        self.features(other, spec.encoder)
                    )
                    for other in self.siblings(cell, spec)
                }
        if found["settings"].get("hyponyms"):
            found["kinds_sha256"] = kinds_hash(self.project.root)
        if spec.judge is not None:
            found["judgements"] = self.judgements(cell, spec.judge)
        return found

    def _score(
        self, cell: Cell, scorer: str, spec: ScorerSpec, classifier: ScorerSpec | None
    ) -> dict[str, Any]:
        return {
            **stage_of("scores"),
            "predictions": self.prediction(cell, spec.file),
            "classes": self.prediction(cell, classifier.file)
            if classifier and classifier.file != spec.file
            else None,
            "scorer": scorer,
            "measure": spec.measure,
            "measure_version": version_of("measures", spec.measure),
            "uses": _used("measures", spec.measure),
            "settings": self._settings(cell, scorer, spec),
            "metrics": {
                name: {"metric_version": version_of("metrics", name)} for name in spec.metrics
            },
            # The first is the one that comparisons take where none is named; keys lose their order.
            "first_metric": spec.metrics[0],
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
        form = final.answer_form.model_dump()
        if self.project.models[cell.model].output_space and "near" in form:
            # A specialist reads no prompt, so the prompt's promise of polarity is not its own.
            form["near"] = "unspecified"
        return {**settings, "answer_form": form}

    def summary(self, benchmark: str) -> dict[str, Any]:
        """Return what determines a benchmark's summary: its cells' scores, roles and groups.

        Measured models are ranked within their group, so that group is more than a heading.
        """
        cells = self.cells(benchmark)
        models = {cell.model: self.project.models[cell.model] for cell in cells}
        return {
            **stage_of("summaries"),
            "benchmark": benchmark,
            "subsets": self.project.benchmarks[benchmark].subsets,
            "scores": {
                paths.score_path(cell, scorer): digest_of(self.score(cell, scorer))
                for cell in cells
                for scorer, spec in self.scorers(cell).items()
                if spec.summarised
            },
            "roles": {name: model.role for name, model in models.items()},
            "native": {name: native_fit(model) for name, model in models.items()},
            "failed_above": {n: m.failed_above for n, m in models.items() if m.role == "measured"},
            "groups": {n: m.display.group for n, m in models.items() if m.role == "measured"},
        }

    def sweep(self, sweep: str) -> dict[str, Any]:
        """Return what determines a sweep: its spec, its grid and the scores that it pools."""
        spec = self.project.sweeps[sweep]
        scorer = self.project.benchmarks[spec.benchmark].scorers[spec.scorer]
        cells = self.sweep_cells(sweep)
        return {
            **stage_of("sweeps"),
            "sweep": sweep,
            "spec": spec.model_dump(),
            "parameters": scorer.parameters,
            "metric_version": version_of("metrics", spec.metric),
            "scores": {
                paths.score_path(cell, spec.scorer): digest_of(self.score(cell, spec.scorer))
                for cell in cells
            },
        }

    def aggregate(self, aggregate: str) -> dict[str, Any]:
        """Return what determines an aggregate: its spec and the scores that it is made from."""
        spec = self.project.aggregates[aggregate]
        cells = [cell for name in spec.benchmarks for cell in self.cells(name)]
        wanted = {(n.benchmark, n.prompt, n.scorer) for n in spec.numbers.values()}
        pairs = [
            (cell, scorer)
            for cell in cells
            for scorer in self.scorers(cell)
            if (cell.benchmark, cell.prompt, scorer) in wanted
        ]
        models = {cell.model: self.project.models[cell.model] for cell, _ in pairs}
        return {
            **stage_of("aggregates"),
            "aggregate": aggregate,
            "spec": spec.model_dump(),
            "scores": {
                paths.score_path(cell, scorer): digest_of(self.score(cell, scorer))
                for cell, scorer in pairs
            },
            "aggregates": {name: digest_of(self.aggregate(name)) for name in spec.aggregates},
            "roles": {name: model.role for name, model in models.items()},
            "groups": {n: m.display.group for n, m in models.items() if m.role == "measured"},
        }


def stage_of(stage: str) -> dict[str, Any]:
    """Return what says of determinants which stage they are of."""
    return {"stage": stage, "stage_version": STAGE_VERSIONS[stage]}


def native_fit(model: ModelSpec) -> str:
    """Return the fit that is native to a model: what its card says of it, else the paper's."""
    space = model.output_space.space if model.output_space else "unknown"
    return NATIVE_DEFAULT if space == "unknown" else space


def _used(room: str, name: str) -> dict[str, int]:
    """Return the versions of the modules of other rooms that a module computes with."""
    used = declared.constants(room, name).get("USES", {})
    return {
        f"{other}.{module}_version": version_of(other, module)
        for other, modules in used.items()
        for module in modules
    }


def version_of(room: str, name: str) -> int:
    """Return the version that a module declares."""
    return declared.constants(room, name)["VERSION"]
