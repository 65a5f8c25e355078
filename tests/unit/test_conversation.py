"""Turns are played in order, each under a key that covers all that its answer may depend on."""

import unicodedata
from dataclasses import replace

import pytest
from spine_rows import sample

from gensight.models import Reply
from gensight.prompts import render
from gensight.records import Generation, write_rows
from gensight.runner.adoption import adopt
from gensight.runner.conversation import Conversation, Setting, truth_digest
from gensight.runner.here import HereAsker
from gensight.runner.ledger import Ledger

MASK = {"kind": "mask", "foreground": [255, 255, 255], "background": [0, 0, 0]}
BOX = {"kind": "text", "content": "bounding_box"}
ONE_TURN = [{"parts": [{"image": "input"}, {"text": "Paint {query}."}], "answer_form": MASK}]
TWO_TURNS = [
    {"parts": [{"image": "input"}, {"text": "Where is {query}?"}], "answer_form": BOX},
    {"parts": [{"text": "You said:"}, {"reply": 0}, {"image": "input"}], "answer_form": MASK},
]
PAINTED = Reply("ok", images=(b"painted",))


class Recorder:
    """Answers from a list, in order, and keeps every turn it was shown."""

    fit_digest = ""

    def __init__(self, *replies):
        self.replies, self.turns = list(replies), []

    def answer(self, turn):
        self.turns.append(turn)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply


IDENTITY = {"adapter": "some", "adapter_version": 1, "generation": {"seed": 0, "steps": 3}}


def conversation(
    root, model_here, *, reads_truth=False, model="m", benchmark="b", clock=None, **identity
):
    def open_adapter():
        if callable(model_here):
            return model_here()
        if model_here is None:
            raise AssertionError("opened although everything was in the ledger")
        return model_here

    ledger = Ledger(root, model)
    return Conversation(
        model=model,
        benchmark=benchmark,
        prompt="mid",
        identity={**IDENTITY, **identity},
        reads_truth=reads_truth,
        is_hosted=False,
        ledger=ledger,
        asker=HereAsker(ledger, open_adapter, clock),
        standardise=lambda data: data + b" at the sent size",
    )


def play(talk, item, turns=ONE_TURN, setting=Setting(), prompt="mid"):  # noqa: B008
    (request,) = render(prompt, turns, [item])
    return list(talk.play(request, [item], setting))


def test_one_turn_gives_one_final_row(tmp_path):
    adapter = Recorder(replace(PAINTED, text="Here.", answered_model="m-2", usage="{}"))
    (row,) = play(conversation(tmp_path, adapter), sample(3), setting=Setting(repeat=2))
    assert (row.sample_ids, row.rank, row.turn, row.final) == (["s3"], 3, 0, True)
    assert (row.outcome, row.text, row.image["bytes"]) == ("ok", "Here.", b"painted")
    assert (row.requested_model, row.answered_model, row.usage) == ("m", "m-2", "{}")
    assert (row.repeat, row.severity, row.parent_key, row.images_returned) == (2, None, None, 1)
    (turn,) = adapter.turns
    assert [(p.kind, p.text, p.image) for p in turn.parts] == [
        ("image", None, b"picture at the sent size"),
        ("text", "Paint the ball.", None),
    ]
    assert turn.answer_form == MASK and turn.repeat == 2


@pytest.mark.parametrize(
    ("first", "cited"),
    [
        (Reply("ok", text="1 2 3 4"), ("text", "1 2 3 4", None)),
        # Words are what this turn asks for, though the model is one that paints.
        (Reply("text_only", text="1 2 3 4"), ("text", "1 2 3 4", None)),
        (Reply("ok", images=(b"boxes", b"more")), ("image", None, b"boxes")),
        (Reply("ok"), ("text", "", None)),
    ],
)
def test_a_second_turn_is_shown_the_reply_it_cites(tmp_path, first, cited):
    adapter = Recorder(first, PAINTED)
    rows = play(conversation(tmp_path, adapter), sample(0), TWO_TURNS)
    assert [(row.turn, row.final) for row in rows] == [(0, False), (1, True)]
    assert [row.parent_key for row in rows] == [None, rows[0].request_key]
    shown = [(part.kind, part.text, part.image) for part in adapter.turns[1].parts]
    assert shown == [
        ("text", "You said:", None),
        cited,
        ("image", None, b"picture at the sent size"),
    ]


