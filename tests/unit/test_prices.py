"""Prices: what printed price lists say, by hand; and what is wrong with a list, on one line."""

from datetime import date
from pathlib import Path

import pytest
import yaml
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.bfl import BFLFake
from fakes.chat import DeepSeekFake, MoonshotFake
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake

from gensight.errors import SpecError
from gensight.providers.prices import FILE, PriceList, PricesSpec, Room, TurnFacts
from gensight.providers.usage import Usage
from gensight.specs import declared
from gensight.specs.base import load_spec
from gensight.specs.model import ModelSpec

ROOT = Path(__file__).parents[2]
LIST = PriceList.load(ROOT)
SPECS = load_spec(ROOT / FILE, PricesSpec).models
CARDS = {path.stem: load_spec(path, ModelSpec) for path in (ROOT / "config/models").glob("*.yaml")}
HOSTED = sorted(name for name, spec in CARDS.items() if spec.kind == "hosted")
FAKES = (AnthropicFake, ArkFake, BFLFake, DeepSeekFake, GoogleFake, MoonshotFake, OpenAIFake)
ENTRY = {"provider": "openai", "input_usd_per_million": 1, "output_usd_per_million": 2}


def write(root, models, **changes):
    content = {"date": date(2026, 11, 29), "source": "a page", "models": models, **changes}
    (root / FILE).parent.mkdir(parents=True, exist_ok=True)
    (root / FILE).write_text(yaml.safe_dump(content))
    return PriceList.load(root)


# -- what price lists print

PICTURES = {
    ("gemini-2.5-flash-image", 1290): 0.039,
    ("gemini-3.1-flash-image", 750): 0.045,
    ("gemini-3.1-flash-image", 1120): 0.067,
    ("gemini-3-pro-image", 1120): 0.134,
    ("gemini-3-pro-image", 2000): 0.24,
    ("gpt-image-1", 272): 0.011,
    ("gpt-image-1", 1056): 0.042,
    ("gpt-image-1", 4160): 0.166,
    ("gpt-image-1.5", 272): 0.009,
    ("gpt-image-1.5", 4160): 0.133,
}
FLAT = {
    "doubao-seedream-4-0-250828": 0.03,
    "doubao-seedream-5-0-260128": 0.035,
    "flux-2-pro": 0.045,
    "flux-2-max": 0.10,
    "flux-2-flex": 0.10,
}
#: Dollars of a million tokens in and a million out.
WORDS = {
    "gemini-2.5-flash-image": (0.30, 2.50),
    "gemini-3.1-flash-image": (0.50, 3),
    "gemini-3-pro-image": (2, 12),
    "gemini-3.5-flash": (1.5, 9),
    "gemini-3.6-flash": (0.75, 3.75),
    "gemini-3.8-flash": (0.75, 3.75),
    "gemini-3.1-pro-preview": (2, 12),
    "gpt-5.4": (2.5, 15),
    "gpt-5.6-sol": (4, 20),
    "gpt-6-astra": (10, 50),
    "claude-opus-4-7": (5, 25),
    "claude-opus-5": (5, 25),
    "claude-opus-5-5": (4, 20),
    "kimi-k3": (3, 15),
    "deepseek-v4-pro": (1.32, 3.96),
    "doubao-seed-2-1-pro-260628": (0.86, 4.31),
}


@pytest.mark.parametrize(("model", "tokens"), PICTURES)
def test_tokens_of_a_picture_cost_what_is_printed(model, tokens):
    usd = LIST.price_of(model).cost_usd(Usage(output_image_tokens=tokens, images=1))
    assert usd == pytest.approx(PICTURES[model, tokens], abs=0.0006)


@pytest.mark.parametrize("model", FLAT)
def test_a_flat_price_is_of_pictures_whatever_their_tokens(model):
    usage = Usage(input_text_tokens=90, input_image_tokens=900, output_image_tokens=4096, images=2)
    assert LIST.price_of(model).cost_usd(usage) == 2 * FLAT[model]


@pytest.mark.parametrize("model", WORDS)
def test_a_million_words(model):
    price = LIST.price_of(model)
    asked, told = Usage(input_text_tokens=10**6), Usage(output_text_tokens=10**6)
    assert (price.cost_usd(asked), price.cost_usd(told)) == WORDS[model]


def test_a_picture_shown_costs_what_tokens_of_pictures_cost_where_that_differs():
    shown = Usage(input_image_tokens=10**6)
    assert LIST.price_of("gpt-image-1").cost_usd(shown) == 10
    assert LIST.price_of("gpt-image-2").cost_usd(shown) == 8
    assert LIST.price_of("gpt-5.4").cost_usd(shown) == 2.5
    # The list prints 0.0011 a picture.
    pro = LIST.price_of("gemini-3-pro-image")
    assert pro.cost_usd(Usage(input_image_tokens=560)) == pytest.approx(0.0011, abs=3e-5)


def test_sums_are_of_decimals_and_everything_that_was_used_counts(tmp_path):
    entry = {**ENTRY, "input_usd_per_million": 0.1, "output_usd_per_million": 0.7}
    price = write(tmp_path, {"m": {**entry, "image_usd": 0.2}}).price_of("m")
    assert price.cost_usd(Usage(input_text_tokens=3 * 10**6)) == 0.3
    usage = Usage(1_000_000, 2_000_000, 3_000_000, 4_000_000, images=1)
    assert price.cost_usd(usage) == 0.1 + 0.2 + 2.1 + 2.8 + 0.2
    assert price.cost_usd(Usage()) == 0


# -- worked estimates of ProbeGen: 11 sets of 500 edits by each generator

