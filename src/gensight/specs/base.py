"""What every spec model shares, and the one-line errors of a YAML file that is wrong."""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from gensight.errors import SpecError
from gensight.specs.words import nearest

NAME_PATTERN = r"^[a-z0-9_]+$"


def each_once(words: list[Any]) -> list[Any]:
    """Refuse a list that names something twice."""
    repeated = [word for word in words if words.count(word) > 1]
    if repeated:
        raise ValueError(f"'{repeated[0]}' is listed twice")
    return words


Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Names = Annotated[list[str], AfterValidator(each_once)]
# What a module or adapter defines; all of it enters digests, so it must be plain data.
Settings = dict[str, JsonValue]


class Spec(BaseModel):
    """A strict, frozen model: unknown keys and wrong types are errors, nothing is coerced."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NumberSpec(Spec):
    """One number of a benchmark; `variant: null` takes the scorer's only variant."""

    benchmark: str = Field(pattern=NAME_PATTERN)
    prompt: str = Field(default="mid", pattern=NAME_PATTERN)
    scorer: str = Field(pattern=NAME_PATTERN)
    variant: str | None = None
    fit: str | None = None
    stratum: str | None = None
    metric: str = Field(pattern=NAME_PATTERN)


SpecT = TypeVar("SpecT", bound=Spec)


class _UniqueKeyLoader(yaml.CSafeLoader):
    """A safe loader that refuses a key given twice (YAML would silently keep the last one)."""


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    own: dict[Any, Any] = {}
    merged: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        value = loader.construct_object(value_node, deep=True)
        if key_node.tag == "tag:yaml.org,2002:merge":  # <<: own keys win, then the first mapping
            for mapping in value if isinstance(value, list) else [value]:
                if not isinstance(mapping, dict):
                    raise SpecError(f"line {line}: << merges mappings, not {mapping!r}")
                merged = {**mapping, **merged}
            continue
        key = _key(loader, key_node)
        if key in own:
            raise SpecError(f"key '{key}' is given twice, again on line {line}")
        own[key] = value
    return {**merged, **own}


def _key(loader: _UniqueKeyLoader, node: yaml.Node) -> Hashable:
    key = loader.construct_object(node, deep=True)
    if isinstance(key, Hashable):
        return key
    raise SpecError(
        f"line {node.start_mark.line + 1}: a list or mapping cannot be a key; if it is a text that "
        f"starts with a brace or bracket, put quotes around it"
    )


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)


def parse_yaml(path: Path) -> Any:
    """Return what a YAML file holds.

    Raises:
        SpecError: the file is missing, is not YAML or repeats a key.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except FileNotFoundError:
        raise SpecError(
            f"{path}: this file does not exist; create it or correct its name"
        ) from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: bad UTF-8, the 30th of February
        raise SpecError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    except (LookupError, AttributeError):  # what PyYAML makes of `!!bool maybe`
        raise SpecError(f"{path}: not valid YAML: a value does not fit its !!tag") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        SpecError: the file is missing, is not YAML, is not a mapping or repeats a key.
    """
    content = parse_yaml(path)
    if not isinstance(content, dict):
        raise SpecError(f"{path}: expected a mapping of keys to values")
    return content


Location = tuple[int | str, ...]


def _fields_at(model: type[BaseModel], location: Location) -> list[str]:
    """Return the field names of the model that holds the last element of a location."""
    found: Any = model
    for step in location[:-1]:
        found = _inside(_plain(found), step)
    return sorted(getattr(_plain(found), "model_fields", ()))


def _plain(annotation: Any) -> Any:
    """Return an annotation without Annotated and None: a location has no steps for them."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    members = get_args(annotation)
    if len(members) == 2 and members[1] is NoneType:
        return _plain(members[0])
    return annotation


def _inside(annotation: Any, step: int | str) -> Any:
    """Return the annotation one step further: of a field, of an item, or of a union's member."""
    if hasattr(annotation, "model_fields"):
        field = annotation.model_fields.get(step)
        return field.annotation if field else None
    members = get_args(annotation)
    if get_origin(annotation) in (list, dict):
        return members[-1]
    return next((member for member in members if step in _tags(member)), None)


def _tags(member: Any) -> tuple[str, ...]:
    """Return what a location calls a member of a union: its class or its literal `kind`."""
    kind = getattr(member, "model_fields", {}).get("kind")
    return (getattr(member, "__name__", ""), *(get_args(kind.annotation) if kind else ()))


def _key_at(problem: Any, content: Any) -> tuple[str, ...]:
    """Return the keys that lead to a problem: its location without the tags of unions."""
    keys = []
    for step in problem["loc"]:
        try:
            content = content[step]
        except (KeyError, IndexError, TypeError):
            continue
        keys.append(str(step))
    if problem["type"] == "missing":
        keys.append(str(problem["loc"][-1]))
    if problem["type"] == "union_tag_not_found":
        keys.append("kind")
    return tuple(keys)


def one_line(
    file: str | Path, model: type[BaseModel], error: ValidationError, content: Any
) -> SpecError:
    """Turn a validation error into one line; a typo in a key outranks what follows from it."""
    problems = sorted(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    places = [_key_at(problem, content) for problem in problems]
    # Of a union's members, the one that fits best fails deepest.
    within = [p for p in places if p[: len(places[0])] == places[0]]
    place = max(within, key=len)
    here = [problem for problem, p in zip(problems, places, strict=True) if p == place]
    first, key = here[0], ".".join(place) or "(top level)"
    if first["type"] == "extra_forbidden":
        fields = _fields_at(model, first["loc"])
        hint = nearest(place[-1], fields)
        return SpecError(f"{file}: unknown key '{key}'{hint}; allowed: {', '.join(fields)}")
    if first["type"] in ("missing", "union_tag_not_found"):
        return SpecError(f"{file}: key '{key}' is missing; add it")
    got = "null" if first["input"] is None else repr(first["input"])
    got = got if len(got) < 60 else got[:57] + "..."
    return SpecError(f"{file}: key '{key}': {_wanted(here)} (got {got})")


def _wanted(problems: list[Any]) -> str:
    """Join what the members of a union say about one value; a value error had the right type."""
    telling = [problem for problem in problems if problem["type"] == "value_error"]
    first, *others = dict.fromkeys(map(_message, telling or problems))
    return " or ".join([first, *(other.removeprefix("Input should be ") for other in others)])


def _message(problem: Any) -> str:
    context = problem.get("ctx", {})
    if context == {"pattern": NAME_PATTERN}:
        return "Input should be a name of a-z, 0-9 and _"
    if problem["type"] == "invalid-json-value":
        return "Input should be text, a number, a list or a mapping; a date needs quotes"
    message = problem["msg"].removeprefix("Value error, ").replace("valid integer", "whole number")
    allowed = re.findall("'([^']+)'", context.get("expected_tags", context.get("expected", "")))
    return message + nearest(str(context.get("tag", problem["input"])), allowed)


def parse(file: str | Path, model: type[SpecT], content: Any) -> SpecT:
    """Validate the content of a file.

    Raises:
        SpecError: one line naming file, key and the allowed values.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise one_line(file, model, error, content) from None


def load_spec(path: Path, model: type[SpecT]) -> SpecT:
    """Read and validate one YAML file."""
    return parse(path, model, read_yaml(path))
