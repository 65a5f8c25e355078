"""Judges that cannot be asked, or that others answer for: gaps, strangers, kills, no money."""

import os
import signal
from collections import Counter
from contextlib import closing

import pytest
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from fakes.serve import Served
from judged_checkout import MOST, POINTS, JudgedCheckout, N, Script
from runner_rig import wait_until

from gensight.errors import BudgetError, ParkedError, RecordError, UnresolvedError
from gensight.runner.book import Book

TOTAL = sum(POINTS.values())
JUDGED = "results/judgements/drawer/icons/grid_8/marker.parquet"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def about(label):
    return lambda asked: f"[{label}]" in asked.text


def test_a_question_without_an_answer_fails_the_job_and_is_asked_again_by_the_next_run(folder):
    scenario = Scenario()
    with GoogleFake(Script(), scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make("samples")
        lost, *_ = checkout.labels()
        scenario.on(about(lost), "bad_request_400")
        with pytest.raises(
            UnresolvedError,
            match=r"^marker/drawer/icons/grid_8: 1 questions have no answer \(1 bad_request\)",
        ):
            checkout.make()
        assert not (folder / JUDGED).exists() and fake.charged == N - 1
        fake.scenario = Scenario()
        checkout.make()
        assert fake.charged == fake.distinct == N
        assert checkout.summary("total").value == TOTAL


def test_a_kept_gap_has_no_number_leaves_its_cell_incomplete_and_is_closed_later(folder):
    scenario = Scenario()
    with GoogleFake(Script(), scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.run_of("drawer", "copyist")
        checkout.make("samples")
        lost, *_ = checkout.labels()
        scenario.on(about(lost), "bad_request_400")
        checkout.make(unresolved="keep")
        (row,) = [row for row in checkout.by_label()[lost] if row.variant == "strict"]
        assert (row.judge_outcome, row.status, row.points) == ("bad_request", "no_answer", None)
        assert set(checkout.numbers(lost).values()) == {None}
        for model in ("drawer", "copyist"):
            for metric in ("total", "total_least", "total_most", "unread_share"):
                summary = checkout.summary(metric, model)
                assert (summary.infrastructure, summary.n) == (1, N - 1)
        assert checkout.summary("total").value == TOTAL
        row = checkout.judge_rows()["gemini_judge", "drawer"]
        assert (row["answered"], row["to_ask"], row["state"]) == (N - 1, 1, "ask")
        fake.scenario = Scenario()
        checkout.make()
        assert fake.charged == fake.distinct == N
        assert checkout.summary("total", "copyist").infrastructure == 0
        assert checkout.make() == []


def test_what_is_in_doubt_is_kept_and_not_sent_again(folder):
    scenario = Scenario()
    with GoogleFake(Script(), scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make("samples")
        lost, *_ = checkout.labels()
        scenario.on(about(lost), "drop_after_charge")
        checkout.make(unresolved="keep")
        assert checkout.make() == [] and len(fake.journal) == N
        row = checkout.judge_rows()["gemini_judge", "drawer"]
        assert (row["answered"], row["to_ask"], row["state"]) == (N - 1, 0, "complete")
        fake.scenario = Scenario()
        assert len(checkout.make(hosted={"in_doubt": "resend"})) == 3
        assert len(fake.journal) == N + 1 and checkout.summary("total").value == TOTAL


def test_a_second_look_without_an_answer_takes_no_number_away(folder):
    scenario, script = Scenario(), Script()
    with GoogleFake(script, scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.set_judge(rescored={"share": 1, "assumed_seed": 0})
        checkout.edit("config/models/gemini_judge.yaml", limits={"in_flight": 1})
        checkout.make("samples")
        lost, *_ = checkout.labels()
        scenario.on(lambda asked: about(lost)(asked) and asked.attempt == 1, "bad_request_400")
        checkout.make(unresolved="keep")
        assert checkout.numbers(lost)["total"] == TOTAL
        assert checkout.numbers(lost)["rescore_change"] is None
        assert checkout.summary("total").value == TOTAL
        fake.scenario = Scenario()
        checkout.make()
        assert checkout.numbers(lost)["rescore_change"] == 0
        assert len(fake.journal) == 2 * N + 1


def test_a_panel_whose_second_judge_is_parked_keeps_what_the_first_one_said(folder):
    with (
        GoogleFake(Script()) as gemini,
        AnthropicFake(Script(), Scenario().default("quota_429")) as claude,
    ):
        checkout = JudgedCheckout(folder, google=gemini, anthropic=claude)
        checkout.set_judge(models=["gemini_judge", "claude_judge"])
        with pytest.raises(ParkedError):
            checkout.make()
        assert gemini.charged == N and claude.charged == 0 and not (folder / JUDGED).exists()
        rows = checkout.judge_rows()
        assert [row["to_ask"] for row in rows.values()] == [0, N]


@pytest.mark.parametrize("told", ["while it is asked", "once it is there"])
def test_a_model_that_was_not_asked_for_stops_the_run(folder, told):
    with GoogleFake(Script()) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        if told == "once it is there":
            checkout.make()
            checkout.edit("config/models/gemini_judge.yaml", answered_as=[])
            with pytest.raises(RecordError, match=r"marker.parquet: holds answers of gemini-3\.6"):
                checkout.make()
            (folder / JUDGED).unlink()
            (folder / "results/scores/drawer/icons/grid_8/marks.parquet").unlink()
            (folder / "results/summaries/icons.parquet").unlink()
        checkout.edit("config/models/gemini_judge.yaml", answered_as=[])
        with pytest.raises(UnresolvedError, match=r"another model answered: gemini-3\.6-flash"):
            checkout.make()
        sent = len(fake.journal)
        assert sent == N if told == "once it is there" else sent <= 4
        row = checkout.judge_rows()["gemini_judge", "drawer"]
        assert (row["state"], row["answered"], row["to_ask"]) == ("stranger", sent, 0)
        assert row["note"].startswith(f"answered by gemini-3.6-flash ({sent}): nothing is asked")
        checkout.edit("config/models/gemini_judge.yaml", answered_as=["gemini-3.6-flash"])
        checkout.make()
        assert fake.charged == fake.distinct == N
        assert {row.answered_model for row in checkout.judgements()} == {"gemini-3.6-flash"}


def test_without_a_budget_nothing_is_sent_and_the_judged_cell_is_named(folder):
    with GoogleFake(Script()) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        with pytest.raises(
            BudgetError, match=rf"^gemini_judge/icons/grid_8 of drawer needs {N} paid requests, at"
        ):
            checkout.make(budget=None)
        assert len(fake.journal) == 0 and not (folder / JUDGED).exists()
        told = checkout.told()
        assert any("grid_8 of drawer" in line for line in told)
        assert told[-1] == "nothing paid will be sent: add budget: {usd: 1} to config/config.yaml"


def judging(checkout):
    """Judge in a process of its own; return its id."""
    process = os.fork()
    if process == 0:
        try:
            checkout.make()
        finally:
            os._exit(1)
    return process


def test_a_judge_that_is_killed_in_the_middle_loses_nothing(folder):
    # Replies that cannot be read: what is killed may be a re-ask.
    with Served("google", folder, scenario="default slow delay_s=0.1") as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make_answers()
        for more in (3, 4):
            enough = len(fake.journal) + more
            process = judging(checkout)
            wait_until(lambda enough=enough: len(fake.journal) >= enough)
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        sent = len(fake.journal)
        assert 7 <= sent < 3 * N and not (folder / JUDGED).exists()
        planned = checkout.judge_rows()["gemini_judge", "drawer"]
        assert planned["answered"] + planned["in_doubt"] >= sent - 2
        checkout.make(hosted={"in_doubt": "resend"})
        doubted = sum(number - 1 for number in fake.journal.paid_twice.values()) - 2 * N
        assert len(fake.journal) == fake.journal.charged
        # Every question three times, and at most the two in flight once more at each kill.
        assert 3 * N <= len(fake.journal) <= 3 * N + 4 and doubted <= 4
        assert len(checkout.keys("drawer")) == 3 * N
        assert Counter(row.reask for row in checkout.judgements()) == {0: 2 * N, 1: 2 * N, 2: 2 * N}
        assert checkout.summary("total").value is None
        assert checkout.summary("total_most").value == MOST
        with closing(Book(folder / "ledger/google.sqlite", read_only=True)) as book:
            assert {attempt.prompt for attempt in book.attempts()} == {"grid_8 of drawer"}
        assert checkout.make() == []
