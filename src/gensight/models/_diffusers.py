"""Loading a pipeline of diffusers so that nothing in it is left to chance.

Each component that has weights is loaded by itself, so that its keys can be checked; the pipeline
is then built around them. Facts of diffusers 0.42.1 and transformers 5.24.0.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.errors import GensightError, SpecError
from gensight.images import decode_rgb
from gensight.models import Site
from gensight.models._settings import load_sdk
from gensight.models._torch import (
    Weights,
    check_loading,
    device,
    dtype_of,
    load_package,
    name_of,
    refuse_nan,
)
from gensight.specs.words import unknown

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

INDEX = "model_index.json"
LIBRARIES = ("diffusers", "transformers")
PACKAGES = ("accelerate", "diffusers", "transformers")
QUANTISATIONS = ("nf4",)
OFFLOADS = ("none", "model_cpu", "sequential")
#: Characters of a library's own words in an error.
MOST_TOLD = 400
#: What bitsandbytes stores beside a quantised weight; the model has no such keys.
QUANTISED_BESIDE = re.compile(
    r"\.weight\.(absmax|quant_map|nested_absmax|nested_quant_map|quant_state\..+)"
)
#: Of a stored quantisation: what is told about it.
TOLD = (
    "quant_method",
    "load_in_4bit",
    "load_in_8bit",
    "bnb_4bit_quant_type",
    "bnb_4bit_compute_dtype",
    "bnb_4bit_use_double_quant",
)


@dataclass(frozen=True)
class Loaded:
    """A pipeline on its device, and what its answers' setup says about it.

    `quantisation` maps a component to how its weights are stored; None where none is quantised.
    """

    pipeline: Any
    weights: Weights
    revision: str | None
    dtype: torch.dtype
    quantisation: dict[str, Any] | None
    offload: str | None

    def told(self) -> dict[str, Any]:
        """Return the arguments of `setup_json` that all answers of the pipeline share."""
        return {
            "weights": self.weights,
            "revision": self.revision,
            "dtype": self.dtype,
            "packages": self.packages(),
            "quantisation": self.quantisation,
            "offload": self.offload,
        }

    def packages(self) -> tuple[str, ...]:
        """Return the packages whose versions an answer may depend on."""
        return PACKAGES if self.quantisation is None else (*PACKAGES, "bitsandbytes")


def load_pipeline(adapter: str, settings: Mapping[str, Any], site: Site, class_name: str) -> Loaded:
    """Load a pipeline's components, check their keys, and bring it where it is to run.

    Raises:
        GensightError: a package is missing, the repository holds another pipeline, or weights do
            not fit their model.
        SpecError: a setting that cannot be, here or with these weights.
    """
    diffusers = load_package(adapter, "diffusers")
    for needed in ("transformers", "accelerate"):
        load_package(adapter, needed)
    dtype, offload = dtype_of(settings), _offload(settings)
    weights = Weights.of(settings, site)
    pipeline_class = getattr(diffusers, class_name)
    folder = _folder(pipeline_class, weights)
    index = _index(folder, weights.name, class_name)
    parts, quantisation = _parts(adapter, folder, weights.name, index, dtype, settings)
    pipeline = pipeline_class.from_pretrained(str(folder), **parts)
    pipeline.set_progress_bar_config(disable=True)
    _place(pipeline, offload)
    return Loaded(
        pipeline,
        weights,
        weights.resolved_revision(INDEX),
        dtype,
        quantisation or None,
        None if offload == "none" else offload,
    )


def _folder(pipeline_class: Any, weights: Weights) -> Path:
    """Return the pipeline's folder, got from the hub where it is not in its cache."""
    if weights.is_folder:
        return Path(weights.place)
    try:
        return Path(pipeline_class.download(weights.place, **weights.loading()))
    except (OSError, ValueError) as error:
        told = " ".join(str(error).split())[:MOST_TOLD]
        raise GensightError(
            f"{weights.name}: cannot be got from the hub (is it gated, or the network closed?): "
            f"{told}"
        ) from error


