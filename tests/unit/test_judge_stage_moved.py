"""Judgements in another checkout: used as they are, and made again only as far as needed."""

import contextlib
import json
import shutil
from dataclasses import asdict, replace

import pyarrow.parquet as pq
import pytest
from cli_files import answer
from fakes.anthropic import AnthropicFake
from fakes.billing import Scenario
from fakes.google import GoogleFake
from judged_checkout import POINTS, JudgedCheckout, N, Script, reply

from gensight.digests import canonical_json, digest_of
from gensight.errors import RecordError
from gensight.pixels.grid_text import stored_grid
from gensight.records import Judgement, Prediction, RowFile, read_footer, write_rows
from gensight.stamps import mark_built

TOTAL = sum(POINTS.values())
JUDGED = "results/judgements/drawer/icons/grid_8/marker.parquet"
READ = "results/predictions/drawer/icons/grid_8/grid.parquet"
KEPT = ("samples", "requests", "generations", "predictions", "judgements")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a checkout whose answers were judged."""
    folder = tmp_path_factory.mktemp("first")
    with GoogleFake(Script()) as fake, contextlib.chdir(folder):
        JudgedCheckout(folder, google=fake).make()
    return folder


@pytest.fixture
def fake():
    with GoogleFake(Script()) as fake:
        yield fake


@pytest.fixture
def checkout(tmp_path, monkeypatch, first, fake):
    """Return a checkout into which the results of the first one were laid, and nothing else."""
    monkeypatch.chdir(tmp_path)
    checkout = JudgedCheckout(tmp_path, google=fake)
    for stage in KEPT:
        shutil.copytree(first / "results" / stage, tmp_path / "results" / stage)
    return checkout


def asked(fake):
    return len(fake.journal)


def test_what_was_laid_in_is_used_without_key_money_or_request(checkout, fake):
    (checkout.folder / "keys.env").unlink()
    checkout.edit("config/config.yaml", budget=None)
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["state"], row["answered"], row["to_ask"]) == ("complete", N, 0)
    made = checkout.make()
    assert [path.split("/")[1] for path in made] == ["scores", "summaries"]
    assert asked(fake) == 0 and checkout.summary("total").value == TOTAL
    # The judgements are lost: what they said is in the ledger by now.
    (checkout.folder / JUDGED).unlink()
    (checkout.folder / "results/scores/drawer/icons/grid_8/marks.parquet").unlink()
    (checkout.folder / "results/summaries/icons.parquet").unlink()
    assert checkout.judge_rows()["gemini_judge", "drawer"]["to_ask"] == 0
    assert len(checkout.make()) == 3 and asked(fake) == 0
    assert {row.answered_model for row in checkout.judgements()} == {"gemini-3.6-flash"}
    assert sum(row.cost_usd for row in checkout.judgements()) > 0


def test_a_damaged_file_is_refused(checkout, fake):
    rows = list(RowFile(JUDGED, Judgement))
    told = read_footer(JUDGED)
    better = [replace(row, points={"likeness": 10.0, "tidiness": 5.0}) for row in rows]
    write_rows(JUDGED, Judgement, better, told.determinants, told.inputs)
    altered = (checkout.folder / JUDGED).read_bytes()
    # What stands in the footer is what was written once.
    honest = read_footer(JUDGED).content.encode()
    (checkout.folder / JUDGED).write_bytes(altered.replace(honest, told.content.encode()))
    with pytest.raises(RecordError, match=r"marker\.parquet was laid in and its rows are not"):
        checkout.make()
    assert asked(fake) == 0


def test_another_rubric_is_no_match_until_it_was_taken_over_and_then_asks_everything(
    checkout, fake
):
    parts = [{"text": "Once more: is this [{label}]?"}, {"picture": "answer"}]
    checkout.edit("resources/rubrics/icon.yaml", parts=parts)
    with pytest.raises(RecordError, match=r"marker\.parquet was laid in and is not what this run"):
        checkout.make()
    answer("archive", "adopt")
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["answered"], row["to_ask"]) == (0, N)
    checkout.make()
    assert asked(fake) == N


def test_more_runs_ask_only_those_that_are_new(checkout, fake):
    checkout.make()
    checkout.set_judge(repeats=3)
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["requests"], row["answered"], row["to_ask"]) == (3 * N, N, 2 * N)
    checkout.make()
    assert asked(fake) == 2 * N
    checkout.set_judge(rescored={"share": 1, "assumed_seed": 0})
    checkout.make()
    assert asked(fake) == 3 * N
    # What only reads replies otherwise asks nobody.
    checkout.set_judge(reading="strict")
    assert JUDGED in checkout.make() and asked(fake) == 3 * N


def test_replies_that_were_cut_come_along_and_no_rung_is_paid_for_again(
    tmp_path_factory, monkeypatch
):
    scenario = Scenario().on(lambda asked: asked.max_tokens < 512, "truncated")
    folders = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    with AnthropicFake(Script(), scenario) as fake:
        for folder in folders:
            monkeypatch.chdir(folder)
            checkout = JudgedCheckout(folder, anthropic=fake)
            checkout.set_judge(models=["claude_judge"])
            checkout.edit("config/models/claude_judge.yaml", generation__length_ladder=[512])
            if folder is folders[0]:
                checkout.make()
        for stage in KEPT:
            shutil.copytree(folders[0] / "results" / stage, folders[1] / "results" / stage)
        assert asked(fake) == 2 * N
        row = checkout.judge_rows()["claude_judge", "drawer"]
        assert (row["answered"], row["to_ask"]) == (2 * N, 0)
        (cut,) = {len(json.loads(row.cut_replies)) for row in checkout.judgements()}
        assert cut == 1
        # A second run climbs its own ladder; the first one is replayed, rung by rung.
        checkout.set_judge(repeats=2)
        answer("archive", "adopt")
        checkout.make()
        assert asked(fake) == 4 * N == fake.distinct + 2 * N
        assert {row.status for row in checkout.judgements()} == {"ok"}


def test_a_ledger_that_was_lost_is_filled_from_the_judgements(checkout, fake):
    checkout.make()
    shutil.rmtree(checkout.folder / "ledger")
    checkout.set_judge(repeats=2)
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["answered"], row["to_ask"]) == (N, N)
    checkout.make()
    assert asked(fake) == N


def of_the_version_before(path):
    """Rewrite judgements as the version before wrote them: without a column, under its digest."""
    told, table = read_footer(path), pq.read_table(path)
    older = {**told.determinants, "stage_version": 1}
    footer = replace(told, determinants=older, digest=digest_of(older))
    table = table.drop_columns(["cut_replies"])
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"gensight": canonical_json(asdict(footer))})


def test_replies_in_a_file_of_an_older_version_are_never_paid_for_again(checkout, fake):
    checkout.make()
    of_the_version_before(JUDGED)
    mark_built(JUDGED, read_footer(JUDGED).content)
    shutil.rmtree(checkout.folder / "ledger")
    assert checkout.judge_rows()["gemini_judge", "drawer"]["to_ask"] == 0
    assert JUDGED in checkout.make() and asked(fake) == 0
    assert read_footer(JUDGED).determinants["stage_version"] > 1
    assert {row.status for row in checkout.judgements()} == {"ok"}


def test_an_archive_of_an_older_version_is_taken_over_and_asks_nobody(checkout, fake):
    of_the_version_before(JUDGED)
    with pytest.raises(RecordError, match="stage_version is 1 in the file and 2 in the plan"):
        checkout.make()
    answer("archive", "adopt")
    assert JUDGED in checkout.make() and asked(fake) == 0


def test_another_grid_is_judged_and_the_others_are_not_asked_about(checkout, fake):
    checkout.make()
    told, rows = read_footer(READ), list(RowFile(READ, Prediction))
    changed = rows[0].sample_id
    grid = stored_grid(rows[0].text or "")
    inverted = {
        "palette": ["#" + "".join(f"{255 - c:02X}" for c in one) for one in grid.palette],
        "pixels": ["".join(map(str, row)) for row in grid.cells.tolist()],
    }
    others = [
        replace(row, text=canonical_json(inverted)) if row.sample_id == changed else row
        for row in rows
    ]
    write_rows(READ, Prediction, others, told.determinants, told.inputs)
    mark_built(READ, read_footer(READ).content)
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["answered"], row["to_ask"]) == (N - 1, 1)
    fake.painter = Script({checkout.labels()[0]: [reply(likeness=0, tidiness=0)]})
    checkout.make()
    assert asked(fake) == 1
    assert checkout.summary("total").value == pytest.approx(TOTAL * (N - 1) / N)


def test_more_samples_ask_only_about_those(checkout, fake):
    checkout.make()
    checkout.edit("config/config.yaml", run__n={"icons": N + 2})
    checkout.make_answers()
    row = checkout.judge_rows()["gemini_judge", "drawer"]
    assert (row["requests"], row["answered"], row["to_ask"]) == (N + 2, N, 2)
    checkout.make()
    assert asked(fake) == 2
    assert answer("ledger", "verify")["problems"] == []
