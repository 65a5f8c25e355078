"""The whole project as typed specs: every YAML read, every name it uses checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from gensight.errors import GensightError, SpecError
from gensight.specs import declared
from gensight.specs.base import load_spec, parse, unknown
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.figures import FigureSpec, load_figure
from gensight.specs.model import ModelSpec
from gensight.specs.prompt import PromptSpec
from gensight.specs.protocols import PROTOCOLS
from gensight.specs.run import ConfigSpec
from gensight.specs.tables import TableSpec

SpecT = TypeVar("SpecT")


@dataclass(frozen=True)
class Project:
    """All specs of a checkout and the run that is asked for.

    `prompts` is keyed by (task, name); every other mapping by the file's stem.
    """

    root: Path
    config: ConfigSpec
    models: Mapping[str, ModelSpec]
    benchmarks: Mapping[str, BenchmarkSpec]
    prompts: Mapping[tuple[str, str], PromptSpec]
    tables: Mapping[str, TableSpec]
    figures: Mapping[str, FigureSpec]

    @cached_property
    def ledger(self) -> Path:
        """Return the folder of the ledger, outside Snakemake's outputs."""
        return self.root / self.config.ledger

    def prompt(self, benchmark: str, name: str) -> PromptSpec:
        """Return a benchmark's prompt."""
        return self.prompts[(self.benchmarks[benchmark].task, name)]

    def n(self, benchmark: str) -> int | str:
        """Return the number of samples of a benchmark in this run."""
        return self.config.run.n.get(benchmark, self.benchmarks[benchmark].n)

    def answers(self, model: str, benchmark: str, prompt: str) -> bool:
        """Say whether a model takes part: its task, and only named prompts of several turns."""
        spec, task = self.models[model], self.benchmarks[benchmark].task
        if spec.tasks is not None and task not in spec.tasks:
            return False
        if spec.prompts is not None:
            return prompt in spec.prompts
        return len(self.prompt(benchmark, prompt).turns) == 1


def load_project(config: Mapping[str, Any], root: Path) -> Project:
    """Read every spec below `root` and check the names they use.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    parsed = parse("config/config.yaml", ConfigSpec, dict(config))
    project = Project(
        root=root,
        config=parsed,
        models=_folder(root, "config/models", partial(load_spec, model=ModelSpec)),
        benchmarks=_folder(root, "config/benchmarks", partial(load_spec, model=BenchmarkSpec)),
        prompts=_prompts(root),
        tables=_folder(root, "config/tables", partial(load_spec, model=TableSpec)),
        figures=_folder(root, "config/figures", load_figure),
    )
    for name, model in project.models.items():
        _check_model(f"config/models/{name}.yaml", model)
    for name, benchmark in project.benchmarks.items():
        _check_benchmark(f"config/benchmarks/{name}.yaml", benchmark, project)
    _check_tables(project)
    _check_run(project)
    return project


def load_or_exit(config: Mapping[str, Any], root: Path) -> Project:
    """Load the project, or end with one line: an exception would print Snakemake's frames."""
    try:
        return load_project(config, root)
    except GensightError as error:
        leave(error)


def leave(error: GensightError) -> NoReturn:
    """End the process with the error's one line."""
    sys.exit(f"gensight: {error}")


def _folder(root: Path, folder: str, load: Callable[[Path], SpecT]) -> dict[str, SpecT]:
    specs = {}
    for path in sorted((root / folder).glob("*.yaml")):
        _check_name(path)
        specs[path.stem] = _relative(root, path, load)
    return specs


def _prompts(root: Path) -> dict[tuple[str, str], PromptSpec]:
    prompts = {}
    for path in sorted((root / "resources/prompts").glob("*/*.yaml")):
        _check_name(path)
        spec = _relative(root, path, partial(load_spec, model=PromptSpec))
        if spec.task != path.parent.name:
            raise SpecError(
                f"{path.relative_to(root)}: task: '{spec.task}' lies in the folder of "
                f"'{path.parent.name}'; move the file or correct the task"
            )
        prompts[(spec.task, path.stem)] = spec
    return prompts


