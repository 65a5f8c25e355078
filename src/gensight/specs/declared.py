"""What a module declares about itself (VERSION, DEFAULTS, ...), read without importing it.

Planning must stay fast and must work where an optional dependency is missing, so the constants
are read from the source: they are literals by convention, and a test holds every module to it.

    VERSION           whole number, raised when the same settings give other results
    DEFAULTS          every setting with its default
    CHOICES           {setting: [allowed values]}; of a list, every element must be allowed
    REQUIRED          [settings whose default, null, cannot be used]
    METHODS           {method: [settings it uses]}: what `method` may be, and which settings of
                      this list go with it; all others go with every method
    FAILURE_POLICIES  of a measure: what its setting `failure` may be
    FITS              of a measure: the fits its numbers come under, where there are any
    NOTE              of a measure: what is printed under every table of its numbers
    USES              {room: [modules]} whose rules it computes with; their versions are its own
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from gensight.errors import SpecError
from gensight.specs.words import unknown

PACKAGE = Path(__file__).resolve().parents[1]


@cache
def names(room: str) -> tuple[str, ...]:
    """Return the public module names of a room of the library, e.g. `extractors`."""
    folder = PACKAGE / room
    modules = {path.stem for path in folder.glob("*.py")}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
    return tuple(sorted(name for name in modules if not name.startswith("_")))


def disk_modules() -> tuple[str, ...]:
    """Return the data set modules whose files lie on the user's disk."""
    return tuple(n for n in names("datasets") if "FOLDER" in constants("datasets", n))


def _source(room: str, name: str) -> Path:
    module = PACKAGE / room / f"{name}.py"
    return module if module.exists() else PACKAGE / room / name / "__init__.py"


@cache
def constants(room: str, name: str) -> dict[str, Any]:
    """Return the upper-case literal constants of a module.

    Raises:
        SpecError: the module does not exist, declares no VERSION, or restricts a setting that it
            does not have.
    """
    path = _source(room, name)
    if not path.exists():
        raise unknown(f"src/gensight/{room}", "module", name, names(room))
    found = _constants_of(path)
    if not isinstance(found.get("VERSION"), int):
        raise SpecError(f"{path}: declare VERSION as a whole number at the top of the module")
    for setting in (*_choices(found), *found.get("REQUIRED", ())):
        if setting not in found.get("DEFAULTS", {}):
            raise SpecError(f"{path}: DEFAULTS lacks '{setting}', which the module restricts")
    return found


@cache
def _constants_of(path: Path) -> dict[str, Any]:
    """Return a file's literal constants, with those it imports by name from this package."""
    found: dict[str, Any] = {}
    for node in _body(path):
        if isinstance(node, ast.ImportFrom):
            found |= _imported(node)
        target = _assigned_name(node)
        if target and target.isupper():
            try:
                found[target] = _literal(node.value, found)  # type: ignore[attr-defined]
            except (ValueError, KeyError):
                continue
    return found


@cache
def has_function(room: str, name: str, function: str) -> bool:
    """Say whether a module defines a function, or assigns one, without importing it."""
    return any(
        (isinstance(node, ast.FunctionDef) and node.name == function)
        or _assigned_name(node) == function
        for node in _body(_source(room, name))
    )


def _body(path: Path) -> list[ast.stmt]:
    try:
        return ast.parse(path.read_text(encoding="utf-8"), filename=str(path)).body
    except SyntaxError as error:
        raise SpecError(f"{path}: line {error.lineno}: {error.msg}") from None


def _imported(node: ast.ImportFrom) -> dict[str, Any]:
    wanted = [alias.name for alias in node.names if alias.name.isupper()]
    steps = (node.module or "").split(".")
    if not wanted or steps[0] != PACKAGE.name:
        return {}
    path = PACKAGE.joinpath(*steps[1:]).with_suffix(".py")
    known = _constants_of(path) if path.exists() else {}
    return {name: known[name] for name in wanted if name in known}


def _literal(node: ast.expr, known: dict[str, Any]) -> Any:
    """Evaluate a literal; a mapping may also unpack a constant: {**COMMON, "key": 1}."""
    if not isinstance(node, ast.Dict):
        return ast.literal_eval(node)
    mapping: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None and isinstance(value, ast.Name):
            mapping |= known[value.id]
        elif key is None:
            raise ValueError("only a named constant can be unpacked")
        else:
            mapping[ast.literal_eval(key)] = ast.literal_eval(value)
    return mapping


def _assigned_name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return node.target.id
    return None


def merged(file: str, key: str, room: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return a module's DEFAULTS with the given values over them.

    Raises:
        SpecError: a given key is not among the defaults, its value has another type, or the module
            does not allow it (see the top of this file).
    """
    found = constants(room, name)
    defaults = found.get("DEFAULTS", {})
    for parameter, value in given.items():
        if parameter not in defaults:
            raise unknown(file, key, parameter, defaults)
        if not _same_type(defaults[parameter], value):
            wanted = type(defaults[parameter]).__name__
            got = "null" if value is None else repr(value)
            raise SpecError(f"{file}: {key}.{parameter}: expected {wanted}, got {got}")
    settings = {**defaults, **given}
    _check(file, key, found, settings)
    return settings


def _check(file: str, key: str, found: dict[str, Any], settings: dict[str, Any]) -> None:
    """Check settings against what their module declares."""
    for setting in found.get("REQUIRED", ()):
        if settings[setting] is None:
            raise SpecError(f"{file}: key '{key}.{setting}' is missing; add it")
    for setting, allowed in _choices(found).items():
        default, value = found["DEFAULTS"][setting], settings[setting]
        words = value if isinstance(default, list) else [value]
        if default and not words:
            words = [None]  # an empty list, where the default is not empty
        _check_choice(file, f"{key}.{setting}", words, allowed)
    if "METHODS" in found:
        method = settings["method"]
        used = found["METHODS"][method]
        for setting in sorted({s for some in found["METHODS"].values() for s in some} - set(used)):
            # The default of another method's setting says nothing, so it may stand.
            if settings[setting] != found["DEFAULTS"][setting]:
                raise SpecError(
                    f"{file}: {key}.{setting}: the method '{method}' does not use it; "
                    f"it uses: {', '.join(used) or 'none'}"
                )


def _choices(found: dict[str, Any]) -> dict[str, list[Any]]:
    """Return every setting that takes only some values, and those values."""
    choices = {setting: list(allowed) for setting, allowed in found.get("CHOICES", {}).items()}
    for setting, constant in (("method", "METHODS"), ("failure", "FAILURE_POLICIES")):
        if constant in found:
            choices[setting] = list(found[constant])
    return choices


def _check_choice(file: str, key: str, words: list[Any], allowed: list[Any]) -> None:
    for word in words:
        if word not in allowed:
            raise unknown(file, key, word, allowed)
        if words.count(word) > 1:
            raise SpecError(f"{file}: {key}: '{word}' is listed twice")


def _same_type(default: Any, value: Any) -> bool:
    """Whole numbers pass for decimal ones; a default of None or [] accepts anything."""
    if default is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, list) and default and isinstance(value, list):
        return all(_same_type(default[0], element) for element in value)
    return isinstance(value, type(default))
