"""Every adapter protocol that is planned: where it runs, and what a model's generation may say.

A protocol is a module `gensight.models.<name>` once its adapter exists. A spec may name one that
is not there yet: it plans, and running it ends with one line.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    """One way to talk to a model: the kind of place it runs at, and the vendor it is paced by.

    A `proven` one has met the real thing: a forward pass of real weights, a reply of the real
    service. Stand-ins and tiny random copies prove nothing of the kind.
    """

    kind: str
    provider: str | None = None
    proven: bool = False


PROTOCOLS: dict[str, Protocol] = {
    "reference": Protocol("reference", proven=True),
    # Algorithms, which need no weights: what runs here is the real thing.
    "pixelise": Protocol("reference", proven=True),
    "openai_images": Protocol("hosted", "openai"),
    "openai_responses": Protocol("hosted", "openai"),
    # The service says whose limits and key they are.
    "openai_chat": Protocol("hosted", "openai"),
    "ark_images": Protocol("hosted", "ark"),
    "google_generate": Protocol("hosted", "google"),
    "anthropic_messages": Protocol("hosted", "anthropic"),
    "bfl_task": Protocol("hosted", "bfl"),
    "diffusers_edit": Protocol("local"),
    "diffusers_depth": Protocol("local"),
    "transformers_depth": Protocol("local"),
    "transformers_segment": Protocol("local"),
    "transformers_chat": Protocol("local"),
    "segment_agent": Protocol("served"),
    "external_command": Protocol("external"),
    "published": Protocol("published"),
}
#: A service that is a server of one's own: free, and nothing but a spec says what it serves.
OWN_SERVER = "vllm"
#: Services that speak the chat protocol of OpenAI under a key and an address of their own.
CHAT_SERVICES = ("ark", "deepseek", "moonshot", "openai", "vllm")
PROVIDERS = tuple(sorted({p.provider for p in PROTOCOLS.values() if p.provider} | {*CHAT_SERVICES}))
