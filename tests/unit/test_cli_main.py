import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import call, halves, save

import gensight
from gensight.cli import COMMANDS

PROGRAM = Path(sys.executable).with_name("gensight")


def run(*arguments):
    """Run the installed program in a process of its own."""
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_the_installed_program_prints_its_version():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"gensight {gensight.__version__}\n",
        "",
    )


def test_the_installed_program_ends_a_users_mistake_with_one_line(tmp_path):
    bad = save(tmp_path / "empty.png", b"")
    done = run("extract", "mask", bad, "--json")
    expected = f"gensight: {bad}: the file is empty (0 bytes)\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_starting_up_imports_no_library():
    code = (
        "import sys, gensight.cli;"
        "heavy = {'numpy', 'cv2', 'pyarrow', 'pydantic', 'scipy', 'torch', 'skimage'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    result = call(name, "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: gensight {name}")


def test_help_lists_every_command():
    listed = call("--help").stdout
    assert all(f"  {name} " in listed for name in COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [["extrat"], ["extract", "masks"], ["extract", "mask"], ["extract", "mask", "x", "--jsn"]],
)
def test_misuse_is_a_usage_error(arguments):
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: gensight" in result.stderr


def test_the_same_call_prints_the_same_bytes(tmp_path):
    picture = save(tmp_path / "half.png", halves())
    first, second = (call("extract", "mask", picture, "--json").stdout_bytes for _ in range(2))
    assert first == second
