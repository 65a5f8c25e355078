"""The real SDKs, pointed at a fake: retries off, one attempt a call, no environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

KEY = "key+with/odd=signs"
READ_TIMEOUT_S = 20.0


@contextmanager
def http_client(read_timeout_s: float = READ_TIMEOUT_S) -> Iterator[httpx2.Client]:
    """Yield a plain client for all SDKs; a test that waits longer than this has failed."""
    # Nothing here speaks TLS, and reading certificates costs a tenth of a second.
    with httpx2.Client(timeout=read_timeout_s, trust_env=False, verify=False) as client:
        yield client


def openai_client(fake: Any, client: httpx2.Client) -> Any:
    """Return the SDK of OpenAI for a fake that speaks its protocol."""
    import openai

    return openai.OpenAI(api_key=KEY, base_url=fake.url, max_retries=0, http_client=client)


def google_client(fake: Any, client: httpx2.Client, version: str = "v1beta") -> Any:
    """Return the SDK of Google."""
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=fake.url, api_version=version, httpx_client=client)
    return genai.Client(api_key=KEY, http_options=options)


def anthropic_client(fake: Any, client: httpx2.Client) -> Any:
    """Return the SDK of Anthropic."""
    import anthropic

    return anthropic.Anthropic(api_key=KEY, base_url=fake.url, max_retries=0, http_client=client)
