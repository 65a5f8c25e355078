"""The process of an external command: what it prints, how it ends, and that it always does."""

import os
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep

import pytest
from external_rig import LIMITS, ROOT, opened, turn, write_wrapper

from gensight.errors import AnswerError, GensightError, ModelMemoryError
from gensight.models import Site
from gensight.models.external_command import open_model

FINE = 'return {"outcome": "ok", "text": "fine"}'
#: Longer than any wait of a test: a process that is still there afterwards was left behind.
LONG_S = 600
PATIENCE_S = 20


def is_running(pid):
    """Say whether a process is there and is no zombie, which waits only to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until_gone(pid):
    deadline = monotonic() + PATIENCE_S
    while is_running(pid) and monotonic() < deadline:
        sleep(0.02)
    assert not is_running(pid)


def test_what_is_printed_on_standard_output_goes_into_the_log(tmp_path, capfd):
    body = f"""
        print("from Python")
        print('{{"id": 1, "outcome": "ok", "text": "forged"}}')
        os.system("echo from a child")
        os.write(1, b"from C, without an end of line")
        {FINE}
    """
    write_wrapper(tmp_path, body)
    with closing(opened(tmp_path)) as model:
        assert [model.answer(turn()).text for _ in range(2)] == ["fine", "fine"]
    log = capfd.readouterr().err
    for line in ("from Python", "forged", "from a child", "from C, without an end of line"):
        assert log.count(line) == 2


def test_noise_before_the_streams_are_taken_is_no_answer(tmp_path, capfd):
    write_wrapper(tmp_path, FINE)
    path = tmp_path / "workflow/wrappers/made.py"
    noise = "print('hello'); print('[1]'); print('7'); print('{\"a\": 1}'); print('{')\n"
    path.write_text(noise + path.read_text())
    with closing(opened(tmp_path)) as model:
        assert model.answer(turn()).text == "fine"
    assert "hello" in capfd.readouterr().err


def test_a_library_that_reads_standard_input_takes_no_question(tmp_path):
    write_wrapper(tmp_path, f'assert sys.stdin.read() == ""\n{FINE}')
    with closing(opened(tmp_path)) as model:
        assert [model.answer(turn()).text for _ in range(2)] == ["fine", "fine"]


def test_standard_error_goes_into_the_log_with_the_traceback(tmp_path, capfd):
    write_wrapper(tmp_path, 'sys.stderr.write("10%\\r20%\\n")\n1 / 0')
    with closing(opened(tmp_path)) as model, pytest.raises(GensightError, match="ZeroDivision"):
        model.answer(turn())
    log = capfd.readouterr().err
    assert "10%\r20%" in log and "Traceback" in log


def test_a_process_that_dies_is_named_with_its_status_and_last_lines(tmp_path):
    body = 'sys.stderr.write("one\\ntwo\\n")\nsys.stderr.flush()\nos._exit(3)'
    write_wrapper(tmp_path, body)
    told = r"made\.py: ended with status 3; .*one \| two"
    with closing(opened(tmp_path)) as model, pytest.raises(AnswerError, match=told):
        model.answer(turn())


def test_one_whose_input_was_closed_is_not_started_again(tmp_path):
    write_wrapper(tmp_path, FINE)
    with closing(opened(tmp_path)) as model:
        assert model.end(PATIENCE_S) == 0
        with pytest.raises(GensightError, match=r"made\.py: has ended$") as error:
            model.answer(turn())
    assert type(error.value) is GensightError


@pytest.mark.parametrize(
    ("number", "name"), [("signal.SIGSEGV", "SIGSEGV"), ("signal.SIGRTMIN + 6", "signal 40")]
)
def test_a_signal_that_ends_it_is_named(tmp_path, number, name):
    write_wrapper(tmp_path, FINE, load=f"os.kill(os.getpid(), {number})")
    with pytest.raises(GensightError, match=f"ended with {name}$"):
        opened(tmp_path)


def test_a_question_that_ends_it_is_not_asked_again_and_the_next_one_is(tmp_path):
    body = f"""
        with open({str(tmp_path / "asked")!r}, "a") as file:
            file.write(str(turn["seed"]))
        if turn["seed"] in (2, 3):
            print("noise", file=os.fdopen(os.dup(protocol_stdout), "w"), flush=True)
            os.abort()
        {FINE}
    """
    write_wrapper(tmp_path, body)
    path = tmp_path / "workflow/wrappers/made.py"
    path.write_text(
        path.read_text().replace("class Model", "protocol_stdout = os.dup(1)\nclass Model")
    )
    with closing(opened(tmp_path)) as model:
        assert model.answer(turn(seed=1)).text == "fine"
        for seed in (2, 3):
            with pytest.raises(AnswerError, match=r"ended with SIGABRT.*; it was started again$"):
                model.answer(turn(seed=seed))
        assert model.answer(turn(seed=4)).text == "fine"
        assert (model.restarts, model.noise) == (2, 2)
    assert (tmp_path / "asked").read_text() == "1234"


@pytest.mark.parametrize(
    ("again", "kind", "told"),
    [
        ("raise OSError('no GPU')", GensightError, r"SIGABRT.*cannot be started again: .*no GPU$"),
        ("os._exit(4)", GensightError, r"SIGABRT.*cannot be started again: .*with status 4"),
        ("raise MemoryError", ModelMemoryError, "out of memory"),
    ],
)
def test_one_that_cannot_be_started_again_is_the_end(tmp_path, again, kind, told):
    mark = str(tmp_path / "mark")
    load = f"if os.path.exists({mark!r}):\n    {again}\nopen({mark!r}, 'w').close()"
    write_wrapper(tmp_path, "os.abort()", load=load)
    with closing(opened(tmp_path)) as model, pytest.raises(kind, match=told) as error:
        model.answer(turn())
    assert type(error.value) is kind


def test_a_process_that_cannot_start_tells_its_last_lines(tmp_path):
    write_wrapper(tmp_path, FINE)
    (tmp_path / "workflow/wrappers/made.py").write_text("this is no Python\n")
    with pytest.raises(GensightError, match=r"ended with status 1; its last lines: .*SyntaxError"):
        opened(tmp_path)


def test_an_error_while_loading_is_told_as_it_is(tmp_path):
    write_wrapper(tmp_path, FINE, load='raise ImportError("No module named diffusers")')
    with pytest.raises(GensightError, match=r"made\.py: ImportError: No module named diffusers$"):
        opened(tmp_path)


@pytest.mark.parametrize("place", ["load", "answer"])
def test_a_killed_process_probably_lacked_memory(tmp_path, place):
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    write_wrapper(tmp_path, **{"answer": FINE, place: kill})
    with pytest.raises(ModelMemoryError, match=r"SIGKILL.*out of memory.*limits\.memory_mb"):
        opened(tmp_path).answer(turn())


HANG = """
    open({path!r}, "w").write(str(os.getpid()))
    print("waiting", flush=True)
    time.sleep({seconds})
