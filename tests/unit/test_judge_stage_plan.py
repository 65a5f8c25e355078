"""`gensight plan` before judges are asked: what is counted, and what is told of it."""

import math

import pytest
from cli_files import call
from judged_checkout import JudgedCheckout, N

from gensight.cli.checkout import load_checkout
from gensight.errors import SpecError
from gensight.judges.attempts import is_rescored
from gensight.records import RowFile, Sample
from gensight.slurm.jobs import needs_of_judge
from gensight.specs.pixel_checks import IN_A_JOB

SHARE = 0.5
COUNTS = ("requests", "answered", "in_doubt", "to_ask")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counts(row):
    return tuple(row[name] for name in COUNTS)


# -- before the answers are there


def test_before_there_is_anything_every_answer_counts_as_one_that_is_judged(folder):
    checkout = JudgedCheckout(folder)
    checkout.run_of("drawer", "teller")
    checkout.edit("config/models/teller.yaml", repeats=2)
    checkout.set_judge(repeats=3, rescored={"share": 0.4, "assumed_seed": 0})
    before = sorted(folder.rglob("*"))
    rows = checkout.judge_rows()
    assert sorted(folder.rglob("*")) == before
    one = 3 * N + math.ceil(0.4 * N)
    drawer, teller = rows["gemini_judge", "drawer"], rows["gemini_judge", "teller"]
    assert counts(drawer) == (one, 0, 0, one) and counts(teller) == (2 * one, 0, 0, 2 * one)
    assert (drawer["judge"], drawer["benchmark"], drawer["prompt"]) == ("marker", "icons", "grid_8")
    assert (drawer["provider"], drawer["api_model"]) == ("google", "gemini-3.5-flash")
    assert drawer["assumed"] and drawer["state"] == "ask" and drawer["note"] is None
    assert 0 < drawer["usd"] == pytest.approx(teller["usd"] / 2)
    told = checkout.told()
    assert any("grid_8 of teller" in line for line in told)
    assert any(line.startswith("what judges are asked is counted as if every") for line in told)
    # A severity of a disturbance is an answer of its own.
    checkout.edit(
        "config/models/copyist.yaml",
        generation={"method": "drawer", "grid_disturbance": "turn", "severities": [30, 90]},
        severity_unit="degrees",
    )
    checkout.run_of("copyist")
    assert counts(checkout.judge_rows()["gemini_judge", "copyist"]) == (2 * one, 0, 0, 2 * one)


def test_only_the_ranks_that_are_asked_and_read_are_judged(folder):
    checkout = JudgedCheckout(folder)
    checkout.edit("config/config.yaml", run__prompt_ranks={"grid_8": 4})
    assert counts(checkout.judge_rows()["gemini_judge", "drawer"])[0] == 4
    checkout.edit("config/benchmarks/icons.yaml", scorers__marks__ranks=3)
    assert counts(checkout.judge_rows()["gemini_judge", "drawer"])[0] == 3
    checkout.make("samples")
    assert counts(checkout.judge_rows()["gemini_judge", "drawer"])[0] == 3


def test_once_samples_are_made_the_second_looks_are_counted_by_their_ids(folder):
    checkout = JudgedCheckout(folder)
    checkout.set_judge(rescored={"share": SHARE, "assumed_seed": 0})
    guessed = checkout.judge_rows()["gemini_judge", "drawer"]
    assert guessed["to_ask"] == N + math.ceil(SHARE * N)
    checkout.make("samples")
    ids = [row.sample_id for row in RowFile("results/samples/icons.parquet", Sample)]
    twice = sum(is_rescored(name, SHARE, 0) for name in ids)
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert twice != N / 2 and row["to_ask"] == N + twice and row["assumed"]
    # Words are counted as they are, and no more as long as the longest.
    assert row["usd"] / row["to_ask"] < guessed["usd"] / guessed["to_ask"]
    checkout.make_answers()
    exact = checkout.judge_rows()["gemini_judge", "drawer"]
    assert counts(exact) == (N + twice, 0, 0, N + twice) and not exact["assumed"]
    # The picture of a grid is as large as it will be: nothing was guessed but that there is one.
    assert (exact["tokens"], exact["usd"]) == (row["tokens"], row["usd"])


