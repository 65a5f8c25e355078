"""What modules declare is read from their source, and every module of the library declares it."""

import importlib
import pkgutil

import pytest
from spine_project import forget, raise_version, use_copy_of_library

import gensight
from gensight.errors import SpecError
from gensight.specs import declared

ROOMS = {
    "datasets": ("VERSION", "DEFAULTS"),
    "models": ("VERSION", "DEFAULTS"),
    "extractors": ("VERSION", "DEFAULTS"),
    "measures": ("VERSION", "DEFAULTS"),
    "metrics": ("VERSION", "MEASURE"),
}


def modules():
    """Return every public module or package of the rooms that the specs read from."""
    for room in ROOMS:
        package = importlib.import_module(f"gensight.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            if not module.name.startswith("_"):
                yield room, module.name


@pytest.mark.parametrize(("room", "name"), list(modules()))
def test_every_module_declares_literals_equal_to_what_it_holds(room, name):
    module = importlib.import_module(f"gensight.{room}.{name}")
    found = declared.constants(room, name)
    for constant in ROOMS[room]:
        assert found[constant] == getattr(module, constant)
        assert type(found[constant]) is type(getattr(module, constant))
    assert type(found["VERSION"]) is int and found["VERSION"] >= 1


@pytest.mark.parametrize("room", list(ROOMS))
def test_names_are_the_modules_of_the_room(room):
    expected = sorted(name for where, name in modules() if where == room)
    assert list(declared.names(room)) == expected


@pytest.mark.parametrize("name", declared.names("metrics"))
def test_every_metric_belongs_to_a_measure(name):
    assert declared.constants("metrics", name)["MEASURE"] in declared.names("measures")


@pytest.fixture
def package(monkeypatch, tmp_path):
    return use_copy_of_library(monkeypatch, tmp_path)


def test_a_raised_version_is_read_from_the_source(package):
    assert declared.constants("extractors", "mask")["VERSION"] == 1
    raise_version(package, "extractors", "mask")
    assert declared.constants("extractors", "mask")["VERSION"] == 2
    assert gensight.__path__[0] != str(package)


SOURCES = [
    ("VERSION = 3\nDEFAULTS = {'a': [1, None], 'b': -0.5}\n", {"a": [1, None], "b": -0.5}),
    ("VERSION: int = 3\nDEFAULTS: dict = {'a': (1, 2)}\n", {"a": (1, 2)}),
    ("VERSION = 3\nCOMMON = {'a': 1}\nDEFAULTS = {**COMMON, 'b': 2, 'a': 3}\n", {"a": 3, "b": 2}),
    (
        "from gensight.extractors._shared import COMMON\nVERSION = 3\n"
        "DEFAULTS = {'b': 1, **COMMON}\n",
        {"b": 1, "long_side": 1024},
    ),
    ("import nowhere_to_be_found\nVERSION = 3\nDEFAULTS = {}\n", {}),
]


@pytest.mark.parametrize(("source", "defaults"), SOURCES)
def test_literals_are_read_without_importing(package, source, defaults):
    (package / "extractors/_shared.py").write_text("COMMON = {'long_side': 1024}\n")
    (package / "extractors/made_here.py").write_text(source)
    forget()
    assert declared.constants("extractors", "made_here")["VERSION"] == 3
    assert declared.constants("extractors", "made_here")["DEFAULTS"] == defaults


@pytest.mark.parametrize("source", ["", "VERSION = '1'\n", "VERSION = 1.0\n", "VERSION = 1 + 1\n"])
def test_a_module_without_a_literal_version_is_named(package, source):
    (package / "metrics/made_here.py").write_text(source)
    forget()
    with pytest.raises(SpecError, match=r"made_here\.py: declare VERSION as a whole number[^\n]*$"):
        declared.constants("metrics", "made_here")


def test_an_unknown_module_lists_those_there_are(package):
    with pytest.raises(SpecError, match=r"'gio' is not known \(did you mean 'giou'\?\); allowed: "):
        declared.constants("metrics", "gio")


# (default, given, accepted): whole numbers pass for decimal ones, nothing else is coerced.
TYPES = [
    (1, 2, True),
    (1, 2.0, False),
    (1, "2", False),
    (1, True, False),
    (True, 1, False),
    (True, False, True),
    (0.5, 1, True),
    (0.5, True, False),
    ("a", "b", True),
    ("a", 1, False),
    ([1], [2, 3], True),
    ([1], 2, False),
    (None, 2, True),
    (None, ["x"], True),
]


@pytest.mark.parametrize(("default", "given", "accepted"), TYPES)
def test_given_values_have_the_type_of_the_default(package, default, given, accepted):
    (package / "measures/made_here.py").write_text(
        f"VERSION = 1\nDEFAULTS = {{'a': {default!r}}}\n"
    )
    forget()
    if accepted:
        merged = declared.merged("f.yaml", "settings", "measures", "made_here", {"a": given})
        assert merged == {"a": given}
    else:
        with pytest.raises(SpecError, match=r"^f\.yaml: settings\.a: expected [a-z]+, got [^\n]*$"):
            declared.merged("f.yaml", "settings", "measures", "made_here", {"a": given})
