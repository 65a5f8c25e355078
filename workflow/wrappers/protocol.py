"""A wrapper's side of the protocol that gensight speaks with external commands, version 1.

A wrapper runs in an environment of its own, which has no gensight: this file needs Python 3.8 and
nothing else. One JSON object a line (see docs/external-commands.md):

    in   {"protocol": 1, "generation": {...}}
    out  {"ready": true, "wrapper_version": 1, "setup": {...}, "device": "..."}
    in   {"id": 7, "parts": [{"text": "..."}, {"image": "/in.png"}], "seed": 3, "folder": "/f"}
    out  {"id": 7, "outcome": "ok", "image": "out.png", "setup": {...}, "peak_memory_gb": 1.5}
         {"id": 7, "error": "..."}: this one could not be answered, others may be

A wrapper is a number and a function, `serve(VERSION, load)`. `load(generation)` imports what is
heavy and returns an object with `setup` (what is worth recording of how answers are made) and
`answer(turn)`, which returns the fields of the last line but one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import re
import subprocess
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, TextIO  # noqa: UP035

PROTOCOL = 1
HERE = Path(__file__).resolve().parent
BYTES_PER_GB = 1e9
KEYS_TOLD = 4
#: What libraries log when weights do not fit the model that they are loaded into.
MISFIT = re.compile(
    r"(unexpected|missing)[ _]keys?|not used when|(newly|not) initialized|size mismatch", re.I
)
#: Their loggers do not hand on what they log.
LOGGERS = ("", "transformers", "diffusers", "accelerate")
#: Classes whose `from_pretrained` can tell which keys did not fit.
LOADERS = (("transformers", "PreTrainedModel"), ("diffusers", "ModelMixin"))
MISFITS = {
    "missing_keys": "lacks",
    "unexpected_keys": "has unknown",
    "mismatched_keys": "has, of another shape,",
}
#: How command lines name number types, and how torch does.
DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
#: What `watch` has found in the answer at hand.
NOT_FINITE: list[str] = []


def serve(version: int, load: Callable[[dict[str, Any]], Any]) -> None:
    """Answer turns until standard input ends.

    What anything else prints, C code included, goes to standard error. An exception costs one
    answer; before the first answer it ends the process.
    """
    questions, answers = _take_streams()
    # Else a wrapper would hide the package of the same name that it calls.
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE]
    line = questions.readline()
    if not line:
        return
    try:
        model = _opened(version, load, json.loads(line))
    except Exception as error:
        traceback.print_exc()
        _send(answers, _told(error))
        raise SystemExit(1) from None
    ready = {"ready": True, "wrapper_version": version, "setup": model.setup}
    _send(answers, dict(ready, device=_device()))
    for line in iter(questions.readline, ""):
        _send(answers, _answered(model, json.loads(line)))


def _take_streams() -> tuple[TextIO, TextIO]:
    """Keep standard input and output for the protocol alone."""
    questions = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return questions, answers


def _opened(version: int, load: Callable[..., Any], opening: dict[str, Any]) -> Any:
    if opening.get("protocol") != PROTOCOL:
        raise ValueError(f"this wrapper speaks version {PROTOCOL} of the protocol alone")
    generation = opening["generation"]
    wanted = generation["wrapper_version"]
    if wanted != version:
        raise ValueError(
            f"this is version {version} of the wrapper, and generation.wrapper_version says "
            f"{wanted}: change the model's YAML, and it is asked again"
        )
    return load(generation)


def _answered(model: Any, turn: dict[str, Any]) -> dict[str, Any]:
    torch = _torch_with_cuda()
    if torch:
        torch.cuda.reset_peak_memory_stats()
    NOT_FINITE.clear()
    try:
        answer = dict(model.answer(turn), id=turn["id"])
        if NOT_FINITE:  # the repository caught it, and went on without a picture
            raise FloatingPointError(NOT_FINITE[0])
        json.dumps(answer)  # a number of numpy, say, costs this answer alone
    except Exception as error:
        traceback.print_exc()
        return dict(_told(error), id=turn["id"])
    if torch:
        answer["peak_memory_gb"] = torch.cuda.max_memory_allocated() / BYTES_PER_GB
    return answer


def _told(error: Exception) -> dict[str, Any]:
    names = {kind.__name__ for kind in type(error).__mro__}
    lacks_memory = bool(names & {"MemoryError", "OutOfMemoryError"})
    told = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return {"error": told, "out_of_memory": lacks_memory}


def _send(stream: TextIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def _torch_with_cuda() -> Any:
    """Return torch if the wrapper has imported it and it sees a GPU."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return torch if cuda is not None and cuda.is_available() else None


