"""One turn played against a fake provider over a real socket, recorded as the runner records it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import NamedTuple

from sent_requests import KEY

from gensight.models import Reply
from gensight.providers import Connection, Fault, transport


class Played(NamedTuple):
    """The kept round trips, what the provider's module says of the last, and what was read."""

    exchanges: list
    fault: Fault | None
    reply: Reply | None

    @property
    def end(self):
        if self.fault is not None:
            return self.fault.kind
        return str(self.reply.outcome)


@contextmanager
def connected(fake, module, generation, read_timeout_s=10.0):
    with transport.open_client(read_timeout_s) as client:
        yield module.connect(generation, Connection(KEY, fake.url, client))


def play(fake, module, provider, generation, asked, read_timeout_s=10.0):
    with connected(fake, module, generation, read_timeout_s) as adapter:
        exchanges = []
        with transport.recording(keeper(adapter, exchanges)):
            adapter.send(asked)
            if provider.fault_of(exchanges[-1]) is None:
                adapter.follow(exchanges)
        return judged(adapter, provider, exchanges)


def keeper(adapter, exchanges):
    return lambda seen: exchanges.append(seen) if adapter.keeps(seen) else None


def judged(adapter, provider, exchanges):
    fault = provider.fault_of(exchanges[-1])
    return Played(exchanges, fault, adapter.read(exchanges) if fault is None else None)
