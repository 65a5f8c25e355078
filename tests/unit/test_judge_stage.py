"""Judging on sockets: what is asked, what it costs, and what becomes of replies of every kind."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from judged_checkout import MOST, POINTS, JudgedCheckout, N, Script, reply

TESTS = Path(__file__).parents[1]
TOTAL = sum(POINTS.values())
NO_JSON = "Seven out of ten, I would say."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_distinct_question_is_asked_once_and_never_again(folder):
    with GoogleFake(Script()) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.run_of("drawer", "copyist", "chance")
        checkout.make()
        keys = checkout.keys("drawer", "copyist", "chance")
        assert checkout.keys("drawer") == checkout.keys("copyist")
        assert len(keys) == 2 * N == fake.charged == fake.distinct == len(fake.journal)
        # Strict and lenient read the same: judged once, told for both.
        rows = checkout.judgements()
        assert Counter(row.variant for row in rows) == {"strict": N, "lenient": N}
        assert {(row.status, row.judge_outcome, row.reask, row.run) for row in rows} == {
            ("ok", "ok", 0, 0)
        }
        costs = {r.request_key: r.cost_usd for m in ("drawer", "chance")
                 for r in checkout.judgements(m)}  # fmt: skip
        assert sum(costs.values()) == pytest.approx(fake.charged_usd)
        assert checkout.summary("total").value == TOTAL
        # Neither key nor money is needed for what there is.
        (folder / "keys.env").unlink()
        assert checkout.make(budget=None) == []
        for path in ("results/judgements", "results/scores", "results/summaries"):
            for file in (folder / path).rglob("*.parquet"):
                file.unlink()
        assert [(c.answers, c.asked) for c in checkout.counts] == [(N, N), (N, 0), (N, N)]
        assert len(checkout.make()) == 7
        assert [(c.asked, c.replayed) for c in checkout.counts[3:]] == [(0, N)] * 3
        assert len(fake.journal) == 2 * N and checkout.judgements()[0].points == POINTS
        assert {row.answered_model for row in checkout.judgements()} == {"gemini-3.6-flash"}


def test_a_reply_is_asked_for_again_until_it_can_be_read_and_at_most_twice(folder):
    script = Script()
    with GoogleFake(script) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make("samples")
        second, third, never, empty, *_ = checkout.labels()
        script.said = {
            second: [NO_JSON, reply()],
            third: [reply(likeness=11), "{}", reply(likeness=1)],
            never: [NO_JSON],
            empty: [" \n", reply(likeness=0, tidiness=0)],
        }
        checkout.make()
        found = {
            label: [(row.reask, row.status, row.reason) for row in rows if row.variant == "strict"]
            for label, rows in checkout.by_label().items()
        }
        broken = (0, "unparseable", "not_json")
        assert found[second] == [broken, (1, "ok", None)]
        assert found[third] == [
            (0, "unparseable", "out_of_range"),
            (1, "unparseable", "no_dimension"),
            (2, "ok", None),
        ]
        assert found[never] == [(n, "unparseable", "not_json") for n in range(3)]
        assert found[empty] == [(0, "empty", "malformed"), (1, "ok", None)]
        # Each re-ask has a key of its own; the wire sends the same words again.
        assert len(checkout.keys("drawer")) == fake.charged == N + 6
        assert fake.distinct == N
        # The last reply counts, and of an unread one nothing but what it may have been.
        assert checkout.numbers(third)["total"] == 1 + POINTS["tidiness"]
        assert checkout.numbers(empty)["total"] == 0
        numbers = checkout.numbers(never)
        assert numbers["total"] is None
        assert (numbers["total_least"], numbers["total_most"]) == (0, MOST)
        assert checkout.summary("unread_share").value == pytest.approx(100 / N)
        assert checkout.summary("total").coverage == pytest.approx(1 - 1 / N)
        read = 3 * TOTAL + 1 + POINTS["tidiness"]
        assert checkout.summary("total").value == pytest.approx(read / (N - 1))
        assert checkout.summary("total_least").value == pytest.approx(read / N)
        assert checkout.summary("total_most").value == pytest.approx((read + MOST) / N)
        assert checkout.make() == [] and len(fake.journal) == N + 6


def test_refused_and_cut_replies_are_final_and_have_no_number(folder):
    script, scenario = Script(), Scenario()
    with GoogleFake(script, scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make("samples")
        out, cut, taken, *_ = checkout.labels()
        scenario.on(lambda asked: f"[{out}]" in asked.text, "refused_200")
        scenario.on(lambda asked: f"[{taken}]" in asked.text, "refused_200", stage="input")
        scenario.on(lambda asked: f"[{cut}]" in asked.text, "truncated")
        checkout.make()
        found = {
            label: [(row.status, row.reason) for row in rows if row.variant == "strict"]
            for label, rows in checkout.by_label().items()
        }
        assert found[out] == [("refused", "refused_output")]
        assert found[taken] == [("refused", "refused_input")]
        assert found[cut] == [("unparseable", "truncated")]
        assert len(fake.journal) == N and checkout.make() == []
        for label in (out, cut, taken):
            assert checkout.numbers(label)["total"] is None
            assert checkout.numbers(label)["total_most"] == MOST
        summary = checkout.summary("total")
        assert (summary.value, summary.infrastructure) == (TOTAL, 0)
        assert checkout.summary("unread_share").value == 50
        assert (summary.n, summary.n_valid, summary.coverage) == (N, N // 2, 0.5)
        assert summary.format_valid == 1


def test_a_cut_reply_climbs_the_ladder_of_its_judge(folder):
    scenario = Scenario().on(lambda asked: asked.max_tokens < 512, "truncated")
    with AnthropicFake(Script(), scenario) as fake:
        checkout = JudgedCheckout(folder, anthropic=fake)
        checkout.set_judge(models=["claude_judge"])
        checkout.edit("config/models/claude_judge.yaml", generation__length_ladder=[512])
        checkout.make_answers()
        assert checkout.judge_rows()["claude_judge", "drawer"]["to_ask"] == N
        checkout.make()
        assert {row.status for row in checkout.judgements()} == {"ok"}
        assert fake.charged == fake.distinct == 2 * N
        # What is in the file is the reply that counts; both rungs are in the ledger.
        assert len(checkout.keys("drawer")) == N
        (folder / "results/judgements/drawer/icons/grid_8/marker.parquet").unlink()
        (folder / "results/summaries/icons.parquet").unlink()
        (folder / "results/scores/drawer/icons/grid_8/marks.parquet").unlink()
        row = checkout.judge_rows()["claude_judge", "drawer"]
        assert (row["answered"], row["to_ask"]) == (2 * N, 0)
        assert len(checkout.make()) == 3 and len(fake.journal) == 2 * N


def test_runs_and_second_looks_are_requests_of_their_own(folder):
    script = Script()
    with GoogleFake(script) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.set_judge(repeats=3, rescored={"share": 0.5, "assumed_seed": 0})
        checkout.edit("config/models/gemini_judge.yaml", limits={"in_flight": 1})
        checkout.make("samples")
        # One at a time: the runs of an icon in their order, then the second look at it.
        for label in checkout.labels():
            given = [reply(likeness=n) for n in (1, 2, 6, 9)]
            script.said[label] = given
        checkout.make()
        rows = [row for row in checkout.judgements() if row.variant == "strict"]
        twice = {row.sample_id for row in rows if row.rescored}
        assert 0 < len(twice) < N
        assert Counter((row.run, row.rescored) for row in rows) == {
            (0, False): N, (1, False): N, (2, False): N, (0, True): len(twice),
        }  # fmt: skip
        assert len(checkout.keys("drawer")) == len(rows) == fake.charged == 3 * N + len(twice)
        # The mean of the runs; a second look is set beside the first run, and counts for nothing.
        assert checkout.summary("total").value == 3 + POINTS["tidiness"]
        assert checkout.summary("rescore_change").value == 8


def test_a_judge_whose_server_the_job_starts(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    checkout = JudgedCheckout(folder)
    command = [sys.executable, "-m", "fakes.serve", "vllm", "--port", "{port}", "--journal", "j"]
    checkout.write(
        "config/models/own.yaml",
        {
            "adapter": "openai_chat",
            "generation": {"service": "vllm", "model": "a/b", "weights_revision": "r"},
            "answers": "text",
            "tasks": [],
            "server": {"command": command, "timeout_s": 60, "stop_timeout_s": 5},
            "limits": {"gpu": 1},
            "display": {"label": "Own"},
        },
    )
    checkout.set_judge(models=["own"], reasks=1)
    checkout.make(budget=None)
    # The fake says a number, which is no JSON of points: asked once more, and never a 0.
    assert {(row.status, row.cost_usd) for row in checkout.judgements()} == {("unparseable", 0.0)}
    assert len((folder / "j").read_text().splitlines()) == len(checkout.keys("drawer")) == 2 * N
    assert checkout.summary("total").value is None
    assert checkout.make() == []


def test_a_panel_is_asked_one_by_one_and_its_mean_counts(folder):
    with (
        GoogleFake(Script({})) as gemini,
        AnthropicFake(lambda texts, pictures: Script()(texts, pictures)) as claude,
    ):
        checkout = JudgedCheckout(folder, google=gemini, anthropic=claude)
        checkout.set_judge(models=["gemini_judge", "claude_judge"])
        checkout.make("samples")
        first = checkout.labels()[0]
        claude.painter = Script({first: [reply(likeness=1)]})
        checkout.make()
        assert gemini.charged == claude.charged == N
        rows = [row for row in checkout.by_label()[first] if row.variant == "strict"]
        assert [(row.judge_model, row.points["likeness"]) for row in rows] == [
            ("gemini_judge", 7), ("claude_judge", 1),
        ]  # fmt: skip
        assert checkout.numbers(first)["total"] == 4 + POINTS["tidiness"]
        assert {row.answered_model for row in rows} == {"gemini-3.6-flash", "claude-opus-4-7"}
