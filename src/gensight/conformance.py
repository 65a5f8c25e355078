"""Whether a wrapper of an external command keeps to the protocol: `python -m gensight.conformance`.

The checks start the wrapper as a job does, three times, and ask it the same questions in different
company. They say that it can be spoken to, and nothing about the model (docs/external-commands.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from gensight.errors import AnswerError, GensightError
from gensight.images import encode_png
from gensight.models import Part, Reply, Site, Turn
from gensight.models._settings import complete
from gensight.models.external_command import ExternalModel, open_model, opening, start

#: Sizes of the pictures that are sent: one broad and one high, of odd and even sides.
SIZES = ((96, 64), (47, 61))
SEEDS = (11, 2**62 + 1)
#: Seconds in which a wrapper ends once its input has ended.
END_S = 30.0
#: Nothing loads before this is refused.
REFUSAL_S = 60.0
NO_VERSION = 10**6
QUERY = "cup"
FAILED = 1

Checks = Iterator[tuple[str, Callable[[], None]]]


class NonconformityError(GensightError):
    """A wrapper does not keep to the protocol; the message says in what."""


def check(
    generation: Mapping[str, Any], site: Site, text: str, *, breaks: bool = True
) -> list[tuple[str, str | None]]:
    """Run every check of a wrapper; return (check, what is wrong or None) in order.

    `text` is a prompt that the model understands. `breaks` says whether it must refuse a picture
    that cannot be decoded.

    Raises:
        GensightError: the wrapper cannot be started.
    """
    results: list[tuple[str, str | None]] = []
    checks = Conformance(generation, site, text, breaks=breaks)
    for name, run in checks.all():
        try:
            run()
        except GensightError as error:
            results.append((name, str(error)))
        else:
            results.append((name, None))
    return results


class Conformance:
    """The checks of one wrapper; `all` yields them by name, in the order that they must run in."""

    def __init__(
        self, generation: Mapping[str, Any], site: Site, text: str, *, breaks: bool = True
    ) -> None:
        self._generation, self._site, self._text = generation, site, text
        self._breaks = breaks
        self._first: list[Reply] = []

    def all(self) -> Checks:
        """Yield (what is checked, the check)."""
        yield "another version is refused before anything loads", self._refuses_another_version
        with self._opened() as model:
            yield "it says what its answers are made with", lambda: self._introduces(model)
            yield "answers come in the order of the questions", lambda: self._answers(model)
            yield "the same seed gives the same bytes", lambda: self._repeats(model)
            if self._breaks:
                yield "a broken picture costs one answer", lambda: self._survives(model)
            yield "nothing but the protocol is on standard output", lambda: self._is_quiet(model)
            yield "the end of its input ends it", lambda: self._ends(model)
        with self._opened() as model:
            yield (
                "a new process, asked the last question first, gives the same bytes",
                (lambda: self._resumes(model)),
            )

    @contextmanager
    def _opened(self) -> Iterator[ExternalModel]:
        with closing(open_model(self._generation, [], self._site)) as model:
            yield model

    def _turns(self) -> list[Turn]:
        return [
            Turn((Part("image", image=_picture(*size)), Part("text", text=self._text)), {}, seed)
            for size, seed in zip(SIZES, SEEDS, strict=True)
        ]

    def _refuses_another_version(self) -> None:
        settings = complete("external_command", {**self._generation, "wrapper_version": NO_VERSION})
        with closing(start(settings, self._site)) as command:
            told = command.ask(opening(settings), lambda _: True, REFUSAL_S)
        if told.get("error") is None:
            raise NonconformityError(f"it answered {_short(told)} to version {NO_VERSION}")

    def _introduces(self, model: ExternalModel) -> None:
        for key, kind in (("setup", dict), ("device", str)):
            if not isinstance(model.ready.get(key), kind):
                raise NonconformityError(f"ready: '{key}' is {model.ready.get(key)!r}")
        if not model.ready["setup"].get("libraries"):
            raise NonconformityError("ready: setup: 'libraries' names no version")

    def _answers(self, model: ExternalModel) -> None:
        self._first = [self._asked(model, turn) for turn in self._turns()]

    def _repeats(self, model: ExternalModel) -> None:
        self._compare([self._asked(model, turn) for turn in self._turns()])

    def _survives(self, model: ExternalModel) -> None:
        turn = self._turns()[0]
        cut = Part("image", image=_picture(*SIZES[0])[:60])
        try:
            model.answer(replace(turn, parts=(cut, *turn.parts[1:])))
        except AnswerError:
            pass
        else:
            raise NonconformityError("it answered a picture that cannot be decoded")
        if model.restarts:
            raise NonconformityError("it costs the process")
        self._compare([self._asked(model, turn)])

    def _is_quiet(self, model: ExternalModel) -> None:
        if model.noise:
            raise NonconformityError(f"{model.noise} lines answered nothing; the log has them")

    def _ends(self, model: ExternalModel) -> None:
        status = model.end(END_S)
        if status != 0:
            how = f"within {END_S:g} s" if status is None else f"with status 0, but {status}"
            raise NonconformityError(f"it did not end {how}")

    def _resumes(self, model: ExternalModel) -> None:
        last_first = [self._asked(model, turn) for turn in reversed(self._turns())]
        self._compare(last_first[::-1])

    def _asked(self, model: ExternalModel, turn: Turn) -> Reply:
        try:
            return model.answer(turn)
        except AnswerError as error:
            raise NonconformityError(str(error)) from None

    def _compare(self, replies: list[Reply]) -> None:
        for number, (first, again) in enumerate(zip(self._first, replies, strict=False), 1):
            for field in ("outcome", "text", "images"):
                if getattr(first, field) != getattr(again, field):
                    raise NonconformityError(f"question {number}: {field} is another one")


def _picture(width: int, height: int) -> bytes:
    """Return a picture of a bright box on a gradient."""
    rows, columns = np.mgrid[0:height, 0:width]
    pixels = np.stack([columns, rows, columns + rows], axis=2).astype(np.uint8)
    pixels[height // 4 : height // 2, width // 4 : width // 2] = 255
    return encode_png(pixels)


def _short(told: Mapping[str, Any]) -> str:
    text = str(dict(told))
    return text if len(text) < 80 else f"{text[:77]}..."


def text_for(spec: Any, root: Path) -> str:
    """Return a prompt of the repository that a model is asked, with its placeholder filled."""
    from gensight.prompts import fill
    from gensight.specs.base import load_spec
    from gensight.specs.prompt import PromptSpec

    name = (spec.prompts or ["mid"])[0]
    path = root / f"resources/prompts/{spec.tasks[0]}/{name}.yaml"
    texts = [part.text for part in load_spec(path, PromptSpec).turns[0].parts if part.text]
    return fill(str(path), texts[0], {"query": QUERY}).strip()


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--text", help="The prompt; else one of the repository's, asking for a cup.")
@click.option("--environment", type=click.Path(path_type=Path), help="The environment's folder.")
def main(model: Path, text: str | None, environment: Path | None) -> None:
    """Check the wrapper of MODEL, a file such as config/models/lotus_2.yaml."""
    from gensight.specs.base import load_spec
    from gensight.specs.model import ModelSpec

    root = Path.cwd()
    spec = load_spec(model, ModelSpec)
    name = str(spec.generation.get("environment"))
    site = Site(root=root, environments={name: str(environment)} if environment else {})
    try:
        results = check(spec.generation, site, text or text_for(spec, root))
    except GensightError as error:
        raise click.ClickException(str(error)) from None
    for what, wrong in results:
        click.echo(f"{'ok  ' if wrong is None else 'FAIL'} {what}{f': {wrong}' if wrong else ''}")
    if any(wrong for _, wrong in results):
        click.get_current_context().exit(FAILED)


if __name__ == "__main__":
    main()
