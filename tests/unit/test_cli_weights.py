"""What the doctor sees of weights: a folder, what the hub's library keeps, or nothing yet."""

from pathlib import Path

import pytest

from gensight.cli.weights import WeightsTold, hub_cache, weights_told

TO_COME = WeightsTold("weights Lab/Model to be downloaded at the first start", is_lack=False)


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch, tmp_path):
    for name in ("HF_HUB_CACHE", "HF_HUB_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))


def test_what_was_downloaded_is_here(tmp_path, monkeypatch):
    asked = {"model": "Lab/Model"}
    assert weights_told(asked, tmp_path) == TO_COME
    repository = tmp_path / "home/hub/models--Lab--Model"
    (repository / "snapshots/0123abc").mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text("0123abc")
    assert weights_told(asked, tmp_path) == TO_COME, "an empty folder holds nothing"
    (repository / "snapshots/0123abc/config.json").touch()
    assert weights_told(asked, tmp_path) is None
    assert weights_told({"model": None, "segmenter": "Lab/Model"}, tmp_path) is None
    assert weights_told({**asked, "assumed_revision": "main"}, tmp_path) is None
    assert weights_told({**asked, "revision": "0123abc"}, tmp_path) is None
    assert weights_told({**asked, "revision": "4567def"}, tmp_path) == TO_COME
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    assert weights_told(asked, tmp_path) == TO_COME


def test_without_a_network_they_have_to_be_here(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    told = weights_told({"model": "Lab/Model"}, tmp_path)
    assert told == ("no weights Lab/Model here, and HF_HUB_OFFLINE is set", True)


def test_a_folder_is_looked_for_below_the_checkout(tmp_path):
    (tmp_path / "weights/tiny").mkdir(parents=True)
    assert weights_told({"model": "weights/tiny"}, tmp_path) is None
    assert weights_told({"model": str(tmp_path / "weights/tiny")}, Path("/nowhere")) is None
    for name in ("./weights/other", "a/b/c", "~/weights"):
        assert weights_told({"model": name}, tmp_path) == (f"no folder {name}", True)
    assert weights_told({}, tmp_path) is None


def test_the_cache_is_where_the_hubs_library_puts_it(tmp_path, monkeypatch):
    assert hub_cache() == tmp_path / "home/hub"
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hub_cache() == tmp_path / ".cache/huggingface/hub"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert hub_cache() == tmp_path / "cache/huggingface/hub"
