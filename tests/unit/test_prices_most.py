"""What is reserved for an answer bounds whatever it may use, within what it was asked for."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sent_requests import picture

from gensight.models import Part, Turn
from gensight.providers.prices import (
    FRAME_TOKENS,
    Price,
    PriceList,
    PriceSpec,
    Room,
    TurnFacts,
    returns_picture,
)
from gensight.providers.usage import Usage

LIST = PriceList.load(Path(__file__).parents[2])
MODELS = sorted(LIST.models)
SHOWN = ((1024, 1024),)


def price(**settings):
    entry = {"provider": "openai", "input_usd_per_million": 1, "output_usd_per_million": 10}
    return Price("m", PriceSpec.model_validate({**entry, **settings}), "2026-11-29")


def picture_tokens(model, size=None, quality=None, shown=SHOWN):
    facts = TurnFacts(0, shown, returns_picture=True)
    return LIST.price_of(model).most(facts, Room(size=size, quality=quality)).output_image_tokens


# -- tokens of the picture that comes back


@pytest.mark.parametrize(
    ("size", "tokens"),
    [(None, 1120), ("1K", 1120), ("0.5K", 750), ("2k", 1680), ("4K", 2520), ("8K", 2520)],
)
def test_a_word_for_the_size_says_how_many_tokens_and_an_unknown_one_is_the_dearest(size, tokens):
    assert picture_tokens("gemini-3.1-flash-image", size) == tokens


@pytest.mark.parametrize(
    ("quality", "tokens"), [(None, 4160), ("low", 272), ("medium", 1056), ("auto", 4160)]
)
def test_so_does_a_word_for_the_quality(quality, tokens):
    assert picture_tokens("gpt-image-1.5", "1024x1024", quality) == tokens


def test_larger_pictures_take_more_and_smaller_ones_are_not_trusted_to_take_less():
    assert picture_tokens("gpt-image-1", "2048x1024", "medium") == 2 * 1056
    assert picture_tokens("gpt-image-1", "512x512", "medium") == 1056


@pytest.mark.parametrize(
    ("size", "quality", "usd"),
    [
        ("1024x1024", "low", 0.006),
        ("1024x1024", "medium", 0.053),
        ("1024x1024", "high", 0.211),
        ("1536x1024", "low", 0.005),
        ("1536x1024", "medium", 0.041),
        ("1024x1536", "high", 0.165),
    ],
)
def test_the_calculator_of_gpt_image_2_gives_the_prices_that_are_printed(size, quality, usd):
    tokens = picture_tokens("gpt-image-2", size, quality)
    assert tokens * 30 / 1e6 == pytest.approx(usd, abs=0.0006)


def test_the_size_of_the_input_is_the_one_that_will_be_asked_for():
    model, quality = "gpt-image-2", "high"
    assert picture_tokens(model, "input", quality, ((640, 480),)) == picture_tokens(
        model, "960x720", quality
    )
    assert picture_tokens(model, "input", quality, ((1024, 700),)) == picture_tokens(
        model, "1024x704", quality
    )
    assert picture_tokens(model, "input", quality, ()) == picture_tokens(model, None, quality)


# -- the rest of an answer


def test_words_beside_a_picture_are_few_and_words_alone_as_many_as_allowed():
    asked = price(assumed_output_tokens=500, output_image_tokens=100)
    painted, told = TurnFacts(returns_picture=True), TurnFacts()
    assert asked.most(painted, Room(max_tokens=8000)).output_text_tokens == 500
    assert asked.most(painted, Room(max_tokens=50)).output_text_tokens == 50
    assert asked.most(told, Room(max_tokens=8000)).output_text_tokens == 8000
    assert asked.most(told, Room()).output_text_tokens == 500
    assert asked.most(told, Room(max_tokens=8).with_limit(16)).output_text_tokens == 16
    assert asked.most(told, Room(max_tokens=8).with_limit(None)).output_text_tokens == 8
    assert (asked.most(told, Room()).images, asked.most(told, Room()).output_image_tokens) == (0, 0)


def test_several_pictures_are_several_times_the_tokens():
    most = price(output_image_tokens=100).most(TurnFacts(returns_picture=True), Room(pictures=3))
    assert (most.images, most.output_image_tokens) == (3, 300)


def test_large_pictures_shown_take_more():
    asked = price(input_image_tokens=1000)
    most = asked.most(TurnFacts(shown=((1024, 1024), (2048, 1024), (10, 10))), Room())
    assert most.input_image_tokens == 1000 + 2000 + 1000


def test_the_facts_of_a_turn_are_its_bytes_and_the_sides_of_its_pictures():
    parts = (
        Part("text", text="Größe"),
        Part("image", image=picture(size=(30, 20))),
        Part("text", text="!"),
    )
    turn = Turn(parts, {"kind": "mask"}, seed=None)
    facts = TurnFacts.of(turn, "google_generate", {"response_modalities": ["IMAGE"]})
    assert facts == TurnFacts(8, ((30, 20),), returns_picture=True)


@pytest.mark.parametrize(
    ("adapter", "generation", "form", "expected"),
    [
        ("openai_images", {}, "text", True),
        ("anthropic_messages", {}, "mask", False),
        ("google_generate", {}, "text", False),
        ("google_generate", {"response_modalities": ["TEXT", "IMAGE"]}, "text", True),
        ("google_generate", {}, "mask", True),
        ("openai_responses", {"image_tool": {"model": "m"}}, "text", True),
        ("openai_responses", {"image_tool": None}, "text", False),
    ],
)
def test_whether_an_answer_can_hold_a_picture(adapter, generation, form, expected):
    assert returns_picture(adapter, generation, form) is expected


def test_a_setting_that_is_not_sent_leaves_the_room_to_the_provider():
    generation = {"assumed_size": "provider_default", "assumed_quality": "high", "n": 2}
    room = Room.of("openai_images", generation)
    assert room == Room(max_tokens=None, size=None, quality="high", pictures=2)
    assert Room.of("no_such_adapter", {"max_tokens": 5}) == Room()
    tool = {"max_output_tokens": 9, "image_tool": {"model": "m", "size": "1K", "quality": "low"}}
    assert Room.of("openai_responses", tool) == Room(max_tokens=9, size="1K", quality="low")


# -- never less than a bill

side = st.integers(1, 1024)
rooms = st.builds(
    Room,
    max_tokens=st.none() | st.integers(1, 40_000),
    size=st.sampled_from([None, "0.5K", "1K", "2K", "4K", "1024x1024", "1536x1024", "input"]),
    quality=st.sampled_from([None, "low", "medium", "high"]),
    pictures=st.integers(1, 4),
)
facts = st.builds(
    TurnFacts,
    text_bytes=st.integers(0, 20_000),
    shown=st.lists(st.tuples(side, side), max_size=4).map(tuple),
    returns_picture=st.booleans(),
)


def listed_tokens(spec, room):
    """Return the tokens that the list prints for a picture of a size or quality; None: by grid."""
    if spec.output_image_grid:
        return None
    if isinstance(spec.output_image_tokens, int):
        return spec.output_image_tokens
    named = [word for word in (room.quality, room.size) if word in spec.output_image_tokens]
    return spec.output_image_tokens[named[0]] if named else None


@settings(deadline=None)
@given(st.sampled_from(MODELS), facts, rooms, st.data())
def test_no_usage_within_the_limits_costs_more_than_is_reserved(model, turn, room, data):
    asked = LIST.price_of(model)
    spec = asked.spec
    limit = spec.assumed_output_tokens if room.max_tokens is None else room.max_tokens
    if turn.returns_picture:
        limit = min(limit, spec.assumed_output_tokens)
    pictures = data.draw(st.integers(0, room.pictures if turn.returns_picture else 0))
    # The sizes in pixels are counted above; here the words.
    tokens = listed_tokens(spec, room) or 0
    usage = Usage(
        input_text_tokens=data.draw(st.integers(0, turn.text_bytes // 3 + FRAME_TOKENS)),
        input_image_tokens=data.draw(st.integers(0, len(turn.shown) * spec.input_image_tokens)),
        output_text_tokens=data.draw(st.integers(0, limit)),
        output_image_tokens=data.draw(st.integers(0, pictures * tokens)),
        images=pictures,
    )
    most = asked.most(turn, room)
    assert asked.cost_usd(usage) <= asked.most_usd(turn, room)
    assert usage.tokens <= most.tokens and usage.images <= most.images


@settings(deadline=None)
@given(facts, st.sampled_from([256, 4096]), st.data())
def test_a_model_that_paints_through_another_reserves_for_both_bills(turn, limit, data):
    own, painter = LIST.price_of("gpt-5.4"), LIST.price_of("gpt-image-1.5")
    both = LIST.price_for({"model": "gpt-5.4", "image_tool": {"model": "gpt-image-1.5"}})
    words = min(limit, own.spec.assumed_output_tokens)
    read = turn.text_bytes // 3 + FRAME_TOKENS
    caller = Usage(read, len(turn.shown) * own.spec.input_image_tokens, words)
    shown = len(turn.shown) * painter.spec.input_image_tokens
    made = data.draw(st.integers(0, 1)) if turn.returns_picture else 0
    drawn = Usage(made * (read + words), made * shown, 0, made * 4160, made)
    room = Room(max_tokens=limit, quality="high")
    bill = own.cost_usd(caller) + painter.cost_usd(drawn)
    assert bill <= both.most_usd(turn, room) + 1e-12


@settings(deadline=None)
@given(facts, rooms)
def test_a_server_of_ones_own_is_free_and_its_tokens_are_counted(turn, room):
    own = LIST.price_of("Qwen/Qwen2.5-VL-72B-Instruct")
    assert own.free and own.most_usd(turn, room) == 0
    assert own.most(turn, room).tokens >= FRAME_TOKENS
