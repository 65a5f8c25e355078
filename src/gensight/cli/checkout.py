"""The checkout that a command is run in: its config as Snakemake merges it, its data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from gensight.datasets._manifest import read_manifest
from gensight.errors import GensightError
from gensight.plan.seeds import fresh_seed
from gensight.specs import declared
from gensight.specs.base import parse, read_yaml
from gensight.specs.project import Project, load_project
from gensight.specs.run import ConfigSpec
from gensight.specs.words import unknown

CONFIG = Path("config/config.yaml")

configfile_option: Callable[[Any], Any] = click.option(
    "--configfile",
    "configfiles",
    multiple=True,
    metavar="FILE",
    help="Merged over config/config.yaml, as Snakemake does; may repeat.",
)


def check_root(root: Path = Path()) -> None:
    """Refuse another folder than the root of a checkout.

    Raises:
        GensightError: the folder has no Snakefile.
    """
    if not (root / "Snakefile").is_file():
        raise GensightError("there is no Snakefile here: run this in the root of the checkout")


def load_config(configfiles: Sequence[str] = (), root: Path = Path()) -> dict[str, Any]:
    """Return the config of a checkout, the working folder, with these files merged over it.

    Raises:
        GensightError: this is not the root of a checkout.
        SpecError: a file is no YAML mapping.
    """
    check_root(root)
    config: dict[str, Any] = read_yaml(root / CONFIG)
    for name in configfiles:
        config = merge(config, read_yaml(Path(name)))
    return config


def load_checkout(configfiles: Sequence[str] = ()) -> Project:
    """Return the project of the working folder.

    Raises:
        GensightError: this is not the root of a checkout.
        SpecError: a YAML file is wrong.
    """
    return load_project(load_config(configfiles), Path.cwd())


def ledger_of(configfiles: Sequence[str] = ()) -> Path:
    """Return where the config of the working folder keeps replies.

    Raises:
        GensightError: this is not the root of a checkout.
        SpecError: the config is wrong.
    """
    place = CONFIG if not configfiles else f"{CONFIG} and {', '.join(configfiles)}"
    return Path(parse(place, ConfigSpec, load_config(configfiles)).ledger)


def merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return two configs as one: mappings are merged, anything else of the second replaces."""
    merged = dict(first)
    for key, value in second.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(old, value) if both else value
    return merged


def check_benchmark(project: Project, name: str) -> str:
    """Return the name of a benchmark whose data set is the user's files.

    Raises:
        SpecError: there is no benchmark of this name.
        GensightError: its data set is built in.
    """
    if name not in project.benchmarks:
        raise unknown("config/benchmarks", "benchmark", name, sorted(project.benchmarks))
    module = project.benchmarks[name].dataset.module
    if module not in declared.disk_modules():
        raise GensightError(f"{name}: its data set, {module}, is built in: no files, no manifest")
    return name


def parameters_of(project: Project, benchmark: str, *, frozen: bool = True) -> dict[str, Any]:
    """Return the parameters that a benchmark's data set on disk is read with.

    With `frozen` the benchmark's manifest, where it has one, is among them.

    Raises:
        SpecError: a parameter or the manifest is wrong.
    """
    spec = project.benchmarks[benchmark].dataset
    given = dict(spec.parameters)
    if given.get("seed") == "fresh":
        given["seed"] = fresh_seed(project.ledger, benchmark)
    file = f"config/benchmarks/{benchmark}.yaml"
    parameters = declared.merged(file, "dataset.parameters", "datasets", spec.module, given)
    placed = _placed(project, spec.module, parameters)
    if frozen and spec.manifest is not None:
        placed["manifest"] = read_manifest(project.root / spec.manifest)
    return placed


def default_parameters(project: Project, module: str) -> dict[str, Any]:
    """Return a module's own defaults, with the place of its files in this checkout."""
    return _placed(project, module, declared.constants("datasets", module)["DEFAULTS"])


def _placed(project: Project, module: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    twin = project.config.run.twin or parameters["twin"]
    source = declared.constants("datasets", module)["SOURCE"]
    root = str(project.data_folder(module))
    return {**parameters, "twin": twin, "root": root, "source": source}


def ranks_needed(project: Project, benchmark: str) -> int | None:
    """Return how many first ranks a benchmark uses, held-out ones included; None: all."""
    n, held_out = project.n(benchmark), project.benchmarks[benchmark].held_out
    if isinstance(n, str):
        return None
    return max(n, held_out.first_rank + held_out.n if held_out else 0)
