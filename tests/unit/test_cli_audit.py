"""`gensight audit`: a table for people, one object for programs, exit code 1 for a change."""

import json
import shutil
from pathlib import Path

import pytest
from cli_files import answer, call, error

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "resources/published"


@pytest.fixture
def here(monkeypatch):
    """Stand in the checkout."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """Stand in a copy of the numbers, in which one average was edited."""
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    path = tmp_path / FOLDER / "probegen_table_7.csv"
    text = path.read_text(encoding="utf-8")
    assert text.count("MAE,5.07,") == 1
    path.write_text(text.replace("MAE,5.07,", "MAE,5.17,"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_one_object_with_every_check(here):
    found = answer("audit")
    assert found["totals"] == {"exact": 458, "within_rounding": 34, "differs": 11}
    assert len(found["checks"]) == 503
    assert len(found["expected"]) == 11
    assert (found["new"], found["vanished"], found["ok"]) == ([], [], True)
    assert set(found["checks"][0]) == {
        "paper",
        "place",
        "name",
        "printed",
        "recomputed",
        "tolerance",
        "result",
    }


def test_one_paper(here):
    found = answer("audit", "--paper", "genius")
    assert {check["paper"] for check in found["checks"]} == {"genius"}
    assert len(found["expected"]) == 5


def test_people_read_a_table(here):
    done = call("audit", "--paper", "probegen")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0][:2] == ["published", "numbers,"]
    assert ["paper", "place", "exact", "within", "rounding", "differs"] in lines
    assert ["probegen", "Table", "5", "4", "0", "0"] in lines
    assert ["all", "36", "0", "2"] in lines
    assert "differs, as known" in done.stdout
    assert "Seedream-4.5: GB" in done.stdout
    assert "NEW" not in done.stdout


def test_every_number_is_listed_on_demand(here):
    """The source gains of PixelBench's text agree exactly, so they are listed only then."""
    gains = [("Claude Opus 5", "22.7", "22.7000"), ("GPT-6 Astra", "20.4", "20.4000")]
    listed = call("audit", "--paper", "pixelbench", "--every")
    assert listed.exit_code == 0
    lines = [" ".join(line.split()) for line in listed.stdout.splitlines()]
    for model, printed, found in gains:
        name = f"{model}: Astra-I2P minus PIA"
        assert f"pixelbench text and Table 3 {name} {printed} {found}" in lines
        assert name not in call("audit", "--paper", "pixelbench").stdout


def test_a_change_is_exit_code_1(changed):
    done = call("audit")
    assert (done.exit_code, done.stderr) == (1, "")
    new = done.stdout.partition("DIFFERS, NEW")[2]
    assert "diff_red_blob: mean of 3" in new
    assert "5.06667" in new
    as_json = call("audit", "--json")
    assert as_json.exit_code == 1
    content = json.loads(as_json.stdout)
    assert [check["printed"] for check in content["new"]] == ["5.17"]
    assert content["ok"] is False


def test_a_change_elsewhere_is_no_change_of_this_paper(changed):
    assert answer("audit", "--paper", "pixelbench")["ok"] is True


def test_an_unknown_paper_is_exit_code_2(here):
    done = call("audit", "--paper", "probgen")
    assert done.exit_code == 2
    assert "'probegen', 'genius', 'pixelbench'" in done.stderr


def test_outside_a_checkout_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "run this inside a checkout" in error("audit")
