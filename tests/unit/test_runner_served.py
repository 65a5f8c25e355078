"""Served models: the server is started by the job that asks, or it runs already."""

import json
import sys
from pathlib import Path

import pytest
from fakes.billing import Scenario
from fakes.chat import VllmFake
from pretend_driver import GPU, listing, put
from sent_requests import picture
from spine_rows import sample
from written_specs import write_spec

from gensight.errors import GensightError
from gensight.models import Reply, Site
from gensight.prompts import render
from gensight.records import Generation, Request, RowFile, Sample, write_rows
from gensight.runner.inventory import take_inventory
from gensight.runner.ledger import Ledger
from gensight.runner.served import open_here
from gensight.specs import declared
from gensight.specs.model import ModelSpec
from gensight.stages.generate import generate

TESTS = Path(__file__).parents[1]
NUMBER = {"kind": "text", "content": "integer"}
TURNS = [{"parts": [{"image": "input"}, {"text": "How many {query}?"}], "answer_form": NUMBER}]
REQUESTS = {"prompt": "mid", "samples": {"benchmark": "tiny"}}
GENERATION = {
    "service": "vllm", "model": "Lab/Qwen-Next", "weights_revision": "r1", "max_tokens": 64
}  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    (tmp_path / "resources").mkdir()
    prices = TESTS.parent / "resources/prices.yaml"
    (tmp_path / "resources/prices.yaml").write_text(prices.read_text())
    rows = [
        sample(rank, picture=picture(colour=(rank, 9, 9)), query=f"ball {rank}")
        for rank in range(6)
    ]
    write_rows("samples.parquet", Sample, rows, REQUESTS["samples"])
    write_rows(
        "requests.parquet", Request, render("mid", TURNS, rows), REQUESTS, ["samples.parquet"]
    )


def server(*words):
    command = [sys.executable, "-m", "fakes.serve", "vllm", "--port", "{port}", "--journal", "j"]
    return {"command": [*command, *words], "timeout_s": 60, "stop_timeout_s": 5}


def run(served, **config):
    """Make the cell; return its rows and how many questions were asked."""
    spec = {"adapter": "openai_chat", "generation": GENERATION, "answers": "text"}
    write_spec("m", {**spec, "server": served, "limits": {"in_flight": 2}})
    defaults = declared.constants("models", "openai_chat")["DEFAULTS"]
    plan = {
        "model": "m", "adapter": "openai_chat", "adapter_version": 1, "ranks": [0, None],
        "generation": {**defaults, **GENERATION}, "repeats": 1, "exif": "apply",
        "requests": REQUESTS,
    }  # fmt: skip
    whole = {
        "run": {"name": "r", "models": ["m"], "benchmarks": ["b"], "prompts": ["mid"]},
        **config,
    }
    counts = generate("samples.parquet", "requests.parquet", "g.parquet", "ledger", plan, whole)
    return list(RowFile("g.parquet", Generation)), counts.asked


def paid():
    return sum(json.loads(line)["charged"] for line in Path("j").read_text().splitlines())


