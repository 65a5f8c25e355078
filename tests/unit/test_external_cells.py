"""Whole cells of an external command: sizes, a kill in the middle, one bad sample, times."""

import json
import shutil

import pytest
from external_rig import GENERATION, ROOT, picture, write_wrapper
from spine_rows import sample
from written_specs import write_spec

from gensight.errors import GensightError, ModelMemoryError, UnresolvedError
from gensight.prompts import render
from gensight.records import Generation, Request, RowFile, Sample, write_rows
from gensight.specs import declared
from gensight.stages.generate import generate

MASK = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
PAINT = [{"parts": [{"image": "input"}, {"text": "Paint {query}."}], "answer_form": MASK}]
SAMPLES = {"benchmark": "tiny"}
REQUESTS = {"prompt": "mid", "samples": SAMPLES}
SIZES = ((640, 480), (1242, 375), (1296, 968), (1000, 100))
#: Writes down what it was asked for, and ends as the text that is put in says.
JOURNAL = """
    query = protocol.text_of(turn)
    with open({journal!r}, "a") as journal:
        journal.write(query + chr(10))
    {ends}
    return {{"outcome": "ok", "text": "%s %d" % (query, turn["seed"])}}
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(generation, sizes=((8, 6),) * 5, ranks=(0, None), **config):
    """Make a cell in the current folder; return its rows and how many were asked for."""
    rows = [
        sample(rank, picture=picture(*size), query=f"ball {rank}")
        for rank, size in enumerate(sizes)
    ]
    write_rows("samples.parquet", Sample, rows, SAMPLES)
    asked = render("mid", PAINT, rows)
    write_rows("requests.parquet", Request, asked, REQUESTS, ["samples.parquet"])
    defaults = declared.constants("models", "external_command")["DEFAULTS"]
    plan = {
        "model": "m", "adapter": "external_command", "adapter_version": 1, "ranks": list(ranks),
        "generation": {**defaults, **generation}, "repeats": 1, "exif": "apply",
        "requests": REQUESTS,
    }  # fmt: skip
    write_spec("m", {"adapter": "external_command"})
    counts = generate("samples.parquet", "requests.parquet", "g.parquet", "ledger", plan, config)
    return list(RowFile("g.parquet", Generation)), counts.asked


def journal_of(folder, ends="pass"):
    """Write a wrapper that keeps a journal; return what is in it so far."""
    path = folder / "journal"
    write_wrapper(folder, JOURNAL.format(journal=str(path), ends=ends))
    return path.read_text().split("\n")[:-1] if path.exists() else []


def test_pictures_of_every_size_come_back_at_theirs(tmp_path):
    shutil.copytree(ROOT / "workflow/wrappers", tmp_path / "workflow/wrappers")
    rows, asked = run({"wrapper": "example", "wrapper_version": 1}, SIZES)
    assert asked == len(SIZES)
    for row, size in zip(rows, SIZES, strict=True):
        sent = json.loads(row.setup)["sizes"]
        assert sent["sent"] == sent["returned"]
        long = max(sent["sent"])
        assert long / min(sent["sent"]) == pytest.approx(max(size) / min(size), rel=0.01)
    assert [row.warm_up for row in rows] == [True, True, True, False]
    assert all(row.latency_s > 0 and row.device == "cpu" for row in rows)


def test_a_finished_cell_starts_no_process(tmp_path):
    journal_of(tmp_path)
    first, _ = run(GENERATION)
    (tmp_path / "workflow/wrappers/made.py").write_text("raise SystemExit(1)")
    again, asked = run(GENERATION)
    assert asked == 0 and [row.text for row in again] == [row.text for row in first]


def test_a_kill_in_the_middle_costs_what_was_under_way(tmp_path):
    journal_of(tmp_path, 'query == "Paint ball 3." and os.kill(os.getpid(), signal.SIGKILL)')
    with pytest.raises(ModelMemoryError, match="SIGKILL") as error:
        run(GENERATION)
    assert any("answering sample" in note for note in error.value.__notes__)
    asked = [f"Paint ball {rank}." for rank in range(4)]
    assert journal_of(tmp_path) == asked
    rows, _ = run(GENERATION)
    assert journal_of(tmp_path) == [*asked, "Paint ball 3.", "Paint ball 4."]
    assert [row.outcome for row in rows] == ["ok"] * 5


def test_a_sample_that_ends_the_process_blocks_no_other(tmp_path):
    journal_of(tmp_path, 'query == "Paint ball 1." and os.abort()')
    for _ in range(2):
        rows, _ = run(GENERATION, unresolved="keep")
        assert [row.outcome for row in rows] == ["ok", "error", "ok", "ok", "ok"]
        assert "made.py: ended with SIGABRT" in rows[1].detail
    first = [f"Paint ball {rank}." for rank in range(5)]
    assert journal_of(tmp_path) == [*first, first[1]]


def test_a_process_that_was_started_again_warms_up_again(tmp_path):
    journal_of(tmp_path, 'query == "Paint ball 4." and os.abort()')
    rows, _ = run(GENERATION, ((8, 6),) * 9, unresolved="keep")
    warm = [row.warm_up for row in rows]
    assert warm == [True, True, True, False, None, True, True, True, False]


def test_a_process_that_ends_at_everything_ends_the_job(tmp_path):
    journal_of(tmp_path, "os.abort()")
    with pytest.raises(GensightError, match=r"questions in a row failed .*SIGABRT"):
        run(GENERATION, ((8, 6),) * 20, unresolved="keep")
    assert len(journal_of(tmp_path)) < 20


def test_halves_of_surrogate_pairs_are_stored(tmp_path):
    """They become U+FFFD, wherever a wrapper tells them."""
    body = """
        half = chr(0xd800)
        if protocol.text_of(turn) == "Paint ball 1.":
            raise ValueError(half)
        return {"outcome": "ok", "text": half, "device": half, "detail": half,
                "setup": {"a" + half: [half]}}
    """
    write_wrapper(tmp_path, body, setup='{"model": chr(0xdfff)}')
    rows, _ = run(GENERATION, ((8, 6),) * 3, unresolved="keep")
    assert [row.outcome for row in rows] == ["ok", "error", "ok"]
    assert {(row.text, row.device, row.detail) for row in rows[::2]} == {("\ufffd",) * 3}
    setup = json.loads(rows[0].setup)
    assert (setup["a\ufffd"], setup["model"]) == (["\ufffd"], "\ufffd")
    assert rows[1].detail.endswith("ValueError: \ufffd")


def test_the_seed_is_the_samples_alone_or_in_any_shard(tmp_path):
    journal_of(tmp_path)
    whole = {row.rank: row.text for row in run(GENERATION)[0]}
    shutil.rmtree("ledger")
    (last,) = run(GENERATION, ranks=(4, 5))[0]
    assert last.text == whole[4]
    assert len(set(whole.values())) == 5


def test_one_bad_sample_is_a_gap_that_the_next_run_asks_again(tmp_path):
    journal_of(tmp_path, 'assert query != "Paint ball 1.", "not this one"')
    with pytest.raises(UnresolvedError):
        run(GENERATION)
    rows, _ = run(GENERATION, unresolved="keep")
    assert [row.outcome for row in rows] == ["ok", "error", "ok", "ok", "ok"]
    assert rows[1].detail.endswith("made.py: AssertionError: not this one")
    journal_of(tmp_path)
    rows, asked = run(GENERATION)
    assert asked == 1 and [row.outcome for row in rows] == ["ok"] * 5