EDITS = 11 * 500
#: Dollars, and what one edit uses: a prompt of 60 words, a picture shown, a picture returned.
ESTIMATES = {
    "nano_banana_pro": (743, Usage(80, 560, 0, 1120, 1)),
    "nano_banana_2": (370, Usage(80, 0, 0, 1120, 1)),
    "seedream_5_0_lite": (193, Usage(images=1)),
    "gpt_image_2": (1045, Usage(80, 0, 0, 6333, 1)),
}
TURN = TurnFacts(text_bytes=240, shown=((1024, 1024),), returns_picture=True)


@pytest.mark.parametrize("card", ESTIMATES)
def test_a_worked_estimate_is_met_and_what_is_reserved_is_a_little_more(card):
    generation, (usd, usage) = CARDS[card].generation, ESTIMATES[card]
    price = LIST.price_for(generation)
    assert price.cost_usd(usage) * EDITS == pytest.approx(usd, rel=0.005)
    most = price.most_usd(TURN, Room.of(CARDS[card].adapter, generation)) * EDITS
    assert usd * 0.995 <= most <= usd * 1.2


def test_an_item_of_a_reasoning_model_is_budgeted_at_its_limit():
    price, room = LIST.price_of("gpt-6-astra"), Room(max_tokens=32768)
    assert price.cost_usd(Usage(output_text_tokens=32768)) == pytest.approx(1.64, abs=0.002)
    assert price.most_usd(TurnFacts(240), room) == pytest.approx(1.64, abs=0.003)


# -- the list and the rest of the project


@pytest.mark.parametrize("name", HOSTED)
def test_every_hosted_model_has_a_price_of_its_provider(name):
    spec = CARDS[name]
    price = LIST.price_for(spec.generation, f"config/models/{name}.yaml")
    assert price.spec.provider == spec.provider
    assert price.date == "2026-11-29"


@pytest.mark.parametrize("model", SPECS)
def test_what_is_assumed_is_a_setting_that_is_there(model):
    spec = SPECS[model]
    assert [name for name in spec.assumed if name not in spec.model_fields_set] == []
    reads_words = spec.output_usd_per_million is not None or spec.free
    assert not reads_words or "assumed_output_tokens" in {*spec.assumed, *spec.model_fields_set}


@pytest.mark.parametrize(
    ("fake", "model"), [(fake, model) for fake in FAKES for model in fake.PRICES]
)
def test_the_fakes_charge_by_the_same_list(fake, model):
    theirs, ours = fake.PRICES[model], LIST.price_of(model)
    found = {
        "text_in": ours.cost_usd(Usage(input_text_tokens=10**6)),
        "image_in": ours.cost_usd(Usage(input_image_tokens=10**6)),
        "text_out": ours.cost_usd(Usage(output_text_tokens=10**6)),
        "image_out": ours.cost_usd(Usage(output_image_tokens=10**6)),
        "picture": ours.cost_usd(Usage(images=1)),
    }
    # What a fake does not charge may have a price here, never the other way round.
    assert {n: usd for n, usd in theirs._asdict().items() if usd} == {
        name: usd for name, usd in found.items() if getattr(theirs, name)
    }


def test_every_adapter_says_what_its_answers_spend():
    for name in declared.names("models"):
        constants = declared.constants("models", name)
        for setting in constants.get("SPENDS", {}).values():
            if setting is not None:
                place = constants["DEFAULTS"]
                for step in setting.split(".")[:1]:
                    assert step in place, (name, setting)


# -- what is wrong with a list


def test_a_model_without_a_price_is_one_line_with_file_key_and_what_to_add():
    with pytest.raises(SpecError) as caught:
        LIST.price_of("gpt-image-3", "config/models/gpt_image_3.yaml")
    line = str(caught.value)
    assert line.startswith("resources/prices.yaml: models: there is no price of 'gpt-image-3', ")
    assert "which config/models/gpt_image_3.yaml asks for (did you mean 'gpt-image-" in line
    assert "add an entry of that name with provider, input_usd_per_million" in line
    assert "\n" not in line


def test_a_tool_needs_a_price_too():
    generation = {"model": "gpt-5.4", "image_tool": {"model": "gpt-image-9"}}
    with pytest.raises(SpecError, match="no price of 'gpt-image-9', which card asks for"):
        LIST.price_for(generation, "card")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({**ENTRY, "provider": "opnai"}, "provider"),
        ({**ENTRY, "input_usd_per_million": -1}, "input_usd_per_million"),
        ({**ENTRY, "input_usd_per_milion": 1}, "input_usd_per_milion"),
        ({**ENTRY, "free": True}, "a free model has no input_usd_per_million"),
        ({"provider": "ark", "free": True, "image_usd": 0.1}, "a free model has no image_usd"),
        ({"provider": "openai", "input_usd_per_million": 1}, "or image_usd, or free: true"),
        ({"provider": "openai"}, "or image_usd, or free: true"),
        ({**ENTRY, "output_image_tokens": {}}, "at least one size or quality"),
    ],
)
def test_a_wrong_entry_is_one_line_that_names_it(tmp_path, entry, told):
    with pytest.raises(SpecError, match=told) as caught:
        write(tmp_path, {"some-model": entry})
    line = str(caught.value)
    assert line.startswith("resources/prices.yaml: ") and "'models.some-model" in line
    assert "\n" not in line


def test_a_list_needs_a_day_and_a_source(tmp_path):
    with pytest.raises(SpecError, match="date"):
        write(tmp_path, {"m": ENTRY}, date="yesterday")
    with pytest.raises(SpecError, match="source"):
        write(tmp_path, {"m": ENTRY}, source="")
    with pytest.raises(SpecError, match=r"resources/prices\.yaml"):
        PriceList.load(tmp_path / "elsewhere")
