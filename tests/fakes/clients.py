"""The real SDKs, pointed at a fake: retries off, one attempt a call, no environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from pydantic import BaseModel

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

    options = types.HttpOptions(
        base_url=fake.url,
        api_version=version,
        httpx_client=client,
        # Without one of its own this SDK waits for ever, whatever the client's limit is.
        timeout=round(1000 * client.timeout.read),
    )
    return genai.Client(api_key=KEY, http_options=options)


def anthropic_client(fake: Any, client: httpx2.Client) -> Any:
    """Return the SDK of Anthropic."""
    import anthropic

    return anthropic.Anthropic(api_key=KEY, base_url=fake.url, max_retries=0, http_client=client)


def unread(reply: Any, name: str = "") -> set[str]:
    """Return the fields of a body that its SDK's type does not know, as "choices.message.thoughts".

    The SDKs keep what they do not know beside it, so that a body with a misspelt field still reads.
    """
    if isinstance(reply, list):
        return {field for item in reply for field in unread(item, name)}
    if not isinstance(reply, BaseModel):
        return set()
    prefix = f"{name}." if name else ""
    found = {f"{prefix}{field}" for field in reply.model_extra or {}}
    for field in type(reply).model_fields:
        found |= unread(getattr(reply, field), f"{prefix}{field}")
    return found
