"""Whether ranks share a host, and how one gets a file of the other's memory.

Ranks of one host connect over sockets that have a name in the network namespace, but no file. Over such a connection,
each passes the descriptor of its pages (`native/runtime/pages.h`), after both have proved that they know the secret of
the group. Ranks in different network namespaces, as those of an emulation, are on different hosts.
"""

import hashlib
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from forestcoll.base.errors import CommunicationError
from forestcoll.runtime.environment import host_named_here, shares_memory_here
from forestcoll.runtime.messages import Deadline

PAGES_BYTES = 2**26
"""The most memory for chunks that other ranks of the host read, of one rank; what was never needed takes none."""

_BOOT, _NETWORK = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/net")


@dataclass(frozen=True, slots=True)
class Sharing:
    """What this rank shares with others of its host.

    Attributes:
        host: the same text on all ranks that can share, and on no others.
        file: the descriptor of this rank's pages.
    """

    host: str
    file: int


def sharing_here(make_pages: Callable[[int], int], environment: Mapping[str, str] | None = None) -> Sharing | None:
    """Return what this rank shares; None if `FORESTCOLL_SHARED_MEMORY` is `0`, or if the system has no such files.

    Args:
        make_pages: makes pages of so many bytes, and returns their descriptor.
        environment: the variables; None for those of this process.
    """
    if not shares_memory_here(environment):
        return None
    try:
        boot, network = _BOOT.read_text(encoding="ascii"), _NETWORK.readlink()
        file = make_pages(PAGES_BYTES)
    except (OSError, RuntimeError):
        return None
    return Sharing(hashlib.sha256(f"{boot} {network} {host_named_here(environment)}".encode()).hexdigest(), file)


def listener(nonce: bytes) -> socket.socket:
    """Return a listening socket that ranks of this host find by `nonce`."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(_name(nonce))
        made.listen(1024)
    except OSError:
        made.close()
        raise
    return made


def connection_to(nonce: bytes, seconds: float) -> socket.socket | None:
    """Return a connection to the listener of `nonce`, made within `seconds`; None if it is not found."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect(_name(nonce))
    except OSError:
        made.close()
        return None
    return made


def is_on_host(connection: socket.socket) -> bool:
    """Return whether the other end is on this host, and takes descriptors."""
    return connection.family == socket.AF_UNIX


def pass_file(connection: socket.socket, file: int) -> None:
    """Pass a descriptor to the other end.

    Raises:
        OSError: the connection is closed.
    """
    socket.send_fds(connection, [b"f"], [file])


def receive_file(connection: socket.socket, deadline: Deadline, rank: int) -> int:
    """Return the descriptor that `rank` passed.

    Raises:
        CommunicationError: none came in time.
    """
    try:
        connection.settimeout(deadline.left(0.1))
        _, files, _, _ = socket.recv_fds(connection, 1, 1, socket.MSG_CMSG_CLOEXEC)
    except OSError:
        files = []
    if not files:
        raise CommunicationError(f"rank {rank} did not pass its memory within {deadline.seconds:g} s")
    return files[0]


def _name(nonce: bytes) -> bytes:
    """Return the name of a socket that is gone with its process."""
    return b"\0forestcoll-" + nonce.hex().encode()
