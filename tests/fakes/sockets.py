"""The sockets of a fake, and what befalls a reply on them."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fakes import wire
from fakes.billing import OK, Fault
from fakes.faults import HTML, Answer

if TYPE_CHECKING:
    from fakes.server import Fake

POLL_S = 0.02


class Server(ThreadingHTTPServer):
    """Listens on a port of loopback, a thread per connection, until it is stopped."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, fake: Fake) -> None:
        self.fake = fake
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._loop = threading.Thread(target=self.serve_forever, args=[POLL_S], daemon=True)
        super().__init__(("127.0.0.1", fake.wanted_port), Handler)

    def server_bind(self) -> None:
        # Without HTTPServer's look-up of the host's name, which asks the network.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "localhost", self.server_address[1]

    def start(self) -> None:
        """Begin to answer."""
        self._loop.start()

    def stop(self) -> None:
        """Close the doors, then every connection that is still open."""
        self.stopping.set()
        self.shutdown()
        self._loop.join()
        self.server_close()
        for connection in list(self._open):
            _close_gently(connection)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep errors of the fake's own; a client that hung up is none."""
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.fake.errors.append(error)


def _close_gently(connection: socket.socket) -> None:
    # It may have closed by itself in the meantime.
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """Reads one request and replies as it was decided: whole, late, in part or not at all."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *words: Any) -> None:
        """Say nothing: the journal is the log."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.close_connection = True
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the client died while it was asking
        headers = {name.lower(): value for name, value in self.headers.items()}
        address = urlsplit(self.path)
        raw = wire.Raw(self.command, address.path, headers, body, address.query)
        fake = self.server.fake
        try:
            answer, fault = fake.handle(raw, time.time())
        except Exception as error:
            fake.errors.append(error)
            answer, fault = Answer(500, HTML, kind="text/html"), OK
        self._reply(answer, fault)

    def _reply(self, answer: Answer | None, fault: Fault) -> None:
        if answer is None or fault.name == "drop_after_charge":
            return
        if fault.name == "hang_after_charge":
            self.rfile.read(1)  # until the client gives up, or the server stops
            return
        if fault.name == "slow":
            self.server.stopping.wait(fault.options.get("delay_s", 1.0))
        data = answer.data
        self.send_response(answer.status)
        told = {"content-type": answer.kind, **self.server.fake.reply_headers(), **answer.headers}
        for name, value in told.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if fault.name == "drop_mid_body" else data)
