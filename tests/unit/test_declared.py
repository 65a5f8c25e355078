"""What modules declare is read from their source, and every module of the library declares it."""

import importlib
import pkgutil

import pytest
from spine_project import forget, raise_version, use_copy_of_library

import gensight
from gensight import extractors
from gensight.errors import SpecError
from gensight.extractors import mask
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


@pytest.mark.parametrize(("room", "name"), list(modules()))
def test_what_a_module_restricts_allows_its_own_defaults(room, name):
    found = declared.constants(room, name)
    for setting, allowed in found.get("CHOICES", {}).items():
        default = found["DEFAULTS"][setting]
        assert set(default if isinstance(default, list) else [default]) <= set(allowed)


@pytest.mark.parametrize("name", declared.names("extractors"))
def test_every_extractor_declares_the_variants_it_reads(name):
    found, module = declared.constants("extractors", name), extractors.load(name)
    answer = extractors.Answer(source_width=8, source_height=8, form={"size": 8})
    variants = found.get("CHOICES", {}).get("variants", [])
    # The variants of a grid are its combinations; a time needs no picture.
    assert variants or name == "grid"
    for variant in variants:
        (reading,) = module.extract(answer, {"variants": [variant]})
        assert (reading.variant, reading.status) == (variant, NOTHING.get(name, "no_output"))
    with pytest.raises(SpecError, match="variants"):
        module.extract(answer, {"variants": ["another"]})


NOTHING = {"timing": "ok"}


def test_masks_have_a_rule_for_each_variant_they_declare():
    assert list(mask.VARIANTS) == mask.CHOICES["variants"]


RESTRICTED = """
VERSION = 1
DEFAULTS = {
    "weights": None, "method": None, "space": "depth", "heads": ["a"], "tags": [], "level": 1,
    "failure": "zero",
}
REQUIRED = ["weights"]
METHODS = {"plain": [], "deep": ["level"]}
CHOICES = {"space": ["depth", None], "heads": ["a", "b"], "tags": ["x"]}
FAILURE_POLICIES = ("zero", "mean")
"""
PLAIN = {"weights": "w", "method": "plain"}
RULES = [
    (PLAIN, None),
    ({**PLAIN, "heads": ["b", "a"], "tags": ["x"], "failure": "mean", "level": 1}, None),
    ({**PLAIN, "method": "deep", "level": 2}, None),
    ({"method": "plain"}, "key 'g.weights' is missing"),
    ({"weights": "w"}, "key 'g.method' is missing; allowed: deep, plain"),
    ({**PLAIN, "method": "plian"}, r"g.method: 'plian' is not known \(did you mean 'plain'"),
    ({**PLAIN, "level": 2}, "g.level: the method 'plain' does not use it; it uses: none"),
    ({**PLAIN, "space": "dept"}, r"g.space: 'dept'.*did you mean 'depth'.*allowed: depth, null"),
    ({**PLAIN, "heads": ["a", "c"]}, "g.heads: 'c' is not known.*allowed: a, b"),
    ({**PLAIN, "heads": []}, "key 'g.heads' is missing; allowed: a, b"),
    ({**PLAIN, "heads": ["a", "a"]}, "g.heads: 'a' is listed twice"),
    ({**PLAIN, "failure": "men"}, r"g.failure: 'men' is not known \(did you mean 'mean'"),
]


@pytest.mark.parametrize("room", ["models", "datasets", "measures", "extractors"])
@pytest.mark.parametrize(("given", "message"), RULES)
def test_a_module_of_any_room_may_restrict_its_settings(package, room, given, message):
    (package / room / "made_here.py").write_text(RESTRICTED)
    forget()
    if message is None:
        assert declared.merged("f.yaml", "g", room, "made_here", given).items() >= given.items()
    else:
        with pytest.raises(SpecError, match=f"^f.yaml: {message}[^\n]*$"):
            declared.merged("f.yaml", "g", room, "made_here", given)


@pytest.mark.parametrize(
    "line", ["CHOICES = {'b': [1]}", "REQUIRED = ['b']", "METHODS = {'b': []}"]
)
def test_a_module_that_restricts_what_it_does_not_have_is_named(package, line):
    (package / "models/made_here.py").write_text(f"VERSION = 1\nDEFAULTS = {{'a': 1}}\n{line}\n")
    forget()
    with pytest.raises(SpecError, match=r"made_here\.py: DEFAULTS lacks '(b|method)'"):
        declared.constants("models", "made_here")


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
    (None, None, True),
    (1, None, False),
    ("a", None, False),
    ([1], None, False),
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


def test_the_elements_of_a_list_have_the_type_of_the_defaults():
    given = {"assumed_area_band_edges": [0.01, 1]}
    found = declared.merged("x.yaml", "dataset.parameters", "datasets", "refcoco", given)
    assert found["assumed_area_band_edges"] == [0.01, 1]
    with pytest.raises(SpecError, match=r"assumed_area_band_edges: expected list, got \['a'\]"):
        given = {"assumed_area_band_edges": ["a"]}
        declared.merged("x.yaml", "dataset.parameters", "datasets", "refcoco", given)