def test_a_judge_that_runs_here_for_nothing_has_no_row(folder):
    checkout = JudgedCheckout(folder)
    checkout.write(
        "config/models/examiner.yaml",
        {
            "adapter": "reference",
            "generation": {"method": "examiner"},
            "answers": "text",
            "tasks": [],
            "role": "disturbed",
            "failed_above": None,
            "display": {"label": "Examiner"},
        },
    )
    checkout.set_judge(models=["examiner"])
    assert checkout.plan()["rows"] == []
    assert checkout.told()[-1].endswith("are left: enough")


LOCAL = {
    "adapter": "transformers_chat",
    "generation": {"model": "a/b", "assumed_max_new_tokens": 64},
    "answers": "text",
    "tasks": [],
    "limits": {"gpu": 2, "memory_mb": 9000, "runtime_minutes": 30},
    "display": {"label": "Local"},
}


def test_a_judge_that_runs_in_a_job_costs_gpu_hours_and_no_money(folder):
    checkout = JudgedCheckout(folder)
    served = {**LOCAL, "adapter": "openai_chat", "limits": {"gpu": 1, "memory_mb": 20_000}}
    served["generation"] = {"service": "vllm", "model": "a/b", "weights_revision": "r"}
    served["server"] = {"command": ["serve", "{port}"]}
    checkout.write("config/models/local.yaml", LOCAL)
    checkout.write("config/models/served.yaml", served)
    checkout.set_judge(models=["local", "served"])
    project = load_checkout()
    assert project.judges_at(*IN_A_JOB) == ["marker"] and project.judges_at("hosted") == []
    longest = max(30, project.models["served"].limits.runtime_minutes)
    assert needs_of_judge(project, "marker") == ("marker", 2, 20_000, longest)
    row = checkout.judge_rows()["local", "drawer"]
    assert (row["provider"], row["usd"], row["to_ask"], row["gpu_hours"]) == (None, 0.0, N, 1.0)
    checkout.set_judge(models=["local", "gemini_judge"])
    with pytest.raises(SpecError, match=r"'local' judges in a job .* no key for 'gemini_judge'"):
        load_checkout()
    # One's own server elsewhere asks for no key, and one job at a time waits for it.
    there = {key: value for key, value in served.items() if key != "server"}
    there["generation"] = {**served["generation"], "base_url": "http://127.0.0.1:9/v1"}
    checkout.write("config/models/there.yaml", there)
    checkout.set_judge(models=["local", "there"])
    project = load_checkout()
    assert (project.asks("there"), project.gpus("there")) == ("vllm", 0)
    assert (project.asks("served"), project.gpus("served")) == (None, 1)
    assert (project.asks("gemini_judge"), project.asks("local")) == ("google", None)
    checkout.set_judge(models=["local"])
    painter = {"adapter": "diffusers_depth", "generation": {"model": "a/b"}, "answers": "image"}
    checkout.write("config/models/local.yaml", {**LOCAL, **painter})
    with pytest.raises(SpecError, match="'local' cannot judge: it must answer text"):
        load_checkout()


# -- a run without money


def test_a_run_whose_only_paid_part_is_judging_says_what_it_would_cost(folder):
    checkout = JudgedCheckout(folder)
    checkout.edit("config/config.yaml", budget=None)
    done = call("plan", "results/summaries/icons.parquet")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.split()[:5] == ["gemini_judge", "icons", "grid_8", "of", "drawer"]
               for line in lines)  # fmt: skip
    assert lines[-1] == "nothing paid will be sent: add budget: {usd: 1} to config/config.yaml"
    # What is read is free: only judging costs anything.
    read = call("plan", "results/predictions/drawer/icons/grid_8/grid.parquet").stdout
    assert read.endswith("nothing paid is to be sent\n") and "gemini_judge" not in read
