"""Limits hold in every minute, over cells, kills and small numbers; little of them is wasted."""

import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import threading
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest
from fakes.billing import Painted, Scenario
from fakes.google import GoogleFake
from fakes.painters import png
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from runner_processes import LONGEST_S, running
from runner_rig import HurriedClock, Rig, items, outcomes

from gensight.runner.pace import HOLD, Pace
from gensight.runner.standstill import lift_stops

BEGIN = 1_800_000_000.0


@dataclass(frozen=True)
class SharedClock:
    """A clock in a file, for processes that run one after another: it goes on by waiting alone."""

    path: Path

    def time(self):
        with self._mapped() as told:
            return struct.unpack("d", told[:8])[0]

    def monotonic(self):
        return monotonic()

    def sleep(self, seconds):
        with self._mapped() as told:
            told[:8] = struct.pack("d", struct.unpack("d", told[:8])[0] + max(seconds, 0.0))

    def _mapped(self):
        if not self.path.exists():
            self.path.write_bytes(struct.pack("d", BEGIN))
        with self.path.open("r+b") as file:
            return mmap.mmap(file.fileno(), 8)


class ClockedFake(GoogleFake):
    """A provider that lives by the same clock, and may kill who asks it."""

    def __init__(self, clock, **given):
        super().__init__(**given)
        self.clock, self.kill_at, self.victim = clock, None, None

    def handle(self, raw, time_s):
        answer = super().handle(raw, self.clock.time())
        if len(self.journal) == self.kill_at:
            os.kill(self.victim(), signal.SIGKILL)
        return answer


def busiest(times, window_s=60.0, amounts=None):
    """Return the most that any half-open window of this length holds."""
    times = sorted(times)
    amounts = amounts or [1] * len(times)
    return max(
        sum(amounts[i : bisect_left(times, first + window_s)]) for i, first in enumerate(times)
    )


def test_ten_cells_at_sixty_a_minute_one_of_them_killed(tmp_path):
    clock = SharedClock(tmp_path / "clock")
    with ClockedFake(clock) as fake:
        rig = Rig(tmp_path, "google", fake.url, limits={"requests_per_minute": 60}, workers=1)
        for cell in range(10):
            words = items(20, start=20 * cell)
            if cell == 4:
                fake.kill_at = 89
                with running(rig, words, clock) as process:
                    fake.victim = lambda process=process: process.pid
                    process.join(LONGEST_S)
                    assert process.exitcode == -signal.SIGKILL
            assert set(outcomes(rig.ask(words, clock))) <= {"ok", "in_doubt"}
        assert len(fake.journal) == fake.charged == 200
        assert fake.journal.paid_twice == {} and len(rig.in_doubt()) == 1
        assert fake.busiest_window() <= 60
        times = [entry.time_s for entry in fake.journal]
        assert 199 / (times[-1] - times[0]) * 60 >= 0.95 * 60


def test_many_workers_leave_evenly_and_without_a_burst(tmp_path):
    clock = SharedClock(tmp_path / "clock")
    with GoogleFake() as fake:
        limits = {"requests_per_minute": 30, "images_per_minute": 600}
        rig = Rig(tmp_path, "google", fake.url, limits=limits, workers=8)
        for start in (0, 50):
            assert outcomes(rig.ask(items(50, start=start), clock)) == {"ok": 50}
        starts = [attempt.started for attempt in rig.attempts()]
        assert busiest(starts) <= 30 and busiest(starts, 2.0) <= 2
        assert 99 / (max(starts) - min(starts)) * 60 >= 0.95 * 30


def test_a_server_that_says_wait_is_given_its_pause_by_all_workers_and_later_cells(tmp_path):
    clock = SharedClock(tmp_path / "clock")
    with ClockedFake(clock, scenario=Scenario().every(10, "wait_429", retry_after_s=45)) as fake:
        limits = {"requests_per_minute": 600}
        rig = Rig(tmp_path, "google", fake.url, limits=limits, workers=1, hosted={"attempts": 1})
        ends = rig.ask(items(25), clock)
        assert outcomes(ends) == {"ok": 23, "throttled_exhausted": 2}
        patient = replace(rig, hosted={})
        assert outcomes(patient.ask(items(40), clock)) == {"ok": 40}
        entries = list(fake.journal)
        for refused, following in pairwise(entries):
            if refused.fault == "wait_429" and refused.n >= 25:
                assert following.time_s - refused.time_s >= 45


def sends(pace, number, late_s=lambda: 0.0, amounts=None, start=BEGIN):
    """Return when so many requests leave that want to leave at once, by timers that are late."""
    now, times = start, []
    for _ in range(number):
        now += pace.wait_s(now)
        now += late_s()
        pace.take(now, amounts or {"requests": 1})
        times.append(now)
    return times


@pytest.mark.parametrize("limit", [1, 2, 10, 60, 500, 3000])
def test_at_least_95_percent_of_a_limit_are_used(limit):
    times = sends(Pace({"requests": limit}, {}), 5 * limit + 1)
    assert 5 * limit / (times[-1] - times[0]) * 60 >= 0.95 * limit
    assert busiest(times) <= limit


def test_late_timers_waste_little_and_burst_never():
    chance = random.Random(1)
    times = sends(Pace({"requests": 60}, {}), 600, lambda: chance.uniform(0, 0.4))
    assert 599 / (times[-1] - times[0]) >= 0.95 and busiest(times) <= 60