def _offload(settings: Mapping[str, Any]) -> str:
    offload = str(settings["offload"])
    if offload not in OFFLOADS:
        raise unknown("generation", "offload", offload, OFFLOADS)
    if offload != "none" and device() == "cpu":
        raise SpecError(
            f"generation: offload: '{offload}' moves weights between a CUDA device and the main "
            f"memory, and there is no CUDA device; write offload: none"
        )
    return offload


def _index(folder: Path, name: str, class_name: str) -> dict[str, tuple[str, str]]:
    """Return {component: (library, class)} of a pipeline's folder."""
    path = folder / INDEX
    if not path.exists():
        raise GensightError(f"{name}: {INDEX} is not there; model must name a diffusers pipeline")
    index = json.loads(path.read_text(encoding="utf-8"))
    if index.get("_class_name") != class_name:
        raise GensightError(
            f"{name}: {INDEX} says {index.get('_class_name')}, the spec {class_name}; "
            f"correct generation.pipeline or generation.model"
        )
    entries = {key: value for key, value in index.items() if isinstance(value, list)}
    return {key: (value[0], value[1]) for key, value in entries.items() if value[0] is not None}


def _parts(
    adapter: str,
    folder: Path,
    name: str,
    index: Mapping[str, tuple[str, str]],
    dtype: torch.dtype,
    settings: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the components that have weights, and how the quantised ones are stored."""
    stored = {component: _stored_quantisation(folder / component) for component in index}
    quantise = _to_quantise(name, index, stored, settings)
    config = nf4_config(adapter, quantise, index, name_of(dtype)) if quantise else None
    parts, quantisation = {}, {}
    for component, (library, class_name) in index.items():
        model_class = _class_of(f"{name}: {component}", library, class_name)
        if not _has_weights(model_class):
            continue
        how = {} if component not in quantise else {"config": config.quant_mapping[component]}
        parts[component] = _load(
            model_class, folder, component, f"{name}/{component}", dtype, settings, **how
        )
        if component in quantise:
            quantisation[component] = told_quantisation(config.quant_mapping[component].to_dict())
        elif stored[component] is not None:
            quantisation[component] = told_quantisation(stored[component])
    return parts, quantisation


def _class_of(where: str, library: str, class_name: str) -> Any:
    """Return a component's class; one that a pipeline's own module names is a library's too."""
    for room in [library] if library in LIBRARIES else LIBRARIES:
        found = getattr(importlib.import_module(room), class_name, None)
        if found is not None:
            return found
    raise GensightError(
        f"{where} is a {class_name} of '{library}', which is not in {' or '.join(LIBRARIES)} as "
        f"they are installed; take versions that have it"
    )


def _has_weights(model_class: Any) -> bool:
    import torch

    return isinstance(model_class, type) and issubclass(model_class, torch.nn.Module)


def _load(
    model_class: Any,
    folder: Path,
    component: str,
    where: str,
    dtype: torch.dtype,
    settings: Mapping[str, Any],
    config: Any = None,
) -> Any:
    quantised = {} if config is None else {"quantization_config": config}
    try:
        model, info = model_class.from_pretrained(
            str(folder), subfolder=component, dtype=dtype, output_loading_info=True, **quantised
        )
    except (OSError, ValueError, RuntimeError) as error:
        # What a library refuses by itself, e.g. a file that is not there or of another shape.
        raise GensightError(f"{where}: {' '.join(str(error).split())[:MOST_TOLD]}") from error
    check_loading(where, {**info, "unexpected_keys": strangers(info, settings)})
    return model.eval()


def strangers(info: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Return the unexpected keys that neither quantisation nor the spec explains."""
    allowed = [QUANTISED_BESIDE, *map(re.compile, settings["ignored_keys"])]
    keys = map(str, info.get("unexpected_keys") or ())
    return [key for key in keys if not any(pattern.search(key) for pattern in allowed)]


def _stored_quantisation(folder: Path) -> dict[str, Any] | None:
    path = folder / "config.json"
    if not path.exists():
        return None
    return json.loads(path.read_text(encoding="utf-8")).get("quantization_config")


def told_quantisation(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer's setup tells of a stored or wanted quantisation."""
    found = {key: config[key] for key in TOLD if config.get(key) is not None}
    return {key: getattr(value, "value", value) for key, value in found.items()}


def _to_quantise(
    name: str,
    index: Mapping[str, Any],
    stored: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> list[str]:
    """Return the components to quantise at load: those that are not stored quantised already.

    Raises:
        SpecError: the spec does not say that the weights are quantised; no such component; no CUDA.
    """
    quantisation = settings["quantisation"]
    ready = sorted(component for component, config in stored.items() if config is not None)
    if quantisation is None:
        if ready:
            raise SpecError(
                f"generation: quantisation: {name} holds quantised weights "
                f"({', '.join(ready)}); say so: quantisation: nf4"
            )
        return []
    for component in ready:
        kind = stored[component].get("bnb_4bit_quant_type")
        if kind != quantisation:
            raise SpecError(
                f"generation: quantisation: the spec says {quantisation}, "
                f"{name}/{component}/config.json says {kind}"
            )
    wanted = settings["quantised_components"]
    for component in wanted:
        if component not in index:
            raise unknown("generation", "quantised_components", component, index)
    if device() == "cpu":
        raise SpecError(
            f"generation: quantisation: {quantisation} needs a CUDA device, and there is none"
        )
    return [component for component in wanted if component not in ready]


def nf4_config(
    adapter: str, components: list[str], index: Mapping[str, tuple[str, str]], compute_dtype: str
) -> Any:
    """Return diffusers' `PipelineQuantizationConfig` that loads components in 4-bit NormalFloat.

    Each component gets the class of its own library. `compute_dtype` is what is multiplied in.
    Source: QLoRA (Dettmers et al. 2023), as bitsandbytes has it; double quantisation is left off,
    as in the ready repository of FLUX.2-dev (assumed).

    Raises:
        GensightError: bitsandbytes is not installed.
    """
    load_sdk(adapter, "bitsandbytes", "quant")
    diffusers = load_package(adapter, "diffusers")
    mapping = {}
    for component in components:
        library = importlib.import_module(index[component][0])
        mapping[component] = library.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute_dtype
        )
    return diffusers.PipelineQuantizationConfig(quant_mapping=mapping)


def _place(pipeline: Any, offload: str) -> None:
    if offload == "model_cpu":
        pipeline.enable_model_cpu_offload()
    elif offload == "sequential":
        pipeline.enable_sequential_cpu_offload()
    else:
        pipeline.to(device())


@contextmanager
def finite_decoder(loaded: Loaded) -> Iterator[None]:
    """Watch what a pipeline's decoder makes within the block, before anything clamps it.

    Coders and pipelines cut its numbers to the range of a picture, where infinity is white or black
    like any other.

    Raises:
        AnswerError: at the block's end: it made NaN or infinite numbers; the message names the
            number type.
    """
    import torch

    broken = []

    def _look(decoder: Any, given: Any, made: torch.Tensor) -> None:
        if not torch.isfinite(made).all():
            broken.append(made.float().cpu().numpy())

    watch = loaded.pipeline.vae.decoder.register_forward_hook(_look)
    try:
        yield
    finally:
        watch.remove()
    # Not in the middle of a pipeline's work, which would leave its parts where they were.
    for numbers in broken:
        refuse_nan(numbers, loaded.dtype)


def picture_of(data: bytes, size: tuple[int, int] | None = None) -> Image:
    """Return a sent picture as Pillow has it, RGB, stretched to `size` (width, height) if given.

    What is sent is upright and opaque already; a reply's transparency lies over black.
    """
    from PIL.Image import fromarray

    from gensight.images import resize_picture

    pixels = decode_rgb(data, matte=(0, 0, 0))
    return fromarray(pixels if size is None else resize_picture(pixels, *size))


def eight_bits(array: np.ndarray) -> np.ndarray:
    """Return floats in [0, 1] as uint8, round(255 x), the rounding of diffusers itself."""
    return np.clip(np.rint(array * 255.0), 0, 255).astype(np.uint8)
