"""Files of results/ that hold answers which the ledger lacks: it was moved, or lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from gensight.plan import PlannedFile
from gensight.specs.project import Project


def asked_models(planned: PlannedFile) -> list[str]:
    """Return the models that a file asks: the one that answers, or those that judge."""
    if planned.stage == "generations":
        return [planned.determinants["model"]]
    return list(planned.determinants["models"]) if planned.stage == "judgements" else []


def answering_files(
    files: Mapping[str, PlannedFile],
    found: Collection[str],
    current: Collection[str],
    project: Project,
) -> Iterator[tuple[str, str]]:
    """Yield generations that hold answers which the ledger lacks, each with its model.

    Without them, growing n would ask everything again. Models that have nothing to be asked are not
    looked at, nor are reference models, which ask nobody.
    """

    def lacks(model: str, path: str) -> bool:
        from gensight.runner.adoption import lacks_answers

        return lacks_answers(project.ledger, model, Path(path))

    yield from _answering("generations", lacks, files, found, current, project)


def answering_judgements(
    files: Mapping[str, PlannedFile],
    found: Collection[str],
    current: Collection[str],
    project: Project,
) -> Iterator[tuple[str, str]]:
    """Yield judgements that hold replies which the ledger lacks, each with a model of its judge."""

    def lacks(model: str, path: str) -> bool:
        from gensight.runner.adopted_judgements import lacks_replies

        return lacks_replies(project.ledger, model, Path(path))

    yield from _answering("judgements", lacks, files, found, current, project)


def _answering(
    stage: str,
    lacks: Callable[[str, str], bool],
    files: Mapping[str, PlannedFile],
    found: Collection[str],
    current: Collection[str],
    project: Project,
) -> Iterator[tuple[str, str]]:
    of_model: dict[str, list[str]] = {}
    for path, planned in files.items():
        for model in asked_models(planned) if planned.stage == stage else ():
            of_model.setdefault(model, []).append(path)
    for model, paths in of_model.items():
        if project.models[model].kind != "reference" and not set(paths) <= set(current):
            yield from ((model, path) for path in paths if path in found and lacks(model, path))
