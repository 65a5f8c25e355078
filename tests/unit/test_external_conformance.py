"""The conformance checks: a wrapper that keeps to the protocol passes, and each fault is named."""

import textwrap

import pytest
from click.testing import CliRunner
from external_rig import GENERATION, ROOT, generation_of, write_wrapper

from gensight import conformance
from gensight.conformance import check
from gensight.models import Site

SETUP = '{"libraries": {"a": "1"}}'
#: Answers with a picture that follows from the input and the seed.
GOOD = """
    from PIL import Image
    picture = Image.open(protocol.images_of(turn)[0]).convert("L")
    picture.putpixel((0, 0), turn["seed"] % 251)
    picture.save(turn["folder"] + "/made.png")
    return {"outcome": "ok", "image": "made.png"}
"""
NAMES = (
    "another version is refused before anything loads",
    "it says what its answers are made with",
    "answers come in the order of the questions",
    "the same seed gives the same bytes",
    "a broken picture costs one answer",
    "nothing but the protocol is on standard output",
    "the end of its input ends it",
    "a new process, asked the last question first, gives the same bytes",
)


def faults(root, answer=GOOD, **options):
    """Return {check: what is wrong} of a wrapper written for it."""
    write_wrapper(root, answer, **{"setup": SETUP, **options})
    found = check(GENERATION, Site(root=root), "Paint it.")
    assert tuple(name for name, _ in found) == NAMES
    return {name: wrong for name, wrong in found if wrong is not None}


def edited(root, old, new):
    path = root / "workflow/wrappers/made.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    found = check(GENERATION, Site(root=root), "Paint it.")
    return {name: wrong for name, wrong in found if wrong is not None}


def test_one_that_keeps_to_the_protocol_passes(tmp_path):
    assert faults(tmp_path) == {}


def test_one_that_says_nothing_of_itself(tmp_path):
    assert faults(tmp_path, setup="{}") == {NAMES[1]: "ready: setup: 'libraries' names no version"}


def test_one_that_counts_its_questions_instead_of_using_the_seed(tmp_path):
    body = GOOD.replace('turn["seed"] % 251', 'turn["id"] % 251')
    found = faults(tmp_path, body)
    assert set(found) == {NAMES[3], NAMES[4], NAMES[7]}
    assert found[NAMES[3]] == "question 1: images is another one"


def test_one_whose_answers_follow_from_its_process(tmp_path):
    body = GOOD.replace('turn["seed"] % 251', "os.getpid() % 251")
    assert set(faults(tmp_path, body)) == {NAMES[7]}


def test_one_that_answers_whatever_it_is_shown(tmp_path):
    found = faults(tmp_path, 'return {"outcome": "ok", "text": "3"}')
    assert found == {NAMES[4]: "it answered a picture that cannot be decoded"}


def test_one_that_ends_at_what_it_cannot_read(tmp_path):
    ends = """
        from PIL import Image
        try:
            Image.open(protocol.images_of(turn)[0]).load()
        except OSError:
            os.abort()
    """
    found = faults(tmp_path, textwrap.dedent(ends) + textwrap.dedent(GOOD))
    assert found == {NAMES[4]: "it costs the process"}


def test_one_that_answers_nothing(tmp_path):
    found = faults(tmp_path, "raise ValueError('never')")
    assert "ValueError: never" in found[NAMES[2]] and NAMES[7] in found


def test_one_that_prints_beside_the_protocol(tmp_path):
    write_wrapper(tmp_path, GOOD, setup=SETUP)
    found = edited(tmp_path, "if __name__", 'print("hello")\nif __name__')
    assert found == {NAMES[5]: "1 lines answered nothing; the log has them"}


@pytest.mark.parametrize(
    ("then", "wrong"),
    [("time.sleep(600)", "within 0.5 s"), ("sys.exit(4)", "with status 0, but 4")],
)
def test_one_that_does_not_simply_end_with_its_input(tmp_path, monkeypatch, then, wrong):
    if "sleep" in then:
        monkeypatch.setattr(conformance, "END_S", 0.5)
        monkeypatch.setattr("gensight.models._command.END_S", 0.5)
    write_wrapper(tmp_path, GOOD, setup=SETUP)
    last = "protocol.serve(1, Model)"
    assert edited(tmp_path, last, f"{last}; {then}") == {NAMES[6]: f"it did not end {wrong}"}


def test_one_that_loads_whatever_the_version(tmp_path):
    write_wrapper(tmp_path, GOOD, setup=SETUP)
    path = tmp_path / "workflow/wrappers/protocol.py"
    text = path.read_text()
    assert "if wanted != version:" in text
    path.write_text(text.replace("if wanted != version:", "if False:"))
    found = dict(check(GENERATION, Site(root=tmp_path), "Paint it."))
    assert "to version 1000000" in found[NAMES[0]]


def test_the_example_passes_on_the_command_line(monkeypatch):
    monkeypatch.chdir(ROOT)
    ended = CliRunner().invoke(conformance.main, ["config/models/example_command.yaml"])
    assert ended.exit_code == 0
    assert ended.output.splitlines() == [f"ok   {name}" for name in NAMES]


def test_the_command_line_says_what_is_missing(monkeypatch):
    monkeypatch.chdir(ROOT)
    ended = CliRunner().invoke(conformance.main, ["config/models/uno.yaml"])
    assert ended.exit_code == 1 and "bytedance/UNO has no wrapper" in ended.output


def test_the_noise_of_the_example_follows_from_the_seed():
    generation = {**generation_of("example_command"), "settings": {"noise": 20}}
    found = check(generation, Site(root=ROOT), "Paint it.")
    assert [wrong for _, wrong in found if wrong] == []
