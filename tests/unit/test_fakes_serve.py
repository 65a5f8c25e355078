"""A fake as a process of its own: its files, its scripts, its end, and clients that are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.billing import Journal
from fakes.clients import http_client
from fakes.serve import FAKES, SCENARIOS, Served, main

PATIENCE_S = 60.0
TESTS = Path(__file__).parents[1]
BODY = {"model": "m", "messages": [{"role": "user", "content": "How many?"}]}
#: Asks for as long as it lives, and says so with every reply.
CLIENT = """
import http.client, json, sys
n = 0
while True:
    n += 1
    connection = http.client.HTTPConnection(sys.argv[1])
    body = {"model": "m", "messages": [{"role": "user", "content": f"How many {n}?"}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    connection.getresponse().read()
    print(n, flush=True)
"""


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def post(http, served, text="How many?"):
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return http.post(f"{served.url}/chat/completions", json=body)


def waited(condition):
    """Wait until a condition holds, for a bounded time."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
    return found


def started(tmp_path, *options):
    """Start a fake by its command line; return the process and its two files."""
    port_file, journal = tmp_path / "port", tmp_path / "journal.jsonl"
    command = [sys.executable, "-m", "fakes.serve", "vllm", "--port-file", port_file]
    process = subprocess.Popen(
        [*map(str, command), "--journal", str(journal), *options],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, port_file, journal


def test_every_provider_can_be_served():
    assert set(FAKES) == {
        "anthropic", "ark", "bfl", "deepseek", "google", "moonshot", "openai", "vllm"
    }  # fmt: skip


def test_a_served_fake_follows_its_script_and_its_limit(http, tmp_path):
    script = "first error_500; default truncated"
    with Served("vllm", tmp_path, scenario=script, requests_per_minute=3, window_s=3600) as served:
        replies = [post(http, served) for _ in range(4)]
        assert [reply.status_code for reply in replies] == [500, 200, 200, 429]
        told = [(entry.fault, entry.charged) for entry in served.journal]
    assert replies[1].json()["choices"][0]["finish_reason"] == "length"
    assert told == [
        ("error_500", False), ("truncated", True), ("truncated", True), ("wait_429", False)
    ]  # fmt: skip
    # The journal outlives the process.
    assert served.journal.charged == 2


def test_scripts_with_a_name(http, tmp_path):
    assert set(SCENARIOS) == {"ok", "safe", "slow"}
    with Served("vllm", tmp_path, scenario="safe") as served:
        for n in range(60):
            for _ in range(50):  # what is safe to ask again is asked again until it is answered
                if post(http, served, f"How many {n}?").status_code == 200:
                    break
        journal = served.journal
    assert {entry.fault for entry in journal} == {None, "wait_429", "overloaded_503", "error_500"}
    assert journal.charged == journal.distinct == 60
    assert journal.paid_twice == {}


def test_a_client_that_is_killed_leaves_its_charges_in_the_journal(http, tmp_path):
    with Served("vllm", tmp_path) as served:
        for _ in range(3):
            address = served.url.removeprefix("http://").partition("/")[0]
            client = subprocess.Popen(
                [sys.executable, "-S", "-c", CLIENT, address], stdout=subprocess.PIPE, text=True
            )
            answered = [client.stdout.readline() for _ in range(20)]
            client.send_signal(signal.SIGKILL)
            answered += client.communicate(timeout=PATIENCE_S)[0].splitlines()
            assert client.returncode == -signal.SIGKILL
            assert len(answered) >= 20
        # Nothing was lost and nobody else is harmed: the fake still answers.
        assert post(http, served, "And now?").status_code == 200
        lines = served.journal_path.read_text().splitlines()
        entries = [json.loads(line) for line in lines]
    assert [entry["n"] for entry in entries] == list(range(len(entries)))
    assert all(entry["charged"] for entry in entries)
    journal = Journal.read(served.journal_path)
    assert journal.charged >= 61
    assert max(journal.paid_twice.values()) == 3  # three clients began alike


def test_a_client_that_is_killed_while_it_waits_was_charged(tmp_path):
    with Served("vllm", tmp_path, scenario="default hang_after_charge") as served:
        address = served.url.removeprefix("http://").partition("/")[0]
        client = subprocess.Popen([sys.executable, "-S", "-c", CLIENT, address])
        waited(lambda: len(served.journal))
        client.kill()
        client.wait(PATIENCE_S)
        (entry,) = served.journal
        assert (entry.charged, entry.status, entry.fault) == (True, None, "hang_after_charge")


def test_a_fake_that_is_killed_leaves_whole_lines(http, tmp_path):
    process, port_file, journal = started(tmp_path)
    with process:
        waited(port_file.exists)
        url = f"http://127.0.0.1:{port_file.read_text()}/v1/chat/completions"
        for _ in range(5):
            http.post(url, json=BODY)
        process.kill()
        process.communicate(timeout=PATIENCE_S)
    assert Journal.read(journal).charged == 5
    assert journal.read_text().endswith("}\n")


def test_a_fake_stops_by_itself(tmp_path):
    process, port_file, _ = started(tmp_path, "--stop-after", "0.2")
    with process:
        complaints = process.communicate(timeout=PATIENCE_S)[1]
    assert (process.returncode, complaints) == (0, "")
    assert port_file.read_text().isdigit()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_fake_that_fails_says_so_at_its_end(http, tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    served = Served("vllm", tmp_path, results=results)
    with (
        pytest.raises(RuntimeError, match=r"nothing in .* asks 'How many\?' about any of 0"),
        served,
    ):
        assert post(http, served).status_code == 500


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("now and then", "fake vllm: ValueError: scenario: no rule reads 'now and then'\n"),
        ("default error_501", "fake vllm: ValueError: no fake knows the fault 'error_501'\n"),
    ],
)
def test_a_script_that_nobody_reads_is_told_at_the_start(tmp_path, capsys, script, complaint):
    files = ["--port-file", str(tmp_path / "port"), "--journal", str(tmp_path / "journal")]
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["vllm", *files, "--scenario", script]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capsys.readouterr().err == complaint
    assert list(tmp_path.iterdir()) == []
