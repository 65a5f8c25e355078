"""`gensight extract grid` and `letter`: what replies in text say, for people and programs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cli_files import answer, call, error
from click.testing import CliRunner

from gensight.cli import main
from gensight.images import decode_rgb

GRID = '{"palette": ["#FFFFFF", "#d62828"], "pixels": ["011", "100", "111"]}'
FENCED = f"```json\n{GRID}\n```\n"


@pytest.fixture
def written(tmp_path):
    def _write(text):
        path = tmp_path / "reply.txt"
        path.write_bytes(text.encode())
        return path

    return _write


def test_a_grid_with_both_verdicts(written):
    path = written(GRID)
    found = answer("extract", "grid", path, "--size", 3)
    expected = {
        "file": str(path),
        "extractor": "palette_grid",
        "variant": "strict",
        "strict": "valid",
        "lenient": "valid",
        "palette": ["#FFFFFF", "#D62828"],
        "rows": ["011", "100", "111"],
        "degenerate_output": False,
        "parameters": {"shape": "grid", "size": 3},
    }
    assert {key: found[key] for key in expected} == expected
    piped = CliRunner().invoke(main, ["extract", "grid", "-", "--size", "3", "--json"], input=GRID)
    assert json.loads(piped.stdout) == {**found, "file": "-"}


def test_a_fenced_grid_for_people(written):
    lines = call("extract", "grid", written(FENCED), "--size", 3, "--method", "lenient").stdout
    for line in ("strict             fenced", "lenient            valid", "row                100"):
        assert line in lines.splitlines()
    line = error("extract", "grid", written(FENCED), "--size", 3)
    assert "(fenced)" in line
    assert "--method lenient reads it" in line
    line = error("extract", "grid", written(FENCED), "--size", 4)
    assert "(fenced)" in line
    assert "(row_count): 3 rows, not 4" in line


def test_the_only_one_of_a_list(written):
    path = written(f'{{"images": [{GRID}]}}')
    assert answer("extract", "grid", path, "--size", 3, "--shape", "images")["rows"][0] == "011"
    assert "(no_palette)" in error("extract", "grid", path, "--size", 3)


def test_a_grid_is_enlarged_by_a_whole_number(written, tmp_path):
    output = tmp_path / "grid.png"
    answer("extract", "grid", written(GRID), "--size", 3, "--output", output)
    rgb = decode_rgb(output.read_bytes(), matte=(0, 0, 0))
    assert rgb.shape == (513, 513, 3)
    red = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1]], bool).repeat(171, 0).repeat(171, 1)
    assert (rgb[red] == (0xD6, 0x28, 0x28)).all()
    assert (rgb[~red] == 255).all()


def test_a_program_gets_both_verdicts_of_a_broken_reply(written):
    done = call("extract", "grid", written(FENCED), "--size", 3, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["strict"], found["lenient"]) == (2, "fenced", "valid")
    done = call("extract", "grid", written(GRID), "--size", 16, "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["strict"], found["lenient"]) == (2, "row_count", "row_count")
    assert found["lenient_detail"].endswith("3 rows, not 16")
    assert "(row_count)" in done.stderr


def test_what_is_no_grid_is_one_line(written):
    assert "(not_json)" in error("extract", "grid", written("an icon"), "--size", 16)
    assert "(row_count): 3 rows, not 16" in error("extract", "grid", written(GRID), "--size", 16)
    line = error("extract", "grid", written(GRID), "--size", 3, "--method", "leniant")
    assert "did you mean 'lenient'" in line
    line = error("extract", "grid", written(GRID), "--size", 3, "--output", "grid.txt")
    assert "name it *.png" in line


def test_a_letter(written):
    path = written("It flies.\nAnswer: c")
    found = answer("extract", "letter", path)
    expected = {"file": str(path), "text": "C", "variant": "strict", "extractor": "letter"}
    assert {key: found[key] for key in expected} == expected
    assert "text    C" in call("extract", "letter", path).stdout.splitlines()
    assert answer("extract", "letter", written("P"), "--options", 16)["text"] == "P"


def test_what_is_no_letter_is_one_line(written):
    assert "(not_an_option): 'P'" in error("extract", "letter", written("P"))
    assert "(several_letters)" in error("extract", "letter", written("A or B"))
