"""The server of a served model: real processes, the billing fake as the command, real kills."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from fakes.billing import Journal

from gensight import providers
from gensight.errors import GensightError, SpecError
from gensight.models import Site
from gensight.providers import secrets
from gensight.providers.secrets import without_keys
from gensight.runner.listeners import free_port
from gensight.runner.server import running
from gensight.specs.base import parse
from gensight.specs.protocols import PROVIDERS
from gensight.specs.server import ServerSpec
from gensight.watchdog import descendants

PATIENCE_S = 60.0
TESTS = Path(__file__).parents[1]
#: A process that leaves its group and does not stop when it is told to.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid()
open(sys.argv[1] + "/stubborn", "w").close()
time.sleep(1000)
"""
#: A job that is killed while its server runs, or starts.
JOB = """
import sys, time
from pathlib import Path
from gensight.models import Site
from gensight.runner.server import running
from gensight.specs.server import ServerSpec
folder = Path(sys.argv[1])
spec = ServerSpec.model_validate_json((folder / "spec.json").read_text())
with running(spec, Site(root=folder), folder / "server.log"):
    (folder / "ready").touch()
    time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def _fakes_are_found(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS))


@pytest.fixture
def log(tmp_path):
    """The log; at the end nothing that names the test's folder may run."""
    yield tmp_path / "logs/server.log"
    assert left(tmp_path) == []


def fake(folder, *options):
    """The command of a billing fake, whose words name the test's folder."""
    journal = str(folder / "journal.jsonl")
    command = [sys.executable, "-m", "fakes.serve", "vllm", "--port", "{port}"]
    return [*command, "--journal", journal, *map(str, options)]


def spec_of(command, **fields):
    return ServerSpec(
        **{"timeout_s": PATIENCE_S, "stop_timeout_s": PATIENCE_S, **fields}, command=command
    )


def started(folder, log, *options, **fields):
    return running(spec_of(fake(folder, *options), **fields), Site(root=folder), log)


def python(folder, script):
    """A command that is a script, whose words name the test's folder and a port."""
    return [sys.executable, "-c", script, str(folder), "{port}"]


def error_of(spec, folder, log):
    with pytest.raises(GensightError) as caught, running(spec, Site(root=folder), log):
        pytest.fail("it was said to be ready")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def left(folder):
    """The processes whose command names a folder, other than those that have ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        # pytest itself names it on no command line; what has ended has none.
        if any(str(folder) in word for word in words):
            found.append(words)
    return found


def waited(condition):
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
    return found


def asked(server, text="How many?"):
    """The status of a chat request; an OSError or HTTPException where there is no reply."""
    address = server.base_url.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(address, timeout=PATIENCE_S)
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        return connection.getresponse().status
    finally:
        connection.close()


def port_of(server):
    return int(server.base_url.rpartition(":")[2].partition("/")[0])


def test_a_slow_start_is_waited_for_and_its_end_leaves_nothing(tmp_path, log):
    with started(tmp_path, log, "--start-after", 1) as server:
        assert server.base_url == f"http://127.0.0.1:{port_of(server)}/v1"
        assert asked(server) == 200
        server.check()
        assert left(tmp_path)
    assert left(tmp_path) == []
    # Being asked whether it is well is not billed.
    assert [entry.path for entry in Journal.read(tmp_path / "journal.jsonl")] == [
        "/v1/chat/completions"
    ]
    assert log.read_text() == f"fake vllm: listens on port {port_of(server)}\n"


def test_what_ends_the_block_ends_the_server(tmp_path, log):
    with pytest.raises(KeyboardInterrupt), started(tmp_path, log):
        raise KeyboardInterrupt
    assert left(tmp_path) == []


def test_a_crash_at_the_start_is_told_with_its_last_lines(tmp_path, log):
    spec = spec_of(fake(tmp_path, "--scenario", "now and then"), timeout_s=1e6)
    message = error_of(spec, tmp_path, log)
    assert "server python" in message
    assert "ended before it was ready: exit status 1; the last lines of " in message
    assert message.endswith("fake vllm: ValueError: scenario: no rule reads 'now and then'")
    # Only what this start printed is told, of all that is in the log.
    spec = spec_of(python(tmp_path, "import sys; print('no\\rGPU\\n\\nat all'); sys.exit(7)"))
    assert error_of(spec, tmp_path, log).endswith(f"{log}: no | GPU | at all")
    spec = spec_of(python(tmp_path, ""))
    assert error_of(spec, tmp_path, log).endswith("exit status 0; it printed nothing")


def test_no_more_of_a_long_log_is_told_than_can_be_read(tmp_path, log):
    script = "for n in range(9000): print('line', n)\nprint('x' * 90000)\nraise SystemExit(1)"
    message = error_of(spec_of(python(tmp_path, script)), tmp_path, log)
    assert message.endswith(": " + "x" * 200)


#: Answers at once, and always that it is not well.
UNWELL = """
import socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[2])))
while True:
    with listening.accept()[0] as asked:
        asked.recv(4096)
        asked.sendall(b"HTTP/1.0 503 Loading\\r\\n\\r\\n")
