"""A whole cell of a hosted model, as its job makes it: files in, money and replies, a file out."""

import base64
import json
import shutil
from collections import Counter
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import quote

import pytest
import yaml
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from runner_rig import KEY, ROOT, without_keys, write_key
from sent_requests import picture
from spine_rows import sample

from gensight.doorway import logged
from gensight.errors import BudgetError, UnresolvedError
from gensight.prompts import render
from gensight.records import Generation, Request, RowFile, Sample, write_rows
from gensight.runner.book import Book
from gensight.specs import declared
from gensight.stages.generate import generate

MASK = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
NUMBER = {"kind": "text", "content": "integer"}
PAINT = [{"parts": [{"image": "input"}, {"text": "Paint {query}."}], "answer_form": MASK}]
COUNT = [{"parts": [{"image": "input"}, {"text": "How many {query}?"}], "answer_form": NUMBER}]
SAMPLES = {"benchmark": "tiny"}
REQUESTS = {"prompt": "mid", "samples": SAMPLES}
PAINTER = ("google_generate", {
    "model": "gemini-3.1-flash-image", "response_modalities": ["IMAGE"], "assumed_image_size": "1K"
})  # fmt: skip
TELLER = ("anthropic_messages", {"model": "claude-opus-4-7", "max_tokens": 64})


class Cell:
    """A cell of six samples in the current folder."""

    def __init__(self, folder, fake, kind=PAINTER, turns=PAINT, n=6):
        self.folder, self.fake = folder, fake
        self.name = "m"
        adapter, self.generation = kind
        self.adapter = adapter
        (folder / "resources").mkdir()
        shutil.copy(ROOT / "resources/prices.yaml", folder / "resources")
        self.provider = "google" if adapter == "google_generate" else "anthropic"
        self.spec = {"adapter": adapter, "generation": self.generation,
                     "limits": {"in_flight": 2}, "display": {"label": "M"}}  # fmt: skip
        rows = [
            sample(rank, picture=picture(colour=(rank, 9, 9)), query=f"ball {rank}")
            for rank in range(n)
        ]
        write_rows("samples.parquet", Sample, rows, SAMPLES)
        asked = render("mid", turns, rows)
        write_rows("requests.parquet", Request, asked, REQUESTS, ["samples.parquet"])
        write_key(folder, self.provider)

    def run(self, **config):
        """Make the cell; return its rows."""
        path = self.folder / f"config/models/{self.name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(self.spec))
        defaults = declared.constants("models", self.adapter)["DEFAULTS"]
        plan = {
            "model": self.name, "adapter": self.adapter, "adapter_version": 1, "ranks": [0, None],
            "generation": {**defaults, **self.generation}, "repeats": 1, "exif": "apply",
            "requests": REQUESTS,
        }  # fmt: skip
        whole = {
            "run": {"name": "r", "models": [self.name], "benchmarks": ["b"], "prompts": ["mid"]},
            "endpoints": {self.provider: self.fake.url},
            "keys_file": f"{self.provider}.env",
            "budget": {"usd": 100},
            **config,
        }
        with without_keys():
            generate("samples.parquet", "requests.parquet", "g.parquet", "ledger", plan, whole)
        return list(RowFile("g.parquet", Generation))

    @contextmanager
    def descriptors(self):
        with (
            open(1, "w", closefd=False) as out,
            open(2, "w", closefd=False) as error,
            redirect_stdout(out),
            redirect_stderr(error),
        ):
            yield

    def job(self, **config):
        """Make the cell as Snakemake's job does; return the exit code and the log."""
        # The log is made of the descriptors, which pytest stands in front of.
        told = SimpleNamespace(log=["job.log"], output=["g.parquet"])
        code = 0
        try:
            with self.descriptors(), logged(told):
                self.run(**config)
        except SystemExit as error:
            code = error.code
        return code, (self.folder / "job.log").read_text()


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_cell_is_bought_once_and_copied_ever_after(tmp_path):
    with GoogleFake() as fake:
        cell = Cell(tmp_path, fake)
        rows = cell.run()
        assert [row.outcome for row in rows] == ["ok"] * 6 and [r.rank for r in rows] == [*range(6)]
        assert sum(row.cost_usd for row in rows) == pytest.approx(fake.charged_usd)
        assert fake.charged == fake.distinct == 6
        (tmp_path / "google.env").unlink()
        assert cell.run(budget=None) == rows
        assert len(fake.journal) == 6, "no key, no money and no connection is needed"