@pytest.mark.parametrize("outcome", ["refused_output", "no_image", "overloaded_exhausted"])
def test_a_first_turn_that_fails_ends_the_conversation_as_its_final_row(tmp_path, outcome):
    adapter = Recorder(Reply(outcome, detail="why"))
    (row,) = play(conversation(tmp_path, adapter), sample(0), TWO_TURNS)
    assert (row.turn, row.final, row.outcome, row.detail) == (0, True, outcome, "why")


def test_words_alone_are_no_answer_to_a_turn_that_asks_for_a_picture(tmp_path):
    adapter = Recorder(Reply("text_only", text="I cannot paint."))
    (row,) = play(conversation(tmp_path, adapter), sample(0))
    assert (row.outcome, row.final) == ("text_only", True)


def test_what_the_ledger_holds_is_replayed_without_opening_the_model(tmp_path):
    first = conversation(tmp_path, Recorder(Reply("ok", text="1 2 3 4"), PAINTED))
    rows = play(first, sample(0), TWO_TURNS)
    again = conversation(tmp_path, None)
    assert play(again, sample(0), TWO_TURNS) == rows
    assert (first.asker.asked, again.asker.asked) == (2, 0)


def test_a_killed_conversation_goes_on_where_it_stopped(tmp_path):
    killed = conversation(tmp_path, Recorder(Reply("ok", text="1 2"), KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        play(killed, sample(0), TWO_TURNS)
    talk = conversation(tmp_path, Recorder(PAINTED))
    rows = play(talk, sample(0), TWO_TURNS)
    assert (talk.asker.asked, rows[0].text) == (1, "1 2")


def test_infrastructure_outcomes_are_asked_again(tmp_path):
    play(conversation(tmp_path, Recorder(Reply("quota"))), sample(0))
    (row,) = play(conversation(tmp_path, Recorder(PAINTED)), sample(0))
    assert row.outcome == "ok"


def test_times_are_kept_only_where_they_mean_something(tmp_path):
    talk = conversation(tmp_path, Recorder(PAINTED))
    assert play(talk, sample(0))[0].latency_s >= 0
    reference = conversation(tmp_path, Recorder(PAINTED), reads_truth=True)
    for _ in range(2):  # asked, and replayed
        assert play(reference, sample(1))[0].latency_s is None


# Rounds


def test_a_model_that_goes_on_is_asked_the_same_turn_again_under_linked_keys(tmp_path):
    tries = Reply("refused_output", text="hm", goes_on=True), Reply("ok", text="so", goes_on=True)
    adapter = Recorder(*tries, PAINTED)
    rows = play(conversation(tmp_path, adapter), sample(0))
    assert [(row.turn, row.goes_on, row.final) for row in rows] == [
        (0, True, False),
        (0, True, False),
        (0, False, True),
    ]
    assert [row.outcome for row in rows] == ["refused_output", "ok", "ok"]
    assert [row.parent_key for row in rows] == [None, rows[0].request_key, rows[1].request_key]
    assert len({row.request_key for row in rows}) == 3
    assert [[said.text for said in turn.rounds] for turn in adapter.turns] == [
        [],
        ["hm"],
        ["hm", "so"],
    ]
    assert {turn.parts for turn in adapter.turns} == {adapter.turns[0].parts}
    assert play(conversation(tmp_path, None), sample(0)) == rows
    # One that never goes on is asked under the key that it always had.
    (plain,) = play(conversation(tmp_path / "plain", Recorder(PAINTED)), sample(0))
    assert plain.request_key == rows[0].request_key


def test_rounds_go_on_where_they_stopped_also_out_of_an_archive(tmp_path):
    going = Reply("ok", text="so", goes_on=True)
    killed = conversation(tmp_path, Recorder(going, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        play(killed, sample(0))
    adapter = Recorder(PAINTED)
    rows = play(conversation(tmp_path, adapter), sample(0))
    assert [said.goes_on for said in adapter.turns[0].rounds] == [True] and len(rows) == 2
    write_rows(tmp_path / "g.parquet", Generation, rows, {})
    adopt(tmp_path / "other", "m", tmp_path / "g.parquet")
    again = play(conversation(tmp_path / "other", None), sample(0))
    assert [(row.goes_on, row.final) for row in again] == [(True, False), (False, True)]


# Truth


def test_truth_is_handed_only_to_models_that_read_it(tmp_path):
    blind, seeing = Recorder(PAINTED), Recorder(PAINTED)
    play(conversation(tmp_path / "a", blind, reads_truth=False), sample(0, target_count=3))
    play(conversation(tmp_path / "b", seeing, reads_truth=True), sample(0, target_count=3))
    assert blind.turns[0].truth is None
    assert seeing.turns[0].truth.target_count == 3


def key_of(tmp_path, item=None, turns=ONE_TURN, setting=Setting(), prompt="mid", **options):  # noqa: B008
    (row, *_) = play(
        conversation(tmp_path / "keys", Recorder(PAINTED), **options),
        item or sample(0),
        turns,
        setting,
        prompt,
    )
    (tmp_path / "keys/replies").rename(tmp_path / f"used_{len(list(tmp_path.iterdir()))}")
    return row.request_key


TRUTHS = [
    {"target_count": 3},
    {"target_mask": {"size": [1, 1], "counts": "01"}},
    {"target_depth_m": {"bytes": b"\0" * 4, "dtype": "float32", "shape": [1, 1]}},
    {"valid_mask": {"size": [1, 1], "counts": "01"}},
    {"ignore_mask": {"size": [1, 1], "counts": "01"}},
    {"target_points": [{"x": 1.0, "y": 2.0}]},
    {"target_normals": {"bytes": b"\0" * 12, "dtype": "float32", "shape": [1, 1, 3]}},
    {"min_depth_m": 0.5},
    {"max_depth_m": 80.0},
]


@pytest.mark.parametrize("truth", TRUTHS)
def test_truth_is_in_the_key_of_models_that_read_it_and_of_no_other(tmp_path, truth):
    plain, told = sample(0), sample(0, **truth)
    assert key_of(tmp_path, plain) == key_of(tmp_path, told)
    assert key_of(tmp_path, plain, reads_truth=True) != key_of(tmp_path, told, reads_truth=True)
    assert truth_digest(plain) != truth_digest(told)


def test_the_bytes_of_a_true_map_are_in_its_digest():
    maps = [{"bytes": b, "dtype": "float32", "shape": [1, 1]} for b in (b"\0\0\0\0", b"\0\0\0\1")]
    assert len({truth_digest(sample(0, target_depth_m=m)) for m in maps}) == 2


def test_the_answer_form_is_in_the_key_of_models_that_read_it_and_of_no_other(tmp_path):
    other = [{**ONE_TURN[0], "answer_form": {**MASK, "foreground": [0, 0, 0]}}]
    assert key_of(tmp_path) == key_of(tmp_path, turns=other)
    assert key_of(tmp_path, reads_truth=True) != key_of(tmp_path, turns=other, reads_truth=True)


# Every determinant changes the key, alone

REWORDED = [{**ONE_TURN[0], "parts": [{"image": "input"}, {"text": "Colour {query}."}]}]
TURNED = [{**ONE_TURN[0], "parts": list(reversed(ONE_TURN[0]["parts"]))}]
NO_IMAGE = [{**ONE_TURN[0], "parts": ONE_TURN[0]["parts"][1:]}]
DETERMINANTS = {
    "prompt text": {"turns": REWORDED},
    "order of the parts": {"turns": TURNED},
    "no picture": {"turns": NO_IMAGE},
    "query": {"item": sample(0, query="the cube")},
    "image byte": {"item": sample(0, picture=b"picturf")},
    "sample": {"item": sample(1)},
    "severity": {"setting": Setting(severity=0.5)},
    "another severity": {"setting": Setting(severity=0.25)},
    "severity zero": {"setting": Setting(severity=0.0)},
    "repeat": {"setting": Setting(repeat=1)},
    "seed": {"generation": {"seed": 1, "steps": 3}},
    "generation": {"generation": {"seed": 0, "steps": 4}},
    "a parameter's absence": {"generation": {"seed": 0}},
    "a parameter that is null": {"generation": {"seed": 0, "steps": None}},
    "adapter": {"adapter": "other"},
    "adapter version": {"adapter_version": 2},
    "fit": {"fit": "0"},
    "model": {"model": "n"},
    "benchmark": {"benchmark": "c"},
    "reads truth": {"reads_truth": True},
}


def test_every_determinant_changes_the_key(tmp_path):
    keys = {name: key_of(tmp_path, **options) for name, options in DETERMINANTS.items()}
    keys["nothing"] = key_of(tmp_path)
    assert len(set(keys.values())) == len(keys)


def test_the_same_question_has_the_same_key(tmp_path):
    described = sample(0, stratum="x", tags=["y"], licence="z")
    assert key_of(tmp_path) == key_of(tmp_path) == key_of(tmp_path, described)
    assert key_of(tmp_path) == key_of(tmp_path, prompt="another_name")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_the_unicode_normal_form_does_not_change_the_key(tmp_path, form):
    plain = key_of(tmp_path, sample(0, query="the café Ångström"))
    query = unicodedata.normalize(form, "the café Ångström")
    assert key_of(tmp_path, sample(0, query=query)) == plain


def test_a_later_turn_depends_on_the_reply_before_it(tmp_path):
    keys = set()
    for text in ("1 2 3 4", "5 6 7 8"):
        adapter = Recorder(Reply("ok", text=text), PAINTED)
        rows = play(conversation(tmp_path / text, adapter), sample(0), TWO_TURNS)
        keys |= {row.request_key for row in rows}
    assert len(keys) == 3


def test_a_later_turn_depends_on_its_parent_even_if_it_cites_nothing(tmp_path):
    keys = []
    for first in ("Look.", "Think."):
        turns = [
            {"parts": [{"text": first}], "answer_form": BOX},
            {"parts": [{"text": "Paint."}], "answer_form": MASK},
        ]
        adapter = Recorder(Reply("ok", text="yes"), PAINTED)
        keys.append(play(conversation(tmp_path / first, adapter), sample(0), turns)[1].request_key)
    assert keys[0] != keys[1]


def test_seeds_differ_between_samples_and_repeats_and_never_between_runs(tmp_path):
    def seeds(root):
        adapter = Recorder(*[PAINTED] * 4)
        talk = conversation(tmp_path / root, adapter)
        for rank in (0, 1):
            for repeat in (0, 1):
                play(talk, sample(rank), setting=Setting(repeat=repeat))
        return [turn.seed for turn in adapter.turns]

    assert len(set(seeds("one"))) == 4
    assert seeds("one_again") == seeds("two")


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


def test_loading_a_model_is_no_part_of_an_answers_time(tmp_path):
    """A clock of our own: opening takes 100 s, an answer 2 s."""
    clock = Clock()

    class Slow(Recorder):
        def answer(self, turn):
            clock.now += 2.0
            return super().answer(turn)

    def open_slowly():
        clock.now += 100.0
        return Slow(PAINTED)

    talk = conversation(tmp_path, open_slowly, clock=clock)
    assert play(talk, sample(0))[0].latency_s == 2.0


def test_the_first_answers_of_an_opened_model_are_warm_up(tmp_path):
    replies = [replace(PAINTED, peak_memory_gb=3.5, device="some GPU")] * 5
    talk = conversation(tmp_path, Recorder(*replies))
    rows = [play(talk, sample(rank))[0] for rank in range(5)]
    assert [row.warm_up for row in rows] == [True, True, True, False, False]
    assert {(row.peak_memory_gb, row.device) for row in rows} == {(3.5, "some GPU")}
    # The ledger remembers it: a rerun is no second warm-up.
    again = conversation(tmp_path, None)
    assert [play(again, sample(r))[0].warm_up for r in range(5)] == [row.warm_up for row in rows]
