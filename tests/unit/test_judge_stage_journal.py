"""`gensight plan` beside what judges were really asked: an empty, a half and a full ledger."""

from datetime import date

import pytest
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from judged_checkout import GRID, POINTS, JudgedCheckout, N, Script, reply

from gensight.digests import canonical_json
from gensight.errors import UnresolvedError
from gensight.models import Reply

SHARE = 0.5
TOTAL = sum(POINTS.values())
COUNTS = ("requests", "answered", "in_doubt", "to_ask")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counts(row):
    return tuple(row[name] for name in COUNTS)


def answer_to(question):
    """Draw the icon that is asked for: its label is the only line between two empty ones."""
    label = question.turn.parts[0].text.split("\n\n")[1].strip()
    icons = {"images": [{"label": label, **GRID}]}
    return Reply("ok", text=canonical_json(icons), answered_model="gpt-5.4")


def planned(checkout):
    return sum(row["to_ask"] for row in checkout.judge_rows().values())


def test_the_plan_is_what_is_asked_and_bounds_the_bill(folder):
    with GoogleFake(Script()) as gemini, AnthropicFake(Script()) as claude:
        checkout = JudgedCheckout(folder, google=gemini, anthropic=claude)
        checkout.set_judge(
            models=["gemini_judge", "claude_judge"],
            repeats=2,
            rescored={"share": SHARE, "assumed_seed": 0},
        )
        checkout.run_of("drawer", "copyist", "chance")

        def check(**config):
            checkout.edit("config/config.yaml", **config)
            checkout.make_answers()
            plan = checkout.plan()
            before = len(gemini.journal), gemini.charged_usd
            before_claude = len(claude.journal)
            checkout.make()
            google, anthropic = plan["providers"]["google"], plan["providers"]["anthropic"]
            assert len(gemini.journal) - before[0] == google["to_ask"]
            assert len(claude.journal) - before_claude == anthropic["to_ask"]
            assert gemini.charged_usd - before[1] <= google["usd"]
            assert planned(checkout) == 0
            return google["to_ask"], google["answered"]

        # Half of the samples first; the answers of two contestants are the same.
        asked, answered = check(run__n={"icons": 3})
        assert (asked, answered) == (2 * (2 * 3 + 2), 0)
        rows = checkout.judge_rows()
        assert rows["gemini_judge", "copyist"]["requests"] == 0
        assert rows["gemini_judge", "chance"]["answered"] == 2 * 3 + 2
        more, answered = check(run__n={"icons": N})
        assert (more, answered) == (2 * (2 * 3 + 3), asked)
        # The ledger is full, and all that was made of it is lost.
        for path in (folder / "results/judgements").rglob("*.parquet"):
            path.unlink()
        for path in (folder / "results").rglob("marks.parquet"):
            path.unlink()
        (folder / "results/summaries/icons.parquet").unlink()
        assert check() == (0, asked + more)
        assert checkout.plan()["spent_usd"] == {
            "gemini_judge": pytest.approx(gemini.charged_usd),
            "claude_judge": pytest.approx(claude.charged_usd),
        }
        # Scores alone are enough.
        for path in (folder / "results/judgements").rglob("*.parquet"):
            path.unlink()
        row = checkout.judge_rows()["gemini_judge", "chance"]
        assert (row["state"], row["to_ask"]) == ("complete", 0)
        assert row["note"] == "what is made from it is there"
        assert checkout.make() == []


def test_a_re_ask_is_counted_as_soon_as_there_is_a_reply_that_cannot_be_read(folder):
    script = Script()
    with GoogleFake(script) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.set_judge(reasks=0)
        checkout.make("samples")
        bad = checkout.labels()[0]
        script.said[bad] = ["no", "never", reply()]
        checkout.make()
        checkout.set_judge(reasks=2)
        # One of the two re-asks: whether a third time is needed, nobody knows yet.
        assert counts(checkout.judge_rows()["gemini_judge", "drawer"]) == (N + 1, N, 0, 1)
        checkout.make()
        assert len(fake.journal) == N + 2
        assert counts(checkout.judge_rows()["gemini_judge", "drawer"]) == (N + 2, N + 2, 0, 0)


def test_invalid_answers_are_not_asked_about(folder):
    with GoogleFake(Script()) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.run_of("teller")
        checkout.make("samples", "requests")
        left = iter(range(N))

        def some(question):
            return answer_to(question) if next(left) % 2 else Reply("ok", text="I draw badly.")

        checkout.ask("teller", some, prompt="grid_8")
        assert checkout.judge_rows()["gemini_judge", "teller"]["to_ask"] == N
        checkout.make_answers()
        assert counts(checkout.judge_rows()["gemini_judge", "teller"]) == (N // 2, 0, 0, N // 2)
        checkout.make()
        assert fake.charged == N // 2
        judged = {label for label, rows in checkout.by_label("teller").items() if rows}
        for label in checkout.labels():
            expected = TOTAL if label in judged else 0
            assert checkout.numbers(label, "teller")["total"] == expected
        # An answer that is none is its model's failure, with 0 points.
        assert checkout.summary("total", "teller").value == TOTAL / 2
        assert checkout.summary("total", "teller").n == N


def test_in_doubt_gone_and_kept_are_told_as_of_any_model(folder):
    scenario = Scenario()
    with GoogleFake(Script(), scenario) as fake:
        checkout = JudgedCheckout(folder, google=fake)
        checkout.make("samples")
        lost = checkout.labels()[0]
        scenario.on(lambda asked: f"[{lost}]" in asked.text, "drop_after_charge")
        checkout.make_answers()
        with pytest.raises(UnresolvedError, match="1 in_doubt"):
            checkout.make()
        assert counts(checkout.judge_rows()["gemini_judge", "drawer"]) == (N, N - 1, 1, 0)
        plan = checkout.plan()
        assert [(d["model"], d["prompt"]) for d in plan["in_doubt"]] == [
            ("gemini_judge", "grid_8 of drawer")
        ]
        checkout.edit("config/config.yaml", hosted={"in_doubt": "resend"})
        assert counts(checkout.judge_rows()["gemini_judge", "drawer"]) == (N, N - 1, 0, 1)
        gone = {"date": date(2026, 1, 1), "source": "a page"}
        checkout.edit("config/models/gemini_judge.yaml", retired=gone)
        row = checkout.judge_rows()["gemini_judge", "drawer"]
        assert (row["state"], row["to_ask"]) == ("retired", 0)
