"""What a module declares about itself (VERSION, DEFAULTS, ...), read without importing it.

Planning must stay fast and must work where an optional dependency is missing, so the constants
are read from the source: they are literals by convention, and a test holds every module to it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from gensight.specs.base import SpecError, unknown

PACKAGE = Path(__file__).resolve().parents[1]


@cache
def names(room: str) -> tuple[str, ...]:
    """Return the public module names of a room of the library, e.g. `extractors`."""
    folder = PACKAGE / room
    modules = {path.stem for path in folder.glob("*.py")}
    modules |= {path.parent.name for path in folder.glob("*/__init__.py")}
    return tuple(sorted(name for name in modules if not name.startswith("_")))


def _source(room: str, name: str) -> Path:
    module = PACKAGE / room / f"{name}.py"
    return module if module.exists() else PACKAGE / room / name / "__init__.py"


@cache
def constants(room: str, name: str) -> dict[str, Any]:
    """Return the upper-case literal constants of a module.

    Raises:
        SpecError: the module does not exist or declares no VERSION.
    """
    path = _source(room, name)
    if not path.exists():
        raise unknown(f"src/gensight/{room}", "module", name, names(room))
    found = _constants_of(path)
    if not isinstance(found.get("VERSION"), int):
        raise SpecError(f"{path}: declare VERSION as a whole number at the top of the module")
    return found


@cache
def _constants_of(path: Path) -> dict[str, Any]:
    """Return a file's literal constants, with those it imports by name from this package."""
    found: dict[str, Any] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= _imported(node)
        target = _assigned_name(node)
        if target and target.isupper():
            try:
                found[target] = _literal(node.value, found)  # type: ignore[attr-defined]
            except (ValueError, KeyError):
                continue
    return found


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
        SpecError: a given key is not among the defaults, or its value has another type.
    """
    defaults = constants(room, name).get("DEFAULTS", {})
    for parameter, value in given.items():
        if parameter not in defaults:
            raise unknown(file, key, parameter, defaults)
        if not _same_type(defaults[parameter], value):
            wanted = type(defaults[parameter]).__name__
            raise SpecError(f"{file}: {key}.{parameter}: expected {wanted}, got {value!r}")
    return {**defaults, **given}


def _same_type(default: Any, value: Any) -> bool:
    """Whole numbers pass for decimal ones; a default of None accepts anything."""
    if default is None or value is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))
