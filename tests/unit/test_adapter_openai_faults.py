"""The adapters on OpenAI's SDK against fakes on loopback: every fault and answer, asked once."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from fakes.ark import ArkFake
from fakes.billing import Scenario
from fakes.chat import DeepSeekFake, MoonshotFake, VllmFake
from fakes.openai import OpenAIFake
from fakes.painters import plain
from played_turns import play
from sent_requests import KEY, PNG, turn

from gensight import providers
from gensight.models import ark_images, openai_chat, openai_images, openai_responses
from gensight.providers.usage import Usage

PAINTS = turn("Paint the mask of the cup.", PNG)
READS = turn("How many cups are there?", PNG, form="text")
WRITES = turn("Draw a cup as a grid.", form="text")
PAINTED = plain(["Paint the mask of the cup."], [PNG]).image


class Way(NamedTuple):
    """One protocol at one provider: how it is reached, what it is asked."""

    fake: type
    module: object
    provider: str
    generation: dict
    asked: object
    #: Where it ends otherwise than the others.
    ends: dict


IMAGE = {"model": "gpt-image-2", "assumed_size": "1024x1024", "assumed_quality": "low"}
TOOL = {"model": "gpt-image-2", "size": "1024x1024", "quality": "low"}
WAYS = {
    "edit": Way(
        OpenAIFake,
        openai_images,
        "openai",
        IMAGE,
        PAINTS,
        {"refused_200": "ok", "text_only": "ok", "truncated": "ok"},
    ),
    "generate": Way(
        OpenAIFake,
        openai_images,
        "openai",
        IMAGE,
        turn("Paint a cup."),
        {"refused_200": "ok", "text_only": "ok", "truncated": "ok"},
    ),
    "responses": Way(
        OpenAIFake,
        openai_responses,
        "openai",
        {"model": "gpt-5.4", "max_output_tokens": 512},
        READS,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "tool": Way(
        OpenAIFake,
        openai_responses,
        "openai",
        {"model": "gpt-5.4", "image_tool": TOOL},
        PAINTS,
        {"refused_200": "refused_input"},
    ),
    "chat": Way(
        OpenAIFake,
        openai_chat,
        "openai",
        {"service": "openai", "model": "gpt-5.4", "max_tokens": 512},
        READS,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "kimi": Way(
        MoonshotFake,
        openai_chat,
        "moonshot",
        {"service": "moonshot", "model": "kimi-k3", "max_tokens": 512},
        READS,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "deepseek": Way(
        DeepSeekFake,
        openai_chat,
        "deepseek",
        {"service": "deepseek", "model": "deepseek-v4-pro", "max_tokens": 512},
        WRITES,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "seed": Way(
        ArkFake,
        openai_chat,
        "ark",
        {"service": "ark", "model": "doubao-seed-2-1-pro-260628", "max_tokens": 512},
        READS,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "vllm": Way(
        VllmFake,
        openai_chat,
        "vllm",
        {"service": "vllm", "model": "Qwen/Qwen3-VL", "max_tokens": 512},
        READS,
        {"no_image": "ok", "text_only": "ok"},
    ),
    "seedream": Way(
        ArkFake,
        ark_images,
        "ark",
        {"model": "doubao-seedream-4-5-251128"},
        PAINTS,
        {"text_only": "ok", "truncated": "ok"},
    ),
}

#: What each fault is to the runner: a fault of the provider, or an outcome.
ENDS = {
    "ok": "ok",
    "wait_429": "wait",
    "quota_429": "quota",
    "quota_402": "quota",
    "error_500": "overloaded",
    "error_500_bare": "in_doubt",
    "overloaded_503": "overloaded",
    "overloaded_529": "overloaded",
    "timeout_504": "in_doubt",
    "auth_401": "auth",
    "gone_404": "gone",
    "bad_request_400": "bad_request",
    "refused_400": "refused_input",
    "leak_key": "auth",
    "refused_200": "refused_output",
    "no_image": "no_image",
    "text_only": "text_only",
    "two_images": "ok",
    "truncated": "truncated",
    "wrong_model": "ok",
    "slow": "ok",
    "hang_after_charge": "in_doubt",
    "drop_before_charge": "in_doubt",
    "drop_after_charge": "in_doubt",
    "drop_mid_body": "in_doubt",
    "html_200": "in_doubt",
    "empty_200": "in_doubt",
    "broken_json": "in_doubt",
}


def played(name, fault="ok", **options):
    way = WAYS[name]
    with way.fake(scenario=Scenario().default(fault, **options)) as fake:
        limit_s = 0.3 if fault == "hang_after_charge" else 10.0
        provider = providers.load(way.provider)
        found = play(fake, way.module, provider, way.generation, way.asked, limit_s)
        assert len(fake.journal) == 1
        return found, fake


@pytest.mark.parametrize("fault", ENDS)
@pytest.mark.parametrize("name", WAYS)
def test_every_fault_is_told_and_asked_once(name, fault):
    options = {"delay_s": 0.01} if fault == "slow" else {}
    found, _ = played(name, fault, **options)
    assert found.end == WAYS[name].ends.get(fault, ENDS[fault])
    assert KEY not in repr((found.fault, found.reply))


@pytest.mark.parametrize("name", ["edit", "tool", "seedream"])
def test_a_picture_is_what_was_painted(name):
    found, _ = played(name)
    assert found.reply.images == (PAINTED,)
    assert found.reply.text is None


@pytest.mark.parametrize("name", ["responses", "chat", "kimi", "deepseek", "seed", "vllm"])
def test_a_text_is_what_was_said(name):
    found, _ = played(name)
    assert (found.reply.text, found.reply.images) == ("7", ())


@pytest.mark.parametrize("name", WAYS)
def test_the_bill_is_that_of_the_usage(name):
    found, fake = played(name)
    used = Usage.from_json(found.reply.usage)
    model = WAYS[name].generation["model"]
    price = fake.prices.get(model)
    if price is None:
        assert (name, fake.charged_usd) == ("vllm", 0.0)
        return
    usd = (used.input_text_tokens * price.text_in + used.input_image_tokens * price.image_in) / 1e6
    usd += used.output_text_tokens * price.text_out / 1e6
    usd += used.output_image_tokens * price.image_out / 1e6 + used.images * price.picture
    if name == "tool":
        # The tool's tokens are those of another model: what is told is a sum over both.
        assert used.output_image_tokens == 667 and used.images == 1
        return
    assert usd == pytest.approx(fake.charged_usd, abs=1e-9)
    assert fake.charged_usd > 0


@pytest.mark.parametrize("name", ["edit", "generate", "tool", "seedream"])
def test_two_pictures_are_kept(name):
    found, _ = played(name, "two_images")
    assert len(found.reply.images) == 2


@pytest.mark.parametrize(
    ("stage", "end"), [("input", "refused_input"), ("output", "refused_output")]
)
def test_moderation_says_what_it_stopped(stage, end):
    for name, fault in (("edit", "refused_400"), ("tool", "refused_200")):
        found, _ = played(name, fault, stage=stage)
        assert found.end == end


def test_a_picture_of_seedream_is_not_stamped():
    # The fake stamps what does not decline the mark, so the painted bytes say that it was declined.
    found, fake = played("seedream")
    assert fake.journal[0].body["watermark"] is False
    assert found.reply.images == (PAINTED,)


@pytest.mark.parametrize("name", ["responses", "chat", "kimi", "seedream"])
def test_the_model_that_answered_is_told(name):
    found, _ = played(name, "wrong_model", model="another-model-9")
    assert found.reply.answered_model == "another-model-9"
    found, _ = played(name)
    assert found.reply.answered_model == WAYS[name].generation["model"]
