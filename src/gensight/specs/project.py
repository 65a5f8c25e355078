"""The whole project as typed specs: every YAML read, every name it uses checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from gensight.errors import GensightError, SpecError
from gensight.specs import checks
from gensight.specs.aggregates import AggregateSpec
from gensight.specs.base import load_spec, parse, parse_yaml
from gensight.specs.benchmark import BenchmarkSpec
from gensight.specs.data_folders import data_folder
from gensight.specs.encoder import EncoderSpec, load_encoder
from gensight.specs.figures import FigureSpec, load_figure
from gensight.specs.judge import JudgeSpec
from gensight.specs.model import ModelSpec
from gensight.specs.prompt import PromptSpec
from gensight.specs.rubric import RubricSpec
from gensight.specs.run import ConfigSpec
from gensight.specs.stops import Stop
from gensight.specs.sweep import SweepSpec
from gensight.specs.tables import TableSpec

SpecT = TypeVar("SpecT")


@dataclass(frozen=True)
class Project:
    """All specs of a checkout and the run that is asked for.

    `prompts` is keyed by (task, name); every other mapping by the file's stem. `stops` says how far
    spending has come, by benchmark; a plan reads it from the ledger (see `gensight.plan.stopping`).
    """

    root: Path
    config: ConfigSpec
    models: Mapping[str, ModelSpec]
    benchmarks: Mapping[str, BenchmarkSpec]
    prompts: Mapping[tuple[str, str], PromptSpec]
    tables: Mapping[str, TableSpec]
    sweeps: Mapping[str, SweepSpec]
    figures: Mapping[str, FigureSpec]
    encoders: Mapping[str, EncoderSpec] = field(default_factory=dict)
    judges: Mapping[str, JudgeSpec] = field(default_factory=dict)
    rubrics: Mapping[str, RubricSpec] = field(default_factory=dict)
    aggregates: Mapping[str, AggregateSpec] = field(default_factory=dict)
    stops: Mapping[str, Stop] = field(default_factory=dict)

    @cached_property
    def ledger(self) -> Path:
        """Return the folder of the ledger, outside Snakemake's outputs."""
        return self.root / self.config.ledger

    def prompt(self, benchmark: str, name: str) -> PromptSpec:
        """Return a benchmark's prompt."""
        return self.prompts[(self.benchmarks[benchmark].task, name)]

    def n(self, benchmark: str) -> int | str:
        """Return the number of samples of a benchmark in this run, as far as it has come."""
        stop = self.stops.get(benchmark)
        return self.most(benchmark) if stop is None else stop.n

    def most(self, benchmark: str) -> int | str:
        """Return the number of samples of a benchmark that this run may ask about at most."""
        return self.config.run.n.get(benchmark, self.benchmarks[benchmark].n)

    def takes_part(self, model: str, benchmark: str, prompt: str) -> bool:
        """Say whether a model takes part: its task, its kind of answer, and its prompts.

        A prompt of several turns must be named by the model.
        """
        spec, task = self.models[model], self.benchmarks[benchmark].task
        if spec.tasks is not None and task not in spec.tasks:
            return False
        if spec.fitted and self.benchmarks[benchmark].held_out is None:
            return False
        subjects = self.config.run.prompt_subjects.get(prompt)
        if subjects is not None and model not in self.subjects(subjects):
            return False
        asked = self.prompt(benchmark, prompt)
        if asked.answers != spec.answers:
            return False
        return len(asked.turns) == 1 if spec.prompts is None else prompt in spec.prompts

    def asks(self, model: str) -> str | None:
        """Return the provider that a model's jobs ask under its lock, one at a time; None: none.

        A server that a job starts is nobody else's, and the job waits for nobody.
        """
        spec, endpoints = self.models[model], self.config.endpoints
        names = [name for name in (model, spec.provider) if name is not None]
        starts = spec.server is not None and not any(endpoints.get(name) for name in names)
        return None if starts else spec.provider

    def gpus(self, model: str) -> int:
        """Return the GPUs of a model's job: none where all it does is to ask a server elsewhere."""
        return 0 if self.asks(model) is not None else self.models[model].limits.gpu

    def judges_at(self, *kinds: str) -> list[str]:
        """Return the judges one of whose models runs at one of these kinds of place."""
        return [
            name
            for name, judge in self.judges.items()
            if any(self.models[model].kind in kinds for model in judge.models)
        ]

    def ranks(self, benchmark: str, prompt: str) -> int | str:
        """Return how many first ranks of a benchmark a prompt is asked about."""
        n, limit = self.n(benchmark), self.config.run.prompt_ranks.get(prompt)
        if limit is None:
            return n
        return limit if n == "all" else min(n, limit)

    def subjects(self, name: str) -> list[str]:
        """Return the models that the run lists under this name, or none."""
        return self.config.run.subjects.get(name, [])

    def all_aggregates(self, aggregate: str) -> list[str]:
        """Return an aggregate behind all those that it needs, each once."""
        needed = self.aggregates[aggregate].aggregates
        below = [name for other in needed for name in self.all_aggregates(other)]
        return list(dict.fromkeys([*below, aggregate]))

    def aggregated(self, aggregate: str) -> list[str]:
        """Return the benchmarks that an aggregate is made from, through others as well."""
        names = self.all_aggregates(aggregate)
        return list(dict.fromkeys(b for name in names for b in self.aggregates[name].benchmarks))

    def data_folder(self, module: str) -> Path:
        """Return where the files of a data set module are looked for."""
        return data_folder(self.config.model_dump(), self.root, module)


