"""What `gensight doctor` looks at; every function reads, none changes or imports anything heavy.

A problem keeps the run from running; a warning does not.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from gensight import datasets, models, providers
from gensight.cli.checkout import CONFIG, load_config, parameters_of
from gensight.cli.readiness import (
    NO_KEY,
    Machine,
    encoder_lacks,
    encoder_weights,
    is_importable,
    readiness,
    version_of,
    weights_of,
)
from gensight.cli.weights import WeightsTold
from gensight.errors import GensightError, SpecError
from gensight.plan.cells import Cells
from gensight.providers.keys import find_key
from gensight.runner.parking import parked_lines
from gensight.specs import declared
from gensight.specs.base import read_yaml
from gensight.specs.project import Project, load_project
from gensight.specs.protocols import PROTOCOLS

# Name as people say it: the module that its absence would be missed by, and its distribution.
EXTRAS = {
    "torch": ("torch", "torch"),
    "diffusers": ("diffusers", "diffusers"),
    "transformers": ("transformers", "transformers"),
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
    "openai": ("openai", "openai"),
    "google-genai": ("google.genai", "google-genai"),
    "anthropic": ("anthropic", "anthropic"),
}
LEAST_DISK_BYTES, LITTLE_DISK_BYTES = 10**8, 10**9
NEVER_RUN = "never run here"
KEY_HERE, NEEDS_NO_KEY = "key here", "needs no key"


@dataclass
class Health:
    """Everything that was found, with what keeps the run from running.

    `run` names that, and `place` the file that it is asked for in.
    """

    run: str = "the demo"
    place: str = str(CONFIG)
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def examine(root: Path, configfiles: Sequence[str] = ()) -> Health:
    """Look at the installation and, below `root`, at the checkout and the run of its config."""
    health = Health("this run", _listing(configfiles)) if configfiles else Health()
    health.facts["versions"] = _versions(health)
    health.facts["extras"] = {name: _extra(*names) for name, names in EXTRAS.items()}
    health.facts["api_keys"] = _api_keys(health)
    health.facts["free_disk_bytes"] = _free_disk(root, health)
    machine = Machine.this()
    health.facts["machine"] = {"gpu": machine.has_gpu, "slurm": machine.has_slurm}
    if not (root / "Snakefile").is_file():
        health.warnings.append(
            "no Snakefile here: in the root of the checkout, models, "
            "benchmarks and folders are examined too"
        )
        return health
    try:
        project = load_project(load_config(configfiles, root), root)
    except GensightError as error:
        health.problems.append(str(error).replace(f"{root}/", ""))
        return health
    if configfiles:
        health.run = f"the run '{project.config.run.name}'"
    health.facts["providers"] = _providers(project)
    health.facts["models"] = _models(project, machine, health)
    health.facts["encoders"] = _encoders(project, machine, health)
    health.facts["benchmarks"] = _benchmarks(project, health)
    health.facts["folders"] = _folders(root, project, health)
    return health


def _listing(configfiles: Sequence[str]) -> str:
    """Return the file of those merged that lists the models of the run, or the last one."""
    for name in reversed(configfiles):
        with suppress(GensightError):  # told where the config is loaded
            run = read_yaml(Path(name)).get("run")
            if isinstance(run, Mapping) and run.get("models"):
                return name
    return configfiles[-1]


def _versions(health: Health) -> dict[str, str | None]:
    """Return the versions of Python, gensight and what it depends on, as installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    found["gensight"] = metadata.version("gensight")
    for text in metadata.requires("gensight") or []:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = version_of(requirement.name)
        found[requirement.name] = version
        if version is None:
            health.problems.append(f"{requirement.name} is not installed; run: make setup")
        elif version not in requirement.specifier:
            health.problems.append(
                f"{requirement.name} {version} is installed, gensight needs "
                f"{requirement.specifier}; run: make setup"
            )
    return found


def _extra(module: str, distribution: str) -> dict[str, Any]:
    """Say whether a module could be imported, without importing it."""
    return {"importable": is_importable(module), "version": version_of(distribution)}


def _api_keys(health: Health) -> list[str]:
    """Return the names, never the values, of exported keys: requests under them cost money."""
    names = sorted(name for name in os.environ if name.endswith("_API_KEY"))
    health.warnings += [
        f"{name} is exported: every process started here can spend on it" for name in names
    ]
    return names


def _free_disk(root: Path, health: Health) -> int:
    free = shutil.disk_usage(root).free
    if free < LEAST_DISK_BYTES:
        health.problems.append(f"{free / 1e6:.0f} MB of disk are free; make room")
    elif free < LITTLE_DISK_BYTES:
        health.warnings.append(f"only {free / 1e6:.0f} MB of disk are free")
    return free