"""


@pytest.mark.parametrize(
    ("script", "told"), [(UNWELL, "(503 at "), ("import time; time.sleep(1000)", "refused")]
)
def test_a_server_that_never_gets_ready_is_ended(tmp_path, log, script, told):
    message = error_of(spec_of(python(tmp_path, script), timeout_s=3), tmp_path, log)
    assert "was not ready within 3 s (" in message
    assert told in message
    assert "/health); if it only needs longer, raise server.timeout_s; it printed" in message
    assert left(tmp_path) == []


# A port that is taken after it was chosen: the first start waits until another process has it.
WAITS = 'echo $1 >> "$0/ports"; while [ ! -e "$0/taken" ]; do sleep 0.01; done; shift; '


@contextmanager
def taking(folder, take):
    """Have a port taken as soon as a server was told it, until the end of the block."""
    ends = []

    def work():
        waited(lambda: (folder / "ports").exists() and (folder / "ports").read_text().strip())
        ends.append(take(int((folder / "ports").read_text().split()[0])))
        (folder / "taken").touch()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE_S)
        for end in ends:
            end()


def bound(port):
    found = socket.socket()
    found.bind(("127.0.0.1", port))
    return found.close


def listening(port):
    return socket.create_server(("127.0.0.1", port), reuse_port=False).close


class Stranger(BaseHTTPRequestHandler):
    """A server that is well, and is not the one that was started."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


def serving(port):
    server = HTTPServer(("127.0.0.1", port), Stranger)
    thread = threading.Thread(target=server.serve_forever, args=[0.02])
    thread.start()

    def end():
        server.shutdown()
        thread.join(PATIENCE_S)
        server.server_close()

    return end


@pytest.mark.parametrize(
    ("take", "after"),
    [
        # The server cannot bind, and ends.
        (bound, ""),
        # It cannot bind and stays; whoever has the port says nothing, or that all is well.
        (listening, " || exec sleep 1000"),
        (serving, " || exec sleep 1000"),
    ],
)
def test_a_port_that_was_taken_meanwhile_costs_another_start(tmp_path, log, take, after):
    command = ["sh", "-c", f'{WAITS}"$@"{after}', str(tmp_path), "{port}", *fake(tmp_path)]
    with (
        taking(tmp_path, take),
        running(spec_of(command), Site(root=tmp_path), log) as server,
    ):
        first, second = map(int, (tmp_path / "ports").read_text().split())
        assert port_of(server) == second != first
        assert asked(server) == 200
        assert Journal.read(tmp_path / "journal.jsonl").charged == 1


def test_a_port_that_is_given_is_used_or_refused(tmp_path, log):
    port = free_port()
    with started(tmp_path, log, port=port) as server:
        assert port_of(server) == port
        other = tmp_path / "other.log"
        message = error_of(spec_of(fake(tmp_path), port=port), tmp_path, other)
        assert message.startswith(f"server.port: another process has port {port}; ")
        assert not other.exists()
        assert asked(server) == 200


def test_a_port_that_is_always_taken_is_told(tmp_path, log):
    script = "raise SystemExit('[Errno 98] Address already in use')"
    command = python(tmp_path, script)
    message = error_of(spec_of(command), tmp_path, log)
    assert "another process has its port" in message
    assert log.read_text().count("Address already in use") == 5


def test_a_death_while_it_is_asked_is_told(tmp_path, log):
    with started(tmp_path, log, "--die-after", 2) as server:
        assert [asked(server, text) for text in "ab"] == [200, 200]
        server.check()
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(server, "c")
        with pytest.raises(GensightError) as caught:
            server.check()
    message = str(caught.value)
    assert "ended while it was asked: exit status 3; the last lines of " in message
    assert message.partition("; what was answered is kept")[0].endswith(
        "fake: RuntimeError: the device is lost"
    )
    assert "\n" not in message


