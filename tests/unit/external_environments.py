"""Environments of the models that are external commands, made of stand-ins (stub_packages).

An environment is a virtual one whose interpreter sees the stand-ins, numpy and Pillow alone, with a
clone of the stand-in repository at a commit of its own.
"""

import subprocess
import venv
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import numpy
import PIL
from external_rig import ROOT, generation_of

from gensight.models import Site
from gensight.models.external_command import open_model
from gensight.specs.model import LimitsSpec

STUBS = Path(__file__).parent / "stub_packages"
MODELS = (
    "bagel",
    "countgd_pp",
    "emu3_5",
    "lotus_2",
    "nextstep_1",
    "omnigen2",
    "qwen3_vl_8b_samtok",
)
#: Files of weights that the wrappers read by name: one tensor a line.
WEIGHTS = {
    "bagel": {"ae.safetensors": "encoder decoder"},
    "qwen3_vl_8b_samtok": {"mask_tokenizer_256x2.pth": "codes"},
}
CHECKPOINT = "backbone.weight head.weight"
BOTH = ("PIL", "pillow.libs", "numpy", "numpy.libs")
COMMIT = "c0ffee" * 6 + "c0ff"


def environment(folder, name):
    """Make the environment of a model; return (its generation block, its site)."""
    prefix = folder / name
    venv.EnvBuilder(symlinks=True).create(prefix)
    packages = next(prefix.glob("lib/python*/site-packages"))
    for module in (PIL, numpy):
        installed = Path(module.__file__).parents[1]
        for part in BOTH:
            if (installed / part).exists() and not (packages / part).exists():
                (packages / part).symlink_to(installed / part)
    (packages / "stand_ins.pth").write_text(f"{STUBS / 'site'}\n")
    repository = prefix / "repository"
    _copy(STUBS / name, repository)
    generation = generation_of(name)
    if name == "countgd_pp":
        path = repository / generation["weights"]
        path.parent.mkdir()
        path.write_text(CHECKPOINT)
    generation["assumed_revision"] = committed(repository)
    limits = LimitsSpec(start_timeout_s=120, answer_timeout_s=120)
    return generation, Site(root=ROOT, environments={name: str(prefix)}, limits=limits)


def environments(folder):
    """Return a function that makes the environment of a model once, in a folder."""
    return cache(partial(environment, folder))


def opener(environment_of, folder, monkeypatch):
    """Return a function that opens a model's wrapper in its environment.

    `files` ({(repository, file): tensors}) lie on the hub as they are given, beside those of
    `WEIGHTS`; the hub and what the wrapper puts by for a while lie in the folder.
    """
    monkeypatch.setenv("TMPDIR", str(folder))

    def open_one(name, files=(), **settings):
        for variable, value in hub(folder / "hub", name).items():
            monkeypatch.setenv(variable, value)
        for (repository, file), tensors in dict(files).items():
            _write(folder / "hub", repository, file, tensors)
        generation, site = environment_of(name)
        given = {**generation, "settings": {**generation["settings"], **settings}}
        return closing(open_model(given, [], site))

    return open_one


def hub(folder, name):
    """Make the hub that a model's weights come from; return the variables that name it."""
    weights = generation_of(name)["weights"]
    for file, tensors in WEIGHTS.get(name, {}).items():
        _write(folder, weights, file, tensors)
    return {"STUB_HUB": str(folder)}


def committed(repository):
    """Make a folder a repository of one commit; return the commit."""
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "stand-in"]):
        subprocess.run([*git, *step], check=True)
    return subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()


def _write(folder, repository, file, tensors):
    path = folder / repository.replace("/", "--") / COMMIT / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tensors)


def _copy(source, target):
    for path in source.rglob("*.py"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