def _models(project: Project, machine: Machine, health: Health) -> dict[str, dict[str, Any]]:
    """Return every model with its adapter, and where it can run; else why not, and what to do.

    A model of the run, or a judge of it, that can be asked nowhere is a warning, as the ledger may
    have its answers; one without an adapter is a problem.
    """
    told = {name: found["key"] for name, found in health.facts["providers"].items()}
    keys = {name: key for name, key in told.items() if key not in (KEY_HERE, NEEDS_NO_KEY)}
    found, adapters, asked = {}, models.available(), Cells(project).asked_models()
    for name, spec in project.models.items():
        ready = readiness(name, project, machine, keys)
        here = spec.adapter in adapters
        found[name] = {
            "adapter": spec.adapter,
            "kind": spec.kind,
            "adapter_exists": here,
            "runs": ready.runs,
            "reasons": ready.reasons,
            "note": None if PROTOCOLS[spec.adapter].proven else NEVER_RUN,
            "weights": _text(weights_of(spec, project.root)),
        }
        if name not in asked or spec.kind == "published":  # nobody asks that one anything
            continue
        if not here:
            health.problems.append(
                f"{health.place}: run.models: '{name}' needs the adapter '{spec.adapter}', "
                "which this version does not have"
            )
        elif ready.runs == "no":
            health.warnings.append(
                f"{health.place}: run.models: '{name}' cannot run here: {'; '.join(ready.reasons)}"
            )
    return found


def _text(told: WeightsTold | None) -> str | None:
    return None if told is None else told.text


def _encoders(project: Project, machine: Machine, health: Health) -> dict[str, dict[str, Any]]:
    """Return every encoder with what it lacks here, which is a warning if the run needs it."""
    run = project.config.run
    needed = {
        scorer.encoder
        for name in run.benchmarks
        for scorer in project.benchmarks[name].scorers.values()
    }
    found = {}
    for name, spec in project.encoders.items():
        lacks = encoder_lacks(spec, machine, project.root)
        note = "stands in where there are no weights" if spec.stand_in else NEVER_RUN
        weights = _text(encoder_weights(spec, project.root))
        found[name] = {"module": spec.module, "reasons": lacks, "note": note, "weights": weights}
        if lacks and name in needed:
            health.warnings.append(
                f"config/encoders/{name}.yaml: cannot embed here: {'; '.join(lacks)}"
            )
    return found


def _providers(project: Project) -> dict[str, dict[str, Any]]:
    """Return every provider of a hosted model: whether there is a key, and what parks it now."""
    used = {model.provider for model in project.models.values() if model.provider is not None}
    return {
        name: {"key": _key(name, project), "parked": parked_lines(project.ledger, {name})}
        for name in sorted(used)
    }


def _key(provider: str, project: Project) -> str:
    """Say whether a provider's key is here, or what is wrong with the file that should hold it."""
    if not providers.load(provider).KEY_VARIABLES:
        return NEEDS_NO_KEY
    try:
        find_key(provider, project.config.keys_file, project.root)
    except SpecError as error:
        return NO_KEY if project.config.keys_file is None else str(error)
    return KEY_HERE


def _benchmarks(project: Project, health: Health) -> dict[str, dict[str, Any]]:
    """Return every benchmark with whether its data are here, and what to get where they are not.

    A data set module whose data are not built in says so itself: `missing_data(parameters)`
    returns None, or what to get and where to put it.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, spec in project.benchmarks.items():
        module = spec.dataset.module
        constants = declared.constants("datasets", module)
        parameters = {**constants.get("DEFAULTS", {}), **spec.dataset.parameters}
        if "FOLDER" in constants:
            parameters = parameters_of(project, name, frozen=False)
        missing = _missing_data(module, parameters)
        found[name] = {"dataset": module, "data_present": missing is None, "missing": missing}
        if missing and name in project.config.run.benchmarks:
            health.problems.append(f"{name}: {missing}")
    return found


def _missing_data(module: str, parameters: dict[str, Any]) -> str | None:
    ask = getattr(datasets.load(module), "missing_data", None)
    return ask(parameters) if ask else None


def _folders(root: Path, project: Project, health: Health) -> dict[str, bool]:
    """Say which of the folders that a run writes to can be written."""
    folders = {"ledger": project.ledger, "results": root / "results", "logs": root / "logs"}
    found = {}
    for name, path in folders.items():
        existing = next(p for p in (path, *path.parents) if p.exists())
        found[name] = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
        if not found[name]:
            health.problems.append(f"{name}: nothing can be written to {path}")
    return found