def load_project(config: Mapping[str, Any], root: Path) -> Project:
    """Read every spec below `root` and check the names they use.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    config_file = _config_file(root, config)
    parsed = parse(config_file, ConfigSpec, dict(config))
    project = Project(
        root=root,
        config=parsed,
        models=_folder(root, "config/models", partial(load_spec, model=ModelSpec)),
        benchmarks=_folder(root, "config/benchmarks", partial(load_spec, model=BenchmarkSpec)),
        prompts=_prompts(root),
        tables=_folder(root, "config/tables", partial(load_spec, model=TableSpec)),
        sweeps=_folder(root, "config/sweeps", partial(load_spec, model=SweepSpec)),
        figures=_folder(root, "config/figures", load_figure),
        encoders=_folder(root, "config/encoders", load_encoder),
        judges=_folder(root, "config/judges", partial(load_spec, model=JudgeSpec)),
        rubrics=_folder(root, "resources/rubrics", partial(load_spec, model=RubricSpec)),
        aggregates=_folder(root, "config/aggregates", partial(load_spec, model=AggregateSpec)),
    )
    checks.check(project, config_file)
    return project


def load_or_exit(config: Mapping[str, Any], root: Path) -> Project:
    """Load the project, or end with one line: an exception would print Snakemake's frames."""
    try:
        return load_project(config, root)
    except GensightError as error:
        leave(error)


def leave(error: GensightError) -> NoReturn:
    """End the process with the error's one line."""
    sys.exit(f"gensight: {' '.join(str(error).splitlines())}")


def _config_file(root: Path, config: Mapping[str, Any]) -> str:
    """Return what to call the config in errors: which file of a merged one is wrong is not known.

    Snakemake reads the file itself and keeps the last of a key given twice: refused here.
    """
    path = root / "config/config.yaml"
    if path.exists() and _relative(root, path, parse_yaml) == config:
        return "config/config.yaml"
    return "the config (config/config.yaml and any --configfile)"


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
        found = {path.stem: spec}
        if spec.sizes is not None:
            found = {f"{path.stem}_{size}": spec.at(size) for size in spec.sizes}
        for name, prompt in found.items():
            if (spec.task, name) in prompts:
                raise SpecError(
                    f"{path.relative_to(root)}: there is another prompt '{name}' of this task; "
                    f"rename the file, or change its sizes"
                )
            prompts[(spec.task, name)] = prompt
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
