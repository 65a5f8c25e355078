"""`gensight plan`: what is left to ask, in a checkout before, while and after it is asked."""

import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest
from cli_files import call, error
from planned_checkout import CUT, TOLD, PlannedCheckout

from gensight.footers import read_footer
from gensight.models import Reply
from gensight.runner.accounts import Accounts
from gensight.runner.ledger import Ledger
from gensight.runner.needs import Need
from gensight.stages.lookup import look_up
from gensight.stamps import mark_built


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return PlannedCheckout(tmp_path)


def stranger(question):
    return Reply("ok", text="x", answered_model="gemini-9-flash-image")


# -- before anything is there


def test_a_checkout_without_data_is_counted_from_n_and_nothing_is_written(checkout):
    before = sorted(checkout.folder.rglob("*"))
    found = checkout.plan()
    assert sorted(checkout.folder.rglob("*")) == before
    painter, local = found["rows"]
    assert (painter["model"], painter["provider"], painter["state"]) == ("painter", "google", "ask")
    assert (painter["requests"], painter["answered"], painter["to_ask"]) == (6, 0, 6)
    assert (painter["images"], painter["assumed"], painter["note"]) == (6, True, None)
    # 6 pictures of 1,120 tokens at 60 dollars a million, and words; 60 a minute are allowed.
    assert 6 * 0.0672 < painter["usd"] < 6 * 0.0672 * 1.2
    assert painter["seconds"] == pytest.approx(6 * 1.04)
    # Two jobs of half an hour on two cards; the third model costs nothing and is not listed.
    assert (local["provider"], local["to_ask"], local["gpu_hours"]) == (None, 6, 2.0)
    assert found["total"]["to_ask"] == 12 and found["price_date"] == "2026-11-29"
    assert (found["run"], found["budget"], found["enough"]) == ("small", None, None)
    assert found["targets"] == ["results/summaries/shapes.parquet"]
    assert set(found["providers"]) == {"google", "local"}


def test_once_requests_are_made_the_same_number_is_counted_by_what_they_are(checkout):
    assumed = checkout.row("painter")
    checkout.make_requests()
    exact = checkout.row("painter")
    assert (exact["to_ask"], exact["assumed"]) == (assumed["to_ask"], False)
    assert exact["tokens"] < assumed["tokens"] and exact["usd"] < assumed["usd"]


def test_n_all_is_not_known_before_the_samples_are(checkout):
    dataset = {"module": "refcoco", "parameters": {"split": "val"}}
    checkout.run_of("painter")
    checkout.edit("config/benchmarks/shapes.yaml", n="all", dataset=dataset)
    row = checkout.row("painter")
    assert (row["state"], row["requests"], row["to_ask"], row["usd"]) == (
        "not_looked_up", None, None, None
    )  # fmt: skip
    assert row["note"].endswith("snakemake --cores 2 results/requests/shapes/mid.parquet")
    assert checkout.plan()["total"]["at_least"]
    assert any(line.startswith("run 'small': at least 0 of") for line in checkout.told())


# -- what the ledger has


def test_what_is_in_the_ledger_is_not_asked_again(checkout):
    checkout.make_requests()
    assert checkout.ask("painter", at_most=2) == 2
    assert checkout.counts("painter") == (6, 2, 0, 4)
    half = checkout.row("painter")
    checkout.edit("config/benchmarks/shapes.yaml", n=8)
    shutil.rmtree(checkout.folder / "results")
    # Some of the eight are answered: how many nobody knows before the requests are made.
    assert checkout.row("painter")["state"] == "not_looked_up"
    checkout.make_requests()
    assert checkout.counts("painter") == (8, 2, 0, 6)
    checkout.ask("painter")
    done = checkout.row("painter")
    assert (done["state"], done["answered"], done["to_ask"]) == ("complete", 8, 0)
    assert (done["usd"], done["images"], half["images"]) == (0.0, 0, 4)


def test_finished_generations_need_no_ledger_and_no_prices(checkout):
    checkout.run_of("painter")
    checkout.make_requests()
    checkout.ask("painter")
    checkout.write_generations("painter")
    (checkout.folder / "resources/prices.yaml").unlink()
    (checkout.folder / "ledger").rename(checkout.folder / "elsewhere")
    assert checkout.counts("painter") == (6, 6, 0, 0)
    assert checkout.told()[-2:] == [
        "run 'small': 0 of 6 requests to ask",
        "nothing paid is to be sent",
    ]


def test_a_first_turn_that_prompts_share_is_asked_once(checkout):
    checkout.run_of("painter", prompts=["plan", "again"])
    checkout.make_requests()
    assert checkout.row("painter", "plan")["to_ask"] == 12
    assert checkout.row("painter", "again")["to_ask"] == 6
    # Some first turns are answered, and one conversation is through.
    assert checkout.ask("painter", at_most=3, prompt="plan") == 3
    assert checkout.counts("painter", "plan") == (12, 3, 0, 9)
    assert checkout.counts("painter", "again") == (6, 0, 0, 6)
    assert checkout.ask("painter", prompt="plan") == 9
    assert checkout.ask("painter", prompt="again") == checkout.row("painter", "again")["requests"]
    assert checkout.plan()["total"]["to_ask"] == 0


