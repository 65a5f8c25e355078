"""Whether a model of the checkout can run here and, where not, why and what to do about it.

Only what can be seen without importing an adapter, starting a program or loading anything. That
weights may be downloaded, fit their model and fit into memory shows when it runs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Literal

from gensight import models, providers
from gensight.cli.weights import WeightsTold, weights_told
from gensight.models import Site
from gensight.slurm import commands
from gensight.specs.encoder import EncoderSpec
from gensight.specs.hosting import AGENT
from gensight.specs.model import ModelSpec
from gensight.specs.project import Project
from gensight.specs.protocols import OWN_SERVER

_TORCH = ("torch", "torchvision", "transformers")
_DIFFUSERS = (*_TORCH, "accelerate", "diffusers")
_OPENAI = ("httpx2", "openai")
#: {protocol: {extra of gensight: modules of it that the adapter imports}}
NEEDS: dict[str, dict[str, tuple[str, ...]]] = {
    "diffusers_edit": {"models": _DIFFUSERS},
    "diffusers_depth": {"models": _DIFFUSERS},
    "transformers_depth": {"models": _TORCH},
    "transformers_segment": {"models": _TORCH},
    "transformers_chat": {"models": _TORCH},
    AGENT: {"models": _TORCH, "openai": _OPENAI},
    "openai_images": {"openai": _OPENAI},
    "openai_responses": {"openai": _OPENAI},
    "openai_chat": {"openai": _OPENAI},
    "ark_images": {"openai": _OPENAI},
    "google_generate": {"google": ("google.genai", "httpx2")},
    "anthropic_messages": {"anthropic": ("anthropic", "httpx2")},
    "bfl_task": {"hosted": ("httpx2",)},
}
#: {module of an encoder: {extra of gensight: modules of it that the encoder imports}}
ENCODER_NEEDS: dict[str, dict[str, tuple[str, ...]]] = {
    "siglip": {"models": ("torch", "transformers", "sentencepiece")},
    "dinov2": {"models": ("torch", "transformers")},
    "open_clip_pair": {"open_clip": ("torch", "open_clip")},
}
#: What weights in NF4 need beside them.
QUANTISATION = {"quant": ("bitsandbytes",)}
COMMAND = "external_command"
NO_KEY = "no key"
WRAPPERS = Path("workflow/wrappers")


def is_importable(module: str) -> bool:
    """Say whether a module could be imported, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution, None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Machine:
    """What models find here: modules that can be imported, a GPU, a way to submit jobs to Slurm.

    `torch` is the version of torch that is installed, None where none is.
    """

    modules: Collection[str]
    has_gpu: bool
    has_slurm: bool
    torch: str | None

    @classmethod
    def this(cls, devices: Path = Path("/dev")) -> Machine:
        """Look at this machine, whose device files lie in `devices`."""
        wanted = {
            name
            for extras in (*NEEDS.values(), *ENCODER_NEEDS.values(), QUANTISATION)
            for modules in extras.values()
            for name in modules
        }
        return cls(
            {name for name in wanted if is_importable(name)},
            _sees_gpu(devices),
            commands.is_here("sbatch"),
            version_of("torch"),
        )


def _sees_gpu(devices: Path) -> bool:
    """Say whether there is an NVIDIA GPU that a process may use.

    CUDA_VISIBLE_DEVICES has the last word: a job's are in it, and it may hide all of them.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return visible.strip() not in ("", "-1", "NoDevFiles")
    return any(devices.glob("nvidia[0-9]*")) or shutil.which("nvidia-smi") is not None


@dataclass(frozen=True)
class Readiness:
    """Where a model can run: `here`, `cluster` (only a GPU is missing, and Slurm is here), `no`.

    `reasons` say why not here: what is missing, and what to do.
    """

    runs: Literal["here", "cluster", "no"]
    reasons: list[str]


def readiness(
    name: str, project: Project, machine: Machine, keys: Mapping[str, str] | None = None
) -> Readiness:
    """Say where a model of a checkout can run.

    `keys` says of providers what is wrong with their key. A model that runs nowhere still has the
    answers that the ledger holds.
    """
    spec = project.models[name]
    site = Site.of(project.config.model_dump(), project.root, spec.limits)
    nothing_helps = _nothing_helps(spec)
    if nothing_helps is not None:
        return Readiness("no", [nothing_helps])
    lacks = list(_lacks(name, spec, site, machine, keys or {}))
    gpus = project.gpus(name)
    lacks_gpu = list(_gpu(gpus, spec, machine))
    if not lacks and not lacks_gpu:
        return Readiness("here", [])
    on_cluster = not lacks and not machine.has_gpu and machine.has_slurm and gpus > 0
    return Readiness("cluster" if on_cluster else "no", [*lacks, *lacks_gpu])


def _nothing_helps(spec: ModelSpec) -> str | None:
    """Return why a model cannot run, where nothing that is installed would change it."""
    if spec.kind == "published":
        return "published numbers: nothing is run"
    if spec.adapter not in models.available():
        return f"this version has no adapter {spec.adapter}"
    if spec.retired is not None and datetime.now(UTC).date() >= spec.retired.date:
        return f"retired on {spec.retired.date}: only cached answers are used"
    if spec.adapter == COMMAND and spec.generation.get("wrapper") is None:
        return "documented only: it has no wrapper (docs/external-commands.md)"
    return None


def _lacks(
    name: str, spec: ModelSpec, site: Site, machine: Machine, keys: Mapping[str, str]
) -> Iterator[str]:
    """Yield everything that is missing, a GPU apart."""
    yield from _packages(spec, machine)
    told = weights_of(spec, site.root)
    if told is not None and told.is_lack:
        yield told.text
    if spec.adapter == COMMAND:
        yield from _wrapper(spec, site)
    elif spec.kind == "served" or spec.provider == OWN_SERVER:
        yield from _server(name, spec, site)
    elif spec.provider in keys:
        yield _key(spec.provider, keys[spec.provider])


def _key(provider: str, problem: str) -> str:
    if problem != NO_KEY:
        return problem
    variables = " or ".join(providers.load(provider).KEY_VARIABLES)
    return f"no key: export {variables}, or name a keys_file in the config"


def weights_of(spec: ModelSpec, root: Path) -> WeightsTold | None:
    """Return what is to be known of the weights that a model's own process loads, None: nothing."""
    return weights_told(spec.generation, root) if _uses_torch(spec) else None


