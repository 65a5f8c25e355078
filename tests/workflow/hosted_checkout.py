"""Checkouts whose hosted models answer from fakes on loopback, and what their files say."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from conftest import Checkout
from fakes.anthropic import AnthropicFake
from fakes.ark import ArkFake
from fakes.bfl import BFLFake
from fakes.google import GoogleFake
from fakes.openai import OpenAIFake
from fakes.painters import Gallery
from fakes.server import Fake

from gensight.records import Generation, RowFile

FAKES = {
    "anthropic": (AnthropicFake, "ANTHROPIC_API_KEY"),
    "ark": (ArkFake, "ARK_API_KEY"),
    "bfl": (BFLFake, "BFL_API_KEY"),
    "google": (GoogleFake, "GOOGLE_API_KEY"),
    "openai": (OpenAIFake, "OPENAI_API_KEY"),
}
#: Letters that a URL and base64 write in another way.
MARK = "MARKED-key/+%s=?&0123456789"


def key_of(provider: str) -> str:
    """Return the marked key that a checkout asks this provider under."""
    return MARK % provider


def writings_of(secret: str) -> list[bytes]:
    """Return a key as it may stand in a file: plain, URL-encoded, and inside base64.

    In base64 a text looks in three ways, by where it starts; the letters at its ends are left out,
    since they depend on what is beside it.
    """
    found = [secret.encode(), quote(secret, safe="").encode(), quote(secret).encode()]
    for shift in range(3):
        coded = base64.b64encode(b"x" * shift + secret.encode()).decode()
        found.append(coded[4:-4].encode())
        found.append(coded[4:-4].replace("+", "-").replace("/", "_").encode())
    return found


@contextmanager
def hosted(
    folder: Path, run: Mapping[str, object], fakes: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[Checkout, dict[str, Fake]]]:
    """Yield a checkout with this config, and a fake of each provider, with these options.

    Fakes paint what the oracle would, from the results of the checkout.
    """
    checkout = Checkout(folder)
    gallery = Gallery(folder / "results")
    servers = {name: FAKES[name][0](painter=gallery, **options) for name, options in fakes.items()}
    saved = dict(os.environ)
    try:
        for name, server in servers.items():
            server.__enter__()
            os.environ[FAKES[name][1]] = key_of(name)
        endpoints = {name: server.url for name, server in servers.items()}
        checkout.write_yaml("config/config.yaml", {"endpoints": endpoints, **run})
        yield checkout, servers
    finally:
        os.environ.clear()
        os.environ.update(saved)
        for server in servers.values():
            server.__exit__(None, None, None)


def cells(checkout: Checkout, model: str) -> list[Path]:
    """Return the generations files of a model."""
    return sorted((checkout.folder / "results/generations" / model).rglob("*.parquet"))


def rows(checkout: Checkout, models: Sequence[str]) -> list[Generation]:
    """Return what these models answered."""
    return [
        row
        for model in models
        for path in cells(checkout, model)
        for row in RowFile(path, Generation)
    ]
