"""Chat models that transformers loads: what is shown, how a reply ends, thoughts, sampling."""

import json

import pytest
from checkpoints import edited, speaker
from whole_cells import picture, turn

from gensight.errors import AnswerError, GensightError, SpecError
from gensight.models import Part, Site, Turn, transformers_chat
from gensight.models.transformers_chat import split_thoughts

NAMES = ["qwen3vl", "qwen2_5vl", "molmo2"]
FORM = {"kind": "text", "content": "integer"}
THINKER = ["<think>", "a", "b", "</think>", "4", "2"]


def opened(folder, **settings):
    given = {"model": str(folder), "assumed_max_new_tokens": 8, **settings}
    return transformers_chat.open_model(given, [], Site())


@pytest.fixture(scope="module")
def models(tiny):
    return {name: opened(tiny[name]) for name in NAMES}


@pytest.fixture(scope="module")
def thinker(tmp_path_factory):
    return speaker(tmp_path_factory.mktemp("thinker"), THINKER)


def shown(*parts, **settings):
    """Return a turn of these parts: texts, and bytes of pictures."""
    kinds = [
        Part("text", text=part) if isinstance(part, str) else Part("image", image=part)
        for part in parts
    ]
    return Turn(tuple(kinds), FORM, **settings)


@pytest.mark.parametrize("name", NAMES)
def test_random_weights_talk_until_the_limit(models, name):
    reply = models[name].answer(turn(picture(64, 48), text="How many?"))
    tokens = json.loads(reply.setup)["tokens"]
    assert (reply.outcome, reply.detail) == ("truncated", "length")
    assert tokens["new"] == tokens["limit"] == 8 and tokens["prompt"] > len("How many?")
    assert "How many?" not in (reply.text or "") and not reply.images


@pytest.mark.parametrize("name", NAMES)
def test_greedy_replies_are_equal_whatever_the_seed(tiny, models, name):
    image = picture(64, 48)
    first = models[name].answer(turn(image, seed=1))
    assert models[name].answer(turn(image, seed=2)) == first
    assert opened(tiny[name]).answer(turn(image)) == first
    assert json.loads(first.setup)["seed"] is None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(640, 480), (1242, 375), (1296, 968), (1000, 100)])
def test_pictures_of_any_shape_are_looked_at(models, name, size):
    reply = models[name].answer(turn(picture(*size), text="How many?"))
    assert json.loads(reply.setup)["sizes"]["sent"] == list(size)


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_looked_at_where_it_stands(models, name):
    """Random weights tell any two prompts apart that are not the same."""
    one, other = picture(64, 48, seed=0), picture(64, 48, seed=1)
    asked = [
        (one, "How many?"),
        ("How many?", one),
        (other, "How many?"),
        (one, other, "How many?"),
        (other, one, "How many?"),
        ("How", one, " many?"),
        ("How many?",),
    ]
    inputs = [models[name]._inputs(shown(*parts)) for parts in asked]
    told = [
        (tuple(i["input_ids"][0].tolist()), float(i["pixel_values"].sum()) if "pixel_values" in i
         else None)
        for i in inputs
    ]  # fmt: skip
    assert len(set(told[:3])) == 3 and told[1][0] != told[0][0] and told[2][0] == told[0][0]
    assert len({ids for ids, _ in told}) == 5, "both orders of two pictures have equal tokens"
    assert not inputs[3]["pixel_values"].equal(inputs[4]["pixel_values"])
    assert models[name].answer(shown("How many?")).outcome == "truncated"


def test_the_size_that_was_looked_at_is_told_where_the_inputs_tell_it(models):
    used = {
        name: json.loads(models[name].answer(turn(picture(640, 480))).setup)["sizes"]["used"]
        for name in NAMES
    }
    assert used == {"qwen3vl": [128, 96], "qwen2_5vl": [112, 84], "molmo2": None}


def test_a_reply_that_ends_is_ok_and_holds_no_marks(tmp_path):
    model = opened(speaker(tmp_path, ["4", "2"]))
    reply = model.answer(turn(picture(64, 48), text="How many?"))
    assert (reply.outcome, reply.text, reply.detail) == ("ok", "42", None)
    assert json.loads(reply.setup)["tokens"]["new"] == 3
    assert "thoughts" not in json.loads(reply.setup)


def test_a_reply_that_ends_at_its_limit_is_not_cut(tmp_path):
    model = opened(speaker(tmp_path, ["4", "2"]), assumed_max_new_tokens=3)
    assert model.answer(turn(picture(64, 48))).outcome == "ok"
    model = opened(tmp_path / "speaker", assumed_max_new_tokens=2)
    reply = model.answer(turn(picture(64, 48)))
    assert (reply.outcome, reply.text) == ("truncated", "42")


def test_an_empty_reply_is_malformed(tmp_path):
    reply = opened(speaker(tmp_path, [])).answer(turn(picture(64, 48)))
    assert (reply.outcome, reply.text, reply.detail) == ("malformed", None, "empty")


def test_thoughts_are_taken_off_and_kept(thinker):
    reply = opened(thinker, thinking=True).answer(turn(picture(64, 48)))
    assert (reply.outcome, reply.text) == ("ok", "42")
    assert json.loads(reply.setup)["thoughts"] == "ab"
    plain = opened(thinker).answer(turn(picture(64, 48)))
    assert plain.text == "<think>ab</think>42", "without `thinking` the reply is as it came"


