"""Everything that a workflow script says, and how it fails, lands in the rule's log."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gensight import doorway

# As Snakemake starts a script: nothing may depend on unbuffered streams.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
FRAME = """
import os, subprocess, sys
from types import SimpleNamespace
from gensight.doorway import logged
snakemake = SimpleNamespace(log=["rule.log"], output={output!r})
print("before", flush=True)
with logged(snakemake):
{body}
print("after", flush=True)
"""


def run(folder, body, output=()):
    """Run a script with this body inside the doorway; return the process and the log."""
    body = "\n".join(f"    {line}" for line in body.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", FRAME.format(body=body, output=list(output))],
        cwd=folder,
        env=BUFFERED,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, (folder / "rule.log").read_text(encoding="utf-8")


# (what a script does, what the log must hold)
SAID = [
    ("print('héllo 深')", "héllo 深\n"),
    ("print('no newline', end='')", "no newline"),
    ("sys.stderr.write('a warning\\n')", "a warning\n"),
    ("os.write(1, b'raw one\\n')", "raw one\n"),
    ("os.write(2, b'raw two\\n')", "raw two\n"),
    ("subprocess.run(['sh', '-c', 'echo child; echo trouble >&2'])", "child\ntrouble\n"),
    ("import warnings\nwarnings.warn('careful')", "UserWarning: careful"),
    ("import ctypes\nctypes.CDLL(None).printf(b'from C\\n')", "from C\n"),
    ("import logging\nlogging.getLogger('x').warning('logged')", "logged\n"),
]


@pytest.mark.parametrize(("body", "expected"), SAID)
def test_all_output_lands_in_the_log_and_only_there(tmp_path, body, expected):
    done, log = run(tmp_path, body)
    assert done.returncode == 0
    assert expected in log and log.endswith("done: \n")
    assert (done.stdout, done.stderr) == ("before\nafter\n", "")


def test_another_checkouts_code_is_refused(tmp_path, monkeypatch):
    own = str(Path(doorway.__file__).resolve().parent)
    for planned, is_own in ((own, True), ("/elsewhere/src/gensight", False)):
        monkeypatch.setitem(BUFFERED, doorway.PLANNED_WITH, planned)
        done, log = run(tmp_path, "print('drawn')")
        assert (done.returncode == 0) == is_own == ("drawn" in log)
    assert f"has the gensight of {own}, and another one, /elsewhere/src/gensight" in log
    assert "Traceback" not in log
    # The same code elsewhere: installed, not linked.
    copy = tmp_path / "site/gensight"
    shutil.copytree(own, copy)
    monkeypatch.setitem(BUFFERED, doorway.PLANNED_WITH, str(copy))
    assert "drawn" in run(tmp_path, "print('drawn')")[1]
    (copy / "rounding.py").write_text("other = 1\n")
    assert "drawn" not in run(tmp_path, "print('drawn')")[1]


def test_output_keeps_its_order(tmp_path):
    body = "print('1')\nos.write(2, b'')\nsys.stdout.flush()\nos.write(1, b'2\\n')\nprint('3')"
    _, log = run(tmp_path, body)
    assert log.startswith("1\n2\n3\n")


def test_what_c_code_printed_before_the_frame_stays_before_it(tmp_path):
    frame = FRAME.replace(
        "with logged", "import ctypes; ctypes.CDLL(None).puts(b'early')\nwith logged"
    )
    code = frame.format(body="    pass", output=[])
    command = [sys.executable, "-c", code]
    out = subprocess.check_output(command, cwd=tmp_path, env=BUFFERED, text=True)
    assert out == "before\nearly\nafter\n"
    assert (tmp_path / "rule.log").read_text() == "done: \n"


FAILURES = [
    ("raise ValueError('broken')", ["Traceback (most recent call last)", "ValueError: broken"]),
    (
        "error = ValueError('x')\nerror.add_note('while scoring sample s7')\nraise error",
        ["Traceback", "ValueError: x", "while scoring sample s7"],
    ),
    ("import nowhere_to_be_found", ["Traceback", "No module named 'nowhere_to_be_found'"]),
    ("from gensight import nothing_like_it", ["Traceback", "cannot import name"]),
    ("raise SystemExit(0)", ["Traceback", "SystemExit: 0"]),
    ("raise KeyboardInterrupt", ["Traceback", "KeyboardInterrupt"]),
    ("print('said first')\n1 / 0", ["said first", "Traceback", "ZeroDivisionError"]),
    ("print(open('nothing').read())", ["FileNotFoundError", "nothing"]),
]


@pytest.mark.parametrize(("body", "expected"), FAILURES)
def test_a_failure_is_a_traceback_in_the_log_and_status_1(tmp_path, body, expected):
    done, log = run(tmp_path, body)
    assert done.returncode == 1
    assert (done.stdout, done.stderr) == ("before\n", "")
    for text in expected:
        assert text in log
    assert "done: " not in log


def test_a_mistake_of_the_user_is_one_line(tmp_path):
    body = "from gensight.errors import MissingDataError\nraise MissingDataError('get the data')"
    done, log = run(tmp_path, body)
    assert done.returncode == 1
    assert log == "gensight: get the data\n"


def test_a_mistake_of_the_user_names_the_sample_it_was_met_at(tmp_path):
    body = (
        "from gensight.errors import ImageError\n"
        "error = ImageError('0 bytes')\n"
        "error.add_note('while answering sample s7')\n"
        "raise error"
    )
    _, log = run(tmp_path, body)
    assert log == "gensight: 0 bytes (while answering sample s7)\n"


def test_the_log_of_an_earlier_try_is_replaced(tmp_path):
    (tmp_path / "rule.log").write_text("an old failure")
    _, log = run(tmp_path, "print('new')")
    assert log == "new\ndone: \n"


WRITES = """
from gensight.records import Sample, write_rows
write_rows("results/samples/x.parquet", Sample, [], {"n": 1})
"""


def test_what_was_made_is_remembered_as_made_here(tmp_path):
    path = "results/samples/x.parquet"
    done, log = run(tmp_path, WRITES, [path])
    assert done.returncode == 0 and log.endswith(f"done: {path}\n")
    stamp = tmp_path / ".snakemake/gensight/known" / path
    code = f"from gensight.footers import read_footer; print(read_footer({path!r}).content)"
    content = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)
    assert stamp.read_text() == content.strip()


def test_an_output_that_was_not_written_fails_the_job(tmp_path):
    done, log = run(tmp_path, "pass", ["results/samples/x.parquet"])
    assert done.returncode == 1
    assert log.startswith("gensight: results/samples/x.parquet: is missing")
