"""What all models that run on torch share: loading, number types, noise, measuring, setup.

Nothing here imports torch at module import: planning and every CPU stage work without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from gensight.digests import canonical_json
from gensight.errors import AnswerError, GensightError, SpecError
from gensight.models import Site, Turn, _torchvision
from gensight.models._settings import load_sdk, stated
from gensight.specs.words import unknown

if TYPE_CHECKING:
    import torch

EXTRA = "models"
DTYPES = ("bfloat16", "float16", "float32")
#: How many keys a message about a wrong checkpoint names.
NAMED_KEYS = 4
#: Settings of every adapter that loads with diffusers or transformers.
LOADING = {
    # A repository of the hub, or a folder.
    "model": None,
    # A branch, tag or commit of the hub; null: its main branch.
    "revision": None,
    "assumed_revision": None,
    # bfloat16, float16 or float32; null: float32.
    "dtype": None,
    "assumed_dtype": None,
    # The weights overflow in float16.
    "bf16_only": False,
    # Regular expressions of keys that a checkpoint may have beyond its model's.
    "ignored_keys": [],
}
Size = tuple[int, int]


def load_torch(adapter: str) -> ModuleType:
    """Import torch, and make torchvision importable where it is installed.

    Raises:
        GensightError: torch is not installed; the message names the extra that brings it.
    """
    torch = load_sdk(adapter, "torch", EXTRA)
    _torchvision.make_importable()
    return torch


def load_package(adapter: str, name: str) -> ModuleType:
    """Import a package that is built on torch, e.g. `diffusers`; errors as `load_torch`."""
    load_torch(adapter)
    return load_sdk(adapter, name, EXTRA)


def device() -> str:
    """Return where models run: `cuda`, the first device that the job may see, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def dtype_of(settings: Mapping[str, Any]) -> torch.dtype:
    """Return the number type that a generation block names in `dtype` (or `assumed_dtype`).

    float32 where it names none. `bf16_only: true` says that the weights overflow in float16.

    Raises:
        SpecError: an unknown type, or float16 for a model that does not bear it.
    """
    import torch

    name = stated(settings, "dtype") or "float32"
    if name not in DTYPES:
        raise unknown("generation", "dtype", str(name), DTYPES)
    if name == "float16" and settings.get("bf16_only"):
        raise SpecError(
            "generation: dtype: float16 overflows in this model, which is marked bf16_only; "
            "take bfloat16 or float32"
        )
    return getattr(torch, name)


def name_of(dtype: torch.dtype) -> str:
    """Return a number type's name without torch's prefix, e.g. `bfloat16`."""
    return str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class Weights:
    """Where weights come from: a folder of this machine, or a repository of the hub.

    `place` is what a `from_pretrained` is given; `name` is what is told, without the machine's
    paths; `revision` is what was asked for.
    """

    place: str
    name: str
    revision: str | None
    is_folder: bool

    @classmethod
    def of(cls, settings: Mapping[str, Any], site: Site) -> Weights:
        """Read `model` and `revision` of a generation block.

        A folder below the site's root goes before a repository of the same name.

        Raises:
            GensightError: `model` can only be a folder, and it is not there.
        """
        model, revision = str(settings["model"]), stated(settings, "revision")
        folder = site.root / model
        if folder.is_dir():
            return cls(str(folder), folder.resolve().name, revision, is_folder=True)
        if model.startswith((".", "/", "~")) or model.count("/") > 1:
            raise GensightError(
                f"generation: model: there is no folder {model}; name a folder, or a repository "
                f"of the hub as owner/name"
            )
        return cls(model, model, revision, is_folder=False)

    def loading(self) -> dict[str, Any]:
        """Return what every `from_pretrained` is told about the revision."""
        return {} if self.is_folder or self.revision is None else {"revision": self.revision}

    def resolved_revision(self, file: str) -> str | None:
        """Return the commit that was loaded, told by where `file` lies in the hub's cache.

        Where the cache does not tell it (a folder), return what was asked for.
        """
        if self.is_folder:
            return self.revision
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(self.place, file, revision=self.revision or "main")
        parts = Path(found).parts if isinstance(found, str) else ()
        # .../snapshots/<commit>/<file>
        return parts[parts.index("snapshots") + 1] if "snapshots" in parts else self.revision


