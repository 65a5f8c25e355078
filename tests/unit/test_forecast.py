"""Numbers of a plan: what turns take, how long that is, what a budget leaves; by hand."""

import pytest

from gensight.plan import Cell
from gensight.providers.prices import Price, PriceSpec, Room, TurnFacts
from gensight.runner.accounts import Accounts, Balance
from gensight.runner.forecast import Forecast, Row, Total
from gensight.runner.needs import (
    ASSUMED_FILLED_BYTES,
    ASSUMED_REPLY_SIDES,
    Need,
    expected_facts,
    gpu_hours,
    seconds_needed,
    taken,
)
from gensight.specs.model import LimitsSpec
from gensight.specs.run import BudgetSpec

MASK = {"kind": "mask"}
WORDS = {"kind": "text"}
PAINTER = ("google_generate", {"response_modalities": ["IMAGE"]})
TELLER = ("anthropic_messages", {"max_tokens": 100})


def row(model="a", provider="google", state="ask", **numbers):
    counts = {"requests": 10, "answered": 4, "in_doubt": 1, "to_ask": 5, **numbers}
    return Row(Cell(model, "b", "p"), "hosted", provider, "id", state, **counts)


# -- what turns take


def test_turns_take_their_number_times_what_each_can_take():
    entry = {
        "provider": "google",
        "input_usd_per_million": 1,
        "output_usd_per_million": 10,
        "output_image_usd_per_million": 100,
        "output_image_tokens": 1000,
        "assumed_output_tokens": 200,
    }
    price = Price("m", PriceSpec.model_validate(entry), "2026-11-29")
    painted = Need(TurnFacts(0, (), returns_picture=True))
    told, longer = Need(TurnFacts(36)), Need(TurnFacts(36), max_tokens=500)
    images, tokens, usd = taken({painted: 3, told: 2, longer: 1}, price, Room(max_tokens=100))
    assert images == 3
    # 64 tokens frame every request; 36 bytes are 12 tokens.
    assert tokens == 3 * (64 + 100 + 1000) + 2 * (76 + 100) + (76 + 500)
    by_hand = 3 * (64 * 1 + 100 * 10 + 1000 * 100) + 2 * (76 + 100 * 10) + (76 + 500 * 10)
    assert usd == pytest.approx(by_hand / 1e6)


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({"requests_per_minute": 60}, 100 * 1.04),
        ({"images_per_minute": 10}, 50 * 6 * 1.04),
        ({"tokens_per_minute": 600}, 9000 / 10 * 1.04),
        ({"requests_per_minute": 60, "images_per_minute": 10}, 300 * 1.04),
        ({"seconds_per_answer": 30, "in_flight": 8}, 13 * 30),
        ({"seconds_per_answer": 30, "in_flight": 8, "tokens_per_minute": 600}, 936),
        ({"in_flight": 8}, None),
    ],
)
def test_the_slowest_limit_says_how_long_it_takes(limits, seconds):
    found = seconds_needed(LimitsSpec(**limits), requests=100, images=50, tokens=9000)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_hours_of_a_card_are_those_of_its_answers_or_of_its_jobs():
    timed = LimitsSpec(seconds_per_answer=9, runtime_minutes=30)
    assert gpu_hours(2, timed, answers=400, shards=3) == 2.0
    untimed = LimitsSpec(runtime_minutes=30)
    assert gpu_hours(2, untimed, answers=400, shards=3) == 3.0
    assert gpu_hours(0, timed, answers=400, shards=3) == 0


# -- turns that cannot be put into words yet


def test_a_turn_of_a_prompt_shows_the_picture_and_leaves_room_for_what_is_filled_in():
    turns = [{"parts": [{"image": "input"}, {"text": "Find {query}."}], "answer_form": MASK}]
    facts = expected_facts(turns, 0, (640, 480), *PAINTER)
    assert facts == TurnFacts(13 + ASSUMED_FILLED_BYTES, ((640, 480),), returns_picture=True)


