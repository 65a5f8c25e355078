"""Checks of what a run says about hosted models: money, addresses, and where replies are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gensight.errors import SpecError
from gensight.specs.protocols import OWN_SERVER, PROVIDERS
from gensight.specs.words import unknown

if TYPE_CHECKING:
    from gensight.specs.model import ModelSpec
    from gensight.specs.project import Project

#: The protocol that asks such a server from inside its own answers.
AGENT = "segment_agent"


def check_hosting(file: str, project: Project) -> None:
    """Check the budget, the endpoints and the ledger of a config.

    Raises:
        SpecError: one line naming the file, the key and what is allowed.
    """
    config = project.config
    if config.budget is not None:
        hosted = [name for name, model in project.models.items() if model.kind == "hosted"]
        for name in config.budget.models:
            if name not in hosted:
                raise unknown(file, "budget.models", name, hosted)
    asked = [name for name, model in project.models.items() if model.kind in ("hosted", "served")]
    for name, address in config.endpoints.items():
        if name not in (*PROVIDERS, *asked):
            raise unknown(file, "endpoints", name, (*PROVIDERS, *asked))
        check_address(file, f"endpoints.{name}", address)
    if project.ledger.exists() and not project.ledger.is_dir():
        raise SpecError(
            f"{file}: ledger: {config.ledger} is a file; name a folder, where replies are kept"
        )


def check_server(file: str, model: ModelSpec) -> None:
    """Check that a model at a server of one's own says whose weights it serves, and where.

    Its address is no part of what a reply is kept under: without a revision, another server's
    replies would be taken for this one's.

    Raises:
        SpecError: `generation.weights_revision` is missing, or `generation.base_url` no address.
    """
    address = model.generation.get("base_url")
    if isinstance(address, str):
        check_address(file, "generation.base_url", address)
    if model.server is not None and model.provider != OWN_SERVER and model.adapter != AGENT:
        raise SpecError(
            f"{file}: server: only a model that is asked at the service '{OWN_SERVER}' can have a "
            f"server; remove it"
        )
    if model.provider == OWN_SERVER and model.generation.get("weights_revision") is None:
        raise SpecError(
            f"{file}: generation.weights_revision: is missing; a server of your own serves what it "
            f"was started with: give the revision of its weights, so that replies are told apart"
        )


def check_address(file: str, key: str, address: str) -> None:
    """Check that something is the address of a service.

    Raises:
        SpecError: it is not.
    """
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of brackets or a port
        whole = False
    if not whole or any(letter.isspace() for letter in address):
        raise SpecError(
            f"{file}: {key}: '{address}' is no address; it looks like https://HOST/PATH (or "
            f"http://HOST:PORT for a server of your own)"
        )
