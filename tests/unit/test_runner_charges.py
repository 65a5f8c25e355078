"""Every question is paid for once: after faults that cost nothing, after lost replies, twice asked.

`drop_before_charge` costs nothing, yet its client cannot know: it is safe only in the sense that
sending it again, where that is allowed, pays once.
"""

import os
import sqlite3
from dataclasses import replace

import pytest
from fakes.billing import Scenario
from fakes.serve import FAKES
from hypothesis import given, settings
from hypothesis import strategies as st
from runner_rig import MODELS, HurriedClock, Rig, answered, items, outcomes

from gensight.providers import FaultKind
from gensight.runner.book import Book
from gensight.runner.ledger import Ledger
from gensight.runner.wire import NotKeptError

SAFE = ("wait_429", "overloaded_503", "overloaded_529", "error_500")
LOST = ("drop_after_charge", "hang_after_charge", "error_500_bare", "timeout_504", "drop_mid_body")
#: What a reply that hangs is waited for.
SHORT = {"read_timeout_s": 0.4}


def fake_of(model, scenario):
    options = {"pending": 0} if model == "flux" else {}
    return FAKES[MODELS[model][1]](scenario=scenario, **options)


def assert_paid_once(fake, number):
    assert fake.journal.paid_twice == {}
    assert fake.charged == fake.distinct == number


@pytest.mark.parametrize("model", MODELS)
def test_what_safe_faults_refused_is_asked_again_and_paid_once(tmp_path, model):
    scenario = Scenario()
    for seed, fault in enumerate(SAFE):
        scenario.probability(0.15, fault, seed=seed)
    scenario.probability(0.1, "drop_before_charge", seed=9)
    with fake_of(model, scenario) as fake:
        rig = Rig(tmp_path, model, fake.url, hosted={"attempts": 40})
        ends = rig.ask(items(25))
        lost = [told for told, entry in ends.items() if entry.outcome == "in_doubt"]
        assert outcomes(ends) == {"ok": 25 - len(lost), **({"in_doubt": len(lost)} if lost else {})}
        again = replace(rig, hosted={"attempts": 40, "in_doubt": "resend", "resend_at_most": 40})
        while lost:
            ends |= again.ask(lost)
            lost = [told for told, entry in ends.items() if entry.outcome == "in_doubt"]
        assert_paid_once(fake, 25)
        assert len(fake.journal.asked) > 25, "the scenario has not failed anything"
        before = len(fake.journal)
        assert outcomes(rig.ask(items(25))) == {"ok": 25}
        assert len(fake.journal) == before, "a finished run asks nothing"


@settings(max_examples=12, deadline=None)
@given(
    faults=st.lists(
        st.tuples(st.sampled_from(SAFE), st.integers(1, 4), st.integers(0, 3)), max_size=4
    ),
    workers=st.integers(1, 6),
)
def test_any_mix_of_safe_faults_charges_each_key_once(tmp_path_factory, faults, workers):
    scenario = Scenario()
    for fault, times, hint_s in faults:
        scenario.first(fault, times, retry_after_s=hint_s)
    with fake_of("claude", scenario) as fake:
        rig = Rig(
            tmp_path_factory.mktemp("mix"), "claude", fake.url, hosted={"attempts": 17},
            workers=workers,
        )  # fmt: skip
        assert outcomes(rig.ask(items(8))) == {"ok": 8}
        assert_paid_once(fake, 8)
        assert len(fake.journal) == 8 * (1 + sum(times for _, times, _ in faults))


def test_a_fault_that_does_not_pass_is_asked_so_often_and_left_open(tmp_path):
    with fake_of("google", Scenario().default("overloaded_503")) as fake:
        rig = Rig(tmp_path, "google", fake.url, hosted={"attempts": 3})
        ends = rig.ask(items(4))
        assert outcomes(ends) == {"overloaded_exhausted": 4}
        assert (len(fake.journal), fake.charged) == (12, 0)
        assert {attempt.cost_usd for attempt in rig.attempts()} == {0.0}
        assert not list((tmp_path / "ledger/replies").rglob("*.json"))


