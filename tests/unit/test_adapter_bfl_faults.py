"""`bfl_task` against a fake on loopback: every fault and answer, one purchase each."""

from __future__ import annotations

import httpx2
import pytest
from fakes.bfl import BFLFake
from fakes.billing import Scenario
from fakes.painters import plain
from played_turns import connected, judged, keeper, play
from sent_requests import KEY, PNG, turn

from gensight.models import _bfl, bfl_task
from gensight.providers import bfl, transport
from gensight.providers.usage import Usage

PAINTER = {"model": "flux-2-pro", "assumed_size": "input"}
ASKED = turn("Paint the mask of the cup.", PNG)
PAINTED = plain(["Paint the mask of the cup."], [PNG]).image

#: What each fault of the purchase is to the runner: a fault of the provider, or an outcome.
ENDS = {
    "ok": "ok",
    "wait_429": "wait",
    "quota_429": "quota",
    "quota_402": "quota",
    "credit_400": "quota",
    "error_500": "overloaded",
    "error_500_bare": "in_doubt",
    "overloaded_503": "overloaded",
    "overloaded_529": "overloaded",
    "timeout_504": "in_doubt",
    "auth_401": "auth",
    "gone_404": "gone",
    "bad_request_400": "bad_request",
    "refused_400": "bad_request",
    "leak_key": "auth",
    "refused_200": "refused_output",
    "no_image": "in_doubt",  # the task says "Error": no answer of the model, and perhaps billed
    "slow": "ok",
    "hang_after_charge": "in_doubt",
    "drop_before_charge": "in_doubt",
    "drop_after_charge": "in_doubt",
    "drop_mid_body": "in_doubt",
    "html_200": "in_doubt",
    "empty_200": "in_doubt",
    "broken_json": "in_doubt",
}
#: What passes while fetching, if the server is asked again, and what does not.
PASSING = ("wait_429", "error_500", "error_500_bare", "overloaded_503", "timeout_504")
LOST = ("drop_before_charge", "drop_after_charge", "drop_mid_body")
ODD = ("html_200", "empty_200", "broken_json")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(_bfl, "POLL_INTERVAL_S", 0.001)


def played(scenario, read_timeout_s=10.0, **options):
    with BFLFake(scenario=scenario, **options) as fake:
        found = play(fake, bfl_task, bfl, PAINTER, ASKED, read_timeout_s)
        assert [entry.method for entry in fake.journal].count("POST") == 1
        return found, fake


def while_fetching(operation, fault, times=1):
    return Scenario().on(lambda asked: asked.operation == operation, fault, free=True, times=times)


@pytest.mark.parametrize("fault", ENDS)
def test_every_fault_of_the_purchase_is_told_and_it_is_made_once(fault):
    options = {"delay_s": 0.01} if fault == "slow" else {}
    limit_s = 0.3 if fault == "hang_after_charge" else 10.0
    found, _ = played(Scenario().default(fault, **options), limit_s)
    assert found.end == ENDS[fault]
    assert KEY not in repr((found.fault, found.reply))


def test_a_picture_is_what_was_painted_and_its_bill_is_the_fake_s():
    found, fake = played(Scenario(), pending=3)
    assert found.reply.images == (PAINTED,)
    assert [exchange.method for exchange in found.exchanges] == ["POST", "GET", "GET"]
    used = Usage.from_json(found.reply.usage)
    assert (used, fake.charged_usd) == (Usage(images=1), fake.prices["flux-2-pro"].picture)
    assert found.exchanges[0].json["cost"] == pytest.approx(100 * fake.charged_usd)


def test_what_the_fake_was_asked():
    _, fake = played(Scenario())
    body = fake.journal[0].body
    assert (body["output_format"], body["prompt_upsampling"]) == ("png", False)
    assert (body["width"], body["height"]) == (96, 64)


def test_a_refused_prompt():
    found, _ = played(Scenario().default("refused_200", stage="input"), pending=2)
    assert (found.end, found.reply.detail) == ("refused_input", "request_moderated")


@pytest.mark.parametrize("operation", ["poll", "download"])
@pytest.mark.parametrize("fault", [*PASSING, *LOST])
def test_what_fails_while_fetching_is_tried_again_and_costs_nothing(operation, fault):
    found, fake = played(while_fetching(operation, fault, times=2))
    assert (found.end, found.reply.images) == ("ok", (PAINTED,))
    assert fake.charged == 1


@pytest.mark.parametrize("fault", ODD)
def test_a_poll_that_is_answered_with_nonsense_is_made_again(fault):
    found, fake = played(while_fetching("poll", fault, times=2))
    assert (found.end, found.reply.images, fake.charged) == ("ok", (PAINTED,), 1)


def test_half_a_picture_is_kept_as_it_came():
    found, fake = played(while_fetching("download", "broken_json"))
    assert (found.end, found.reply.images) == ("ok", (PAINTED[: len(PAINTED) // 2],))
    assert fake.charged == 1


@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        ("poll", "auth_401"),
        ("download", "auth_401"),
        ("download", "gone_404"),
        ("download", "html_200"),
        ("download", "empty_200"),
    ],
)
def test_a_task_whose_picture_is_not_to_be_had_now_is_left_for_later(operation, fault):
    with BFLFake(scenario=while_fetching(operation, fault), pending=0) as fake:
        exchanges = []
        with (
            connected(fake, bfl_task, PAINTER) as adapter,
            transport.recording(keeper(adapter, exchanges)),
        ):
            adapter.send(ASKED)
            with pytest.raises(httpx2.RequestError):
                adapter.follow(exchanges)
        assert bfl.fault_of(exchanges[-1]) is None
        # Another process, with what was kept: it fetches and does not buy.
        with (
            connected(fake, bfl_task, PAINTER) as adapter,
            transport.recording(keeper(adapter, exchanges)),
        ):
            adapter.follow(exchanges)
            found = judged(adapter, bfl, exchanges)
        assert (found.end, found.reply.images) == ("ok", (PAINTED,))
        assert fake.charged == 1


def test_a_task_that_is_not_found_is_in_doubt():
    with BFLFake() as fake, connected(fake, bfl_task, PAINTER) as adapter:
        exchanges = []
        with transport.recording(keeper(adapter, exchanges)):
            adapter.send(ASKED)
            fake._tasks.clear()
            adapter.follow(exchanges)
        found = judged(adapter, bfl, exchanges)
        assert found.end == "in_doubt"
        assert fake.charged == 1
