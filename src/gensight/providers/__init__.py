"""Providers: what every adapter of one vendor shares, and nothing about prompts or pictures.

One module per provider declares where it lives and how it says no:

    BASE_URL        the official address; the config's `endpoints` may name another road to it
    KEY_VARIABLES   environment variables that may hold its key, the first that is set wins;
                    empty for a server that asks for none
    fault_of(exchange) -> Fault | None
                    what went wrong in a round trip; None where there is an answer to read

Faults are told by status and error code, never by the words of a message.
"""

from __future__ import annotations

from types import ModuleType

from gensight import modules
from gensight.providers.exchange import Connection, Exchange, Fault, FaultKind

__all__ = ["Connection", "Exchange", "Fault", "FaultKind", "load"]


def load(name: str) -> ModuleType:
    """Import the module of a provider."""
    return modules.load("providers", name)