@pytest.mark.parametrize("model", ["google", "claude", "flux"])
@pytest.mark.parametrize("fault", LOST)
def test_a_lost_reply_is_in_doubt_at_its_most_and_held(tmp_path, model, fault):
    with fake_of(model, Scenario().first(fault)) as fake:
        rig = Rig(tmp_path, model, fake.url, hosted=SHORT)
        ends = rig.ask(items(3))
        assert outcomes(ends) == {"in_doubt": 3}
        assert fake.journal.paid_twice == {} and len(fake.journal.asked) == 3
        doubted = rig.in_doubt()
        assert sorted(attempt.key for attempt in doubted) == sorted(
            rig.question(told).key for told in items(3)
        )
        most = rig.terms.price.cost_usd(rig.terms.most(rig.question(items(1)[0]).turn))
        assert {attempt.cost_usd for attempt in doubted} == {most} and most > 0
        for _ in range(2):
            assert outcomes(rig.ask(items(3))) == {"in_doubt": 3}
        assert len(fake.journal.asked) == 3, "what is held is never sent again"


def test_resending_has_a_cap_that_counts_over_all_cells_of_the_run(tmp_path):
    with fake_of("claude", Scenario().first("drop_after_charge")) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        assert outcomes(rig.ask(items(9))) == {"in_doubt": 9}
        bold = replace(rig, hosted={"in_doubt": "resend", "resend_at_most": 5}, workers=3)
        assert outcomes(bold.ask(items(4))) == {"ok": 4}
        assert outcomes(bold.ask(items(9))) == {"ok": 5, "in_doubt": 4}
        assert outcomes(bold.ask(items(9))) == {"ok": 5, "in_doubt": 4}
        assert len(fake.journal) == 14
        another = replace(bold, run="another")
        assert outcomes(another.ask(items(9))) == {"ok": 9}
        assert len(fake.journal) == 18 and max(fake.journal.paid_twice.values()) == 2


def test_a_request_sent_again_in_vain_is_not_sent_a_third_time_in_one_run(tmp_path):
    with fake_of("claude", Scenario().default("drop_after_charge")) as fake:
        rig = Rig(tmp_path, "claude", fake.url, hosted={"in_doubt": "resend"})
        for number in (1, 2, 3):
            assert outcomes(rig.ask(items(1))) == {"in_doubt": 1}
            assert len(fake.journal) == number


def test_the_same_question_of_many_samples_is_sent_once(tmp_path):
    with fake_of("claude", Scenario().default("slow", delay_s=0.1)) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=8)
        ends = rig.ask(["How many?"] * 8)
        assert outcomes(ends) == {"ok": 1} and len(fake.journal) == 1
    with fake_of("claude", Scenario().default("drop_after_charge")) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=8, hosted={"in_doubt": "resend"})
        assert outcomes(rig.ask(["And how many of these?"] * 8)) == {"in_doubt": 1}
        assert len(fake.journal) == 1


def test_a_provider_that_answers_nothing_is_not_asked_for_all_the_money(tmp_path):
    for fault in ("timeout_504", "html_200", "bad_request_400"):
        with fake_of("claude", Scenario().default(fault)) as fake:
            rig = Rig(tmp_path / fault, "claude", fake.url, workers=2)
            with pytest.raises(Exception, match="10 requests in a row got no answer"):
                rig.ask(items(50))
            assert 10 <= len(fake.journal) <= 12


def test_a_server_that_is_not_there_costs_nothing(tmp_path):
    with fake_of("gpt", Scenario()) as fake:
        url = fake.url
    rig = Rig(tmp_path, "gpt", url, hosted={"attempts": 3})
    assert outcomes(rig.ask(items(2))) == {"overloaded_exhausted": 2}
    ends = [attempt.end for attempt in rig.attempts()]
    assert ends == [FaultKind.NOT_SENT] * 6 and rig.in_doubt() == []
    with fake_of("gpt", Scenario()) as fake:
        assert outcomes(replace(rig, url=fake.url).ask(items(2))) == {"ok": 2}
        assert_paid_once(fake, 2)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("place", ["blob", "book"])
