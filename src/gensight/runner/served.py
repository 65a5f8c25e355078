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
    address = site.endpoint(name, OWN_SERVER)
    if spec.server is None or address is not None:
        told = {} if address is None else {OWN_SERVER: address}
        site = replace(site, endpoints={**site.endpoints, **told})
        return module.open_model(generation, held_out, site)
    with ExitStack() as stack:
        server = stack.enter_context(server_of(spec.server, site, name, _served(generation)))
        site = replace(site, endpoints={**site.endpoints, OWN_SERVER: server.base_url})
        adapter = module.open_model(generation, held_out, site)
        stack.callback(getattr(adapter, "close", lambda: None))
        return _WithServer(adapter, server, stack.pop_all())


def _served(generation: Mapping[str, Any]) -> str:
    """Return what the server of a generation block serves: its VLM."""
    return str(generation.get("agent") or generation.get("model"))


@dataclass(frozen=True)
class _WithServer:
    """A model whose server ends with it, and is looked after when an answer fails."""

    adapter: Adapter
    server: Server
    stack: ExitStack

    @property
    def fit_digest(self) -> str:
        return self.adapter.fit_digest

    def answer(self, turn: Turn) -> Reply:
        try:
            return self.adapter.answer(turn)
        except Exception:
            self.server.check()
            raise

    def close(self) -> None:
        self.stack.close()