def test_without_a_budget_nothing_is_sent_and_the_price_is_told(tmp_path):
    with GoogleFake() as fake:
        cell = Cell(tmp_path, fake)
        with pytest.raises(BudgetError, match=r"6 paid requests, at most 0\.\d\d USD"):
            cell.run(budget=None)
        code, log = cell.job(budget=None)
        assert code == 1 and "nothing was sent" in log and "Traceback" not in log
        assert len(fake.journal) == 0 and not (tmp_path / "g.parquet").exists()


def test_a_quota_ends_the_job_with_75(tmp_path):
    with GoogleFake(scenario=Scenario().default("quota_429")) as fake:
        code, log = Cell(tmp_path, fake).job()
        assert code == 75 and "takes no requests for now" in log and "Traceback" not in log
        assert len(fake.journal) <= 4 and not (tmp_path / "g.parquet").exists()


def test_another_model_that_answers_stops_the_cell_and_its_answers_are_kept(tmp_path):
    with GoogleFake(scenario=Scenario().default("wrong_model", model="gemini-9")) as fake:
        cell = Cell(tmp_path, fake)
        with pytest.raises(UnresolvedError, match=r"another model answered: gemini-9 \(1\)"):
            cell.run()
        sent = len(fake.journal)
        assert sent <= 4
        # Closed: the next run pays for nothing either, until somebody has decided.
        with pytest.raises(
            UnresolvedError, match=rf"gemini-9 \({sent}\); if that is what you want"
        ):
            cell.run()
        assert len(fake.journal) == sent and fake.charged == sent
        cell.spec["answered_as"] = ["gemini-*"]
        rows = cell.run()
        assert {(row.outcome, row.requested_model, row.answered_model) for row in rows} == {
            ("ok", "gemini-3.1-flash-image", "gemini-9")
        }
        assert fake.charged == fake.distinct == 6, "what was bought is used"


def lose(ledger, reply):
    """Remove a reply with everything that was sent back for it."""
    for blob in json.loads(reply.read_text())["raw"]:
        (ledger / "blobs" / blob[:2] / blob).unlink()
    reply.unlink()


@pytest.mark.parametrize("part", ["the entry", "the picture", "both"])
def test_what_was_lost_is_read_again_out_of_what_was_sent_back(tmp_path, part):
    with GoogleFake() as fake:
        cell = Cell(tmp_path, fake)
        rows = cell.run()
        for reply in sorted((tmp_path / "ledger/replies").rglob("*.json")):
            for blob in json.loads(reply.read_text())["images"]:
                if part != "the entry":
                    (tmp_path / "ledger/blobs" / blob[:2] / blob).unlink(missing_ok=True)
            if part != "the picture":
                reply.unlink()
        # Neither money nor a key is needed: nothing is sent.
        (tmp_path / "google.env").unlink()
        again = cell.run(budget=None)
        assert [replace(row, latency_s=None) for row in rows] == again
        assert fake.charged == len(fake.journal) == 6


@pytest.mark.parametrize("seed", [None, 7])
def test_a_model_whose_file_is_renamed_keeps_what_was_bought(tmp_path, seed):
    with GoogleFake() as fake:
        cell = Cell(tmp_path, fake)
        cell.generation["seed"] = seed
        rows = cell.run()
        cell.name = "renamed"
        assert cell.run(budget=None) == rows
        assert fake.charged == len(fake.journal) == 6


def test_a_model_that_is_gone_keeps_what_it_answered(tmp_path):
    with GoogleFake() as fake:
        cell = Cell(tmp_path, fake)
        cell.run()
        for reply in sorted((tmp_path / "ledger/replies").rglob("*.json"))[:4]:
            lose(tmp_path / "ledger", reply)
    with GoogleFake(scenario=Scenario().default("gone_404")) as fake:
        cell.fake = fake
        with pytest.raises(UnresolvedError, match=r"4 questions have no answer \(4 model_gone\)"):
            cell.run()
        rows = cell.run(unresolved="keep")
        assert Counter(row.outcome for row in rows) == {"ok": 2, "model_gone": 4}
        details = [row.detail for row in rows if row.outcome == "model_gone"]
        assert all("gone since 20" in detail for detail in details)
        assert len(fake.journal) <= 2