"""


def test_one_that_loads_for_too_long_is_ended(tmp_path):
    path = tmp_path / "pid"
    write_wrapper(tmp_path, FINE, load=HANG.format(path=str(path), seconds=LONG_S))
    with pytest.raises(GensightError, match=r"no answer within 3 s; its last lines: waiting"):
        opened(tmp_path, {**LIMITS, "start_timeout_s": 3})
    assert not is_running(path.read_text())


def test_one_that_answers_for_too_long_is_ended_and_started_again(tmp_path):
    path = tmp_path / "pid"
    hang = textwrap.indent(textwrap.dedent(HANG.format(path=str(path), seconds=LONG_S)), "    ")
    write_wrapper(tmp_path, f'if turn["seed"] == 0:{hang}\n{FINE}')
    with closing(opened(tmp_path, {**LIMITS, "answer_timeout_s": 3})) as model:
        with pytest.raises(AnswerError, match=r"no answer within 3 s; its last lines: waiting; "):
            model.answer(turn(seed=0))
        assert not is_running(path.read_text())
        assert model.answer(turn(seed=1)).text == "fine"


#: What a wrapper that is written without `protocol` does for much longer than it may, before it
#: answers: to print all the time, or not to read. It must not come to the end of it.
BUSY = {
    "prints": """
        line = sys.stdin.readline()
        while time.monotonic() < end:
            print("waiting for a lock", flush=True)
            time.sleep(0.01)
        open(mark, "w").close()
    """,
    "reads nothing": """
        while time.monotonic() < end:
            time.sleep(0.01)
        open(mark, "w").close()
        line = sys.stdin.readline()
    """,
}


@pytest.mark.parametrize("busy", BUSY)
def test_the_limit_holds_whatever_it_does_meanwhile(tmp_path, monkeypatch, busy):
    monkeypatch.setattr("gensight.models._command.END_S", 0.1)
    write_wrapper(tmp_path, FINE)
    (tmp_path / "workflow/wrappers/made.py").write_text(
        "import json, sys, time\n"
        "sys.stdin.readline()\n"
        'print(json.dumps({"ready": True, "wrapper_version": 1}), flush=True)\n'
        f"end, mark = time.monotonic() + {PATIENCE_S}, {str(tmp_path / 'mark')!r}\n"
        + textwrap.dedent(BUSY[busy])
        + 'told = {"id": json.loads(line)["id"], "outcome": "ok", "text": "late"}\n'
        "print(json.dumps(told), flush=True)\n"
    )
    model = opened(tmp_path, {**LIMITS, "answer_timeout_s": 1})
    with closing(model), pytest.raises(AnswerError, match="no answer within 1 s"):
        model.answer(turn("x" * 200_000))  # longer than what a pipe takes
    assert model.restarts == 1 and not (tmp_path / "mark").exists()


def test_a_long_prompt_arrives_whole(tmp_path):
    write_wrapper(tmp_path, 'return {"outcome": "ok", "text": protocol.text_of(turn)[::-1]}')
    prompt = "".join(map(str, range(200_000)))
    with closing(opened(tmp_path)) as model:
        assert model.answer(turn(prompt)).text == prompt[::-1]


@pytest.mark.parametrize("leaves", [False, True])
def test_nothing_is_left_when_it_is_closed(tmp_path, leaves):
    body = f"""
        child = subprocess.Popen(["sleep", "{LONG_S}"], start_new_session={leaves})
        return {{"outcome": "ok", "text": "%d %d %s" % (os.getpid(), child.pid, turn["folder"])}}
    """
    write_wrapper(tmp_path, body)
    model = opened(tmp_path)
    pid, child, folder = model.answer(turn()).text.split()
    assert is_running(pid) and is_running(child)
    assert Path(folder).parent.is_dir() and not Path(folder).exists()
    model.close()
    wait_until_gone(child)
    assert not is_running(pid) and not Path(folder).parent.exists()
    model.close()


def test_one_that_does_not_end_by_itself_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("gensight.models._command.END_S", 0.1)
    body = 'return {"outcome": "ok", "text": str(os.getpid())}'
    write_wrapper(tmp_path, body, load="import atexit; atexit.register(time.sleep, 600)")
    model = opened(tmp_path)
    pid = model.answer(turn()).text
    model.close()
    assert not is_running(pid)


@pytest.mark.parametrize("leaves", [False, True])
def test_nothing_is_left_when_the_job_is_killed(tmp_path, leaves):
    pid_file = tmp_path / "pids"
    # While it answers, it does not see that its input ends.
    body = f"""
        child = subprocess.Popen(["sleep", "{LONG_S}"], start_new_session={leaves})
        open({str(pid_file)!r}, "w").write("%d %d" % (os.getpid(), child.pid))
        time.sleep({LONG_S})
    """
    write_wrapper(tmp_path, body)
    job = f"""
        import sys
        sys.path.insert(0, {str(ROOT / "tests/unit")!r})
        from pathlib import Path
        from external_rig import opened, turn
        opened(Path({str(tmp_path)!r})).answer(turn())
    """
    variables = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(job)], env=variables)
    try:
        deadline = monotonic() + PATIENCE_S
        while not (pid_file.exists() and pid_file.read_text()):
            assert monotonic() < deadline and process.poll() is None
            sleep(0.02)
        pids = pid_file.read_text().split()
        assert len(pids) == 2 and all(map(is_running, pids))
    finally:
        process.kill()
        process.wait()
    for pid in pids:
        wait_until_gone(pid)


def test_foreign_code_gets_no_key_and_nothing_of_this_process(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret-of-someone")
    monkeypatch.setenv("some_api_key", "secret")
    monkeypatch.setenv("GATEWAY", "https://secret-of-someone@example.org")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("HF_TOKEN", "needed")
    interpreter = tmp_path / "elsewhere/bin/python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    names = ("SOME_API_KEY", "some_api_key", "GATEWAY", "PYTHONPATH", "HF_TOKEN", "PATH")
    write_wrapper(
        tmp_path,
        f'return {{"outcome": "ok", "text": repr([os.environ.get(n) for n in {names}])}}',
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    site = Site(root=tmp_path, environments={"other": "~/elsewhere"})
    settings = {"wrapper": "made", "wrapper_version": 1, "environment": "other"}
    with closing(open_model(settings, [], site)) as model:
        *secret, python_path, token, path = eval(model.answer(turn()).text)
    assert (secret, python_path, token) == ([None] * 3, None, "needed")
    assert path.split(os.pathsep)[0] == str(interpreter.parent)


def test_a_signal_of_the_terminal_does_not_reach_it(tmp_path):
    write_wrapper(tmp_path, 'return {"outcome": "ok", "text": str(os.getpgrp())}')
    with closing(opened(tmp_path)) as model:
        assert int(model.answer(turn()).text) != os.getpgrp()