def test_a_conversation_that_failed_at_its_first_turn_is_over(checkout):
    checkout.run_of("painter", prompts=["plan"])
    checkout.make_requests()
    checkout.ask("painter", Reply("refused_output"), at_most=1, prompt="plan")
    assert checkout.counts("painter", "plan") == (11, 1, 0, 10)


def test_a_rung_of_the_ladder_is_counted_at_its_own_length(checkout):
    checkout.run_of("teller", benchmarks=["numbers"])
    checkout.make_requests()
    (planned,) = checkout.generations("teller")
    ladder = {**planned.determinants["generation"], "length_ladder": [256, 1024]}
    planned.determinants["generation"] = ladder
    checkout.ask("teller", lambda q: CUT if q.turn.max_tokens is None else TOLD, at_most=1)
    found = look_up([planned], checkout.folder / "ledger", {}, {}, {})[planned.path]
    assert (found.answered, sum(found.needs.values())) == (1, 5)
    assert sorted(need.max_tokens or 0 for need in found.needs.elements()) == [0, 0, 0, 0, 256]
    assert all(isinstance(need, Need) for need in found.needs)


# -- what is not asked although it is not answered


def test_requests_in_doubt_are_held_and_what_they_may_have_cost_is_spent(checkout):
    checkout.make_requests()
    first, second, third, *_ = checkout.questions("painter")
    checkout.attempt(first)
    checkout.attempt(second, "in_doubt", run="another run")
    checkout.attempt(third, "overloaded")
    found = checkout.plan()
    assert checkout.counts("painter") == (6, 0, 2, 4)
    assert found["spent_usd"] == {"painter": 1.0}
    assert [one["key"] for one in found["in_doubt"]] == [first.key]
    told = checkout.told()
    assert (
        "in doubt: 1 requests that may have been billed, with 0.50 USD of what is spent"
        in (told[-2])
    )
    assert any(line.endswith("2 in doubt") for line in told)
    checkout.edit("config/config.yaml", hosted={"in_doubt": "resend"})
    assert checkout.counts("painter") == (6, 0, 0, 6)


def test_a_reply_that_was_kept_and_not_read_is_not_asked_for_again(checkout):
    checkout.make_requests()
    first, *_ = checkout.questions("painter")
    checkout.attempt(first, replied=True)
    assert checkout.counts("painter") == (6, 1, 0, 5)
    assert checkout.plan()["in_doubt"] == []


@pytest.mark.parametrize("model", ["painter", "under_another_name"])
def test_an_answer_that_was_lost_is_asked_for_unless_what_came_back_is_there(checkout, model):
    checkout.make_requests()
    first, *_ = checkout.questions("painter")
    checkout.attempt(first, "ok", replied=True, model=model)
    assert checkout.counts("painter") == (6, 0, 0, 6)
    blob = Ledger(checkout.folder / "ledger", "painter").blob_path("ab" * 32)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"{}")
    assert checkout.counts("painter") == (6, 1, 0, 5)


def test_where_the_ledger_was_lost_the_generations_that_are_here_answer(checkout):
    checkout.run_of("painter")
    checkout.make_requests()
    checkout.ask("painter")
    checkout.write_generations("painter")
    made = "results/generations/painter/shapes/mid/all.parquet"
    mark_built(made, read_footer(made).content)
    shutil.rmtree(checkout.folder / "ledger")
    checkout.edit("config/benchmarks/shapes.yaml", n=8)
    checkout.make_requests()
    assert checkout.counts("painter") == (8, 6, 0, 2)
    assert not (checkout.folder / "ledger").exists(), "a plan writes nothing"


def test_what_a_server_of_ones_own_may_have_done_is_asked_again(checkout):
    checkout.make_requests()
    first, *_ = checkout.questions("painter")
    checkout.attempt(first, "in_doubt")
    ends = Accounts.read(Path("ledger"), "small").ends
    assert list(ends.values()) == [{first.key: "in_doubt"}]
    (checkout.folder / "ledger/google.sqlite").rename(checkout.folder / "ledger/vllm.sqlite")
    own = Accounts.read(Path("ledger"), "small")
    assert own.ends == {} and [attempt.key for attempt in own.in_doubt] == [first.key]


def test_a_request_in_doubt_that_was_answered_later_is_answered(checkout):
    checkout.make_requests()
    first, *_ = checkout.questions("painter")
    checkout.attempt(first, "in_doubt")
    checkout.ask("painter", at_most=1)
    assert checkout.counts("painter") == (6, 1, 0, 5)


def test_a_retired_model_needs_no_money(checkout):
    gone = {"date": date(2026, 1, 31), "source": "a page"}
    checkout.edit("config/models/painter.yaml", retired=gone)
    row = checkout.row("painter")
    assert (row["state"], row["requests"], row["to_ask"], row["usd"]) == ("retired", 6, 0, 0.0)
    assert row["note"] == "gone since 2026-01-31: nothing is asked"
    assert checkout.told()[-1] == "nothing paid is to be sent"


