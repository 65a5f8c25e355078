import json

import pytest
from cli_files import answer, call, error
from test_cli_export import encoded, generation

from gensight.records import Generation, write_rows

CELL = "results/generations/oracle/scenes/mid.parquet"
CONFIG = """
run: {name: small, models: [oracle], benchmarks: [scenes], prompts: [mid]}
ledger: kept/replies
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Stand in a checkout that has one file of generations."""
    return enter(tmp_path / "here", monkeypatch, results=True)


def enter(root, monkeypatch, *, results):
    (root / "config").mkdir(parents=True)
    (root / "config/config.yaml").write_text(CONFIG)
    (root / "Snakefile").write_text("")
    monkeypatch.chdir(root)
    if results:
        write_rows(CELL, Generation, [generation(0, encoded("PNG"))], {"stage": "generations"})
    return root


def test_there_and_back(checkout, tmp_path, monkeypatch):
    packed = answer("archive", "create", tmp_path / "all.tar")
    assert (packed["files"], packed["problems"]) == (1, [])
    content = (checkout / CELL).read_bytes()
    assert packed["bytes"] == len(content)
    other = enter(tmp_path / "there", monkeypatch, results=False)
    restored = answer("archive", "restore", tmp_path / "all.tar")
    assert (restored["files"], restored["problems"]) == (1, [])
    assert (other / CELL).read_bytes() == content
    assert list((other / "kept/replies").rglob("*.parquet"))
    assert answer("archive", "verify")["problems"] == []


def test_adopting_fills_the_ledger_that_the_config_names(checkout):
    assert answer("archive", "adopt")["files"] == 1
    assert list((checkout / "kept/replies").rglob("*.parquet"))


def test_the_ledger_is_that_of_the_merged_config(checkout, tmp_path, monkeypatch):
    write_ledger = "ledger: elsewhere\n"
    (checkout / "mine.yaml").write_text(write_ledger)
    answer("archive", "adopt", "--configfile", "mine.yaml")
    assert list((checkout / "elsewhere").rglob("*.parquet"))
    answer("archive", "create", tmp_path / "all.tar")
    other = enter(tmp_path / "there", monkeypatch, results=False)
    (other / "mine.yaml").write_text(write_ledger)
    answer("archive", "restore", tmp_path / "all.tar", "--configfile", "mine.yaml")
    assert list((other / "elsewhere").rglob("*.parquet"))
    assert not (other / "kept").exists()


def test_a_wrong_config_names_the_files_it_was_merged_from(checkout):
    (checkout / "mine.yaml").write_text("ledger: 3\n")
    line = error("archive", "adopt", "--configfile", "mine.yaml")
    assert "config/config.yaml and mine.yaml: " in line
    assert "ledger" in line


def test_verify_prints_one_line_for_each_problem(checkout):
    answer("archive", "adopt")
    (checkout / CELL).write_bytes(b"spoilt")
    done = call("archive", "verify")
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert CELL in done.stderr
    as_json = call("archive", "verify", "--json")
    assert (as_json.exit_code, as_json.stderr) == (1, "")
    assert len(json.loads(as_json.stdout)["problems"]) == 1


def test_people_read_what_was_done(checkout, tmp_path):
    done = call("archive", "create", tmp_path / "all.tar")
    assert (done.exit_code, done.stdout) == (0, "packed: 1 files, 0.0 MB\n")


def test_stages_are_checked(checkout, tmp_path):
    assert answer("archive", "create", tmp_path / "a.tar", "--stage", "generations")["files"] == 1
    line = error("archive", "create", tmp_path / "b.tar", "--stage", "generation")
    assert "generations" in line


@pytest.mark.parametrize(
    "arguments", [["create", "x.tar"], ["restore", "x.tar"], ["adopt"], ["verify"]]
)
def test_outside_a_checkout_is_one_line(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert "no Snakefile" in error("archive", *arguments)


def test_an_archive_that_is_none_is_one_line(checkout, tmp_path):
    assert "nowhere.tar" in error("archive", "restore", "nowhere.tar")
    (tmp_path / "page.tar").write_bytes(b"<html>")
    assert "page.tar" in error("archive", "restore", tmp_path / "page.tar")
