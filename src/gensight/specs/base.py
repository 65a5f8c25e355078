"""What every spec model shares, and the one-line errors of a YAML file that is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from gensight.errors import SpecError

NAME_PATTERN = r"^[a-z0-9_]+$"


class Spec(BaseModel):
    """A strict, frozen model: unknown keys and wrong types are errors, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


SpecT = TypeVar("SpecT", bound=Spec)


class _UniqueKeyLoader(yaml.CSafeLoader):
    """A safe loader that refuses a key given twice (YAML would silently keep the last one)."""


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in mapping:
            line = key_node.start_mark.line + 1
            raise SpecError(f"key '{key}' is given twice, again on line {line}")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ' (did you mean 'x'?)' for the nearest known word, or an empty string."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""


def unknown(file: str | Path, key: str, word: object, known: Iterable[str]) -> SpecError:
    """Return the error for a name that does not exist, with the nearest known one first."""
    names = sorted(known)
    allowed = ", ".join(names) or "none"
    return SpecError(
        f"{file}: {key}: '{word}' is not known{nearest(str(word), names)}; allowed: {allowed}"
    )


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        SpecError: the file is missing, is not YAML, is not a mapping or repeats a key.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except FileNotFoundError:
        raise SpecError(
            f"{path}: this file does not exist; create it or correct its name"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise SpecError(f"{path}: expected a mapping of keys to values")
    return content


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """Return the field names of the model that holds the last element of a location."""
    for step in location[:-1]:
        field = model.model_fields.get(str(step))
        found = _inner_model(field.annotation) if field else None
        if found is not None:
            model = found
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    """Return the first pydantic model inside an annotation such as dict[str, X] or X | None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _inner_model(argument)
        if found is not None:
            return found
    return None


def one_line(file: str | Path, model: type[BaseModel], error: ValidationError) -> SpecError:
    """Turn a validation error into one line; a typo in a key outranks what follows from it."""
    problems = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    first = problems[0]
    location = first["loc"]
    key = ".".join(str(step) for step in location) or "(top level)"
    if first["type"] == "extra_forbidden":
        fields = _fields_at(model, location)
        hint = nearest(str(location[-1]), fields)
        return SpecError(f"{file}: unknown key '{key}'{hint}; allowed: {', '.join(fields)}")
    if first["type"] == "missing":
        return SpecError(f"{file}: key '{key}' is missing; add it")
    got = repr(first.get("input"))
    got = got if len(got) < 60 else got[:57] + "..."
    return SpecError(f"{file}: key '{key}': {first['msg']} (got {got})")


def parse(file: str | Path, model: type[SpecT], content: Any) -> SpecT:
    """Validate the content of a file.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise one_line(file, model, error) from None


def load_spec(path: Path, model: type[SpecT]) -> SpecT:
    """Read and validate one YAML file."""
    return parse(path, model, read_yaml(path))
