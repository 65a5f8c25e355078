"""`gensight spend`: what is asked until two models are told apart, and nothing beyond it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Checkout, write_small_config

from gensight.records import RowFile, Summary

pytestmark = pytest.mark.workflow

MODELS = {
    "winner": {"method": "oracle"},
    "twin": {"method": "oracle"},
    "copier": {"method": "echo"},
}
RULE = {
    "prompt": "mid",
    "scorer": "mask",
    "metric": "giou",
    "variant": "otsu",
    "scale": 100,
    "first": 8,
    "step": 16,
}
QUIET = ("--", "--cores", "2", "--quiet", "host", "progress", "rules", "reason")
MOST = 32


def made_checkout(folder: Path, models: list[str], pair: list[str]) -> Checkout:
    """Return a copy in which two measured models may be asked about up to 32 small scenes."""
    made = Checkout(folder)
    write_small_config(
        made,
        models=models,
        benchmarks=["scenes_segmentation"],
        prompts=["mid"],
        tables=["segmentation"],
        n={"scenes_segmentation": MOST},
        stop_when={"scenes_segmentation": {**RULE, "models": pair}},
    )
    for name, generation in MODELS.items():
        display = {"label": name.capitalize(), "group": "generalist"}
        spec = {"adapter": "reference", "generation": generation, "display": display}
        made.write_yaml(f"config/models/{name}.yaml", spec)
    return made


def state_of(checkout: Checkout) -> dict[str, object]:
    path = checkout.folder / "ledger/stops/small/scenes_segmentation.json"
    return json.loads(path.read_text())


def asked(checkout: Checkout, model: str) -> int:
    return len(list((checkout.folder / "ledger/replies" / model).rglob("*.json")))


def table_of(checkout: Checkout) -> str:
    return (checkout.folder / "results/tables/segmentation.md").read_text()


def content_of(checkout: Checkout) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for room in ("results", "ledger")
        for path in sorted((checkout.folder / room).rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def told_apart(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A run whose two models differ as clearly as two can; a third one only looks on."""
    folder = tmp_path_factory.mktemp("spend") / "checkout"
    made = made_checkout(folder, ["winner", "copier", "constant"], ["winner", "copier"])
    done = made.gensight("spend", *QUIET)
    assert "winner and copier answer the first 8 of at most 32 samples" in done.stdout
    return made


def test_a_clear_winner_is_decided_early_and_no_more_is_asked(told_apart: Checkout) -> None:
    state = state_of(told_apart)
    assert state["decided"] == "told_apart"
    assert 8 < state["n"] < MOST
    assert (state["n"] - 8) % 16 == 0 and state["after"] <= state["n"]
    assert 0 < state["low"] < state["high"]
    for model in ("winner", "copier", "constant"):
        assert asked(told_apart, model) == state["n"]


def test_the_tables_say_how_many_were_used_and_why_no_more(told_apart: Checkout) -> None:
    state = state_of(told_apart)
    for suffix in ("md", "tex"):
        text = (told_apart.folder / f"results/tables/segmentation.{suffix}").read_text()
        told = " ".join(text.split())
        assert f"{state['n']} of at most {MOST} samples, in the order of their ranks" in told
        assert "Winner minus Copier" in told and f"after {state['after']} clusters" in told
        assert "larger and surer than it is" in told
    path = told_apart.folder / "results/summaries/scenes_segmentation.parquet"
    assert {row.n for row in RowFile(path, Summary) if row.stratum is None} == {state["n"]}


def test_nothing_is_to_be_done_afterwards(told_apart: Checkout) -> None:
    before = content_of(told_apart)
    assert told_apart.planned() == {}
    done = told_apart.gensight("spend", *QUIET)
    assert "stopped because the confidence sequence" in done.stdout
    assert "answer the first" not in done.stdout
    assert content_of(told_apart) == before


def test_equal_models_are_asked_everything(tmp_path: Path) -> None:
    checkout = made_checkout(tmp_path / "checkout", ["winner", "twin"], ["winner", "twin"])
    checkout.gensight("spend", *QUIET)
    state = state_of(checkout)
    assert (state["n"], state["decided"]) == (MOST, "all")
    assert state["low"] < 0 < state["high"]
    assert checkout.adapter_calls() == 2 * MOST
    assert "all were asked" in " ".join(table_of(checkout).split())