def check_loading(where: str, loading_info: Mapping[str, Any]) -> None:
    """Refuse a model whose checkpoint does not fit it, key by key.

    A library loads such a checkpoint with a warning at most, and leaves random numbers in the
    places that it found nothing for.

    `loading_info` is what `from_pretrained(..., output_loading_info=True)` returns second.

    Raises:
        GensightError: keys are missing, unexpected or of another shape; the message names some.
    """
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs")
    found = {kind: sorted(map(_key, loading_info.get(kind) or ())) for kind in kinds}
    told = [_told(kind, keys) for kind, keys in found.items() if keys]
    if told:
        raise GensightError(
            f"{where}: the weights do not fit the model: {'; '.join(told)}; check the revision and "
            f"the library's version, or load the weights again"
        )


def _key(entry: Any) -> str:
    """Return the key of an entry; one of another shape comes as (key, shape, shape)."""
    key = entry[0] if isinstance(entry, tuple | list) and entry else entry
    return " ".join(str(key).split())


def _told(kind: str, keys: Sequence[str]) -> str:
    more = f" and {len(keys) - NAMED_KEYS} more" if len(keys) > NAMED_KEYS else ""
    return f"{kind.replace('_', ' ')}: {', '.join(keys[:NAMED_KEYS])}{more}"


class Meter:
    """Measures one answer: `with Meter() as meter`, then `meter.peak_memory_gb`, `meter.device`.

    The memory is the most that torch held on the first CUDA device during the answer, in GB of 1e9
    bytes, weights included; None on a CPU. `device` is the device's name, or `cpu`.
    """

    peak_memory_gb: float | None = None
    device: str = "cpu"

    def __enter__(self) -> Meter:
        import torch

        self._cuda = torch.cuda if torch.cuda.is_available() else None
        if self._cuda is not None:
            self.device = self._cuda.get_device_name()
            self._cuda.reset_peak_memory_stats()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._cuda is not None:
            self.peak_memory_gb = self._cuda.max_memory_allocated() / 1e9


def setup_json(
    weights: Weights,
    *,
    revision: str | None,
    dtype: torch.dtype,
    packages: Sequence[str],
    seed: int | None,
    sizes: Mapping[str, Size | None],
    quantisation: Any = None,
    offload: str | None = None,
    **more: Any,
) -> str:
    """Return how an answer was made, as canonical JSON without times, hosts and paths.

    `sizes` has `sent` (the input picture), `used` (what the model worked at) and `returned` (the
    answer), each (width, height) in pixels or None; `packages` are named with their versions,
    beside torch.
    """
    setup = {
        "weights": weights.name,
        "revision": revision,
        "dtype": name_of(dtype),
        "quantisation": quantisation,
        "offload": offload,
        "libraries": libraries(packages),
        "seed": seed,
        "batch_size": 1,
        "sizes": {name: None if size is None else list(size) for name, size in sizes.items()},
        **more,
    }
    return canonical_json(setup)


def libraries(packages: Sequence[str]) -> dict[str, str | None]:
    """Return the versions of packages and of torch by rising name; None: it is not installed."""
    return {name: _version(name) for name in sorted({"torch", *packages})}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def refuse_nan(array: np.ndarray, dtype: torch.dtype) -> None:
    """Refuse numbers that a cast to whole numbers would turn into a black picture.

    Raises:
        AnswerError: some are NaN or infinite; the message names the number type.
    """
    broken = int(np.count_nonzero(~np.isfinite(array)))
    if broken:
        raise AnswerError(
            f"the model made {broken} of {array.size} numbers NaN or infinite in {name_of(dtype)}; "
            f"try another dtype (bfloat16 or float32)"
        )


def pictures_of(turn: Turn) -> list[bytes]:
    """Return the pictures of a turn, in order."""
    return [part.image for part in turn.parts if part.image is not None]


def only_picture(turn: Turn, adapter: str) -> bytes:
    """Return the picture that a specialist looks at.

    Raises:
        SpecError: the turn has no picture, or several.
    """
    pictures = pictures_of(turn)
    if len(pictures) != 1:
        raise SpecError(
            f"adapter {adapter}: the prompt shows {len(pictures)} pictures where the model takes "
            f"one; take a prompt whose turns have the part 'image: input' once"
        )
    return pictures[0]


def text_of(turn: Turn) -> str:
    """Return the texts of a turn as one, a blank line between them."""
    return "\n\n".join(part.text for part in turn.parts if part.text)
