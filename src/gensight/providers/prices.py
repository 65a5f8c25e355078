"""What requests cost: resources/prices.yaml, by the model id that requests name.

Money is counted twice. Before a request leaves, `Price.most` bounds what its answer can use, and
that much is reserved; afterwards `Price.cost_usd` counts what the reply says that it used. Sums are
made of decimals, so that a price of 0.1 is a tenth; the result is the nearest float.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator, model_validator

from gensight.errors import SpecError
from gensight.providers.sizes import allowed_sides
from gensight.providers.usage import Usage
from gensight.specs import declared
from gensight.specs.base import Names, Spec, load_spec
from gensight.specs.conventions import ASSUMED, PROVIDER_DEFAULT
from gensight.specs.protocols import OWN_SERVER, PROVIDERS
from gensight.specs.words import nearest

if TYPE_CHECKING:
    from gensight.models import Turn

FILE = Path("resources/prices.yaml")
#: English takes about four bytes a token; code, digits and other scripts take fewer (assumed).
BYTES_PER_TOKEN = 3
#: What a provider puts around a request's texts and pictures (assumed).
FRAME_TOKENS = 64
#: Pictures are shown at a long side of 1024: a price list's tokens are of at most so many pixels.
USUAL_PIXELS = 1024 * 1024
USUAL_SIDES = (1024, 1024)
SIDES = re.compile(r"(\d+)\s*[xX]\s*(\d+)")
MILLION = 1_000_000

Usd = Annotated[float, Field(ge=0)]
Tokens = Annotated[int, Field(ge=0)]


class PriceSpec(Spec):
    """One model's prices, and what bounds the tokens of one answer; see resources/prices.yaml."""

    provider: str
    input_usd_per_million: Usd | None = None
    input_image_usd_per_million: Usd | None = None
    output_usd_per_million: Usd | None = None
    output_image_usd_per_million: Usd | None = None
    image_usd: Usd | None = None
    input_image_tokens: Tokens = 0
    output_image_tokens: Tokens | dict[str, Tokens] = 0
    output_image_pixels: Annotated[int, Field(ge=1)] | None = None
    output_image_grid: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    assumed_output_tokens: Tokens = 0
    source: str | None = None
    assumed: Names = Field(default_factory=list)
    free: bool = False

    @field_validator("provider")
    @classmethod
    def _is_known(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError(f"expected one of {', '.join(PROVIDERS)}")
        return provider

    @field_validator("output_image_tokens")
    @classmethod
    def _has_words(cls, tokens: int | dict[str, int]) -> int | dict[str, int]:
        if tokens == {}:
            raise ValueError("name the tokens of at least one size or quality, or give one number")
        return tokens

    @model_validator(mode="after")
    def _has_a_price(self) -> PriceSpec:
        priced = [name for name in type(self).model_fields if name.endswith(("million", "_usd"))]
        given = [name for name in priced if getattr(self, name) is not None]
        if self.free and given:
            raise ValueError(f"a free model has no {given[0]}")
        tokens = self.input_usd_per_million is not None and (
            self.output_usd_per_million is not None or self.output_image_usd_per_million is not None
        )
        if not (self.free or tokens or self.image_usd is not None):
            raise ValueError(
                "give input_usd_per_million and output_usd_per_million, or image_usd, or free: true"
            )
        return self


class PricesSpec(Spec):
    """resources/prices.yaml: the day and source of its prices, and one entry per model id."""

    date: date
    source: str = Field(min_length=1)
    models: dict[str, PriceSpec]


@dataclass(frozen=True)
class Room:
    """What a generation's settings leave to an answer; None where it is the provider's default.

    `size` and `quality` are the words of the settings; `pictures` how many are asked for at once.
    """

    max_tokens: int | None = None
    size: str | None = None
    quality: str | None = None
    pictures: int = 1

    @classmethod
    def of(cls, adapter: str, generation: Mapping[str, Any]) -> Room:
        """Return the room of a generation block, whose settings its adapter's `SPENDS` names."""
        spends = _constants_of(adapter).get("SPENDS", {})
        limit, size, quality = (
            _setting(generation, spends.get(name)) for name in ("max_tokens", "size", "quality")
        )
        number = _setting(generation, "n")
        return cls(
            limit if isinstance(limit, int) else None,
            None if size is None else str(size),
            None if quality is None else str(quality),
            number if isinstance(number, int) else 1,
        )

    def with_limit(self, max_tokens: int | None) -> Room:
        """Return the room under another limit of tokens; None leaves it as it is."""
        return self if max_tokens is None else replace(self, max_tokens=max_tokens)


def _constants_of(adapter: str) -> Mapping[str, Any]:
    """Return what an adapter declares; nothing of one that this version does not have."""
    return declared.constants("models", adapter) if adapter in declared.names("models") else {}


def _setting(generation: Mapping[str, Any], name: str | None) -> Any:
    """Return a setting, which a model's card may call assumed; None: the provider's default.

    A dot leads into a mapping: `image_tool.size`.
    """
    if name is None:
        return None
    outer, _, inner = name.partition(".")
    if inner:
        within = generation.get(outer)
        return _setting(within, inner) if isinstance(within, Mapping) else None
    value = _first(generation.get(name), generation.get(f"{ASSUMED}{name}"))
    return None if value == PROVIDER_DEFAULT else value


def returns_picture(adapter: str, generation: Mapping[str, Any], form: str) -> bool:
    """Say whether an answer can hold a picture: it is asked for, or the setting lets it be one."""
    answers = _constants_of(adapter).get("ANSWERS", ["image", "text"])
    if "image" not in answers or "text" not in answers:
        return "image" in answers
    modalities = _setting(generation, "response_modalities") or ()
    return form != "text" or "IMAGE" in modalities or bool(_setting(generation, "image_tool"))


@dataclass(frozen=True)
class TurnFacts:
    """What of a turn its price depends on: bytes of text, (width, height) of the pictures shown.

    `returns_picture` says whether the answer can hold a picture.
    """

    text_bytes: int = 0
    shown: tuple[tuple[int, int], ...] = ()
    returns_picture: bool = False

    @classmethod
    def of(cls, turn: Turn, adapter: str, generation: Mapping[str, Any]) -> TurnFacts:
        """Return the facts of a turn; of a picture only the header is read.

        Raises:
            ImageError: a picture has no readable header.
        """
        from gensight.images import inspect

        pictures = [inspect(part.image) for part in turn.parts if part.image is not None]
        return cls(
            text_bytes=sum(len((part.text or "").encode()) for part in turn.parts),
            shown=tuple((picture.width, picture.height) for picture in pictures),
            returns_picture=returns_picture(adapter, generation, turn.answer_form["kind"]),
        )


@dataclass(frozen=True)
class Price:
    """One model's prices as of a day; with a tool, those of the model that paints for it, too."""

    api_model: str
    spec: PriceSpec
    date: str
    has_tool: bool = False

    @property
    def free(self) -> bool:
        """Whether requests cost nothing."""
        return self.spec.free

    def cost_usd(self, usage: Usage) -> float:
        """Return what a usage costs, in US dollars: exact up to the rounding to a float.

        Tokens of pictures without a price of their own cost what text does, and the other way
        round; where pictures have a flat price, tokens without a price are free.
        """
        spec = self.spec
        text_in = spec.input_usd_per_million
        text_out, image_out = spec.output_usd_per_million, spec.output_image_usd_per_million
        by_token = (
            (usage.input_text_tokens, text_in),
            (usage.input_image_tokens, _first(spec.input_image_usd_per_million, text_in)),
            (usage.output_text_tokens, _first(text_out, image_out)),
            (usage.output_image_tokens, _first(image_out, text_out)),
        )
        million = sum((number * _exact(price) for number, price in by_token), Decimal(0))
        return float(million / MILLION + usage.images * _exact(spec.image_usd))

    def most(self, facts: TurnFacts, room: Room) -> Usage:
        """Return the most that the answer to a turn can use."""
        limit, beside = room.max_tokens, self.spec.assumed_output_tokens
        if facts.returns_picture:
            words = beside if limit is None else min(beside, limit)
        else:
            words = beside if limit is None else limit
        pictures = room.pictures if facts.returns_picture else 0
        text = _text_tokens(facts.text_bytes)
        return Usage(
            # A tool is told again, in the words of the model that calls it.
            input_text_tokens=2 * text + words if self.has_tool else text,
            input_image_tokens=sum(self._shown_tokens(sides) for sides in facts.shown),
            output_text_tokens=words,
            output_image_tokens=pictures * self._picture_tokens(facts, room) if pictures else 0,
            images=pictures,
        )

    def most_usd(self, facts: TurnFacts, room: Room) -> float:
        """Return the most that a turn can cost, in US dollars: what is reserved for it."""
        return self.cost_usd(self.most(facts, room))

    def with_tool(self, painter: Price) -> Price:
        """Return the price of this model when it paints through another one.

        Both read texts and pictures, which are counted at the dearer one's price.
        """
        own, tool = self.spec, painter.spec
        text_in = _dearest(own.input_usd_per_million, tool.input_usd_per_million)
        images_in = (own.input_image_usd_per_million, tool.input_image_usd_per_million)
        tokens = own.input_image_tokens + tool.input_image_tokens
        update = {
            "input_usd_per_million": text_in,
            "input_image_usd_per_million": _dearest(text_in, *images_in),
            "output_usd_per_million": _dearest(
                own.output_usd_per_million, tool.output_usd_per_million
            ),
            "output_image_usd_per_million": tool.output_image_usd_per_million,
            "image_usd": tool.image_usd,
            "input_image_tokens": tokens,
            "output_image_tokens": tool.output_image_tokens,
            "output_image_pixels": tool.output_image_pixels,
            "output_image_grid": tool.output_image_grid,
            "free": own.free and tool.free,
        }
        return replace(self, spec=own.model_copy(update=update), has_tool=True)

    def _shown_tokens(self, sides: tuple[int, int]) -> int:
        return _grown(self.spec.input_image_tokens, sides, USUAL_PIXELS)

    def _picture_tokens(self, facts: TurnFacts, room: Room) -> int:
        sides, quality = _sides(room.size, facts.shown), (room.quality or "").lower()
        grid, tokens = self.spec.output_image_grid, self.spec.output_image_tokens
        if grid:
            return _grid_tokens(grid.get(quality, max(grid.values())), sides)
        if isinstance(tokens, dict):
            by_word = {word.lower(): number for word, number in tokens.items()}
            words = [quality, (room.size or "").lower()]
            # What is not sent is the provider's default; a word that is not known, the dearest.
            dearest = max(by_word.values())
            usual = dearest if any(words) else by_word.get("default", dearest)
            tokens = next((by_word[word] for word in words if word in by_word), usual)
        pixels = self.spec.output_image_pixels
        return tokens if pixels is None else _grown(tokens, sides, pixels)


@dataclass(frozen=True)
class PriceList:
    """All prices of a checkout; `date` is the day they are of, as in 2026-11-29."""

    date: str
    models: Mapping[str, PriceSpec]

    @classmethod
    def load(cls, root: Path) -> PriceList:
        """Read resources/prices.yaml of a checkout.

        Raises:
            SpecError: the file is missing or wrong; one line naming the key.
        """
        try:
            spec = load_spec(root / FILE, PricesSpec)
        except SpecError as error:
            raise SpecError(str(error).replace(f"{root}/", "")) from None
        return cls(spec.date.isoformat(), spec.models)

    def price_of(self, api_model: str, asked_by: str = "") -> Price:
        """Return the price of a model id; `asked_by` is the file that names it, for the error.

        Raises:
            SpecError: there is none; the message says what to add.
        """
        if api_model in self.models:
            return Price(api_model, self.models[api_model], self.date)
        by = f", which {asked_by} asks for" if asked_by else ""
        raise SpecError(
            f"{FILE}: models: there is no price of '{api_model}'{by}"
            f"{nearest(api_model, self.models)}; add an entry of that name with provider, "
            f"input_usd_per_million, output_usd_per_million, input_image_tokens and "
            f"assumed_output_tokens, or image_usd, or free: true for a server of your own"
        )

    def price_for(self, generation: Mapping[str, Any], asked_by: str = "") -> Price:
        """Return the price of a generation block: of its model, and of the one that paints for it.

        What a server of one's own serves is free, unless the list gives it a price.

        Raises:
            SpecError: one of them has no price.
        """
        if generation.get("service") == OWN_SERVER and generation.get("model") not in self.models:
            free = PriceSpec(provider=OWN_SERVER, free=True)
            return Price(str(generation.get("model")), free, self.date)
        price = self.price_of(str(generation.get("model")), asked_by)
        painter = _setting(generation, "image_tool.model")
        return price if painter is None else price.with_tool(self.price_of(painter, asked_by))


def _dearest(*prices: float | None) -> float | None:
    return max((price for price in prices if price is not None), default=None)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _exact(price: float | None) -> Decimal:
    """Return a price as it is written in the file; none is nothing to pay."""
    return Decimal(0) if price is None else Decimal(json.dumps(price))


def _text_tokens(text_bytes: int) -> int:
    return FRAME_TOKENS + math.ceil(text_bytes / BYTES_PER_TOKEN)


def _grown(tokens: int, sides: tuple[int, int], pixels: int) -> int:
    """Return the tokens of a picture, in proportion above so many pixels, never fewer below."""
    return max(tokens, -(-tokens * sides[0] * sides[1] // pixels))


def _sides(size: str | None, shown: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the sides of the picture that comes back: as asked, as shown, or as usual."""
    given = SIDES.fullmatch(size) if size else None
    if given:
        return int(given[1]), int(given[2])
    if size == "input" and shown:
        return allowed_sides(*shown[0])
    return USUAL_SIDES


def _grid_tokens(longest: int, sides: tuple[int, int]) -> int:
    """Return the tokens of a picture of gpt-image-2, as OpenAI's price calculator counts them.

    A grid of `longest` cells on the long side is laid over the picture, in its shape; cells weigh
    half a token, and half a token more for every two megapixels. Source: third parties' copies of
    the calculator, which give the printed prices (0.006, 0.053 and 0.211 dollars at 1024x1024).
    """
    long_side, short_side = max(sides), min(sides)
    # Half a cell counts as one: the calculator rounds it to the even number, which may be less.
    cells = longest * max(1, (2 * longest * short_side + long_side) // (2 * long_side))
    return math.ceil(cells * (2 * MILLION + long_side * short_side) / (4 * MILLION))