def test_a_wave_by_hand_is_a_whole_run_and_another_rule_asks_nothing_again(tmp_path: Path) -> None:
    checkout = made_checkout(tmp_path / "checkout", ["winner", "copier"], ["winner", "copier"])
    done = checkout.snakemake()
    assert "8 of at most 32 samples, in the order of their ranks; not decided yet" in (
        done.stdout + done.stderr
    )
    assert "not decided yet" in table_of(checkout)
    assert checkout.adapter_calls() == 16
    checkout.gensight("spend", *QUIET)
    first = state_of(checkout)
    assert checkout.adapter_calls() == 2 * first["n"]
    # The other way round it is another question: looked at from the start, from what is kept.
    checkout.edit(
        "config/config.yaml", run__stop_when__scenes_segmentation__models=["copier", "winner"]
    )
    done = checkout.gensight("spend", *QUIET)
    assert "starting again from the first 8" in done.stdout
    second = state_of(checkout)
    assert (second["n"], second["decided"]) == (first["n"], "told_apart")
    assert second["low"] == pytest.approx(-first["high"])
    assert checkout.adapter_calls() == 2 * first["n"]
    assert "starting again" not in checkout.gensight("spend", *QUIET).stdout


def test_what_breaks_in_a_wave_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    checkout = made_checkout(tmp_path / "checkout", ["winner", "copier"], ["winner", "copier"])
    blocked = checkout.folder / "ledger/replies/copier"
    blocked.parent.mkdir(parents=True)
    blocked.write_text("no folder")
    done = checkout.gensight("spend", *QUIET, check=False)
    assert done.returncode == 1
    assert "the same command goes on from here" in done.stderr
    assert "Traceback" not in done.stderr
    blocked.unlink()
    checkout.gensight("spend", *QUIET)
    assert state_of(checkout)["decided"] == "told_apart"
    assert checkout.adapter_calls() == 2 * state_of(checkout)["n"]


WAITING = """
import sys
from gensight.cli.spend import _waited_for
sys.exit(_waited_for([sys.executable, "-c", sys.argv[1]]))
"""
#: Takes its time to end, as Snakemake does for its running jobs.
FINISHING = """
import pathlib, signal, sys, time
def finish(code):
    def handler(*_):
        time.sleep(0.6)
        pathlib.Path("finished").write_text("whole")
        sys.exit(code)
    return handler
signal.signal(signal.SIGTERM, finish(3))
signal.signal(signal.SIGINT, finish(4))
pathlib.Path("started").touch()
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("ended", "code"),
    [(lambda process: process.terminate(), 3), (lambda p: os.killpg(p.pid, signal.SIGINT), 4)],
    ids=["terminated", "interrupted"],
)
def test_running_jobs_are_not_cut_off(
    tmp_path: Path, ended: Callable[[subprocess.Popen[bytes]], None], code: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, FINISHING], cwd=tmp_path, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline, "the program did not start in time"
        time.sleep(0.02)
    ended(process)
    assert process.wait(timeout=60) == code
    assert (tmp_path / "finished").read_text() == "whole"


MISTAKES = [
    (("spend", "--", "-n"), "'-n' cannot be handed to Snakemake here"),
    (("spend", "--", "--config", "a=1"), "'--config' cannot be handed"),
    (("spend", "--", "--configfile=x"), "'--configfile=x' cannot be handed"),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES)
def test_arguments_that_would_plan_something_else_are_refused(
    told_apart: Checkout, arguments: tuple[str, ...], words: str
) -> None:
    done = told_apart.gensight(*arguments, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and done.stderr.count("\n") == 1


def test_a_run_without_a_rule_is_refused(checkout: Checkout) -> None:
    done = checkout.gensight("spend", check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("gensight: the run 'small' has no stop_when")


def test_the_example_plans_its_first_wave(tmp_path: Path) -> None:
    fresh = Checkout(tmp_path / "checkout")
    jobs = fresh.planned("--configfile", "config/runs/spend_example.yaml")
    assert jobs["generate_reference"] == 4
    assert jobs["tabulate"] == 1
