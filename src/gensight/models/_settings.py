"""Settings of a generation block that a paper may have lost, and packages that may be missing."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from gensight.errors import GensightError, SpecError
from gensight.specs import declared
from gensight.specs.conventions import ASSUMED, PROVIDER_DEFAULT


def complete(adapter: str, generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a generation block over the adapter's defaults, without what is the runner's.

    A cut reply is asked again by the runner, so that `length_ladder` is part of no request.

    Raises:
        SpecError: unknown key, wrong type, or a value that the adapter does not allow.
    """
    file = f"adapter {adapter}"
    settings = declared.merged(file, "generation", "models", adapter, dict(generation))
    settings.pop("length_ladder", None)
    return settings


def stated(settings: Mapping[str, Any], name: str) -> Any:
    """Return a setting that a paper states, or that is assumed: `name` or `assumed_{name}`.

    None where neither is given, and where the value is `provider_default`: it is not sent.

    Raises:
        SpecError: both are given.
    """
    known, assumed = settings.get(name), settings.get(f"{ASSUMED}{name}")
    if known is not None and assumed is not None:
        raise SpecError(f"generation: {name}: assumed_{name} is given too; keep one of the two")
    value = assumed if known is None else known
    return None if value == PROVIDER_DEFAULT else value


def count(settings: Mapping[str, Any], name: str, least: int = 1) -> int | None:
    """Return a whole number that a setting gives, None where it gives none.

    Raises:
        SpecError: it is none, or too small.
    """
    value = stated(settings, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SpecError(f"generation: {name}: {value!r} is not a whole number of at least {least}")
    return value


@contextmanager
def checked_by_sdk(adapter: str) -> Iterator[None]:
    """Turn what an SDK's types say against a setting into one line of ours."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise SpecError(f"adapter {adapter}: generation: {place}: {first['msg']}") from None


def load_sdk(adapter: str, module: str, extra: str) -> ModuleType:
    """Import a provider's SDK.

    Raises:
        GensightError: it is not installed; the message names the extra that brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise GensightError(
            f"adapter {adapter}: {error.name or module} is not installed: "
            f"pip install 'gensight[{extra}]'"
        ) from None
