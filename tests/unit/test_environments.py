"""The environment files of our own steps ask for what the package and its extras ask for."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
EXTRAS = {"core": [], "hosted": ["openai", "google", "anthropic"], "models": ["models", "quant"]}
#: Names on conda's channels, and what comes by itself or is no part of a job's own environment.
CONDA = {"snakemake-minimal": "snakemake"}
LEFT_OUT = {"packaging", "snakemake-executor-plugin-slurm", "snakemake-interface-logger-plugins"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def listed(name):
    """Return what an environment file asks for, by distribution."""
    found = {}
    for entry in yaml.safe_load((ROOT / f"envs/{name}.yaml").read_text())["dependencies"]:
        for line in entry["pip"] if isinstance(entry, dict) else [entry]:
            package, _, version = line.partition(" ")
            found[CONDA.get(package, package)] = version
    return found


@pytest.mark.parametrize("name", EXTRAS)
def test_versions_are_those_of_the_package(name):
    told = project()
    lines = [*told["dependencies"]]
    for extra in EXTRAS[name]:
        lines += told["optional-dependencies"][extra]
    found = listed(name)
    for line in lines:
        wanted = Requirement(line)
        if wanted.name in LEFT_OUT or wanted.name == "gensight":
            continue
        assert Requirement(f"{wanted.name}{found[wanted.name]}").specifier == wanted.specifier
