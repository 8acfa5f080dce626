"""The environment variables by which processes that run together find out who they are, read by their names.

`forestcoll emulate` sets them, and they can be set by hand where ranks have several network interfaces.
"""

import json
import math
import os
import socket
from collections.abc import Mapping

from forestcoll.base.errors import InputError, shown
from forestcoll.topology import NodeId

TOPOLOGY = "FORESTCOLL_TOPOLOGY"
"""The network: whatever the command line takes for TOPOLOGY."""

INTERFACE = "FORESTCOLL_INTERFACE"
"""The address of this rank that others connect to."""

LINKS = "FORESTCOLL_LINKS"
"""Further addresses of this rank: a JSON object, from the id of the node that a link leads to, to the address there."""

PACING = "FORESTCOLL_PACING"
"""`1` if the bandwidths of the topology are those of the real network."""

HOST = "FORESTCOLL_HOST"
"""The name of the host of this rank; without it, the name that the system has."""

SHARED_MEMORY = "FORESTCOLL_SHARED_MEMORY"
"""`0` if ranks of one host are to exchange data over sockets, as if they were on different hosts; `pages` if this rank
is not to read in the memory of their processes."""

SECRET = "FORESTCOLL_SECRET"  # noqa: S105 (the name of the variable, not a secret)
"""What all ranks must know; messages never show it."""

TIMEOUT = "FORESTCOLL_TIMEOUT"
"""How many seconds `bench` and `probe` wait for another rank at most."""

DEFAULT_TIMEOUT = 120.0
"""The seconds without `FORESTCOLL_TIMEOUT`."""

SEATS = "FORESTCOLL_SEATS"
"""The file with what each rank of an emulation runs."""

_RANKS = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))
"""The variables of Open MPI, and those of MPICH and its relatives."""


def interface_here(environment: Mapping[str, str] | None = None) -> str | None:
    """Return the address in `FORESTCOLL_INTERFACE`, or None if that is not set."""
    return _environment(environment).get(INTERFACE) or None


def host_here(environment: Mapping[str, str] | None = None) -> str:
    """Return the name of this host: that in `FORESTCOLL_HOST`, or the host name of the system.

    A process whose system has no name is a host of its own.

    Example:
        >>> host_here({"FORESTCOLL_HOST": "node7"})
        'node7'
    """
    return _environment(environment).get(HOST) or socket.gethostname() or f"process {os.getpid()}"


def host_named_here(environment: Mapping[str, str] | None = None) -> str:
    """Return the name in `FORESTCOLL_HOST`, empty if that is not set."""
    return _environment(environment).get(HOST, "")


def shares_memory_here(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether `FORESTCOLL_SHARED_MEMORY` is something else than `0`, or not set."""
    return _environment(environment).get(SHARED_MEMORY) != "0"


def reads_memory_here(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether this rank reads in the memory of others, and not only in their pages."""
    return _environment(environment).get(SHARED_MEMORY) not in ("0", "pages")


def links_here(environment: Mapping[str, str] | None = None) -> dict[NodeId, str]:
    """Return the addresses in `FORESTCOLL_LINKS`, by the id of the node that the link leads to.

    Raises:
        InputError: the variable has another form.

    Example:
        >>> links_here({"FORESTCOLL_LINKS": '{"switch0": "10.0.0.1"}'})
        {'switch0': '10.0.0.1'}
    """
    text = _environment(environment).get(LINKS, "")
    if not text:
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(address, str) for address in found.values()):
        raise InputError(f'{LINKS} is {shown(text)}; expected a JSON object such as {{"switch0": "10.0.0.1"}}')
    return found


def secret_here(environment: Mapping[str, str] | None = None) -> bytes | None:
    """Return the bytes in `FORESTCOLL_SECRET`, or None if that is not set.

    Example:
        >>> secret_here({"FORESTCOLL_SECRET": "known"}) == b"known"
        True
    """
    return _environment(environment).get(SECRET, "").encode(errors="surrogateescape") or None


def timeout_here(environment: Mapping[str, str] | None = None) -> float:
    """Return the seconds in `FORESTCOLL_TIMEOUT`, or the default.

    Raises:
        InputError: the variable is not a number above 0.

    Example:
        >>> timeout_here({"FORESTCOLL_TIMEOUT": "2.5"}), timeout_here({})
        (2.5, 120.0)
    """
    text = _environment(environment).get(TIMEOUT) or str(DEFAULT_TIMEOUT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"{TIMEOUT} is {shown(text)}; expected seconds, such as 120")
    return seconds


def check_secret(secret: bytes | None) -> None:
    """Check that a secret is bytes, not empty, or None; the message does not show it.

    Raises:
        InputError: it is not.
    """
    if secret is None:
        return
    if not isinstance(secret, bytes):
        raise InputError(f"secret is of type {type(secret).__name__}; pass bytes")
    if not secret:
        raise InputError("secret is empty; give some bytes, or None for no secret of your own")


def pacing_here(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether `FORESTCOLL_PACING` is set to something else than `0`."""
    return _environment(environment).get(PACING, "0") not in {"", "0"}


def launcher_rank(environment: Mapping[str, str] | None = None) -> tuple[int, int] | None:
    """Return rank and number of ranks as the launcher of an MPI states them; None without one.

    Example:
        >>> launcher_rank({"PMI_RANK": "2", "PMI_SIZE": "8"})
        (2, 8)
    """
    variables = _environment(environment)
    for rank, size in _RANKS:
        if variables.get(rank, "").isdecimal() and variables.get(size, "").isdecimal():
            return int(variables[rank]), int(variables[size])
    return None


def _environment(environment: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if environment is None else environment