def _device() -> str:
    torch = _torch_with_cuda()
    return torch.cuda.get_device_name() if torch else "cpu"


def text_of(turn: dict[str, Any]) -> str:
    """Return the texts of a turn, one paragraph each."""
    return "\n".join(part["text"] for part in turn["parts"] if "text" in part)


def images_of(turn: dict[str, Any]) -> list[str]:
    """Return the paths of the pictures of a turn, in order."""
    return [part["image"] for part in turn["parts"] if "image" in part]


def versions_of(*packages: str) -> dict[str, str | None]:
    """Return {package: version} of installed distributions, null where one is not installed."""
    from importlib import metadata

    found: dict[str, str | None] = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def use_repository(generation: dict[str, Any]) -> tuple[str, str]:
    """Make the modules of the model's own repository importable; return (folder, commit).

    It is a clone at `repository` in the environment's folder. A wrapper calls what one commit
    has, so that another commit ends the run.
    """
    folder, wanted = Path(sys.prefix) / "repository", generation["revision"]
    if not wanted:
        raise ValueError("generation.revision names no commit, and the wrapper was made for one")
    if not folder.is_dir():
        address = f"https://github.com/{generation['repository']}"
        raise OSError(
            f"no repository at {folder}: git clone {address} {folder} && "
            f"git -C {folder} checkout {wanted}"
        )
    asked = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = subprocess.check_output(asked).decode().strip()
    if not commit.startswith(wanted):
        raise ValueError(
            f"the repository is at {commit}, not {wanted}: git -C {folder} checkout {wanted}"
        )
    sys.path.insert(0, str(folder))
    return str(folder), commit


def download(weights: str, revision: str | None = None) -> tuple[str, str | None]:
    """Return (folder, commit) of weights on the Hugging Face hub, downloaded at the first use.

    A folder of the machine stands for itself, and has no commit.
    """
    if Path(weights).is_dir():
        return weights, None
    from huggingface_hub import snapshot_download

    folder = snapshot_download(weights, revision=revision)
    return folder, Path(folder).name


