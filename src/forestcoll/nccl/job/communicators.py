"""What a log says about the communicators of NCCL, settled from the statements of all ranks.

Each fact is stated several times: the ring of a channel by rank 0, by each rank for its own place, and by the lines of
connections; the parent of a rank by the rank and by its parent. Lines that were cut may state something else, so a
value needs four times as many witnesses as all others together. What follows from the shape is added: the last edge of
a ring, the root of a tree. A ring that does not visit every rank once, and a parent that no line states, are unknown.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from forestcoll.demand.collective import Collective

ROOT = -1
"""The parent of the root of a tree."""

_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True)
class Gpu:
    """The GPU of a rank.

    Attributes:
        rank: the rank.
        host: the name of the host; that of `NCCL_HOSTID` if it is set.
        device: the number of the CUDA device in the process; None if the log does not say.
        bus: the PCI bus, as NCCL prints it; empty if the log does not say.
    """

    rank: int
    host: str
    device: int | None
    bus: str


@dataclass(frozen=True)
class Nic:
    """A network device of a host.

    Attributes:
        host: the name of the host.
        network: the network, such as `IB` or `Socket`.
        device: the number of the device.
        name: the name, such as `mlx5_0`.
        sends: how many rings leave the host by it, as far as the log says.
        receives: how many rings enter the host by it.
        unknown: how many rings leave or enter the host by a device that the log does not say.
    """

    host: str
    network: str
    device: int
    name: str
    sends: int = 0
    receives: int = 0
    unknown: int = 0


@dataclass(frozen=True)
class Choice:
    """What NCCL chose for calls of one size.

    Attributes:
        collective: the collective.
        size: the bytes M of the whole data, as in nccl-tests.
        algorithm: the algorithm in lower case, as `ring` or `tree`.
        protocol: the protocol in lower case: `ll`, `ll128` or `simple`.
        channels: how many channels it used.
    """

    collective: Collective
    size: int
    algorithm: str
    protocol: str
    channels: int


@dataclass(frozen=True)
class Connection:
    """A connection of a ring from one rank to another.

    Attributes:
        channel: the channel.
        source: the rank that sends.
        target: the rank that receives.
        sends_by: the number of the NIC of the sender; None inside a host, and if the log does not say.
        receives_by: that of the receiver.
    """

    channel: int
    source: int
    target: int
    sends_by: int | None
    receives_by: int | None


Ring = tuple[int, ...]
"""The ranks of a ring, from rank 0."""

Tree = tuple[int | None, ...]
"""The parent of each rank; `ROOT` for the root, and None if it is unknown."""


@dataclass(frozen=True)
class Communicator:
    """A communicator.

    Attributes:
        name: the number by which NCCL names it; empty if the log has none.
        version: the version of NCCL; None if the log does not say, or the ranks differ.
        size: the number of ranks.
        gpus: the GPUs of the ranks that wrote lines, by rank.
        hosts: the ranks of each host, in the order of their lowest rank; None if the log does not say.
        channels: the number of channels; None if the log does not say.
        rings: the ring of each channel; None where it is unknown.
        trees: the tree of each channel.
        nics: the network devices of its hosts.
        connections: the connections of the rings.
        choices: what NCCL chose, in the order of the log.
        systems: the lines that ranks printed of each host, by its name (`system.py`); those of most ranks come first.
        remarks: what the user should know, in sentences without a period.
    """

    name: str
    version: str | None
    size: int
    gpus: tuple[Gpu, ...]
    hosts: tuple[tuple[int, ...], ...] | None
    channels: int | None
    rings: tuple[Ring | None, ...]
    trees: tuple[Tree, ...]
    nics: tuple[Nic, ...] = ()
    connections: tuple[Connection, ...] = ()
    choices: tuple[Choice, ...] = ()
    systems: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class Claims(Generic[_Value]):
    """Statements about places, each with a witness."""

    def __init__(self) -> None:
        self._found: dict[Hashable, dict[_Value, set[Hashable]]] = {}

    def add(self, place: Hashable, value: _Value, witness: Hashable) -> None:
        """Add a statement."""
        self._found.setdefault(place, {}).setdefault(value, set()).add(witness)

    def settled(self, place: Hashable) -> _Value | None:
        """Return the value that all witnesses state, or four times as many as all others; else None."""
        found = {value: len(witnesses) for value, witnesses in self._found.get(place, {}).items()}
        all_of_them = sum(found.values())
        return next((value for value, count in found.items() if count * 5 >= all_of_them * 4), None)


def ring_of(claims: Claims[int], channel: int, size: int) -> Ring | None:
    """Return the ring of a channel from the next rank of each; None if it is no ring through all ranks."""
    following = [claims.settled((channel, rank)) for rank in range(size)]
    if following.count(None) == 1:
        left = set(range(size)) - set(following)
        following[following.index(None)] = left.pop() if len(left) == 1 else None
    order, rank = [], 0
    for _ in range(size):
        order.append(rank)
        after = following[rank]
        if after is None or not 0 <= after < size:
            return None
        rank = after
    return tuple(order) if rank == 0 and len(set(order)) == size else None


def tree_of(claims: Claims[int], channel: int, size: int) -> Tree:
    """Return the tree of a channel; the only rank without a stated parent is the root if no other is."""
    parents = [claims.settled((channel, rank)) for rank in range(size)]
    parents = [parent if parent is None or ROOT <= parent < size else None for parent in parents]
    if parents.count(None) == 1 and ROOT not in parents:
        parents[parents.index(None)] = ROOT
    return tuple(parents)


def downwards(tree: Tree) -> list[tuple[int, int]]:
    """Return (parent, rank) for the ranks of a tree that its root reaches, each after its parent, the root first."""
    children: dict[int | None, list[int]] = {}
    for rank, parent in enumerate(tree):
        children.setdefault(parent, []).append(rank)
    found = [(ROOT, root) for root in children.get(ROOT, ())]
    for _, rank in found:
        found += [(rank, child) for child in children.get(rank, ())]
    return found


def is_tree(tree: Tree) -> bool:
    """Return whether all parents are known and lead to one root."""
    return tree.count(ROOT) == 1 and len(downwards(tree)) == len(tree)