def test_a_turn_of_a_request_is_taken_as_it_is_and_a_cited_reply_at_its_largest():
    first = {"parts": [{"kind": "text", "text": "a {b}"}], "answer_form": '{"kind": "text"}'}
    cites = {"kind": "reply", "text": None, "turn": 0}
    turns = [first, {"parts": [cites], "answer_form": '{"kind": "mask"}'}]
    assert expected_facts(turns, 0, (9, 9), *TELLER) == TurnFacts(5)
    assert expected_facts(turns, 1, (9, 9), *TELLER) == TurnFacts(300)
    # A painter may answer with a picture even where words were asked for.
    painted = expected_facts(turns, 1, (9, 9), *PAINTER)
    assert painted.shown == (ASSUMED_REPLY_SIDES,) and painted.text_bytes == 3 * 4096


# -- added up


def test_rows_of_a_provider_add_up_and_providers_go_side_by_side():
    rows = (
        row(seconds=60.0, usd=1.5, images=5, tokens=7),
        row("b", seconds=30.0, usd=0.1),
        row("c", "openai", seconds=80.0),
        row("d", None, seconds=None, gpu_hours=1.5),
    )
    forecast = Forecast(rows, "2026-11-29")
    assert list(forecast.by_provider()) == ["google", "openai", None]
    google = Total.of(forecast.by_provider()["google"])
    assert (google.to_ask, google.seconds, google.usd, google.images) == (10, 90.0, 1.6, 5)
    total = forecast.total()
    assert (total.requests, total.to_ask, total.seconds, total.gpu_hours) == (40, 20, 90.0, 1.5)
    assert not total.at_least


def test_a_time_that_nobody_knows_makes_the_sum_unknown_unless_nothing_is_asked():
    known, unknown = row(seconds=60.0), row("b", seconds=None)
    assert Total.of([known, unknown]).seconds is None
    assert Forecast((known, unknown), None).total().seconds is None
    done = row("b", seconds=None, to_ask=0)
    assert Total.of([known, done]).seconds == 60.0


def test_what_is_not_known_makes_a_sum_the_least():
    nothing = dict.fromkeys(("requests", "answered", "to_ask", "images", "tokens", "usd"))
    unknown = row("b", state="not_looked_up", **nothing)
    total = Total.of([row(usd=1.0), unknown])
    assert (total.to_ask, total.usd, total.at_least) == (5, 1.0, True)
    assert Total.of([row(more=True)]).at_least


# -- budgets


def balance(rows, spent=None, **budget):
    accounts = Accounts(spent_usd=spent or {})
    return Balance.of(Forecast(tuple(rows), None), accounts, BudgetSpec(**budget))


def test_a_budget_is_compared_with_what_is_left_of_it():
    rows = [row(usd=3.0), row("b", usd=1.25)]
    enough = balance(rows, {"a": 5.0}, usd=9.25)
    assert (enough.left_usd, enough.is_enough, enough.whole_usd) == (4.25, True, 10)
    short = balance(rows, {"a": 5.0, "gone": 1.0}, usd=9.25)
    assert (short.left_usd, short.is_enough, short.whole_usd) == (3.25, False, 11)
    assert balance(rows, {"a": 50.0}, usd=9).left_usd == 0


def test_a_model_may_run_out_before_the_run_does():
    rows = [row(usd=3.0), row("b", usd=1.25)]
    short = balance(rows, {"b": 1.0}, usd=100, models={"a": 3.0, "b": 2.0})
    assert (short.short, short.is_enough) == ({"b": 3}, False)


def test_without_a_budget_nobody_can_say_whether_it_is_enough():
    found = Balance.of(Forecast((row(usd=3.2),), None), Accounts(), None)
    assert (found.left_usd, found.is_enough, found.whole_usd) == (None, None, 4)
