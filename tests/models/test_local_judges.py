"""A judge whose models run here: the stage itself, on tiny models that say one thing each."""

import gc
import json
import weakref

import pytest
from checkpoints import speaker
from whole_cells import REQUESTS, SAMPLES, sample
from written_specs import write_spec

from gensight.models import transformers_chat
from gensight.records import Judgement, Prediction, RowFile, Sample, write_rows
from gensight.specs import declared
from gensight.specs.judge import JudgeSpec
from gensight.specs.rubric import RubricSpec
from gensight.stages.judge import judge

PIXELS = (["01", "10"], ["00", "11"])
RUBRIC = {
    "task": "text_to_pixel",
    "reply": "score_line",
    "dimensions": [{"name": "mark", "most": 9, "line": "Mark"}],
    "parts": [{"text": "How good is it?"}, {"picture": "answer"}],
}
READ = {"generations": {"model": "painter", "requests": REQUESTS}}


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """The readings of two answers, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write_rows("s.parquet", Sample, [sample(rank, (8, 8)) for rank in range(2)], SAMPLES)
    readings = [
        Prediction(
            sample_id=f"s{rank}",
            rank=rank,
            cluster_id=f"c{rank}",
            variant="strict",
            status="ok",
            outcome="ok",
            text=json.dumps({"palette": ["#000000", "#FFFFFF"], "pixels": pixels}),
        )
        for rank, pixels in enumerate(PIXELS)
    ]
    write_rows("p.parquet", Prediction, readings, READ)


def marked(judges, **spec):
    """Judge by models {name: what each says}; return the judgements and the counts."""
    defaults = declared.constants("models", "transformers_chat")["DEFAULTS"]
    plan = {
        "judge": "marker",
        "predictions": READ,
        "spec": JudgeSpec.model_validate(
            {"rubrics": ["icon"], "models": [*judges], "display": {"label": "m"}, **spec}
        ).model_dump(exclude={"display"}),
        "rubrics": {"icon": RubricSpec.model_validate(RUBRIC).model_dump()},
        "models": {
            name: {
                "model": name,
                "adapter": "transformers_chat",
                "adapter_version": 1,
                "generation": {**defaults, "model": str(folder), "max_new_tokens": 16},
            }
            for name, folder in judges.items()
        },
        "exif": "apply",
    }
    for name in judges:
        write_spec(name, {"adapter": "transformers_chat"})
    counts = judge("s.parquet", "p.parquet", "j.parquet", "ledger", plan)
    return list(RowFile("j.parquet", Judgement)), counts


def test_a_panel_judges_one_after_another_and_each_is_let_go(cell, tmp_path, monkeypatch):
    judges = {
        name: speaker(tmp_path / name, list(f"Mark:{points}"))
        for name, points in (("mild", 8), ("harsh", 1))
    }
    opened, still_there, real = [], [], transformers_chat.open_model

    def watched(*arguments):
        gc.collect()
        still_there.append(sum(one() is not None for one in opened))
        model = real(*arguments)
        opened.append(weakref.ref(model))
        return model

    monkeypatch.setattr(transformers_chat, "open_model", watched)
    rows, counts = marked(judges)
    assert [(row.judge_model, row.sample_id, row.status, row.points) for row in rows] == [
        (name, f"s{rank}", "ok", {"mark": points})
        for name, points in (("mild", 8.0), ("harsh", 1.0))
        for rank in range(2)
    ]
    assert still_there == [0, 0] and (counts.answers, counts.asked) == (4, 4)
    again, counts = marked(judges)
    assert again == rows and counts.asked == 0 and len(opened) == 2


def test_what_it_says_beside_the_rule_is_asked_again_and_never_a_number(cell, tmp_path):
    rows, counts = marked({"it": speaker(tmp_path / "it", list("Mark=7"))}, reasks=1)
    assert {(row.status, row.points) for row in rows} == {("unparseable", None)}
    assert [(row.sample_id, row.reask) for row in rows] == [
        ("s0", 0), ("s0", 1), ("s1", 0), ("s1", 1)
    ]  # fmt: skip
    assert counts.asked == 4
