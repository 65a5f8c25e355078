"""Two countings of the same money: a fake's bill, and the price list's of what a reply tells."""

from pathlib import Path
from typing import NamedTuple

import pytest
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.bfl import BFLFake
from fakes.billing import Scenario
from fakes.chat import DeepSeekFake, MoonshotFake
from fakes.faults import SHAPES
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake
from played_turns import play
from sent_requests import JPEG, PNG, turn

from gensight import models, providers
from gensight.providers.prices import PriceList, Room, TurnFacts
from gensight.providers.usage import Usage

PRICES = PriceList.load(Path(__file__).parents[2])
PAINTS = turn("Paint the mask of the cup,", PNG, "like in this one:", JPEG)
READS = turn("How many cups are there?", PNG, form="text")
WRITES = turn("How many legs have two cats?", form="text")


class Way(NamedTuple):
    """A protocol, a model and a question."""

    fake: type
    provider: str
    adapter: str
    generation: dict
    asked: object


SIZED = {"assumed_size": "1536x1024", "assumed_quality": "medium"}
WAYS = {
    "edit": Way(OpenAIFake, "openai", "openai_images", {"model": "gpt-image-2", **SIZED}, PAINTS),
    "gpt-image-1.5": Way(
        OpenAIFake, "openai", "openai_images", {"model": "gpt-image-1.5", **SIZED}, PAINTS
    ),
    "responses": Way(OpenAIFake, "openai", "openai_responses", {"model": "gpt-5.4"}, READS),
    "chat": Way(
        OpenAIFake, "openai", "openai_chat", {"service": "openai", "model": "gpt-6-astra"}, READS
    ),
    "google": Way(
        GoogleFake,
        "google",
        "google_generate",
        {"model": "gemini-3.1-flash-image", "response_modalities": ["TEXT", "IMAGE"]},
        PAINTS,
    ),
    "gemini": Way(GoogleFake, "google", "google_generate", {"model": "gemini-3.6-flash"}, READS),
    "claude": Way(
        AnthropicFake,
        "anthropic",
        "anthropic_messages",
        {"model": "claude-opus-4-7", "max_tokens": 512},
        READS,
    ),
    "seedream": Way(ArkFake, "ark", "ark_images", {"model": "doubao-seedream-4-5-251128"}, PAINTS),
    "seed": Way(
        ArkFake,
        "ark",
        "openai_chat",
        {"service": "ark", "model": "doubao-seed-2-1-pro-260628"},
        READS,
    ),
    "kimi": Way(
        MoonshotFake, "moonshot", "openai_chat", {"service": "moonshot", "model": "kimi-k3"}, READS
    ),
    "deepseek": Way(
        DeepSeekFake,
        "deepseek",
        "openai_chat",
        {"service": "deepseek", "model": "deepseek-v4-pro"},
        WRITES,
    ),
    "flux": Way(BFLFake, "bfl", "bfl_task", {"model": "flux-2-flex"}, PAINTS),
}


def counted(way, fault):
    """Ask once; return the reply's money by the price list, and the fake's bill."""
    with way.fake(scenario=Scenario().default(fault)) as fake:
        module, provider = models.load(way.adapter), providers.load(way.provider)
        reply = play(fake, module, provider, way.generation, way.asked).reply
        price = PRICES.price_for(way.generation)
        usage = Usage.from_json(reply.usage)
        if usage is None:  # then a question counts at the most that it can cost
            facts = TurnFacts.of(way.asked, way.adapter, way.generation)
            usage = price.most(facts, Room.of(way.adapter, way.generation))
        return price.cost_usd(usage), fake


# A task is asked after once a second, and has fewer ends.
CASES = [(name, fault) for name in WAYS if name != "flux" for fault in ("ok", *SHAPES)]
CASES += [("flux", fault) for fault in ("ok", "refused_200")]


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_the_bill_is_what_the_reply_costs(name, fault):
    told_usd, fake = counted(WAYS[name], fault)
    assert told_usd == pytest.approx(fake.charged_usd, abs=1e-12)
    assert (fake.charged_usd > 0) == (fake.charged == 1)


def test_a_model_that_paints_through_another_is_never_counted_too_low():
    tool = {"model": "gpt-image-2", "size": "1024x1024", "quality": "low"}
    generation = {"model": "gpt-5.4", "image_tool": tool}
    told_usd, fake = counted(
        Way(OpenAIFake, "openai", "openai_responses", generation, PAINTS), "ok"
    )
    assert fake.charged_usd <= told_usd <= 2 * fake.charged_usd


def test_prices_are_not_those_of_the_books():
    # One wrong price in the list must show as a difference, so the fakes have their own.
    folder = Path(__file__).parents[1] / "fakes"
    used = [
        (path.name, line)
        for path in folder.glob("*.py")
        for line in path.read_text().splitlines()
        if "gensight.providers" in line and "import" in line
    ]
    assert used == []
