"""Models whose code lives in a repository and an environment of its own: one process a job.

The process is a wrapper, workflow/wrappers/{wrapper}.py, which calls the repository's public entry
point. It gets one JSON line a turn and answers with one, and with files where the answer is a
picture or an array (docs/external-commands.md). It is started at the first question, and again
where a question made it end or took it too long: that question ends as an error.

    wrapper, wrapper_version    the wrapper and its VERSION; another one in the file ends the run
    environment                 the name of its environment; null for the running interpreter
    repository, revision        the code that the wrapper calls, and the commit
    weights, weights_revision   what is loaded
    settings                    the model's own settings, handed to the wrapper

How long it may take to load, and to answer one turn, stands in the model's `limits`. What the
process makes is kept as it is: a PNG untouched, an array of floats stretched to 16 bits.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensight.digests import canonical_json
from gensight.errors import (
    AnswerError,
    GensightError,
    ImageError,
    ModelMemoryError,
    NotHereYetError,
    SpecError,
)
from gensight.images import EXTENSIONS, inspect
from gensight.models import Reply, Site, Turn
from gensight.models._command import Command, CommandEndedError
from gensight.models._command_files import picture_of_array, read_inside, text_of_array
from gensight.models._settings import complete, stated
from gensight.outcomes import MODEL_OUTCOMES, Outcome
from gensight.providers import secrets
from gensight.specs.conventions import ASSUMED
from gensight.specs.model import LimitsSpec

if TYPE_CHECKING:
    from gensight.models import Adapter
    from gensight.records import Sample

VERSION = 1
READS_TRUTH = False
ANSWERS = ["image", "text"]

DEFAULTS = {
    "wrapper": None,
    "wrapper_version": None,
    "environment": None,
    "repository": None,
    "revision": None,
    "assumed_revision": None,
    "weights": None,
    "weights_revision": None,
    "assumed_weights_revision": None,
    "settings": {},
    "seed": 0,
}

PROTOCOL = 1
WRAPPERS = Path("workflow/wrappers")
#: What may stand in an answer, beside the outcome; everything may be missing or null.
KINDS = {
    "text": str,
    "image": str,
    "array": str,
    "json": str,
    "detail": str,
    "device": str,
    "setup": dict,
    "peak_memory_gb": int | float,
}


def open_model(
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site = Site(),  # noqa: B008
) -> Adapter:
    """Start the wrapper of a model and wait until it has loaded.

    Raises:
        NotHereYetError: the model has no wrapper.
        SpecError: the wrapper does not exist, or has another version.
        ModelMemoryError: there is too little memory to load.
        GensightError: the environment is missing, or the wrapper does not start.
    """
    settings = complete("external_command", generation)
    return ExternalModel(lambda: start(settings, site), settings, site.limits)


def start(settings: Mapping[str, Any], site: Site) -> Command:
    """Start the process of a model's wrapper, without a word to it; errors as `open_model`."""
    wrapper = _wrapper(settings, site)
    interpreter, variables = _interpreter(settings["environment"], site)
    return Command(f"{WRAPPERS / wrapper.name}", [interpreter, str(wrapper)], variables)


