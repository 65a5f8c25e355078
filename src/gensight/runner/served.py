"""Opening a model that runs here, with the server that it asks where its spec has one."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from gensight.models import Adapter, Reply, Site, Turn
from gensight.records import Sample
from gensight.runner.server import Server, running
from gensight.specs.model import ModelSpec
from gensight.specs.protocols import OWN_SERVER
from gensight.specs.server import ServerSpec


def server_of(
    spec: ServerSpec, site: Site, model: str, served: str
) -> AbstractContextManager[Server]:
    """Return the server of a model, to be entered; `served` is what it is to serve."""
    log = site.root / "logs/servers" / model / f"{socket.gethostname()}_{os.getpid()}.log"
    return running(spec, site, log, served)


def open_here(
    module: ModuleType,
    name: str,
    spec: ModelSpec,
    generation: Mapping[str, Any],
    held_out: Sequence[Sample],
    site: Site,
) -> Adapter:
    """Open a model that runs here; one with a server is told where that listens.

    Raises:
        GensightError: the server does not start, or as the adapter's `open_model`.
    """
    if spec.kind != "served":
        return module.open_model(generation, held_out, site)
    address, server = site.endpoint(name, OWN_SERVER), None
    with ExitStack() as stack:
        if address is None and spec.server is not None:
            server = stack.enter_context(server_of(spec.server, site, name, _served(generation)))
            address = server.base_url
        if address is not None:
            site = replace(site, endpoints={**site.endpoints, OWN_SERVER: address})
        adapter = module.open_model(generation, held_out, site)
        stack.callback(getattr(adapter, "close", lambda: None))
        return _AtServer(adapter, server, stack.pop_all())


def _served(generation: Mapping[str, Any]) -> str:
    """Return what the server of a generation block serves: its VLM."""
    return str(generation.get("agent") or generation.get("model"))


@dataclass(frozen=True)
class _AtServer:
    """A model that asks a server: one that ends with it, or None for one that runs elsewhere.

    The peak of an answer's memory is its own and what its server holds, as both are needed to
    answer; what is unknown of one is unknown of both. Its server is looked after when an answer
    fails.
    """

    adapter: Adapter
    server: Server | None
    stack: ExitStack

    @property
    def fit_digest(self) -> str:
        return self.adapter.fit_digest

    def answer(self, turn: Turn) -> Reply:
        try:
            return self.adapter.answer(turn)
        except Exception:
            if self.server is not None:
                self.server.check()
            raise

    def completed(self, reply: Reply) -> Reply:
        own_gb = reply.peak_memory_gb
        held_gb = None if self.server is None else self.server.held().memory_gb
        is_known = own_gb is not None and held_gb is not None
        return replace(reply, peak_memory_gb=own_gb + held_gb if is_known else None)

    def close(self) -> None:
        self.stack.close()
