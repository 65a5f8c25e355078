"""Ports of loopback: which are free, and whose process listens on one."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from gensight.watchdog import descendants

LOOPBACK = "127.0.0.1"
LISTENING = "0A"


def free_port() -> int:
    """Return a port of loopback that nobody has now; somebody may take it at any time."""
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


def is_taken(port: int) -> bool:
    """Say whether a server could not listen on a port of loopback now."""
    with socket.socket() as tried:
        # As servers do: what is left of closed connections takes no port.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return True
        return False


def is_refused(port: int) -> bool:
    """Say whether nobody listens on a port of loopback."""
    with socket.socket() as tried:
        tried.settimeout(1.0)
        try:
            tried.connect((LOOPBACK, port))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
        return False


def listens(pid: int, port: int) -> bool:
    """Say whether a process that `pid` started, or one of theirs, listens on a port.

    Source: proc(5), /proc/net/tcp: the kernel's list of sockets and their inodes.
    """
    wanted = {f"socket:[{inode}]" for inode in _inodes(port)}
    return any(wanted & _open_files(child) for child in descendants(pid))


def _inodes(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):  # a machine without IPv6
            for line in Path(table).read_text().splitlines()[1:]:
                _, local, _, state, *rest = line.split()
                if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                    found.add(rest[5])
    return found


def _open_files(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):  # it has ended meanwhile, or is another user's
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.add(str(descriptor.readlink()))
    return found