def opening(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first line that a wrapper is sent."""
    generation = {
        "wrapper_version": settings["wrapper_version"],
        "repository": settings["repository"],
        "revision": stated(settings, "revision"),
        "weights": settings["weights"],
        "weights_revision": stated(settings, "weights_revision"),
        "settings": _own_settings(settings["settings"]),
    }
    return {"protocol": PROTOCOL, "generation": generation}


class ExternalModel:
    """A started wrapper; `ready` is what it said of itself.

    `start_command` starts its process, as often as a question has ended it: `restarts` counts.
    """

    fit_digest = ""

    def __init__(
        self,
        start_command: Callable[[], Command],
        settings: Mapping[str, Any],
        limits: LimitsSpec,
    ) -> None:
        self._start_command, self._settings, self._limits = start_command, settings, limits
        self._command = start_command()
        self._name = self._command.name
        self._scratch = Path(tempfile.mkdtemp(prefix="gensight-"))
        self._asked = self.restarts = self._earlier_noise = 0
        try:
            self.ready = self._introduced()
        except BaseException:
            self.close()
            raise

    def answer(self, turn: Turn) -> Reply:
        """Hand one turn to the wrapper and read what it made.

        Raises:
            AnswerError: it could not answer this turn, or what it made cannot be read; or it ended
                or took too long, and has been started again.
            ModelMemoryError: it lacks memory, or was killed.
            GensightError: it could not be started again, or had been closed.
        """
        self._asked += 1
        folder = self._scratch / str(self._asked)
        try:
            folder.mkdir()
            message = {
                "id": self._asked,
                "parts": list(_written(turn, folder)),
                "seed": turn.seed,
                "folder": str(folder),
            }
            told = self._command.ask(
                message,
                lambda answer: answer.get("id") == message["id"],
                self._limits.answer_timeout_s,
            )
            self._refuse_error(told, AnswerError)
            return self._read(told, turn, folder)
        except CommandEndedError as error:
            self._start_again(error)
            raise AnswerError(f"{error}; it was started again") from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def noise(self) -> int:
        """Return how many lines it printed that answer nothing."""
        return self._earlier_noise + self._command.noise

    def end(self, patience_s: float) -> int | None:
        """Close its input, and return its status, or None where it had to be ended."""
        return self._command.end(patience_s)

    def close(self) -> None:
        """End the process and remove its files."""
        self._command.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _start_again(self, ended: CommandEndedError) -> None:
        """Start another process, at once: loading is no part of the next answer's time."""
        self.restarts += 1
        self._earlier_noise += self._command.noise
        try:
            self._command = self._start_command()
            self.ready = self._introduced()
        except GensightError as error:
            self.close()
            if isinstance(error, ModelMemoryError):
                raise
            raise GensightError(f"{ended}; and it cannot be started again: {error}") from None

    def _introduced(self) -> dict[str, Any]:
        """Send the first line; return what the wrapper says of itself. Errors as `open_model`."""
        settings = self._settings
        told = self._command.ask(
            opening(settings),
            lambda answer: "ready" in answer or "error" in answer,
            self._limits.start_timeout_s,
        )
        self._refuse_error(told, GensightError)
        found = told.get("wrapper_version")
        if found != settings["wrapper_version"]:
            raise SpecError(
                f"{self._name}: is version {found} and generation.wrapper_version says "
                f"{settings['wrapper_version']}: change the model's YAML, and it is asked again"
            )
        return told

    def _refuse_error(self, told: Mapping[str, Any], kind: type[GensightError]) -> None:
        if told.get("error") is None:
            return
        error = " ".join(str(told["error"]).split())
        if told.get("out_of_memory"):
            raise ModelMemoryError(
                f"{self._name}: out of memory ({error}); what was answered is kept: the job is "
                f"tried again with more memory where the profile has retries, else raise "
                f"limits.memory_mb in the model's YAML, or take a larger GPU"
            )
        raise kind(f"{self._name}: {error}")

    def _read(self, told: Mapping[str, Any], turn: Turn, folder: Path) -> Reply:
        outcome = told.get("outcome")
        if outcome not in MODEL_OUTCOMES:
            raise AnswerError(f"{self._name}: its outcome is {outcome!r}, which is none of a model")
        for key, kind in KINDS.items():
            if not isinstance(told.get(key), kind | None):
                raise AnswerError(f"{self._name}: '{key}' is {told[key]!r}")
        image, facts, text = None, {}, told.get("text")
        if told.get("image") is not None:
            image = _checked(read_inside(folder, told["image"]))
        elif told.get("array") is not None:
            content = read_inside(folder, told["array"])
            text = text_of_array(content) or text
            if text is None:
                image, facts = picture_of_array(content)
        elif told.get("json") is not None:
            text = read_inside(folder, told["json"]).decode()
        if outcome == Outcome.OK and image is None and not isinstance(text, str):
            raise AnswerError(f"{self._name}: answered ok, with no image, array, text or json")
        return Reply(
            outcome=str(outcome),
            text=text,
            images=() if image is None else (image,),
            detail=told.get("detail"),
            peak_memory_gb=told.get("peak_memory_gb"),
            device=told.get("device") or self.ready.get("device"),
            setup=self._setup(turn, image, {**facts, **(told.get("setup") or {})}),
        )

    def _setup(self, turn: Turn, image: bytes | None, facts: dict[str, Any]) -> str:
        sent = [part.image for part in turn.parts if part.image is not None]
        settings = self._settings
        return canonical_json(
            {
                "wrapper": settings["wrapper"],
                "wrapper_version": settings["wrapper_version"],
                "repository": settings["repository"],
                "revision": stated(settings, "revision"),
                "weights": _named(settings["weights"]),
                "weights_revision": stated(settings, "weights_revision"),
                "dtype": None,
                "quantisation": None,
                "offload": None,
                "libraries": {},
                **(self.ready.get("setup") or {}),
                **{name: value for name, value in facts.items() if name != "used_size"},
                "seed": turn.seed,
                "batch_size": 1,
                "sizes": {
                    "sent": _size(sent[-1] if sent else None),
                    "used": facts.get("used_size"),
                    "returned": _size(image),
                },
            }
        )


def _wrapper(settings: Mapping[str, Any], site: Site) -> Path:
    """Return the path of a model's wrapper."""
    name = settings["wrapper"]
    if name is None:
        what = settings["repository"] or settings["weights"]
        raise NotHereYetError(
            f"generation.wrapper: {what} has no wrapper in this version: write "
            f"{WRAPPERS}/NAME.py (docs/external-commands.md), or take another model"
        )
    path = (site.root / WRAPPERS / f"{name}.py").resolve()
    if not re.fullmatch(r"[a-z0-9_]+", name) or not path.is_file():
        raise SpecError(f"generation.wrapper: {WRAPPERS}/{name}.py is not there; write it")
    return path


def _interpreter(name: str | None, site: Site) -> tuple[str, dict[str, str]]:
    """Return the interpreter of an environment, and the variables that its processes get.

    Foreign code gets no key of a provider, and nothing of this process's own Python.
    """
    variables = secrets.without_keys(os.environ)
    if name is None:
        return sys.executable, variables
    given = site.environments.get(name) or f".envs/{name}"
    folder = (site.root / Path(given).expanduser()).absolute()
    interpreter = folder / "bin/python"
    if not interpreter.exists():
        raise GensightError(
            f"environment {name}: {folder} has no bin/python: conda env create -p .envs/{name} "
            f"-f envs/{name}.yaml, or name its folder in the config: environments: {{{name}: ...}}"
        )
    for own in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        variables.pop(own, None)
    path = variables.get("PATH", os.defpath)
    return str(interpreter), {
        **variables,
        "PATH": f"{interpreter.parent}{os.pathsep}{path}",
        "PYTHONNOUSERSITE": "1",
    }


def _own_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's own settings, the assumed ones under the names that the wrapper knows."""
    names = {name.removeprefix(ASSUMED) for name in settings}
    return {name: stated(settings, name) for name in sorted(names)}


def _written(turn: Turn, folder: Path) -> Any:
    """Write the pictures of a turn into a folder; yield its parts as the wrapper gets them."""
    for place, part in enumerate(turn.parts):
        if part.image is None:
            yield {"text": part.text or ""}
        else:
            path = folder / f"input_{place}.{EXTENSIONS[inspect(part.image).kind]}"
            path.write_bytes(part.image)
            yield {"image": str(path)}


def _checked(image: bytes) -> bytes:
    try:
        kind = inspect(image).kind
    except ImageError as error:
        raise AnswerError(f"what it made is no picture: {error}") from None
    if kind != "png":
        raise AnswerError(f"what it made is a picture of kind {kind}, not png")
    return image


def _size(image: bytes | None) -> list[int] | None:
    return None if image is None else list(inspect(image).upright_size)


def _named(weights: str | None) -> str | None:
    """Return the name of weights on a hub; of a folder, its own name."""
    return weights and (Path(weights).name if Path(weights).is_absolute() else weights)
