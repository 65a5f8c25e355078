"""What the fakes have in common: scripts of faults, keys, journals, limits."""

import threading
import time

import httpx2
import pytest
from fakes.billing import Asked, Entry, Journal, Limits, Price, Scenario, Used
from fakes.chat import VllmFake
from fakes.clients import http_client
from fakes.faults import FAULTS
from fakes.painters import plain
from hypothesis import given
from hypothesis import strategies as st

PATH = "/chat/completions"


@pytest.fixture(scope="module")
def http():
    with http_client() as client:
        yield client


def asked(key="a", attempt=0, method="POST", **more):
    return Asked(method, "/", "secret", key, "paint", attempt=attempt, **more)


def decided(scenario, *requests):
    return [scenario.decide(request).name for request in requests]


def post(http, fake, text="How many?", **more):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return http.post(fake.url + PATH, json=body)


# -- scripts


def test_a_rule_takes_what_it_matches_so_many_times():
    scenario = Scenario().on(lambda request: "red" in request.text, "error_500", times=2)
    red, blue = asked(texts=("a red car",)), asked("b", texts=("a blue car",))
    assert decided(scenario, blue, red, blue, red, red) == [
        "ok",
        "error_500",
        "ok",
        "error_500",
        "ok",
    ]


def test_a_rule_can_count_each_request_by_itself():
    scenario = Scenario().on(lambda _: True, "error_500", times=1, each=True)
    assert decided(scenario, *map(asked, "abab")) == ["error_500", "error_500", "ok", "ok"]
    assert decided(Scenario().first("wait_429", times=2), *map(asked, "aaab")) == [
        "wait_429", "wait_429", "ok", "wait_429"
    ]  # fmt: skip


def test_the_first_rule_that_takes_a_request_says_what_happens():
    scenario = Scenario().first("wait_429").first("error_500").default("truncated")
    assert decided(scenario, *map(asked, "aaa")) == ["wait_429", "error_500", "truncated"]


def test_every_third_request_in_order_of_arrival():
    found = decided(Scenario().every(3, "error_500"), *map(asked, "abcdefg"))
    assert [n for n, fault in enumerate(found, 1) if fault != "ok"] == [3, 6]


def test_chance_goes_by_request_and_attempt_and_not_by_arrival():
    requests = [asked(f"key {n}", attempt) for n in range(400) for attempt in range(2)]
    names = decided(Scenario().probability(0.25, "error_500", seed=4), *requests)
    again = decided(Scenario().probability(0.25, "error_500", seed=4), *reversed(requests))
    assert names == again[::-1]
    assert 150 <= names.count("error_500") <= 250  # 200 of 800, and 12 is a standard deviation
    other = decided(Scenario().probability(0.25, "error_500", seed=5), *requests)
    assert other != names
    # A second attempt has its own luck: not all that failed once fail again.
    firsts, seconds = names[::2], names[1::2]
    assert {"ok", "error_500"} == {b for a, b in zip(firsts, seconds, strict=True) if a != "ok"}
    assert decided(Scenario().probability(1, "error_500"), *requests[:9]) == ["error_500"] * 9
    assert decided(Scenario().probability(0, "error_500"), *requests[:9]) == ["ok"] * 9


def test_what_is_free_is_failed_by_rules_that_say_so():
    scenario = Scenario().on(lambda _: True, "error_500", free=True, times=1).default("html_200")
    poll = asked("p", method="GET")
    assert decided(scenario, poll, asked(), poll) == ["error_500", "html_200", "ok"]


