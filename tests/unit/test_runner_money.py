"""Money: reserved at its most before a request leaves, settled down to the bill, never exceeded."""

import threading
from dataclasses import replace

import pytest
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from runner_rig import HurriedClock, Rig, items, outcomes

from gensight.errors import BudgetError
from gensight.runner.book import Book
from gensight.runner.clock import SystemClock


def most_of(rig):
    return rig.terms.price.cost_usd(rig.terms.most(rig.question(items(1)[0]).turn))


def spent(rig, run="run"):
    with rig.book() as book:
        return book.spent_usd(run)


def test_a_run_stops_before_it_exceeds_its_budget_and_settles_down_to_the_bill(tmp_path):
    with GoogleFake(scenario=Scenario().first("overloaded_503")) as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=4)
        budget = 5.5 * most_of(rig)
        poor = replace(rig, budget={"usd": budget})
        with pytest.raises(BudgetError, match=r"raise budget\.usd .*what was bought is kept"):
            poor.ask(items(20))
        bought = fake.charged
        assert 5 <= bought < 20 and fake.charged_usd <= budget
        assert spent(rig) == {"google": pytest.approx(fake.charged_usd)}
        assert budget - fake.charged_usd < most_of(rig), "it stopped only when nothing fitted"
        before = len(fake.journal)
        with pytest.raises(BudgetError):
            poor.ask(items(20))
        assert len(fake.journal) == before
        assert outcomes(rig.ask(items(20))) == {"ok": 20}
        assert fake.charged == fake.distinct == 20


def test_at_no_moment_is_more_reserved_than_there_is(tmp_path, monkeypatch):
    seen = []
    open_attempt = Book.open_attempt

    def watching(book, intent, now):
        attempt = open_attempt(book, intent, now)
        seen.append(sum(book.spent_usd("run").values()))
        return attempt

    monkeypatch.setattr(Book, "open_attempt", watching)
    with AnthropicFake(scenario=Scenario().default("slow", delay_s=0.01)) as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=8)
        # Enough for all of the bill, and for three requests at once beside it.
        poor = replace(rig, budget={"usd": 60 * 0.0021 + 3 * most_of(rig)})
        assert outcomes(poor.ask(items(60))) == {"ok": 60}
        assert max(seen) <= poor.budget["usd"] and len(seen) == 60
        assert spent(rig)["claude"] == pytest.approx(fake.charged_usd)


def test_money_that_a_request_gives_back_as_it_ends_is_found(tmp_path):
    """With money for one at a time, the next one must see what the last one has just freed."""
    with AnthropicFake() as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=8)
        with AnthropicFake() as other:
            Rig(tmp_path / "other", "claude", other.url).ask(items(1))
            bill = other.charged_usd
        tight = replace(rig, budget={"usd": 80 * bill + most_of(rig)})
        assert outcomes(tight.ask(items(80))) == {"ok": 80}


def test_a_model_may_have_less_than_its_run(tmp_path):
    with GoogleFake() as fake:
        rig = Rig(tmp_path, "google", fake.url)
        cap = 2.5 * most_of(rig)
        capped = replace(rig, budget={"usd": 1000, "models": {"google": cap}})
        with pytest.raises(BudgetError, match=r"budget\.models\.google"):
            capped.ask(items(20))
        assert 2 <= fake.charged < 20 and fake.charged_usd <= cap
        assert spent(rig)["google"] == pytest.approx(fake.charged_usd)


def test_without_a_budget_the_desk_itself_sends_nothing(tmp_path):
    with AnthropicFake() as fake:
        rig = Rig(tmp_path, "claude", fake.url, budget=None)
        with pytest.raises(BudgetError):
            rig.ask(items(3))
        assert len(fake.journal) == 0 and rig.attempts() == []


def test_what_is_in_doubt_keeps_its_most_of_the_budget(tmp_path):
    with GoogleFake(scenario=Scenario().default("drop_after_charge")) as fake:
        rig = Rig(tmp_path, "google", fake.url, workers=1)
        poor = replace(rig, budget={"usd": 4.5 * most_of(rig)})
        with pytest.raises(BudgetError):
            poor.ask(items(9))
        assert len(fake.journal) == 4
        assert spent(rig)["google"] == pytest.approx(4 * most_of(rig))
        assert fake.charged_usd <= spent(rig)["google"]


def test_two_providers_share_one_budget(tmp_path):
    with GoogleFake() as google, ArkFake() as ark:
        rigs = [Rig(tmp_path, "google", google.url), Rig(tmp_path, "seedream", ark.url)]
        budget = {"usd": 6.5 * max(map(most_of, rigs))}
        errors = []

        def ask(rig):
            try:
                replace(rig, budget=budget).ask(items(60))
            except BudgetError as error:
                errors.append(error)

        threads = [threading.Thread(target=ask, args=[rig]) for rig in rigs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(errors) == 2
        bill = ark.charged_usd + google.charged_usd
        assert 0 < bill <= budget["usd"]
        total = sum(sum(spent(rig).values()) for rig in rigs)
        assert total == pytest.approx(bill)


def test_a_book_that_is_just_being_made_is_no_damaged_one(tmp_path):
    with AnthropicFake() as fake:
        rig = Rig(tmp_path, "claude", fake.url)
        (tmp_path / "ledger").mkdir()
        (tmp_path / "ledger/google.sqlite").touch()
        assert outcomes(rig.ask(items(2))) == {"ok": 2}


def test_another_run_has_a_budget_of_its_own(tmp_path):
    with GoogleFake() as fake:
        rig = Rig(tmp_path, "google", fake.url)
        poor = replace(rig, budget={"usd": 1.5 * most_of(rig)}, workers=1)
        with pytest.raises(BudgetError):
            poor.ask(items(20))
        before = fake.charged
        with pytest.raises(BudgetError):
            replace(poor, run="second").ask(items(20))
        assert fake.charged > before
        assert spent(rig, "second")["google"] <= poor.budget["usd"]


def test_a_clock_that_was_set_back_loses_no_money(tmp_path):
    class Back(HurriedClock):
        def time(self):
            return super().time() - 10 * 86_400

    with AnthropicFake() as fake:
        rig = Rig(tmp_path, "claude", fake.url, limits={"requests_per_minute": 6000})
        rig.ask(items(2), SystemClock())
        assert outcomes(rig.ask(items(3), Back())) == {"ok": 3}
        assert spent(rig)["claude"] == pytest.approx(fake.charged_usd)


def test_a_reply_that_cost_more_than_the_most_is_told_and_more_is_reserved_from_then_on(tmp_path):
    said = []
    with AnthropicFake() as fake:
        rig = Rig(tmp_path, "claude", fake.url, workers=1)
        with rig.desk(say=said.append) as desk:
            desk.ask(rig.question("thing 0."))
            usual = rig.attempts()[0].reserved_usd
            assert said == []
            most = desk._terms.most(rig.question("x").turn)
            used = replace(most, output_text_tokens=3 * most.output_text_tokens)
            desk._settle(most, used)
            desk.ask(rig.question("thing 1."))
    grown = rig.attempts()[1].reserved_usd / usual
    assert grown == pytest.approx(rig.terms.price.cost_usd(used) / rig.terms.price.cost_usd(most))
    assert grown > 1.5
    assert len(said) == 1 and "was taken for the most; from now on" in said[0]
