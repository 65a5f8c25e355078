"""Tasks (FLUX): bought once, fetched as often as it takes, whatever goes wrong on the way."""

import pytest
from fakes.bfl import BFLFake
from fakes.billing import Scenario
from runner_rig import Rig, items, outcomes

from gensight.models import _bfl

NOT_NOW = ("drop_before_charge", "drop_mid_body", "overloaded_503", "wait_429", "error_500_bare")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(_bfl, "POLL_INTERVAL_S", 0.001)


def submits(fake):
    return [entry for entry in fake.journal if entry.method == "POST"]


@pytest.mark.parametrize("operation", ["poll", "download"])
@pytest.mark.parametrize("fault", NOT_NOW)
def test_a_task_that_cannot_be_fetched_is_pending_and_fetched_later(tmp_path, operation, fault):
    scenario = Scenario().on(lambda asked: asked.operation == operation, fault, free=True, times=5)
    with BFLFake(scenario=scenario, pending=1) as fake:
        rig = Rig(tmp_path, "flux", fake.url, workers=1)
        ends = rig.ask(items(1))
        assert outcomes(ends) == {"pending": 1}
        (attempt,) = rig.attempts()
        assert attempt.ended is None, "it is open: what it made is still to be fetched"
        with rig.book() as book:
            kept = [exchange for exchange, _ in book.exchanges(attempt.id)]
        assert kept[0].method == "POST" and all(exchange.error is None for exchange in kept)
        for _ in range(2):
            assert outcomes(rig.ask(items(1))) == {"ok": 1}
        assert len(submits(fake)) == fake.charged == 1
        (attempt,) = rig.attempts()
        assert (attempt.end, rig.in_doubt()) == ("ok", [])
        assert attempt.cost_usd == pytest.approx(fake.charged_usd)


def test_a_task_is_never_sent_again_even_where_doubt_may_be(tmp_path):
    scenario = Scenario().on(lambda _: True, "drop_before_charge", free=True)
    with BFLFake(scenario=scenario) as fake:
        rig = Rig(tmp_path, "flux", fake.url, hosted={"in_doubt": "resend"}, workers=1)
        for _ in range(3):
            assert outcomes(rig.ask(items(2))) == {"pending": 2}
        assert len(submits(fake)) == 2 and rig.terms.budget is not None
        # What it costs at most is reserved as long as nobody knows.
        with rig.book() as book:
            assert book.spent_usd("run")["flux"] == pytest.approx(
                sum(attempt.reserved_usd for attempt in rig.attempts())
            )


def test_a_task_that_is_lost_is_in_doubt_and_held(tmp_path):
    with BFLFake(pending=0) as fake:
        rig = Rig(tmp_path, "flux", fake.url, workers=1)
        known, fake.free = fake.free, lambda asked: None
        assert outcomes(rig.ask(items(1))) == {"in_doubt": 1}
        fake.free = known
        rig.ask(items(1))
        assert len(submits(fake)) == 1


def test_a_submission_without_a_reply_is_held_as_any_other(tmp_path):
    with BFLFake(scenario=Scenario().first("drop_after_charge"), pending=0) as fake:
        rig = Rig(tmp_path, "flux", fake.url, workers=2)
        for _ in range(2):
            assert outcomes(rig.ask(items(2))) == {"in_doubt": 2}
        assert len(fake.journal) == 2 and len(rig.in_doubt()) == 2


def test_moderated_tasks_are_answers(tmp_path):
    with BFLFake(scenario=Scenario().default("refused_200", stage="input"), pending=2) as fake:
        rig = Rig(tmp_path, "flux", fake.url)
        for _ in range(2):
            assert outcomes(rig.ask(items(3))) == {"refused_input": 3}
        assert len(submits(fake)) == 3


def test_a_picture_of_a_task_that_was_lost_is_fetched_again(tmp_path):
    with BFLFake() as fake:
        rig = Rig(tmp_path, "flux", fake.url, workers=1)
        rig.ask(items(1))
        key = rig.question(items(1)[0]).key
        entry, (picture,) = rig.ledger.find(key)
        for _ in range(2):
            rig.ledger.blob_path(entry.images[0]).unlink()
            assert outcomes(rig.ask(items(1))) == {"ok": 1}
            assert rig.ledger.find(key)[1] == [picture]
        assert fake.charged == 1


def test_a_lost_picture_that_cannot_be_fetched_now_is_not_bought_again(tmp_path):
    with BFLFake() as fake:
        rig = Rig(tmp_path, "flux", fake.url, workers=1)
        rig.ask(items(1))
        entry, (picture,) = rig.ledger.find(rig.question(items(1)[0]).key)
        rig.ledger.blob_path(entry.images[0]).unlink()
        fake.scenario = Scenario().on(
            lambda asked: asked.operation == "poll", "overloaded_503", free=True
        )
        assert outcomes(rig.ask(items(1))) == {"pending": 1}
        fake.scenario = Scenario()
        assert outcomes(rig.ask(items(1))) == {"ok": 1}
        assert rig.ledger.find(entry.key)[1] == [picture] and fake.charged == 1