def digest_of(path: str) -> str:
    """Return the sha256 of a file, 64 hex digits: the revision of weights that have no other."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def check_keys(
    where: str, wanted: Iterable[str], found: Iterable[str], accepted: Iterable[str] = ()
) -> None:
    """Refuse weights that lack tensors of the model, or have others, where loading ignores it.

    A key that contains a text of `accepted` passes (setting `accepted_warnings`).
    """
    wanted, found, accepted = set(wanted), set(found), tuple(accepted)
    for how, keys in (("lacks", wanted - found), ("has unknown", found - wanted)):
        keys = {key for key in keys if not any(words in key for words in accepted)}
        if keys:
            raise ValueError(_misfit(where, how, keys))


def _misfit(where: str, how: str, keys: Iterable[str]) -> str:
    names = sorted(keys)
    return f"{where} {how} {len(names)} tensors: {', '.join(names[:KEYS_TOLD])}"


@contextmanager
def strict_loading(accepted: Iterable[str] = ()) -> Iterator[None]:
    """Refuse weights that do not fit: missing, unexpected or newly made tensors.

    Every `from_pretrained` of transformers and diffusers within the block is asked which keys did
    not fit, also where a repository calls it. What only a log tells is found there. A key or a
    warning that contains a text of `accepted` passes (setting `accepted_warnings`).
    """
    accepted, warnings = tuple(accepted), []

    class _Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = " ".join(record.getMessage().split())
            if MISFIT.search(text) and not any(words in text for words in accepted):
                warnings.append(text)

    def _look(where: str, info: dict[str, Any]) -> None:
        for kind, how in MISFITS.items():
            keys = (key if isinstance(key, str) else key[0] for key in info.get(kind) or ())
            left = [key for key in keys if not any(words in key for words in accepted)]
            if left:
                warnings.append(_misfit(where, how, left))

    collector = _Collector(logging.WARNING)
    loggers = [(logger, logger.level) for logger in map(logging.getLogger, LOGGERS)]
    for logger, level in loggers:
        logger.addHandler(collector)
        logger.setLevel(min(level, logging.WARNING))  # an environment variable may have hushed it
    try:
        with _asking_loaders(_look):
            yield
    finally:
        for logger, level in loggers:
            logger.removeHandler(collector)
            logger.setLevel(level)
    if warnings:
        raise ValueError(f"the weights do not fit the model: {warnings[0]}")


@contextmanager
def _asking_loaders(look: Callable[[str, dict[str, Any]], None]) -> Iterator[None]:
    """Hand to `look` what each `from_pretrained` of a library tells of the keys that it loaded."""
    replaced = []
    for library, name in LOADERS:
        kind = getattr(sys.modules.get(library), name, None)
        if kind is not None:
            replaced.append((kind, kind.__dict__["from_pretrained"]))
    for kind, method in replaced:
        kind.from_pretrained = classmethod(_asking(method.__func__, look))
    try:
        yield
    finally:
        for kind, method in replaced:
            kind.from_pretrained = method


def _asking(load: Callable[..., Any], look: Callable[[str, dict[str, Any]], None]) -> Any:
    def _from_pretrained(kind: Any, *arguments: Any, **options: Any) -> Any:
        wanted = options.pop("output_loading_info", False)
        model, info = load(kind, *arguments, output_loading_info=True, **options)
        look(f"the checkpoint of {kind.__name__}", info or {})
        return (model, info) if wanted else model

    return _from_pretrained


def dtype_of(settings: dict[str, Any]) -> str:
    """Return torch's name of the number type that the settings name in `dtype`.

    `bf16_only: true` marks weights that overflow in float16, which would come out as NaN.
    """
    name = DTYPES.get(settings["dtype"], settings["dtype"])
    if name not in DTYPES.values():
        raise ValueError(f"settings: dtype: {name} is none of {', '.join(DTYPES.values())}")
    if name == "float16" and settings.get("bf16_only"):
        raise ValueError(
            "settings: dtype: float16 overflows in this model, which is marked bf16_only; "
            "take bfloat16 or float32"
        )
    return name


def watch(where: str, module: Any, part: Callable[[Any], Any] = lambda made: made) -> None:
    """Have an answer fail in which a module of torch makes NaN or infinite numbers.

    For the module that makes the numbers of a picture last: the repository cuts them to whole
    numbers right after, where NaN is black like any other. `part` finds the numbers in its output.
    """

    def _look(_module: Any, _given: Any, made: Any) -> None:
        check_finite(where, part(made))

    module.register_forward_hook(_look)


def check_finite(where: str, made: Any) -> None:
    """Refuse NaN and infinity in a tensor, the first of a tuple, or an output's `sample`."""
    while isinstance(made, (tuple, list)) or hasattr(made, "sample"):
        made = made[0] if isinstance(made, (tuple, list)) else made.sample
    if not made.isfinite().all():
        kind = str(made.dtype).split(".")[-1]
        NOT_FINITE.append(f"{where} made NaN or infinite numbers in {kind}")
        raise FloatingPointError(NOT_FINITE[-1])


def seed_all(seed: int) -> None:
    """Seed every generator of the process: for models that take none for one answer."""
    random.seed(seed)
    for name, most in (("numpy", 2**32), ("torch", 2**63)):
        module = sys.modules.get(name)
        if module is not None:
            set_seed = module.manual_seed if name == "torch" else module.random.seed
            set_seed(seed % most)


def phrase_of(turn: dict[str, Any], pattern: str) -> str:
    """Return the thing that a prompt asks for, for models that take no sentence.

    `pattern` is a regular expression with one group.
    """
    found = re.search(pattern, text_of(turn))
    if found is None:
        raise ValueError(f"the setting phrase, {pattern!r}, finds nothing in the prompt")
    return found[1].strip()
