"""Tests of models that run on torch; where it is not installed, none of them is collected.

They run offline on tiny copies of the real classes with random weights.
"""

import os
from importlib.util import find_spec

import pytest

NEEDED = ("torch", "diffusers", "transformers", "accelerate")
IS_HERE = all(find_spec(name) for name in NEEDED)
collect_ignore_glob = [] if IS_HERE else ["*.py"]

# Before anything that reads it is imported: a missing file is then an error at once.
os.environ["HF_HUB_OFFLINE"] = "1"

#: What libraries tell their own developers; ours may warn of nothing.
THIRD_PARTY = [
    "ignore::DeprecationWarning:torch.*",
    "ignore::FutureWarning:torch.*",
    "ignore::FutureWarning:diffusers.*",
    "ignore::FutureWarning:transformers.*",
    "ignore::UserWarning:torch.*",
]


def pytest_collection_modifyitems(items):
    for item in items:
        if "/tests/models/" in item.path.as_posix():
            for line in THIRD_PARTY:
                item.add_marker(pytest.mark.filterwarnings(line))


class TinyCopies:
    """Folders of tiny copies by name, each built when it is first asked for."""

    def __init__(self, folder):
        self._folder = folder
        self._builders = builders()

    def __getitem__(self, name):
        folder = self._folder / name
        if not folder.exists():
            import torch

            with torch.random.fork_rng():
                torch.manual_seed(0)
                self._builders[name](folder)
        return folder


def builders():
    """Return {name: function that saves a copy into a folder}."""
    import tiny_diffusers
    import tiny_transformers

    return {**tiny_transformers.BUILDERS, **tiny_diffusers.BUILDERS}


@pytest.fixture(scope="session", autouse=True)
def _torch_first():
    from gensight.models import _torch

    # One thread: where tests run side by side, more of them wait for each other.
    _torch.load_torch("tests").set_num_threads(1)


@pytest.fixture(scope="session")
def tiny(_torch_first, tmp_path_factory):
    return TinyCopies(tmp_path_factory.mktemp("tiny"))
