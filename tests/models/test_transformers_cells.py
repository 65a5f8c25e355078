"""Whole cells on tiny copies of what transformers loads: sizes, resume, equal bytes, failures."""

import json
import os
import signal
from pathlib import Path

import pytest
import yaml
from checkpoints import edited, speaker
from whole_cells import FORM, SIZES, WholeCell

from gensight.errors import UnresolvedError
from gensight.images import fit_long_side, inspect
from gensight.models import transformers_chat, transformers_depth, transformers_segment
from gensight.models._settings import complete
from gensight.runner.clock import SystemClock
from gensight.specs.base import load_spec
from gensight.specs.cards import check_card
from gensight.specs.model import ModelSpec
from gensight.specs.prompt import PromptSpec

ROOT = Path(__file__).resolve().parents[2]
PHRASE = [{"parts": [{"image": "input"}, {"text": "{query}"}], "answer_form": FORM}]
QUESTION = [{
    "parts": [{"image": "input"}, {"text": "How many {query}?"}],
    "answer_form": {"kind": "text", "content": "integer"},
}]  # fmt: skip
#: By adapter: the copy, the settings that a cell needs, its turns, the class that answers.
KINDS = {
    "transformers_depth": ("depth_anything", {}, None, transformers_depth.DepthModel),
    "transformers_segment": (
        "sam3", {"assumed_threshold": 0.0}, PHRASE, transformers_segment.SegmentModel
    ),
    "transformers_chat": (
        "qwen3vl", {"max_new_tokens": 4}, QUESTION, transformers_chat.ChatModel
    ),
}  # fmt: skip
SHIPPED = {
    "depth_anything_v2_large": "transformers_depth",
    "sam3": "transformers_segment",
    "qwen3_vl_8b_instruct": "transformers_chat",
    "qwen2_5_vl_7b": "transformers_chat",
    "molmo2_8b": "transformers_chat",
}
#: Flat pictures, for what does not depend on their size.
FLAT = [(1024, 64 + 8 * place) for place in range(5)]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cell_of(tiny, adapter, sizes=FLAT, folder=None, **settings):
    name, needed, turns, _ = KINDS[adapter]
    generation = {"model": str(folder or tiny[name]), **needed, **settings}
    return WholeCell(adapter, generation, sizes, **({} if turns is None else {"turns": turns}))


def answers_of(rows):
    """Return what rows say about the model, without times and keys of places."""
    return [(r.sample_ids, r.outcome, r.text, r.image and r.image["bytes"], r.setup) for r in rows]


@pytest.mark.parametrize("adapter", KINDS)
def test_a_cell_answers_every_size_and_asks_once(tiny, adapter):
    cell = cell_of(tiny, adapter, SIZES)
    rows, asked = cell.run()
    assert asked == len(rows) == len(SIZES)
    assert {row.outcome for row in rows} == {"truncated" if "chat" in adapter else "ok"}
    for row, size in zip(rows, SIZES, strict=True):
        sent = list(fit_long_side(*size))
        sizes = json.loads(row.setup)["sizes"]
        assert sizes["sent"] == sent
        if row.image is not None:
            assert list(inspect(row.image["bytes"]).upright_size) == sizes["returned"] == sent
    again, asked = cell.run()
    assert (again, asked) == (rows, 0)


@pytest.mark.parametrize("adapter", KINDS)
def test_what_the_place_and_the_times_are_is_kept(tiny, adapter):
    rows, _ = cell_of(tiny, adapter).run()
    assert [row.warm_up for row in rows] == [True] * 3 + [False] * (len(rows) - 3)
    assert all(row.latency_s > 0 and row.device == "cpu" for row in rows)
    assert all(row.peak_memory_gb is None and "host" in json.loads(row.place) for row in rows)


@pytest.mark.parametrize("adapter", KINDS)
def test_a_shard_answers_as_the_whole_cell_does(tiny, adapter):
    cell = cell_of(tiny, adapter)
    whole, _ = cell.run()
    last, asked = cell.run(ranks=(3, None), ledger="another")
    assert asked == len(FLAT) - 3
    assert answers_of(last) == answers_of(whole)[3:]


@pytest.mark.parametrize("adapter", KINDS)
def test_a_kill_in_the_third_answer_costs_that_answer(tiny, adapter):
    cell = cell_of(tiny, adapter)
    child = os.fork()
    if child == 0:
        _run_until_the_third_answer(cell, KINDS[adapter][3])
    clock = SystemClock()
    deadline = clock.monotonic() + 60
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if clock.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        clock.sleep(0.02)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    assert not Path("g.parquet").exists()
    assert len(list(Path("died").glob("*"))) == 1, "it died in an answer, and not before"
    rows, asked = cell.run()
    assert asked == len(FLAT) - 2
    whole, _ = cell.run(ledger="another")
    assert answers_of(rows) == answers_of(whole)


def _run_until_the_third_answer(cell, kind):
    """Make a cell in a process that is killed while the model answers a third time."""
    answer, begun = kind.answer, []

    def dying(self, turn):
        begun.append(turn)
        if len(begun) == 3:
            Path("died").mkdir()
            Path("died/third").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(self, turn)

    try:
        kind.answer = dying
        cell.run()
    finally:
        os._exit(1)


@pytest.mark.parametrize(
    ("adapter", "key", "told"),
    [
        ("transformers_depth", "head.conv3.bias", "NaN or infinite in float32"),
        ("transformers_segment", "mask_decoder.mask_embedder.layers.0.bias", "NaN or infinite"),
        ("transformers_chat", "lm_head.weight", "NaN of the next token's odds in float32"),
    ],
)
def test_nan_is_an_error_that_is_kept_nowhere(tiny, tmp_path, adapter, key, told):
    def spoil(tensors):
        tensors[key].fill_(float("nan"))

    folder = edited(tiny[KINDS[adapter][0]], tmp_path / "spoilt", spoil)
    cell = cell_of(tiny, adapter, FLAT[:2], folder)
    rows, asked = cell.run(unresolved="keep")
    assert asked == 0 and [row.outcome for row in rows] == ["error"] * 2
    assert all(told in row.detail for row in rows)
    with pytest.raises(UnresolvedError):
        cell.run()


def test_a_cut_reply_climbs_the_ladder_until_it_ends(tiny, tmp_path):
    folder = speaker(tmp_path, ["<think>", "a", "b", "</think>", "4"])
    settings = {"max_new_tokens": 2, "length_ladder": [4, 8, 16], "thinking": True}
    rows, asked = cell_of(tiny, "transformers_chat", FLAT[:1], folder, **settings).run()
    assert asked == len(rows) == 3
    assert [(row.outcome, row.text, row.final) for row in rows] == [
        ("truncated", None, False),
        ("truncated", None, False),
        ("ok", "4", True),
    ]
    assert rows[1].parent_key == rows[0].request_key


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_spec_says_what_its_adapter_takes(name):
    file = f"config/models/{name}.yaml"
    spec = load_spec(ROOT / file, ModelSpec)
    assert spec.adapter == SHIPPED[name]
    check_card(file, spec)
    assert complete(spec.adapter, spec.generation)["model"] == spec.generation["model"]


def test_the_phrase_alone_is_the_text_of_the_prompt_for_specialists():
    spec = load_spec(ROOT / "resources/prompts/segmentation/target.yaml", PromptSpec)
    texts = [part.text for turn in spec.turns for part in turn.parts if part.text is not None]
    assert texts == ["{query}"]
    model = yaml.safe_load((ROOT / "config/models/sam3.yaml").read_text(encoding="utf-8"))
    assert model["prompts"] == ["target"]