def test_refusals_are_final_and_replies_that_are_none_are_held_in_doubt(tmp_path):
    scenario = (
        Scenario()
        .on(lambda asked: "ball 0" in asked.text, "refused_200", stage="input")
        .on(lambda asked: "ball 1" in asked.text, "refused_200")
        .on(lambda asked: "ball 2" in asked.text, "html_200")
        .on(lambda asked: "ball 3" in asked.text, "broken_json")
        .on(lambda asked: "ball 4" in asked.text, "empty_200")
        .on(lambda asked: "ball 5" in asked.text, "no_image")
    )
    with GoogleFake(scenario=scenario) as fake:
        cell = Cell(tmp_path, fake)
        rows = cell.run(unresolved="keep")
        ends = ["refused_input", "refused_output", *["in_doubt"] * 3, "no_image"]
        assert [row.outcome for row in rows] == ends
        # A reply that nobody can read may have been billed: it counts at its most.
        with closing(Book(tmp_path / "ledger/google.sqlite", read_only=True)) as book:
            unread = book.attempts("end = 'in_doubt'")
            assert {attempt.cost_usd - attempt.reserved_usd for attempt in unread} == {0.0}
            assert len(unread) == 3 and unread[0].cost_usd > 0
            assert sum(book.spent_usd("r").values()) >= fake.charged_usd
        fake.scenario = Scenario()
        assert cell.run(unresolved="keep") == rows
        assert len(fake.journal) == 6


def test_a_cut_reply_climbs_its_ladder_under_linked_keys(tmp_path):
    scenario = Scenario().on(lambda asked: asked.max_tokens < 4096, "truncated")
    with AnthropicFake(scenario=scenario) as fake:
        cell = Cell(tmp_path, fake, TELLER, COUNT, n=3)
        cell.generation["length_ladder"] = [512, 4096]
        rows = cell.run()
        assert [row.outcome for row in rows] == ["truncated", "truncated", "ok"] * 3
        assert [row.final for row in rows] == [False, False, True] * 3
        for first, second, third in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
            assert first.parent_key is None
            assert (second.parent_key, third.parent_key) == (first.request_key, second.request_key)
        asked = sorted(entry.body["max_tokens"] for entry in fake.journal)
        assert asked == [64] * 3 + [512] * 3 + [4096] * 3
        assert fake.charged == fake.distinct == 9 and cell.run() == rows
        assert len(fake.journal) == 9


def test_questions_in_doubt_fail_the_job_and_are_named(tmp_path):
    scenario = Scenario().on(lambda asked: "ball 4" in asked.text, "drop_after_charge")
    with GoogleFake(scenario=scenario) as fake:
        cell = Cell(tmp_path, fake)
        code, log = cell.job()
        assert code == 1 and "no answer: s4: in_doubt" in log and "1 in_doubt" in log
        assert not (tmp_path / "g.parquet").exists()
        rows = cell.run(unresolved="keep")
        assert [row.outcome for row in rows] == ["ok"] * 4 + ["in_doubt", "ok"]
        fake.scenario = Scenario()
        rows = cell.run(hosted={"in_doubt": "resend"})
        assert [row.outcome for row in rows] == ["ok"] * 6
        assert len(fake.journal) == 7 and list(fake.journal.paid_twice.values()) == [2]


MARKS = [KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), KEY[:20], KEY[-20:]]


def test_the_log_of_a_job_holds_no_key(tmp_path, monkeypatch):
    with GoogleFake(scenario=Scenario().default("leak_key", status=400)) as fake:
        cell = Cell(tmp_path, fake)
        code, log = cell.job()
        assert code == 1 and log
        assert not [mark for mark in MARKS if mark in log]

        def careless(*_):
            raise RuntimeError(f"headers: {{'x-goog-api-key': '{KEY}'}}, {' '.join(MARKS[:3])}")

        monkeypatch.setattr("gensight.models._google.GoogleGenerate.read", careless)
        fake.scenario = Scenario()
        code, log = cell.job()
        assert code == 1 and "Traceback" in log and "[key]" in log
        assert not [mark for mark in MARKS if mark in log]
