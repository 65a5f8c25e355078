"""The card of a model: what its adapter and its provider let its spec say."""

from __future__ import annotations

from typing import Any

from gensight.errors import SpecError
from gensight.specs import declared
from gensight.specs.conventions import ASSUMED, PROVIDER_DEFAULT
from gensight.specs.model import ModelSpec
from gensight.specs.words import unknown


def check_card(file: str, model: ModelSpec) -> None:
    """Check what a spec asks of its model against what can be asked.

    An adapter that this version does not have is not looked into.

    Raises:
        SpecError: one line naming file, key and what to do.
    """
    if model.provider is None:
        _refuse_hosted_keys(file, model)
    if model.adapter not in declared.names("models"):
        return
    settings = declared.merged(file, "generation", "models", model.adapter, model.generation)
    allowed = declared.constants("models", model.adapter).get("ANSWERS", [model.answers])
    if model.answers not in allowed:
        raise unknown(file, "answers", model.answers, allowed)
    _check_parameters(file, model, settings)
    _check_ladder(file, model, settings)


def _refuse_hosted_keys(file: str, model: ModelSpec) -> None:
    for key in ("parameters", "answered_as", "retired"):
        if key in model.model_fields_set:
            raise SpecError(
                f"{file}: {key}: only a hosted model can have it, and '{model.adapter}' is not "
                f"hosted; remove it"
            )


def _check_parameters(file: str, model: ModelSpec, settings: dict[str, Any]) -> None:
    """Refuse a setting that the provider would refuse, or silently ignore."""
    card = model.parameters
    for kind, names in (
        ("fixed", [*card.fixed]),
        ("forbidden", card.forbidden),
        ("default_only", card.default_only),
    ):
        for name in names:
            if name not in settings:
                raise unknown(file, f"parameters.{kind}", name, settings)
    who = settings.get("model", model.adapter)
    for name, value in settings.items():
        setting = name.removeprefix(ASSUMED)
        if value is None or value == PROVIDER_DEFAULT:
            continue
        if {name, setting} & {*card.forbidden}:
            wrong = f"{who} does not take it"
        elif {name, setting} & {*card.default_only}:
            wrong = f"{who} takes only its own default"
        elif setting in card.fixed and value != card.fixed[setting]:
            wrong = f"{who} takes only {card.fixed[setting]!r}, not {value!r}"
        else:
            continue
        raise SpecError(f"{file}: generation.{name}: {wrong}; remove it (see parameters)")


def _check_ladder(file: str, model: ModelSpec, settings: dict[str, Any]) -> None:
    """Check that every rung of the ladder of lengths is above the one before it."""
    ladder = settings.get("length_ladder")
    if not ladder:
        return
    limit = declared.constants("models", model.adapter)["SPENDS"]["max_tokens"]
    first = settings.get(limit) or settings.get(f"{ASSUMED}{limit}")
    rungs = [first, *ladder]
    whole = all(isinstance(rung, int) and not isinstance(rung, bool) for rung in rungs)
    if not whole or rungs != sorted(set(rungs)):
        raise SpecError(
            f"{file}: generation.length_ladder: {ladder} does not rise from "
            f"generation.{limit} ({first}); give whole numbers above it, the smallest first"
        )