def test_a_script_in_words_is_the_same_script():
    script = (
        "first wait_429 times=2 retry_after_s=0.5; every 4 error_500; "
        "probability 0.5 truncated seed=3; default slow delay_s=0.25"
    )
    spelt = (
        Scenario()
        .first("wait_429", times=2, retry_after_s=0.5)
        .every(4, "error_500")
        .probability(0.5, "truncated", seed=3)
        .default("slow", delay_s=0.25)
    )
    requests = [asked(f"key {n % 7}", n // 7) for n in range(60)]
    parsed = Scenario.parse(script)
    assert parsed.faults == {"wait_429", "error_500", "truncated", "slow"}
    assert [parsed.decide(r) for r in requests] == [spelt.decide(r) for r in requests]
    assert decided(Scenario.parse(" ; "), asked()) == ["ok"]


@pytest.mark.parametrize("script", ["sometimes error_500", "every error_500", "first a b"])
def test_a_script_that_nobody_reads(script):
    with pytest.raises(ValueError, match=f"scenario: no rule reads '{script}'"):
        Scenario.parse(script)


def test_a_fault_that_no_fake_knows():
    with pytest.raises(ValueError, match="no fake knows the fault 'error_501'"):
        VllmFake(scenario=Scenario().first("error_501"))


@pytest.mark.parametrize("fault", FAULTS)
def test_only_answers_are_charged_and_only_whole_ones_have_a_status(http, fault):
    options = {"delay_s": 0.01} if fault == "slow" else {}
    with VllmFake(scenario=Scenario().default(fault, **options)) as fake:
        try:
            limit_s = 0.2 if fault == "hang_after_charge" else 20.0
            reply = http.post(fake.url + PATH, json={"model": "m", "messages": []}, timeout=limit_s)
        except httpx2.TransportError:
            reply = None
        (entry,) = fake.journal.wait_for(1)
    free = ("_429", "_402", "_500", "_503", "_529", "_504", "_401", "_404", "_400")
    lost = ("drop_before_charge", "leak_key", "error_500_bare")
    assert entry.charged == (not fault.endswith(free) and fault not in lost)
    if reply is not None:
        assert entry.status == reply.status_code
    else:
        assert entry.status == (200 if fault == "drop_mid_body" else None)


# -- keys and journals


def test_a_key_is_what_was_asked_and_nothing_around_it(http):
    with VllmFake() as fake:
        post(http, fake, seed=1, top_p=0.5)
        http.post(
            fake.url + PATH,
            content=b'{"top_p": 0.5,  "seed": 1, "messages":'
            b'[{"content": "How many?", "role": "user"}], "model": "m"}',
            headers={"authorization": "Bearer another", "x-extra": "header"},
        )
        post(http, fake, seed=2, top_p=0.5)
        first, second, third = (entry.key for entry in fake.journal)
        assert first == second != third
        assert (fake.charged, fake.distinct) == (3, 2)
        assert fake.journal.paid_twice == {first: 2}


@pytest.mark.parametrize("path", [PATH, "/elsewhere"])
def test_what_is_no_request_is_told_so_and_free(http, path):
    with VllmFake() as fake:
        reply = http.post(fake.url + path, content=b"{not json")
        assert (reply.status_code, fake.charged) == (400, 0)
        assert http.post(fake.url + "/elsewhere", json={}).status_code == 404
        assert [entry.fault for entry in fake.journal] == ["bad_request_400", "gone_404"]


def test_an_error_of_the_fakes_own_is_not_hidden(http):
    def painter(texts, pictures):
        raise RuntimeError("out of paint")

    with pytest.raises(RuntimeError, match="out of paint"), VllmFake(painter) as fake:
        assert post(http, fake).status_code == 500


def test_a_journal_says_when_a_request_came_not_when_it_was_answered(http):
    entered, released = threading.Event(), threading.Event()

    def painter(texts, pictures):
        entered.set()
        assert released.wait(20)
        return plain(texts, pictures)

    with VllmFake(painter) as fake:
        before_s = time.time()
        asking = threading.Thread(target=post, args=[http, fake])
        asking.start()
        assert entered.wait(20)
        seen_s = time.time()
        assert len(fake.journal) == 0, "what is not made yet is not charged"
        released.set()
        asking.join(20)
        (entry,) = fake.journal
    assert before_s <= entry.time_s <= seen_s


def test_a_journal_is_in_its_file_before_the_reply(http, tmp_path):
    path = tmp_path / "journal.jsonl"
    with VllmFake(journal=Journal(path)) as fake:
        for n in range(3):
            post(http, fake, f"How many {n}?")
            # Another reader sees it while the file is open for writing.
            assert list(Journal.read(path)) == list(fake.journal)
    assert len(path.read_text().splitlines()) == 3
    with path.open("a") as file:
        file.write('{"n": 3, "half a line')
    assert len(Journal.read(path)) == 3
    assert len(Journal.read(tmp_path / "nowhere")) == 0


def test_a_bill_is_a_sum_over_kinds_of_tokens_and_pictures():
    used = Used(text_in=1, image_in=20, text_out=300, image_out=4000, thoughts=50_000, pictures=2)
    assert (used.input, used.output) == (21, 54_300)
    price = Price(text_in=1e6, image_in=1e5, text_out=1e4, image_out=1e3, picture=7)
    assert used.usd(price) == pytest.approx(1 + 2 + 3 + 4 + 500 + 14)


# -- limits


def entries_at(times):
    shared = {"path": "/", "key": "k", "charged": True, "usd": 0.0, "status": 200, "fault": None}
    return [Entry(n=n, time_s=t, method="POST", **shared) for n, t in enumerate(times)]


TIMES = st.lists(st.integers(0, 200), max_size=30)


@given(TIMES)
def test_the_busiest_window_is_half_open(times):
    found = Journal(entries=entries_at(times)).busiest_window(60)
    assert found == max((sum(t <= u < t + 60 for u in times) for t in times), default=0)


@given(TIMES, st.integers(1, 5))
def test_a_limit_admits_so_many_in_any_window_and_says_when_to_come_again(times, most):
    limits, admitted = Limits(most), []
    for now_s in sorted(times):
        wait_s = limits.wait_s(now_s)
        recent = [t for t in admitted if now_s - t < 60]
        if wait_s is None:
            admitted.append(now_s)
            assert len(recent) < most
        else:
            assert len(recent) == most
            assert 0 < wait_s == recent[0] + 60 - now_s
    assert Journal(entries=entries_at(admitted)).busiest_window(60) <= most


def test_a_fake_turns_away_what_is_over_its_limit(http):
    with VllmFake(limits=Limits(2, window_s=3600)) as fake:
        replies = [post(http, fake, f"How many {n}?") for n in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 429, 429]
        assert 0 < float(replies[2].headers["retry-after"]) <= 3600
        assert [entry.fault for entry in fake.journal] == [None, None, "wait_429", "wait_429"]
        assert (fake.charged, fake.busiest_window(3600)) == (2, 4)