def test_a_server_that_was_killed_is_told_with_its_signal(tmp_path, log):
    with started(tmp_path, log) as server:
        (pid,) = (pid for pid in descendants(os.getpid()) if "fakes.serve" in words_of(pid)[2:3])
        os.kill(pid, signal.SIGKILL)
        waited(lambda: not left(tmp_path))
        with pytest.raises(
            GensightError, match=r"exit status 137 \(SIGKILL: perhaps out of memory"
        ):
            server.check()


def words_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


def test_a_watchdog_that_is_killed_takes_the_server_with_it(tmp_path, log):
    with started(tmp_path, log) as server:
        (pid,) = (p for p in descendants(os.getpid()) if words_of(p)[3].endswith("watchdog.py"))
        os.kill(pid, signal.SIGKILL)
        waited(lambda: not left(tmp_path))
        with pytest.raises(GensightError, match="exit status 137"):
            server.check()


def family(folder):
    """A shell that starts the server as its child, beside a child that does not want to end."""
    wait = 'while [ ! -e "$0/stubborn" ]; do sleep 0.01; done'
    # The server is not the last command, so that the shell stays.
    script = f'"$1" "$2" "$3" "$4" "$5" & shift 5; {wait}; "$@"; exit $?'
    return ["sh", "-c", script, str(folder), *python(folder, STUBBORN), *fake(folder)]


def test_what_the_server_has_started_ends_with_it(tmp_path, log):
    spec = spec_of(family(tmp_path), stop_timeout_s=0.5)
    with running(spec, Site(root=tmp_path), log) as server:
        assert asked(server) == 200
        assert len(left(tmp_path)) == 4  # the watchdog, the shell and its two children
    assert left(tmp_path) == []


def test_what_a_dead_server_has_started_ends_too(tmp_path, log):
    command = family(tmp_path)
    with running(spec_of([*command, "--die-after", "0"]), Site(root=tmp_path), log) as server:
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(server)
        with pytest.raises(GensightError, match="exit status 3;"):
            server.check()
        assert left(tmp_path) == []


@pytest.mark.parametrize("moment", ["ready", "starting"])
@pytest.mark.parametrize("kind", ["child", "family"])
def test_nothing_is_left_when_the_job_is_killed(tmp_path, log, moment, kind):
    command = family(tmp_path) if kind == "family" else fake(tmp_path)
    if moment == "starting":
        command += ["--start-after", "1000"]
    spec = spec_of(command, stop_timeout_s=0.5)
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    with subprocess.Popen([sys.executable, "-c", JOB, str(tmp_path)]) as job:
        awaited = tmp_path / "ready" if moment == "ready" else tmp_path / "server.log"
        waited(awaited.exists)
        if kind == "family":
            waited((tmp_path / "stubborn").exists)
        waited(lambda: any("fakes.serve" in words for words in left(tmp_path)))
        job.kill()
    waited(lambda: not left(tmp_path))


def test_a_server_sees_no_key(tmp_path, log, monkeypatch):
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("SOME_OTHER_API_KEY", "short")
    monkeypatch.setenv("GATEWAY", f"https://user:{key}@gateway")
    monkeypatch.setenv("READ_FROM_THE_FILE", "of-the-keys-file")
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789")
    secrets.register("of-the-keys-file")
    script = "import os; print(*sorted(os.environ)); raise SystemExit('of-the-keys-file')"
    message = error_of(spec_of(python(tmp_path, script)), tmp_path, log)
    names = log.read_text().split()
    assert {"HF_TOKEN", "PATH"} <= set(names)
    assert not {"OPENAI_API_KEY", "SOME_OTHER_API_KEY", "GATEWAY", "READ_FROM_THE_FILE"} & set(
        names
    )
    # What it prints all the same is not told on.
    assert message.endswith("[key]")


def test_the_keys_of_all_providers_are_known_by_their_names():
    names = [name for provider in PROVIDERS for name in providers.load(provider).KEY_VARIABLES]
    assert len(names) > 5
    assert without_keys(dict.fromkeys([*names, "my_api_key", "KEY", "API_KEYS"], "x")) == {
        "KEY": "x",
        "API_KEYS": "x",
    }


