"""The terms on which a hosted model is asked: where, how fast, for how much.

They come from the config and the model's spec when a job runs, and are no param of any rule:
another limit, budget or address changes no answer and makes nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gensight import providers
from gensight.errors import SpecError
from gensight.models import Site, Turn
from gensight.providers.prices import Price, PriceList, Room, TurnFacts
from gensight.providers.usage import Usage
from gensight.specs.base import load_spec, parse
from gensight.specs.model import ModelSpec
from gensight.specs.run import BudgetSpec, ConfigSpec, HostedSpec
from gensight.specs.server import ServerSpec

CONFIG = "the config (config/config.yaml and any --configfile)"


@dataclass(frozen=True)
class Terms:
    """Everything about asking one hosted model that determines no answer."""

    run: str
    model: str
    spec: ModelSpec
    generation: Mapping[str, Any]
    provider: str
    api_model: str
    base_url: str
    price: Price
    price_date: str
    budget: BudgetSpec | None
    hosted: HostedSpec
    keys_file: str | None
    site: Site
    #: The server that is started to be asked; None where one runs already, at `base_url`.
    server: ServerSpec | None = None

    @property
    def root(self) -> Path:
        """Return the root of the checkout."""
        return self.site.root

    @property
    def per_minute(self) -> dict[str, float]:
        """Return the limits per minute that the spec names, by axis."""
        limits = self.spec.limits
        named = {
            "requests": limits.requests_per_minute,
            "tokens": limits.tokens_per_minute,
            "images": limits.images_per_minute,
        }
        return {axis: limit for axis, limit in named.items() if limit is not None}

    def most(self, turn: Turn) -> Usage:
        """Return the most that the answer to a turn can use."""
        facts = TurnFacts.of(turn, self.spec.adapter, self.generation)
        room = Room.of(self.spec.adapter, self.generation).with_limit(turn.max_tokens)
        return self.price.most(facts, room)

    def is_retired(self, today: date) -> bool:
        """Say whether the provider does not know the model any more."""
        return self.spec.retired is not None and today >= self.spec.retired.date


def terms_of(
    config: Mapping[str, Any], root: Path, model: str, generation: Mapping[str, Any]
) -> Terms | None:
    """Return the terms of a model, or None for one that is not hosted.

    `generation` is its generation block with every default filled in.

    Raises:
        SpecError: the config or the spec is wrong, or nobody knows the model's price or address.
    """
    spec = load_spec(root / "config/models" / f"{model}.yaml", model=ModelSpec)
    provider = spec.provider
    if provider is None:
        return None
    parsed = parse(CONFIG, ConfigSpec, dict(config))
    api_model = str(generation["model"])
    prices = PriceList.load(root)
    price = prices.price_for(generation, f"config/models/{model}.yaml")
    _refuse_foreign(price, provider, model)
    site = Site.of(config, root, spec.limits)
    starts = spec.server is not None and site.endpoint(model, provider) is None
    return Terms(
        run=parsed.run.name,
        model=model,
        spec=spec,
        generation=generation,
        provider=provider,
        api_model=api_model,
        base_url="" if starts else _address(site, generation, provider, model),
        price=price,
        price_date=prices.date,
        budget=parsed.budget,
        hosted=parsed.hosted,
        keys_file=parsed.keys_file,
        site=site,
        server=spec.server if starts else None,
    )


def _refuse_foreign(price: Price, provider: str, model: str) -> None:
    """Refuse to take a model for free because a server of one's own serves one of its name."""
    if price.free and price.spec.provider != provider:
        raise SpecError(
            f"resources/prices.yaml: models.{price.api_model}: is free at {price.spec.provider}, "
            f"and config/models/{model}.yaml asks {provider}; give what {provider} charges for it "
            f"under an id of its own"
        )


def _address(site: Site, generation: Mapping[str, Any], provider: str, model: str) -> str:
    official = providers.load(provider).BASE_URL
    found = site.endpoint(model, provider) or generation.get("base_url") or official
    if found is None:
        raise SpecError(
            f"config/models/{model}.yaml: generation.base_url: the service '{provider}' has no "
            f"address of its own; give it here, or under endpoints.{provider} in the config, or a "
            f"server: that is started for it"
        )
    return str(found).rstrip("/")