def encoder_lacks(spec: EncoderSpec, machine: Machine, root: Path) -> list[str]:
    """Return what an encoder lacks here: packages, weights. A GPU only makes it faster."""
    told = encoder_weights(spec, root)
    missing = list(_missing(ENCODER_NEEDS.get(spec.module, {}), machine))
    return [*missing, told.text] if told is not None and told.is_lack else missing


def encoder_weights(spec: EncoderSpec, root: Path) -> WeightsTold | None:
    """Return what is to be known of the weights of an encoder beforehand, None: nothing."""
    return weights_told(spec.settings, root) if spec.module in ENCODER_NEEDS else None


def _packages(spec: ModelSpec, machine: Machine) -> Iterator[str]:
    needs = dict(NEEDS.get(spec.adapter, {}))
    if _is_quantised(spec):
        needs |= QUANTISATION
    yield from _missing(needs, machine)


def _missing(needs: Mapping[str, tuple[str, ...]], machine: Machine) -> Iterator[str]:
    for extra, modules in needs.items():
        missing = [module for module in modules if module not in machine.modules]
        if missing:
            yield f"no {', '.join(missing)}: pip install 'gensight[{extra}]'"


def _gpu(gpus: int, spec: ModelSpec, machine: Machine) -> Iterator[str]:
    """Yield why the GPUs that a model's job asks for cannot be used."""
    is_quantised = _is_quantised(spec)
    if not machine.has_gpu and (gpus > 0 or is_quantised):
        needs = ", and NF4 needs one" if is_quantised else ""
        asking = "" if gpus > 0 else "limits.gpu: 1 and "
        yield f"no GPU seen{needs}: on a cluster, {asking}--profile slurm"
    elif machine.has_gpu and _uses_torch(spec) and (machine.torch or "").endswith("+cpu"):
        yield f"torch {machine.torch} uses no GPU: install a build for CUDA"


def _is_quantised(spec: ModelSpec) -> bool:
    return spec.generation.get("quantisation") == "nf4"


def _uses_torch(spec: ModelSpec) -> bool:
    return "models" in NEEDS.get(spec.adapter, {})


def _wrapper(spec: ModelSpec, site: Site) -> Iterator[str]:
    """Yield what an external command lacks: its wrapper, its environment, its code."""
    name, environment = spec.generation["wrapper"], spec.generation.get("environment")
    if not (site.root / WRAPPERS / f"{name}.py").is_file():
        yield f"no {WRAPPERS}/{name}.py: write it, or correct generation.wrapper"
        return
    folder = Path(sys.prefix)
    if environment is not None:
        folder = _folder(environment, site)
        if not (folder / "bin/python").exists():
            yield f"no {_told(folder, site)}/bin/python: {_making(environment, folder, site)}"
            return
    repository = spec.generation.get("repository")
    if repository is not None and not (folder / "repository").is_dir():
        clone = f"{_told(folder, site)}/repository"
        yield f"no {clone}: git clone https://github.com/{repository} {clone}"


def _server(name: str, spec: ModelSpec, site: Site) -> Iterator[str]:
    """Yield what a model lacks that a server of one's own answers for."""
    if not _starts_server(name, spec, site):
        if not (site.endpoint(name, OWN_SERVER) or spec.generation.get("base_url")):
            yield f"no server: give it server:, or name one that runs in endpoints.{name}"
        return
    assert spec.server is not None
    program, environment = spec.server.command[0], spec.server.environment
    path, place = os.environ.get("PATH", os.defpath), "on the PATH"
    if environment is not None:
        folder = _folder(environment, site)
        path, place = f"{folder / 'bin'}{os.pathsep}{path}", f"in {_told(folder, site)}/bin"
        if not (folder / "bin").is_dir():
            making = _making(environment, folder, site)
            yield f"no {_told(folder, site)}/bin: {making}, or name endpoints.{name}"
            return
    is_path = os.sep in program
    tried = str((site.root / Path(program).expanduser()).absolute()) if is_path else program
    if shutil.which(tried, path=path) is None:
        found = program if is_path else f"{program} {place}"
        yield f"no {found}: install it, or name a server that runs in endpoints.{name}"


def _starts_server(name: str, spec: ModelSpec, site: Site) -> bool:
    return spec.server is not None and site.endpoint(name, OWN_SERVER) is None


def _folder(environment: str, site: Site) -> Path:
    """Return where an environment is looked for."""
    given = site.environments.get(environment, f".envs/{environment}")
    return (site.root / Path(given).expanduser()).absolute()


def _told(folder: Path, site: Site) -> str:
    """Return a folder as a command in the root of the checkout would name it."""
    root = site.root.absolute()
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _making(environment: str, folder: Path, site: Site) -> str:
    """Return the command that makes an environment, where the checkout says what is in it."""
    if not (site.root / f"envs/{environment}.yaml").is_file():
        return "make that environment"
    return f"conda env create -p {_told(folder, site)} -f envs/{environment}.yaml"