def test_the_job_starts_the_server_asks_it_and_ends_it_without_money_or_a_book(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_PARTITION", "gpu")
    rows, asked = run(server())
    assert [row.outcome for row in rows] == ["ok"] * 6 and asked == paid() == 6
    assert {row.requested_model for row in rows} == {"Lab/Qwen-Next"}
    assert {row.cost_usd for row in rows} == {0.0}
    assert {json.loads(row.place)["partition"] for row in rows} == {"gpu"}
    assert [json.loads(row.setup)["weights_revision"] for row in rows] == ["r1"] * 6
    assert sorted(row.warm_up for row in rows) == [False] * 3 + [True] * 3
    assert {(row.device, row.peak_memory_gb) for row in rows} == {(None, None)}, "there is no GPU"
    assert take_inventory(Path("ledger")).providers == [], "other jobs' servers are not waited for"
    assert len(list(Path("logs/servers/m").glob("*.log"))) == 1
    assert run(server("--no-such-option")) == (rows, 0), "nothing is started again"


def test_what_the_server_holds_of_the_gpu_stands_with_its_answers(tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, listing("fakes[.]serve vllm", 40_000))
    rows, _ = run(server())
    # Its own process alone: neither the watchdog, whose command names it too, nor a stranger.
    assert {(row.device, row.peak_memory_gb) for row in rows} == {(GPU, 40_000 * 2**20 / 1e9)}


class Agent:
    """A model with a share of its own of the GPU, which asks a server."""

    fit_digest = ""

    def __init__(self, share_gb):
        self.share_gb = share_gb

    def open_model(self, _generation, _held_out, site):
        self.asks = site.endpoints.get("vllm")
        return self

    def answer(self, _turn):
        return Reply("ok", text="yes", peak_memory_gb=self.share_gb)


def peak(share_gb, spec, tmp_path, **endpoints):
    """Return the peak of an answer of an agent, and where it asks."""
    agent = Agent(share_gb)
    spec = ModelSpec(**spec, display={"label": "m", "group": "g"})
    site = Site(root=tmp_path, endpoints=endpoints)
    opened = open_here(agent, "m", spec, GENERATION, [], site)
    try:
        reply = opened.answer(None)
        assert reply.peak_memory_gb == share_gb, "whatever takes time is asked off the clock"
        completed = getattr(opened, "completed", lambda reply: reply)
        return completed(reply).peak_memory_gb, agent.asks
    finally:
        getattr(opened, "close", lambda: None)()


def test_an_agent_needs_its_own_memory_and_that_of_its_server(tmp_path, monkeypatch):
    spec = {"adapter": "segment_agent", "server": server()}
    assert peak(3.5, spec, tmp_path)[0] is None, "half of it would be no peak"
    put(tmp_path, monkeypatch, listing("fakes[.]serve vllm", 40_000))
    assert peak(3.5, spec, tmp_path)[0] == 3.5 + 40_000 * 2**20 / 1e9
    assert peak(None, spec, tmp_path)[0] is None
    for name in ("m", "vllm"):
        assert peak(3.5, spec, tmp_path, **{name: "http://x/v1"}) == (None, "http://x/v1")
    assert peak(3.5, {"adapter": "segment_agent"}, tmp_path, m="http://x/v1")[0] is None
    assert peak(3.5, {"adapter": "transformers_segment"}, tmp_path, m="http://x/v1") == (3.5, None)


def test_a_server_that_dies_is_told_and_what_was_answered_is_kept():
    with pytest.raises(GensightError, match=r"server .* ended while it was asked.*status 3"):
        run(server("--die-after", "3"))
    kept = len(list(Path("ledger/replies/m").rglob("*.json")))
    assert 2 <= kept <= 3
    rows, asked = run(server())
    assert [row.outcome for row in rows] == ["ok"] * 6 and asked == 6 - kept


def test_one_that_does_not_start_is_told_with_its_last_words():
    with pytest.raises(GensightError, match=r"unrecognized arguments: --no-such-option"):
        run(server("--no-such-option"))
    assert not Path("g.parquet").exists()


@pytest.mark.parametrize("name", ["m", "vllm"])
def test_an_endpoint_takes_its_place(name):
    with VllmFake() as fake:
        rows, asked = run(
            {**server(), "command": ["/no/such/program", "{port}"]}, endpoints={name: fake.url}
        )
        assert asked == len(fake.journal) == 6 and rows[0].outcome == "ok"
        assert {row.peak_memory_gb for row in rows} == {None}
    assert [one.provider for one in take_inventory(Path("ledger")).providers] == ["vllm"]


def test_what_is_in_doubt_at_a_server_of_ones_own_is_asked_again():
    drop = Scenario().on(lambda asked: "ball 4" in asked.text, "drop_after_charge", times=1)
    with VllmFake(scenario=drop) as fake:
        rows, _ = run(server(), endpoints={"m": fake.url}, unresolved="keep")
        assert [row.outcome for row in rows].count("in_doubt") == 1
        rows, asked = run(server(), endpoints={"m": fake.url})
        assert [row.outcome for row in rows] == ["ok"] * 6 and asked == 1
    assert Ledger(Path("ledger"), "m").find(rows[4].request_key) is not None