def test_a_reply_that_cannot_be_kept_stays_in_doubt(tmp_path, monkeypatch, model, place):
    def full_ledger(*_, **__):
        raise OSError(28, "No space left on device")

    def full_book(book, *_):
        with book._transaction():
            raise sqlite3.OperationalError("database or disk is full")

    with fake_of(model, Scenario()) as fake:
        rig = Rig(tmp_path, model, fake.url)
        with monkeypatch.context() as disk:
            if place == "blob":
                disk.setattr(Ledger, "keep", full_ledger)
            else:
                disk.setattr(Book, "keep_exchange", full_book)
            with pytest.raises(NotKeptError, match="may have been billed and is in doubt") as told:
                rig.ask(items(1))
        assert "\n" not in str(told.value)
        assert len(fake.journal) == 1
        (attempt,) = rig.in_doubt()
        assert attempt.end is None and attempt.reserved_usd > 0
        assert outcomes(rig.ask(items(1))) == {"in_doubt": 1}
        (attempt,) = rig.in_doubt()
        assert attempt.cost_usd == attempt.reserved_usd
        assert len(fake.journal) == 1 and fake.charged == 1


def test_an_answer_that_cannot_be_kept_is_read_by_the_next_run(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with fake_of("google", Scenario()) as fake:
        rig = Rig(tmp_path, "google", fake.url)
        with monkeypatch.context() as disk:
            disk.setattr(Ledger, "record", full)
            with pytest.raises(OSError, match="No space left"):
                rig.ask(items(1))
        assert rig.in_doubt() == []
        assert outcomes(rig.ask(items(1))) == {"ok": 1}
        assert len(fake.journal) == 1
        (attempt,) = rig.attempts()
        assert attempt.end == "ok" and attempt.cost_usd == pytest.approx(fake.charged_usd)


def test_a_mistake_of_the_adapter_is_not_called_a_request(tmp_path, monkeypatch):
    def wrong(*_):
        raise ValueError("a mistake of ours")

    monkeypatch.setattr("gensight.models._anthropic.AnthropicMessages._block", wrong)
    with fake_of("claude", Scenario()) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        with pytest.raises(ValueError, match="a mistake of ours"):
            rig.ask(items(3))
        assert len(fake.journal) == 0 and rig.in_doubt() == []
        assert {attempt.end for attempt in rig.attempts()} == {"not_sent"}


def test_a_book_that_cannot_be_written_sends_nothing(tmp_path):
    with fake_of("claude", Scenario()) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        with rig.desk(HurriedClock()) as desk:
            desk._book._connection.execute("PRAGMA query_only = ON")
            with pytest.raises(Exception, match="cannot be written"):
                desk.ask(rig.question("Anything?"))
        assert len(fake.journal) == 0


def test_a_reader_of_a_book_rolls_back_what_a_killed_writer_left(tmp_path):
    """A journal that a kill left behind must not keep other providers' runners from counting."""
    path = tmp_path / "ledger/google.sqlite"
    Book(path).close()
    child = os.fork()
    if child == 0:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        for axis in range(5000):
            connection.execute("INSERT INTO pace VALUES ('m', ?, 1.0)", (f"axis {axis}",))
        os._exit(0)
    os.waitpid(child, 0)
    assert path.with_name("google.sqlite-journal").stat().st_size > 0
    book = Book(path, read_only=True)
    assert book.spent_usd("run") == {} and book.next_at("m") == {}
    with pytest.raises(Exception, match="cannot be written"):
        book.set_next_at("m", {"requests": 1.0})
    book.close()


def test_answers_are_answered(tmp_path):
    with fake_of("claude", Scenario().first("refused_200")) as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        assert answered(rig.ask(items(3))) == 3
        assert outcomes(rig.ask(items(3))) == {"refused_output": 3}
        assert len(fake.journal) == 3, "a refusal is an answer, and is not asked again"