def test_cut_thoughts_are_no_text(thinker):
    reply = opened(thinker, thinking=True, assumed_max_new_tokens=3).answer(turn(picture(64, 48)))
    assert (reply.outcome, reply.text) == ("truncated", None)
    assert json.loads(reply.setup)["thoughts"] == "ab"


def test_a_longer_limit_of_the_turn_counts(thinker):
    model = opened(thinker, thinking=True, assumed_max_new_tokens=3)
    reply = model.answer(shown(picture(64, 48), "How many?", max_tokens=9))
    assert (reply.outcome, reply.text) == ("ok", "42")
    assert json.loads(reply.setup)["tokens"]["limit"] == 9


def test_thoughts_alone_are_malformed(tmp_path):
    for folder, words in (("open", ["a"]), ("closed", ["a", "</think>"])):
        model = opened(speaker(tmp_path / folder, words), thinking=True)
        reply = model.answer(turn(picture(64, 48)))
        assert (reply.outcome, reply.text, reply.detail) == ("malformed", None, "only_thoughts")
        assert json.loads(reply.setup)["thoughts"] == "a"


def test_what_stands_before_the_last_mark_is_thought():
    assert split_thoughts("<think>a</think>b</think> c ") == ("a</think>b", "c")
    assert split_thoughts("a</think>b") == ("a", "b")
    assert split_thoughts("a") == ("a", "")
    assert split_thoughts("") == ("", "")


def test_a_sampled_reply_follows_from_its_seed_and_nothing_else(tiny, monkeypatch):
    import torch

    model = opened(tiny["qwen3vl"], temperature=1.0)
    image = picture(64, 48)
    first, other = (model.answer(turn(image, seed=seed)) for seed in (1, 2**63 + 2))
    assert first.text != other.text
    torch.manual_seed(7)
    before = torch.get_rng_state()
    assert model.answer(turn(image, seed=1)) == first
    assert torch.get_rng_state().equal(before), "what comes after is not touched"
    assert json.loads(first.setup)["seed"] == 1
    # Every token is drawn by the reply's own generator, whatever torch's own is seeded with.
    seeded = torch.manual_seed
    monkeypatch.setattr(torch, "manual_seed", lambda _seed: seeded(99))
    assert model.answer(turn(image, seed=1)) == first


def test_only_set_limits_narrow_what_is_drawn_from(tiny):
    """At this heat all 264 tokens are as likely; transformers' own default would leave 50."""
    asked = shown("How many?")
    drawn = {}
    for name, settings in (("all", {}), ("few", {"top_k": 5}), ("one", {"top_p": 1e-6})):
        model = opened(tiny["qwen3vl"], temperature=1e6, **settings)
        inputs = model._inputs(asked)
        drawn[name] = {model._tokens(inputs, 1, seed)[0] for seed in range(120)}
    assert len(drawn["all"]) > 60 and len(drawn["few"]) == 5 and len(drawn["one"]) == 1


def test_a_checkpoints_own_samplers_and_penalties_do_not_count(tiny, tmp_path):
    folder = edited(tiny["qwen3vl"], tmp_path / "opinionated", lambda tensors: None)
    path = folder / "generation_config.json"
    own = {**json.loads(path.read_text()), "do_sample": True, "temperature": 2.0, "top_k": 3}
    path.write_text(json.dumps({**own, "repetition_penalty": 3.0, "max_new_tokens": 2}))
    image = picture(64, 48)
    replies = [opened(f).answer(turn(image)).text for f in (tiny["qwen3vl"], folder)]
    assert replies[0] == replies[1]
    stated = opened(tiny["qwen3vl"], repetition_penalty=3.0).answer(turn(image)).text
    assert stated != replies[0], "one that is set counts"


def test_a_checkpoint_that_names_no_end_ends_as_its_tokenizer_does(tmp_path):
    folder = speaker(tmp_path, ["4"])
    for name in ("generation_config.json", "config.json"):
        told = json.loads((folder / name).read_text())
        for part in (told, told.get("text_config", {})):
            part.pop("eos_token_id", None)
        (folder / name).write_text(json.dumps(told))
    assert opened(folder).answer(turn(picture(64, 48))).outcome == "ok"
    path = folder / "tokenizer_config.json"
    told = {k: v for k, v in json.loads(path.read_text()).items() if k != "eos_token"}
    path.write_text(json.dumps({**told, "eos_token": None}))
    with pytest.raises(GensightError, match="speaker: no token ends a reply"):
        opened(folder)


def test_nan_is_an_error_that_names_the_number_type(tiny, tmp_path):
    def spoil(tensors):
        tensors["lm_head.weight"].fill_(float("nan"))

    model = opened(edited(tiny["qwen3vl"], tmp_path / "spoilt", spoil), dtype="bfloat16")
    with pytest.raises(AnswerError, match="NaN of the next token's odds in bfloat16"):
        model.answer(turn(picture(64, 48)))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"assumed_max_new_tokens": None}, "'max_new_tokens' is missing"),
        ({"assumed_max_new_tokens": 0}, "not a whole number of at least 1"),
        ({"top_p": 0.9}, "top_p: greedy decoding has no use"),
        ({"temperature": 0, "top_k": 3}, "top_k: greedy decoding has no use"),
        ({"temperature": -1.0}, "temperature: -1.0 is no number of at least 0"),
        ({"temperature": 1.0, "top_p": 1.5}, "top_p: 1.5 is no number from 0 to 1"),
    ],
)
def test_settings_that_cannot_be_are_told_before_anything_loads(settings, told):
    with pytest.raises(SpecError, match=told):
        opened("nowhere/at-all", **settings)
