"""What a run's models are sent, in the words of a table of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gensight.specs import declared
from gensight.specs.conventions import ASSUMED
from gensight.specs.model import ModelSpec
from gensight.specs.project import Project

#: What a setting is that stays the provider's own: nothing is sent.
LEFT_OUT = (None, "provider_default")
NOT_SENT = "not sent"
#: Settings of how long a model thinks, as adapters name them; a number is one of tokens.
REASONING = ("reasoning_effort", "effort", "thinking", "thinking_budget")


def sent_settings(project: Project, blocks: Mapping[str, str], paper: str) -> list[dict[str, str]]:
    """Return an entry for each hosted model of the run that answers a task of it, block by block.

    `blocks` are tasks by the name of their block. `cited_as` is the name in the paper, "" for none.
    """
    entries = []
    asked = {project.benchmarks[name].task for name in project.config.run.benchmarks}
    for block, task in blocks.items():
        if task not in asked:
            continue
        for name in sorted(project.config.run.models, key=lambda n: _place(project.models[n], n)):
            model = project.models[name]
            if model.provider is not None and model.answers == "text" and _takes(model, task):
                told = {"row_group": block, "model": model.display.label}
                cited = {"cited_as": model.published.get(paper, "")}
                entries.append({**told, **cited, **dict(_settings(model))})
    return entries


def _place(model: ModelSpec, name: str) -> tuple[int, str]:
    return model.display.order, name


def _takes(model: ModelSpec, task: str) -> bool:
    return model.tasks is None or task in model.tasks


def _settings(model: ModelSpec) -> Iterator[tuple[str, str]]:
    generation, limit = dict(model.generation), None
    if model.adapter in declared.names("models"):
        constants = declared.constants("models", model.adapter)
        generation = {**constants["DEFAULTS"], **generation}
        limit = (constants.get("SPENDS") or {}).get("max_tokens")
    ladder = generation.get("length_ladder") or []
    yield "temperature", _told(_stated(generation, "temperature"))
    yield "reasoning", ", ".join(_reasoning(generation)) or NOT_SENT
    yield "max_output_tokens", _told(None if limit is None else _stated(generation, limit))
    yield "longer", ", ".join(map(str, ladder)) or "–"
    yield "samples_per_item", str(model.repeats)


def _stated(generation: Mapping[str, Any], name: str) -> Any:
    """Return a setting under its name, or as an assumed one."""
    name = name.removeprefix(ASSUMED)
    value = generation.get(name)
    return generation.get(f"{ASSUMED}{name}") if value is None else value


def _told(value: Any) -> str:
    return NOT_SENT if value in LEFT_OUT else str(value)


def _reasoning(generation: Mapping[str, Any]) -> Iterator[str]:
    for name in REASONING:
        value = _stated(generation, name)
        if value not in LEFT_OUT:
            yield f"{value} tokens" if isinstance(value, int) else str(value)