def environment(folder):
    """An environment with a program that is nowhere else."""
    program = folder / "bin/serve-it"
    program.parent.mkdir(parents=True)
    # It has a Python of its own: this one's packages are not its.
    program.write_text(
        f'#!/bin/sh\necho "$VIRTUAL_ENV$PYTHONPATH$PYTHONHOME"\n'
        f'PYTHONPATH={TESTS} exec "{sys.executable}" "$@"\n'
    )
    program.chmod(0o755)


@pytest.mark.parametrize("is_named", [True, False])
def test_a_program_is_looked_for_in_its_environment(tmp_path, log, monkeypatch, is_named):
    monkeypatch.setenv("VIRTUAL_ENV", "of-the-job")
    environment(tmp_path / ("elsewhere" if is_named else ".envs/served"))
    site = Site(root=tmp_path, environments={"served": "elsewhere"} if is_named else {})
    spec = spec_of(["serve-it", *fake(tmp_path)[1:]], environment="served")
    with running(spec, site, log) as server:
        assert asked(server) == 200
    assert log.read_text().startswith("\nfake vllm: listens on port")


def test_a_program_beside_the_config_is_found_from_its_root(tmp_path, log):
    environment(tmp_path / "tools")
    spec = spec_of(["tools/bin/serve-it", *fake(tmp_path)[1:]])
    with running(spec, Site(root=tmp_path), log) as server:
        assert asked(server) == 200


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "server.command: no program serve-it in the PATH; install it, name its environment"),
        ({"program": "./serve-it"}, "server.command: no program ./serve-it; install it"),
        ({"environment": "served"}, "/.envs/served has no bin/; make the environment there"),
    ],
)
def test_a_program_that_is_missing_is_told_before_anything_starts(tmp_path, log, fields, told):
    command = [fields.pop("program", "serve-it"), "{port}"]
    assert told in error_of(spec_of(command, **fields), tmp_path, log)
    assert not log.exists()


def test_a_program_that_cannot_be_run_is_told(tmp_path, log):
    program = tmp_path / "serve-it"
    program.write_text("#!/nowhere/at/all\n")
    program.chmod(0o755)
    message = error_of(spec_of([str(program), "{port}"]), tmp_path, log)
    assert "exit status 127" in message
    assert message.endswith(f"{program}: No such file or directory")


def test_the_words_of_a_command_are_filled():
    spec = ServerSpec(
        command=["vllm", "serve", "{model}", "--port={port}", '{{"image": 4}}'], port="auto"
    )
    words = spec.words(8000, "Qwen/Qwen3-VL-8B-Thinking")
    assert words == ["vllm", "serve", "Qwen/Qwen3-VL-8B-Thinking", "--port=8000", '{"image": 4}']


GOOD = {"command": ["vllm", "--port", "{port}"]}


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            {"command": ["vllm", "{prot}"]},
            "key 'command': '{prot}' is no placeholder; ",
        ),
        ({"command": ["vllm", "{port:04}"]}, "'{port:04}' is no placeholder"),
        ({"command": ["vllm", "{}"]}, "'{}' is no placeholder"),
        ({"command": ["vllm", "{port"]}, "a brace without its partner"),
        ({"command": []}, "key 'command': List should have at least 1 item"),
        ({"command": [" ", "{port}"]}, "the first word is the program to run, and it is empty"),
        ({"command": "vllm serve"}, "key 'command': Input should be a valid list"),
        ({"command": ["vllm"]}, "the port is chosen at the start, and the command has no {port}"),
        ({"port": "any"}, "key 'port': Input should be 'auto' or a whole number"),
        ({"port": 0}, "key 'port'"),
        ({"health": "health"}, "key 'health'"),
        ({"api": "v1"}, "key 'api'"),
        ({"timeout_s": 0}, "key 'timeout_s': Input should be greater than 0"),
        ({"timeout": 5}, "unknown key 'timeout' (did you mean 'timeout_s'?)"),
        ({"environment": "my env"}, "Input should be a name of a-z, 0-9 and _"),
    ],
)
def test_a_wrong_server_block_is_one_line(edit, told):
    assert parse("config/models/x.yaml", ServerSpec, GOOD).port == "auto"
    with pytest.raises(SpecError) as caught:
        parse("config/models/x.yaml", ServerSpec, {**GOOD, **edit})
    message = str(caught.value)
    assert message.startswith("config/models/x.yaml: ")
    assert told in message
    assert "\n" not in message