def _relative(root: Path, path: Path, load: Callable[[Path], SpecT]) -> SpecT:
    """Load a file; its errors name it as the user sees it, from the root."""
    try:
        return load(path)
    except SpecError as error:
        raise SpecError(str(error).replace(f"{root}/", "")) from None


def _check_name(path: Path) -> None:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789_")
    if not set(path.stem) <= allowed:
        raise SpecError(f"{path.name}: rename it; names use only a-z, 0-9 and _")


def _known(file: str, key: str, words: Iterable[str], known: Iterable[str]) -> None:
    names = set(known)
    for word in words:
        if word not in names:
            raise unknown(file, key, word, names)


def _check_model(file: str, model: ModelSpec) -> None:
    if model.adapter not in PROTOCOLS:
        raise unknown(file, "adapter", model.adapter, PROTOCOLS)
    if model.adapter in declared.names("models"):
        declared.merged(file, "generation", "models", model.adapter, model.generation)


def _check_benchmark(file: str, benchmark: BenchmarkSpec, project: Project) -> None:
    _known(file, "dataset.module", [benchmark.dataset.module], declared.names("datasets"))
    declared.merged(
        file,
        "dataset.parameters",
        "datasets",
        benchmark.dataset.module,
        {k: v for k, v in benchmark.dataset.parameters.items() if (k, v) != ("seed", "fresh")},
    )
    prompts = [name for task, name in project.prompts if task == benchmark.task]
    _known(file, "prompts", benchmark.prompts, prompts)
    held_out = benchmark.held_out
    if held_out and isinstance(benchmark.n, int) and benchmark.n > held_out.first_rank:
        raise SpecError(
            f"{file}: n: {benchmark.n} reaches into the held-out ranks; lower it or "
            f"raise held_out.first_rank ({held_out.first_rank})"
        )
    parameters: dict[str, Any] = {}
    for name, scorer in benchmark.scorers.items():
        _check_scorer(file, f"scorers.{name}", scorer, parameters)


def _check_scorer(file: str, key: str, scorer: Any, parameters: dict[str, Any]) -> None:
    _known(file, f"{key}.extractor", [scorer.extractor], declared.names("extractors"))
    _known(file, f"{key}.measure", [scorer.measure], declared.names("measures"))
    _known(file, f"{key}.metrics", scorer.metrics, declared.names("metrics"))
    declared.merged(file, f"{key}.parameters", "extractors", scorer.extractor, scorer.parameters)
    declared.merged(file, f"{key}.settings", "measures", scorer.measure, scorer.settings)
    for metric in scorer.metrics:
        needed = declared.constants("metrics", metric).get("MEASURE")
        if needed != scorer.measure:
            raise SpecError(
                f"{file}: {key}.metrics: '{metric}' is a metric of the measure "
                f"'{needed}', not of '{scorer.measure}'"
            )
    first = parameters.setdefault(scorer.extractor, scorer.parameters)
    if first != scorer.parameters:
        raise SpecError(
            f"{file}: {key}.parameters: two scorers use the extractor "
            f"'{scorer.extractor}' with different parameters; use its variants"
        )


def _check_tables(project: Project) -> None:
    for room, specs in (("tables", project.tables), ("figures", project.figures)):
        for name, spec in specs.items():
            file = f"config/{room}/{name}.yaml"
            _known(file, "benchmark", spec.benchmarks, project.benchmarks)
            _known(file, "models", getattr(spec, "model_names", ()), project.models)


def _check_run(project: Project) -> None:
    file, run = "config/config.yaml", project.config.run
    _known(file, "run.models", run.models, project.models)
    _known(file, "run.benchmarks", run.benchmarks, project.benchmarks)
    _known(file, "run.prompts", run.prompts, {name for _, name in project.prompts})
    _known(file, "run.tables", run.tables, project.tables)
    _known(file, "run.figures", run.figures, project.figures)
    _known(file, "run.n", run.n, project.benchmarks)
    for room, specs in (("tables", project.tables), ("figures", project.figures)):
        for name in getattr(run, room):
            missing = [b for b in specs[name].benchmarks if b not in run.benchmarks]
            if missing:
                raise SpecError(
                    f"{file}: run.{room}: '{name}' needs the benchmark "
                    f"'{missing[0]}'; add it to run.benchmarks"
                )
