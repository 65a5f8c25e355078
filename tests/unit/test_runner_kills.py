"""A runner that is killed pays nothing twice; one that is asked to end waits for what it sent."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from time import sleep

import pytest
from fakes.serve import Served
from runner_processes import LONGEST_S, running
from runner_rig import Rig, items, outcomes, wait_until

from gensight.models import _bfl

#: Twenty kills in all.
KILLS = {"google": 13, "flux": 7}
MANY = items(600)


def integrity(rig):
    connection = sqlite3.connect(rig.folder / f"ledger/{rig.provider}.sqlite")
    try:
        return connection.execute("PRAGMA integrity_check").fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("model", KILLS)
def test_killed_at_any_moment_nothing_is_paid_twice(tmp_path, monkeypatch, model):
    monkeypatch.setattr(_bfl, "POLL_INTERVAL_S", 0.01)
    chance = random.Random(model)
    provider = {"google": "google", "flux": "bfl"}[model]
    with Served(provider, tmp_path, scenario="default slow delay_s=0.03") as fake:
        rig = Rig(tmp_path, model, fake.url, workers=4)
        last = 0
        for _ in range(KILLS[model]):
            before = len(fake.journal)
            with running(rig, MANY) as process:
                wait_until(lambda before=before: len(fake.journal) > before)
                sleep(chance.uniform(0.0, 0.25))
                assert process.is_alive(), "there were too few questions"
                process.kill()
            assert process.exitcode == -signal.SIGKILL and integrity(rig) == [("ok",)]
            attempts = rig.attempts()
            in_flight = [a for a in attempts if a.id > last and a.ended is None]
            assert len(in_flight) <= rig.workers
            last = attempts[-1].id
        wanted = [told for told in MANY if asked_before(rig, told)]
        ends = rig.ask(wanted)
        # Held: whatever was in doubt at a kill has not been sent again.
        assert fake.journal.paid_twice == {}
        doubted = {attempt.key for attempt in rig.in_doubt()}
        assert doubted == {rig.question(t).key for t, e in ends.items() if e.outcome == "in_doubt"}
        assert len(doubted) <= rig.workers * KILLS[model]
        assert set(outcomes(ends)) <= {"ok", "in_doubt"} and outcomes(ends)["ok"] > 20
        sent = Counter(attempt.key for attempt in rig.attempts())
        assert max(sent.values()) == 1
        # Leave is given: at most what was in flight is paid again, and everything has an answer.
        bold = replace(rig, hosted={"in_doubt": "resend", "resend_at_most": 1000})
        assert outcomes(bold.ask(wanted)) == {"ok": len(wanted)}
        again = sum(number - 1 for number in fake.journal.paid_twice.values())
        assert again <= len(doubted)
        asked = len(fake.journal.asked)
        assert asked <= len(wanted) + len(doubted)
        assert outcomes(rig.ask(wanted)) == {"ok": len(wanted)}
        assert len(fake.journal.asked) == asked, "a finished second run sends nothing"
        assert integrity(rig) == [("ok",)] and rig.in_doubt(answered=False) == []


def asked_before(rig, told):
    with rig.book() as book:
        return bool(book.attempts_of(rig.question(told).key))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_runner_that_is_asked_to_end_waits_for_what_it_sent_and_keeps_it(tmp_path, number):
    said = tmp_path / "said"
    with Served("google", tmp_path, scenario="default slow delay_s=0.5") as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=5)
        with running(rig, items(200), None, said) as process:
            wait_until(lambda: len(fake.journal) >= 7)
            os.kill(process.pid, number)
            process.join(LONGEST_S)
            assert process.exitcode == 130
        sent = len(fake.journal)
        assert 7 <= sent <= 15 and rig.in_doubt() == []
        assert Counter(attempt.end for attempt in rig.attempts()) == {"ok": sent}
        assert "nothing more is sent, what was sent is kept" in said.read_text()
        assert len(list((tmp_path / "ledger/replies").rglob("*.json"))) == sent


LAST_OF_ALL = """
import os, signal, sys, threading
from gensight.errors import InterruptedAskingError
from gensight.runner.crowd import work_through

asked, answered, is_closed = [], [], threading.Event()

def work(item):
    asked.append(item)
    if len(asked) == 3:
        threading.Event().wait(0.5)
        os.kill(os.getpid(), signal.SIGTERM)
    is_closed.wait(30)
    # The thread that was begun first, which the main thread looks at first, is the slowest.
    threading.Event().wait(1.5 if item == 0 else 0.0)
    answered.append(item)

try:
    work_through(range(99), work, 3, lambda reason: is_closed.set())
except InterruptedAskingError:
    print(sorted(asked) == sorted(answered) == [0, 1, 2])
"""


def test_every_worker_is_waited_for_whichever_the_signal_broke_in_on():
    command = [sys.executable, "-c", LAST_OF_ALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_second_signal_leaves_at_once_and_what_was_sent_is_in_doubt(tmp_path):
    with Served("google", tmp_path, scenario="default hang_after_charge") as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=3)
        with running(rig, items(20)) as process:
            wait_until(lambda: len(fake.journal) >= 3)

            def has_left():
                os.kill(process.pid, signal.SIGTERM)
                process.join(0.3)
                return not process.is_alive()

            wait_until(has_left)
        assert len(rig.in_doubt()) == 3 == len(fake.journal)
        assert all(attempt.reserved_usd > 0 for attempt in rig.in_doubt())


def test_a_second_runner_waits_for_the_first_and_says_so(tmp_path):
    said = tmp_path / "said"
    with Served("google", tmp_path, scenario="default slow delay_s=0.1") as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=2)
        with running(rig, items(20)) as first:
            wait_until(lambda: len(fake.journal) >= 1)
            with running(replace(rig, run="second"), items(30), None, said) as second:
                wait_until(lambda: said.exists() and "waiting" in said.read_text())
                line = said.read_text().splitlines()[0]
                assert line.startswith(f"waiting: process {first.pid} on ")
                assert "is asking google; one runner at a time" in line
                first.join(LONGEST_S)
                second.join(LONGEST_S)
                assert (first.exitcode, second.exitcode) == (0, 0)
        # What the first one bought while the second one waited is not bought again.
        assert fake.journal.charged == len(fake.journal) == 30
        assert fake.journal.paid_twice == {}


def test_a_runner_that_dies_lets_the_next_one_in(tmp_path):
    with Served("google", tmp_path, scenario="default hang_after_charge") as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=2)
        with running(rig, items(2)) as process:
            wait_until(lambda: len(fake.journal) >= 2)
            process.kill()
        assert outcomes(rig.ask(items(2))) == {"in_doubt": 2}
        assert len(fake.journal) == 2
