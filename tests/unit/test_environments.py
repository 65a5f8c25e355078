"""Environment files pin what they name; those of our own steps, all that the package asks for."""

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
EXTRAS = {
    "core": {"data", "ocr"},
    "hosted": {"hosted"},
    "models": {"models", "quant", "open_clip", "openai"},
}
FILES = sorted((ROOT / "envs").glob("*.yaml"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def wanted(extras):
    """Return what the package and some of its extras require, through one another."""
    told = project()
    waiting = list(told["dependencies"])
    for extra in sorted(extras):
        waiting += told["optional-dependencies"][extra]
    found = []
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name == "gensight":
            for extra in sorted(requirement.extras):
                waiting += told["optional-dependencies"][extra]
        else:
            found.append(requirement)
    return found


def pins(path):
    """Return what pip installs into an environment, as requirements."""
    (listed,) = (
        entry["pip"]
        for entry in yaml.safe_load(path.read_text())["dependencies"]
        if isinstance(entry, dict)
    )
    return [Requirement(line) for line in listed]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_version_is_pinned(path):
    for pin in pins(path):
        (specifier,) = pin.specifier
        assert (specifier.operator, pin.url) == ("==", None) and "*" not in specifier.version
    dependencies = yaml.safe_load(path.read_text())["dependencies"]
    assert any(re.fullmatch(r"python =3\.\d+", str(entry)) for entry in dependencies)


@pytest.mark.parametrize("name", EXTRAS)
def test_an_environment_of_our_own_has_what_the_package_and_its_extras_need(name):
    found = {canonicalize_name(pin.name): pin for pin in pins(ROOT / f"envs/{name}.yaml")}
    needs = wanted(EXTRAS[name])
    assert {canonicalize_name(one.name) for one in needs} == set(found)
    for one in needs:
        (specifier,) = found[canonicalize_name(one.name)].specifier
        assert specifier.version in one.specifier, one.name


@pytest.mark.parametrize("name", EXTRAS)
def test_gensight_itself_is_put_into_it(name):
    # Where Snakemake looks for it.
    script = (ROOT / f"envs/{name}.yaml").with_suffix(".post-deploy.sh")
    first, *lines = script.read_text().splitlines()
    assert first == "#!/bin/sh" and os.access(script, os.X_OK)
    assert lines[-1] == "pip install --quiet --no-deps --editable ."


def test_rules_name_environments_that_are_there_and_of_our_own():
    named = set()
    for rules in (ROOT / "workflow/rules").glob("*.smk"):
        for path in re.findall(r'"([^"]*envs/[^"]+)"', rules.read_text()):
            assert (rules.parent / path).is_file(), f"{rules.name}: {os.path.normpath(path)}"
            named.add(Path(path).stem)
    assert named == set(EXTRAS)