@settings(deadline=None, max_examples=200)
@given(
    limit=st.sampled_from([1, 2, 3, 5, 7.5, 10, 15, 25, 60, 120]),
    delays=st.lists(
        st.one_of(st.just(0.0), st.floats(0, 3), st.floats(0, 90)), min_size=2, max_size=200
    ),
)
def test_no_minute_holds_more_whatever_the_delays(limit, delays):
    given_delays = iter(delays)
    pace = Pace({"requests": limit}, {})
    times = sends(pace, len(delays), lambda: next(given_delays))
    assert busiest(times) <= limit


@settings(deadline=None)
@given(size=st.integers(1, 150), delays=st.lists(st.floats(0, 30), min_size=2, max_size=100))
def test_requests_of_a_size_keep_a_limit_of_tokens(size, delays):
    given_delays = iter(delays)
    pace = Pace({"requests": 600, "tokens": 100}, {})
    amounts = {"requests": 1, "tokens": size}
    times = sends(pace, len(delays), lambda: next(given_delays), amounts)
    assert busiest(times, amounts=[size] * len(times)) <= max(100, size)


def test_what_a_request_did_not_use_is_given_back():
    pace = Pace({"tokens": 100}, {})
    pace.take(BEGIN, {"tokens": 50})
    full_s = pace.wait_s(BEGIN)
    pace.give_back(BEGIN, {"tokens": 40})
    assert 0 < pace.wait_s(BEGIN) < full_s / 3
    pace.give_back(BEGIN, {"tokens": 1000})
    assert pace.wait_s(BEGIN) == 0, "nothing is saved up"


def test_a_pace_goes_on_where_another_one_stopped():
    first = Pace({"requests": 60, "tokens": 1000}, {})
    times = sends(first, 100)
    # Axes that have no limit any more are forgotten, a pause is not.
    second = Pace({"requests": 60}, {**first.next_at, HOLD: times[-1] + 7})
    assert set(second.next_at) == {"requests", HOLD}
    times += sends(second, 100, start=times[-1])
    assert busiest(times) <= 60 and times[100] - times[99] == pytest.approx(7)


def test_a_time_that_is_too_far_ahead_is_one_of_a_clock_that_went_ahead():
    ahead = {"requests": BEGIN + 86_400, "tokens": BEGIN + 30, HOLD: BEGIN + 86_400}
    pace = Pace({"requests": 60, "tokens": 1000}, ahead, longest_wait_s=120)
    assert pace.wait_s(BEGIN) == 120, "as long as a server may ask for"
    assert pace.wait_s(BEGIN + 100) == pytest.approx(20), "and it gets less with time"
    assert pace.wait_s(BEGIN + 121) == 0
    pace.take(BEGIN + 121, {"requests": 1, "tokens": 5000})
    assert pace.wait_s(BEGIN + 121) == pytest.approx(5 * 62.4, abs=2), (
        "but what one request takes is kept"
    )
    pace.wait_s(BEGIN - 3600)
    assert pace.wait_s(BEGIN - 3600) <= 5 * 62.4, "also where a clock is set back while it runs"


@pytest.mark.parametrize("amounts", [{"requests": 1}, {"tokens": 120_000}])
def test_what_takes_longer_than_a_minute_is_waited_for_by_the_next_job_too(amounts):
    limits, now, times = {"requests": 0.2, "tokens": 30_000}, BEGIN, []
    kept = {}
    for _ in range(4):
        pace = Pace(limits, kept)  # a job that asks one thing
        now += pace.wait_s(now, amounts)
        times.append(now)
        kept = dict(pace.take(now, amounts))
    assert min(later - earlier for earlier, later in pairwise(times)) > 240


class Ahead(HurriedClock):
    """A clock that is a day ahead."""

    def time(self):
        return super().time() + 86_400


def test_a_clock_that_went_ahead_holds_nobody_for_long_and_waits_are_told(tmp_path):
    said, waiting = [], HurriedClock()
    begun = waiting.time()
    with GoogleFake() as fake:
        rig = Rig(tmp_path, "google", fake.url, limits={"requests_per_minute": 1}, workers=1)
        rig.ask(items(1), Ahead())
        assert outcomes(rig.ask(items(2), waiting, said.append)) == {"ok": 2}
    assert 60 < waiting.time() - begun < 120
    assert "google: the next request leaves in 62 s" in said


def test_lifting_a_stop_also_forgets_when_requests_left(tmp_path):
    with GoogleFake() as fake:
        rig = Rig(tmp_path, "google", fake.url, limits={"requests_per_minute": 1}, workers=1)
        rig.ask(items(1))
    with rig.book() as book:
        assert book.next_at(rig.terms.api_model)
    assert lift_stops(tmp_path / "ledger", "google") == []
    with rig.book() as book:
        assert book.next_at(rig.terms.api_model) == {}


CROWD = """
import sys
from pathlib import Path
from runner_rig import Rig, items, outcomes
rig = Rig(Path(sys.argv[1]), "google", sys.argv[2], workers=200)
assert outcomes(rig.ask(items(200))) == {"ok": 200}
# Not getrusage: a child begins with the peak of the process that it was forked from.
status = Path("/proc/self/status").read_text()
print(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))
"""


def test_200_slow_requests_at_once_take_one_process_and_less_than_400_mb(tmp_path):
    noise = png(Image.frombytes("RGB", (256, 256), random.Random(0).randbytes(256 * 256 * 3)))
    assert len(noise) > 190_000
    # Nobody is answered before all have asked.
    everybody = threading.Barrier(200, timeout=LONGEST_S)

    def painter(texts, pictures):
        everybody.wait()
        return Painted(noise)

    with GoogleFake(painter) as fake:
        done = subprocess.run(
            [sys.executable, "-c", CROWD, str(tmp_path), fake.url],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=2 * LONGEST_S,
        )
        assert done.returncode == 0, done.stderr
        assert fake.charged == 200
    assert int(done.stdout) < 400_000, "kilobytes"
