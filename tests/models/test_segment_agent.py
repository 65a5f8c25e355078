"""The agent whole: a tiny SAM 3 for its tool, and a scripted VLM behind a real socket."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fakes.billing import Painted, Scenario
from fakes.chat import VllmFake
from whole_cells import WholeCell, picture, turn

from gensight.digests import digest_of_bytes
from gensight.errors import AnswerError, GensightError, SpecError
from gensight.images import decode_grey, decode_mask
from gensight.models import Site, _served_viewer, segment_agent
from gensight.models._transformers import as_pillow

AGENT = "Qwen/Qwen3-VL-8B-Thinking"
IMAGE = picture(96, 64)
PROPOSE = {"action": "propose", "phrases": ["ball"]}
RETRY = {"action": "retry", "phrases": ["cup", "ball"], "boxes": [[100, 100, 500, 900]]}
GIVE_UP = {"action": "give_up"}
TURNS = [
    {
        "parts": [{"image": "input"}, {"text": "{query}"}],
        "answer_form": {"kind": "mask", "foreground": [255] * 3, "background": [0] * 3},
    }
]


def accept(*masks):
    return {"action": "accept", "masks": list(masks)}


class Script:
    """Says one thing after the other, from the start again where it ends."""

    def __init__(self, *said):
        self.said, self.seen = said, []

    def __call__(self, texts, pictures):
        said = self.said[len(self.seen) % len(self.said)]
        self.seen.append((texts, pictures))
        return Painted(text=said if isinstance(said, str) else json.dumps(said))


def settings(tiny, rounds, **more):
    return {
        "segmenter": str(tiny["sam3"]),
        "agent": AGENT,
        "assumed_max_rounds": rounds,
        "assumed_temperature": 0,
        # All ten instances: random scores mean nothing.
        "threshold": 0.0,
        **more,
    }


def replies_of(model, asked, before=()):
    """Ask a turn round by round, as a conversation does."""
    replies = [*before]
    while not replies or replies[-1].goes_on:
        replies.append(model.answer(replace(asked, rounds=tuple(replies))))
    return replies


class Played:
    """One answer, and all that was asked for it."""

    def __init__(self, tiny, *said, rounds=None, scenario=None, **more):
        self.script = Script(*said)
        with VllmFake(self.script, scenario and Scenario.parse(scenario)) as self.fake:
            site = Site(endpoints={"vllm": self.fake.url})
            self.model = segment_agent.open_model(
                settings(tiny, rounds or len(said), **more), [], site
            )
            try:
                self.replies = replies_of(self.model, turn(IMAGE, text="the ball"))
            finally:
                self.model.close()
        self.reply = self.replies[-1]
        self.setup = json.loads(self.reply.setup)
        self.rounds = [json.loads(reply.setup)["round"] for reply in self.replies]

    @property
    def mask(self):
        return decode_grey(self.reply.images[0], matte=(0, 0, 0)) > 0

    def found(self, call):
        """The masks that the tool found in a round, best first."""
        return [decode_mask(one["mask"]) for one in self.rounds[call]["found"]]


def test_an_accepted_mask_is_what_the_tool_found(tiny):
    played = Played(tiny, PROPOSE, accept(2, 3), rounds=5)
    assert (played.reply.outcome, played.setup["status"]) == ("ok", "accepted")
    tool = played.model.segmenter.find(as_pillow(IMAGE), phrase="ball")
    found = played.found(0)
    assert len(found) == sum(mask.any() for mask in tool.masks) > 3
    np.testing.assert_array_equal(played.mask, found[1] | found[2])
    assert played.setup["sizes"] == {"sent": [96, 64], "used": [112, 112], "returned": [96, 64]}
    assert played.setup["agent"]["weights"] == AGENT
    assert (played.setup["weights"], played.setup["seed"]) == ("sam3", None)
    assert set(played.setup["libraries"]) >= {"torch", "transformers"}
    assert (played.reply.device, played.reply.peak_memory_gb) == ("cpu", None)
    # The VLM was shown what the transcript says, and was sent what the spec says.
    assert [len(pictures) for _, pictures in played.script.seen] == [1, 2]
    prompt = played.rounds[1]["prompt"]
    assert [digest_of_bytes(p) for p in played.script.seen[1][1]] == [
        part["image_sha256"] for part in prompt[:2]
    ]
    assert played.script.seen[1][0] == [prompt[2]["text"]]
    body = played.fake.journal[0].body
    assert (body["model"], body["temperature"]) == (AGENT, 0)
    assert "max_tokens" not in body and "seed" not in body


def test_rejected_twice_then_accepted(tiny):
    played = Played(tiny, PROPOSE, RETRY, PROPOSE, accept(1))
    assert played.setup["status"] == "accepted"
    np.testing.assert_array_equal(played.mask, played.found(2)[0])
    # Two phrases, each with the box as an example.
    boxes = [(9.6, 6.4, 48, 57.6)]
    tool = [
        mask
        for phrase in ("cup", "ball")
        for mask in played.model.segmenter.find(as_pillow(IMAGE), phrase, boxes).masks
        if mask.any()
    ]
    assert len(played.found(1)) == len(tool)
    np.testing.assert_array_equal(np.logical_or.reduce(played.found(1)), np.logical_or.reduce(tool))


def test_never_accepted(tiny):
    played = Played(tiny, PROPOSE, {"action": "retry", "boxes": [[0, 0, 900, 900]]})
    assert (played.reply.outcome, played.reply.detail) == ("ok", "not_accepted")
    np.testing.assert_array_equal(played.mask, np.logical_or.reduce(played.found(1)))


def test_nothing_is_found(tiny):
    played = Played(tiny, PROPOSE, accept(1), PROPOSE, threshold=1.0)
    assert (played.reply.outcome, played.setup["status"]) == ("ok", "no_mask")
    assert not played.mask.any() and played.mask.shape == (64, 96)
    assert "nothing was found" in played.script.seen[1][0][0]


def test_malformed_calls_alone(tiny):
    played = Played(tiny, "The ball is on the left.", "{}")
    assert (played.reply.outcome, played.reply.images) == ("malformed", ())
    assert played.setup["malformed_replies"] == 2
    assert played.setup["sizes"] == {"sent": [96, 64], "used": None, "returned": None}


def test_what_the_server_could_not_do_is_asked_again(tiny, monkeypatch):
    monkeypatch.setattr(_served_viewer, "PAUSE_S", 0.01)
    played = Played(tiny, GIVE_UP, scenario="first error_500")
    assert played.setup["status"] == "gave_up"
    assert [entry.fault for entry in played.fake.journal] == ["error_500", None]
    with pytest.raises(AnswerError, match="gave no answer in 4 attempts"):
        Played(tiny, GIVE_UP, scenario="default overloaded_503")


def test_a_picture_that_the_server_does_not_take_costs_that_picture(tiny):
    with pytest.raises(AnswerError, match="does not take a request for Qwen"):
        Played(tiny, GIVE_UP, scenario="default bad_request_400")


def test_a_server_that_cannot_answer_ends_the_job(tiny):
    with pytest.raises(GensightError, match="does not take a request for Qwen") as error:
        Played(tiny, GIVE_UP, scenario="default gone_404")
    assert not isinstance(error.value, AnswerError)
    with pytest.raises(GensightError, match=r"answers as .*, not as Qwen/Qwen3-VL-8B-Thinking;"):
        Played(tiny, GIVE_UP, scenario="default wrong_model")


def test_a_model_that_cannot_be_opened_is_one_line(tiny):
    with pytest.raises(GensightError, match=r"no server of Qwen/.* is known; name one that runs"):
        segment_agent.open_model(settings(tiny, 3), [], Site())
    with pytest.raises(SpecError, match="'max_rounds' is missing"):
        segment_agent.open_model(settings(tiny, None), [], Site())


def test_a_whole_cell(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with VllmFake(Script(PROPOSE, accept(1))) as fake:
        cell = WholeCell("segment_agent", settings(tiny, 3), [(64, 48), (100, 10)], TURNS)
        rows, asked = cell.run(endpoints={"vllm": fake.url})
        assert asked == 4
        assert [row.outcome for row in rows] == ["ok"] * 4
        assert [(row.turn, row.goes_on, row.final) for row in rows] == [
            (0, True, False), (0, False, True)
        ] * 2  # fmt: skip
        assert [row.parent_key for row in rows[1::2]] == [row.request_key for row in rows[::2]]
        assert [json.loads(row.setup)["status"] for row in rows[1::2]] == ["accepted"] * 2
        assert "the ball" in fake.journal[0].body["messages"][0]["content"][-1]["text"]
        calls = len(fake.journal)
        again, asked = cell.run(endpoints={"vllm": fake.url})
        assert (asked, len(fake.journal)) == (0, calls)
    assert [row.image for row in again] == [row.image for row in rows]


def test_a_cell_that_was_killed_goes_on_at_the_round_where_it_stopped(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = [PROPOSE, RETRY, accept(1)]
    with VllmFake(Script(*whole)) as fake:
        cell = WholeCell("segment_agent", settings(tiny, 3), [(64, 48)], TURNS)
        told, _ = cell.run(ledger="elsewhere", endpoints={"vllm": fake.url})
    calls = []

    def dying(*asked):
        calls.append(asked)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return answer(*asked)

    answer = segment_agent.SegmentAgent.answer
    with VllmFake(Script(*whole)) as fake:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(segment_agent.SegmentAgent, "answer", dying)
            cell.run(endpoints={"vllm": fake.url})
        rows, asked = cell.run(endpoints={"vllm": fake.url})
        assert (asked, len(fake.journal)) == (1, 3)
    assert [row.image for row in rows] == [row.image for row in told]
    assert [row.setup for row in rows] == [row.setup for row in told]


def test_a_game_is_remembered_only_for_its_own_turn(tiny):
    with VllmFake(Script(PROPOSE, PROPOSE, accept(2), accept(2))) as fake:
        model = segment_agent.open_model(settings(tiny, 3), [], Site(endpoints={"vllm": fake.url}))
        try:
            ball, cup = turn(IMAGE, text="the ball"), turn(IMAGE, text="the cup")
            first, other = model.answer(ball), model.answer(cup)
            ends = [
                model.answer(replace(asked, rounds=(said,)))
                for asked, said in ((ball, first), (cup, other))
            ]
        finally:
            model.close()
    texts = [json.loads(end.setup)["round"]["prompt"][2]["text"] for end in ends]
    assert "the ball" in texts[0] and "the cup" in texts[1]
