"""A small project with its own copy of the library's declarations, shared by the spine's tests.

The copy has one more data set, `tiny`, and its files may be edited: a raised VERSION is then read
from the source as it would be in a checkout.
"""

import copy
import re
import shutil
from functools import cache
from pathlib import Path

import yaml

import gensight
from gensight.plan import Plan
from gensight.specs import declared
from gensight.specs.project import load_project

SOURCE = Path(gensight.__file__).parent
ROOMS = ("extractors", "measures", "metrics", "models")
TINY = 'VERSION = 1\nDEFAULTS = {"seed": 0, "size": 8, "ratio": 0.5, "note": None, "flag": False}\n'

MASK_FORM = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
PROJECT = {
    "config/models/oracle.yaml": {
        "adapter": "reference",
        "generation": {"method": "oracle"},
        "role": "ceiling",
        "failed_above": None,
        "display": {"label": "Oracle", "group": "reference", "order": 10},
    },
    "config/models/planner.yaml": {
        "adapter": "reference",
        "generation": {"method": "planner"},
        "tasks": ["segmentation"],
        "prompts": ["plan"],
        "display": {"label": "Planner"},
    },
    "config/models/sharded.yaml": {
        "adapter": "diffusers_edit",
        "generation": {
            "pipeline": "Flux2Pipeline",
            "model": "some/model",
            "num_inference_steps": 28,
        },
        "shard_size": 3,
        "limits": {"gpu": 1},
        "display": {"label": "Sharded"},
    },
    "config/benchmarks/tiny_masks.yaml": {
        "task": "segmentation",
        "dataset": {"module": "tiny", "parameters": {"seed": 1}},
        "n": 20,
        "held_out": {"first_rank": 500, "n": 4},
        "prompts": ["mid", "plan"],
        "scorers": {
            "mask": {"extractor": "mask", "measure": "overlap", "metrics": ["giou", "ciou"]}
        },
        "display": {"label": "Tiny masks"},
    },
    "config/benchmarks/tiny_depth.yaml": {
        "task": "depth",
        "dataset": {"module": "tiny"},
        "n": 7,
        "prompts": ["mid"],
        "scorers": {"depth": {"extractor": "depth", "measure": "depth_fit", "metrics": ["absrel"]}},
        "display": {"label": "Tiny depth"},
    },
    "config/tables/masks.yaml": {
        "title": "Masks",
        "caption": "Masks.",
        "label": "tab:masks",
        "columns": [
            {"benchmark": "tiny_masks", "scorer": "mask", "metric": "giou", "header": "gIoU"}
        ],
    },
    "resources/prompts/segmentation/mid.yaml": {
        "task": "segmentation",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Paint {query}."}],
                "answer_form": dict(MASK_FORM),
            }
        ],
    },
    "resources/prompts/segmentation/plan.yaml": {
        "task": "segmentation",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Where is {query}?"}],
                "answer_form": {"kind": "text", "content": "bounding_box"},
            },
            {
                "parts": [{"image": "input"}, {"reply": 0}, {"text": "Now paint it."}],
                "answer_form": dict(MASK_FORM),
            },
        ],
    },
    "resources/prompts/depth/mid.yaml": {
        "task": "depth",
        "turns": [
            {
                "parts": [{"image": "input"}, {"text": "Draw the depth."}],
                "answer_form": {"kind": "depth", "near": "bright"},
            }
        ],
    },
}
CONFIG = {
    "run": {
        "name": "small",
        "models": ["oracle", "planner", "sharded"],
        "benchmarks": ["tiny_masks", "tiny_depth"],
        "prompts": ["mid", "plan"],
        "tables": ["masks"],
    },
    "ledger": "ledger",
}


def use_copy_of_library(monkeypatch, folder):
    """Let the declarations be read from a copy below `folder`; return the copy."""
    package = folder / "gensight"
    for room in ROOMS:
        shutil.copytree(SOURCE / room, package / room, ignore=shutil.ignore_patterns("*.pyc"))
    (package / "datasets").mkdir()
    (package / "datasets/tiny.py").write_text(TINY)
    read_from(monkeypatch, package)
    return package


CACHED = ("names", "constants", "_constants_of", "has_function")


def read_from(monkeypatch, package):
    """Let the declarations be read from a package folder until the test ends."""
    monkeypatch.setattr(declared, "PACKAGE", package)
    for name in CACHED:
        monkeypatch.setattr(declared, name, cache(getattr(declared, name).__wrapped__))


def forget():
    """Make the declarations be read again."""
    for name in CACHED:
        getattr(declared, name).cache_clear()


def raise_version(package, room, name):
    """Add one to the VERSION that a module of the copy declares."""
    module = package / room / f"{name}.py"
    path = module if module.exists() else package / room / name / "__init__.py"
    text, count = re.subn(
        r"^VERSION = (\d+)$", lambda m: f"VERSION = {int(m[1]) + 1}", path.read_text(), flags=re.M
    )
    assert count == 1, path
    path.write_text(text)
    forget()


def edited(files, path, key, value):
    """Return the project's files with one value replaced (or dropped, for ...)."""
    files = copy.deepcopy(files)
    *steps, last = key.split(".")
    place = files[path]
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    last = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return files


def write(root, files=PROJECT):
    """Write the project's files; a text is written as it is."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False)
        path.write_text(text)
    return root


def plan_of(root, files=PROJECT, config=CONFIG):
    """Return the plan of a project written below `root`."""
    return Plan(load_project(copy.deepcopy(config), write(root, files)))