def test_a_model_that_will_be_retired_is_asked_until_then(checkout):
    later = date.today() + timedelta(days=2)
    checkout.edit("config/models/painter.yaml", retired={"date": later, "source": "a page"})
    assert checkout.row("painter")["state"] == "ask"


def test_a_provider_that_has_the_model_no_more_is_believed(checkout):
    checkout.stop("model:gemini-3.1-flash-image", "gone", until=4e9)
    assert (checkout.row("painter")["state"], checkout.row("painter")["to_ask"]) == ("retired", 0)


def test_a_parked_provider_is_told_with_what_lifts_it(checkout):
    checkout.stop("provider", "quota", until=4_000_000_000.0)
    told = [line for line in checkout.told() if "takes no requests" in line]
    assert told == [
        "  google takes no requests until 2096-10-02 07:06 UTC (quota: why); lift it with: "
        "gensight ledger lift google"
    ]
    (stop,) = checkout.plan()["stops"]["google"]
    assert (stop["scope"], stop["kind"]) == ("provider", "quota")
    # It is still needed, only not now.
    assert checkout.row("painter")["to_ask"] == 6


def test_a_stop_that_is_over_is_not_told(checkout):
    checkout.stop("provider", "quota", until=1.0)
    assert checkout.plan()["stops"] == {}


def test_a_parked_model_is_told_by_its_id(checkout):
    checkout.stop("model:gemini-3.1-flash-image", "bad_request")
    assert any(
        "  gemini-3.1-flash-image takes no requests until that is lifted (bad_request: why)" in line
        for line in checkout.told()
    )


def test_while_a_stranger_answers_nothing_is_asked_until_its_id_is_allowed(checkout):
    checkout.make_requests()
    checkout.ask("painter", stranger, at_most=2)
    row = checkout.row("painter")
    assert (row["state"], row["answered"], row["to_ask"], row["usd"]) == ("stranger", 2, 0, 0.0)
    assert row["note"] == (
        "answered by gemini-9-flash-image (2): nothing is asked unless answered_as in "
        "painter.yaml allows it"
    )
    checkout.edit("config/models/painter.yaml", answered_as=["gemini-9-*"])
    assert checkout.counts("painter") == (6, 2, 0, 4)


# -- targets, prices, budgets


def test_a_target_restricts_the_plan_to_what_it_is_made_from(checkout):
    checkout.run_of("painter", "teller", benchmarks=["shapes", "numbers"])
    assert [row["model"] for row in checkout.plan()["rows"]] == ["painter", "teller"]
    found = checkout.plan("results/summaries/numbers.parquet")
    assert [row["model"] for row in found["rows"]] == ["teller"]
    line = error("plan", "results/summaries/number.parquet")
    assert "results/summaries/number.parquet is no part of the run 'small' (did you mean" in line


def test_a_second_config_file_is_merged_over_the_first(checkout):
    checkout.write("more.yaml", {"run": {"n": {"shapes": 2}}, "budget": {"usd": 0.25}})
    found = checkout.plan("--configfile", "more.yaml")
    assert found["rows"][0]["to_ask"] == 2
    assert (found["left_usd"], found["enough"]) == (0.25, True)
    assert checkout.told("--configfile", "more.yaml")[-1] == (
        "0.25 USD of the budget of 0.25 USD are left: enough"
    )


def test_without_a_budget_the_last_line_says_what_to_add_and_where(checkout):
    assert checkout.told()[-1] == (
        "nothing paid will be sent: add budget: {usd: 1} to config/config.yaml"
    )


def test_a_budget_that_is_not_enough_says_what_would_be(checkout):
    checkout.edit("config/config.yaml", budget={"usd": 2.0, "models": {"painter": 0.1}})
    assert checkout.plan()["enough"] is False
    assert checkout.told()[-1].endswith(
        "not enough, the run stops where it is spent; for all of it: budget: {usd: 2, models: "
        "{painter: 1}} in config/config.yaml"
    )


def test_a_price_that_is_missing_is_one_line(checkout):
    checkout.edit("config/models/painter.yaml", generation__model="gemini-4-image")
    line = error("plan")
    assert "resources/prices.yaml: models: there is no price of 'gemini-4-image', which " in line
    assert "config/models/painter.yaml asks for" in line


def test_money_is_rounded_so_that_nothing_told_is_exceeded(checkout):
    checkout.make_requests()
    usd = checkout.row("painter")["usd"]
    (told,) = [line for line in checkout.told() if line.startswith("  painter ")]
    assert usd <= float(told.split(" USD")[0].split()[-1]) < usd + 0.01
    checkout.edit("config/config.yaml", budget={"usd": 0.999})
    assert checkout.told()[-1].startswith("0.99 USD of the budget of 1.00 USD are left")


def test_it_is_run_in_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no Snakefile here" in error("plan")
    assert "TARGET" in call("plan", "--help").stdout
