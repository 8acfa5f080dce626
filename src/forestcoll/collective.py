"""The collectives, the operations of their phases, and the shards of compute nodes."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from forestcoll.errors import InputError, did_you_mean, shown
from forestcoll.exact import MAX_DIGITS, to_fraction
from forestcoll.ranks import members_of
from forestcoll.topology import NodeId, Topology

ShardsByNode: TypeAlias = Mapping[int, object] | Mapping[str, object] | Mapping[NodeId, object]
"""The shard of each compute node by its id, as numbers that `exact.to_fraction` takes."""

MAX_SHARDS_DIGITS = 300
"""The most digits of the common denominator of shards. The number of trees of a root is a multiple of it."""


class Collective(StrEnum):
    """A collective operation. Its value is the name in files and on the command line.

    Example:
        >>> Collective("reduce-scatter").dual is Collective.ALLGATHER, Collective.BROADCAST.has_root
        (True, True)
    """

    ALLGATHER = "allgather"
    """Every compute node ends with the shards of all: N shards of M/N, M being the size of the gathered vector."""
    REDUCE_SCATTER = "reduce-scatter"
    """The reverse of allgather: every compute node ends with the sum, over all, of its own shard."""
    ALLREDUCE = "allreduce"
    """Every compute node ends with the sum of the vectors of all; M is the size of one vector."""
    BROADCAST = "broadcast"
    """Every compute node ends with the vector of the root, M in size."""
    REDUCE = "reduce"
    """The reverse of broadcast: the root ends with the sum of the vectors of all."""
    ALL_TO_ALL = "all-to-all"
    """Every compute node sends a block of M/N to every other, M being its whole buffer; bounded, not scheduled yet."""

    @property
    def has_root(self) -> bool:
        """Whether one compute node has all data in the beginning or in the end."""
        return self in {Collective.BROADCAST, Collective.REDUCE}

    @property
    def has_shards(self) -> bool:
        """Whether each compute node has a shard, and these may differ in size."""
        return self in {Collective.ALLGATHER, Collective.REDUCE_SCATTER}

    @property
    def only_reduces(self) -> bool:
        """Whether all data flows towards the roots of trees, and none away from them."""
        return self in {Collective.REDUCE_SCATTER, Collective.REDUCE}

    @property
    def with_article(self) -> str:
        """The name with its article: `an allgather`, `a broadcast`."""
        return f"{'an' if self.value.startswith('a') else 'a'} {self.value}"

    @property
    def dual(self) -> "Collective":
        """The collective that results when all data flows backwards. An allreduce is its own dual."""
        return _DUAL[self]


_DUAL = {
    Collective.ALLGATHER: Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER: Collective.ALLGATHER,
    Collective.ALLREDUCE: Collective.ALLREDUCE,
    Collective.BROADCAST: Collective.REDUCE,
    Collective.REDUCE: Collective.BROADCAST,
    Collective.ALL_TO_ALL: Collective.ALL_TO_ALL,
}

SCHEDULED = tuple(each for each in Collective if each is not Collective.ALL_TO_ALL)
"""The collectives for which schedules can be generated."""


class PhaseOp(StrEnum):
    """The operation of the trees of a phase.

    Example:
        >>> PhaseOp.REDUCE.dual is PhaseOp.BROADCAST
        True
    """

    BROADCAST = "broadcast"
    """Data flows from the root to all compute nodes."""
    REDUCE = "reduce"
    """Data flows from all compute nodes to the root and is added up on the way."""

    @property
    def dual(self) -> "PhaseOp":
        """The operation that results when all data flows backwards."""
        return PhaseOp.REDUCE if self is PhaseOp.BROADCAST else PhaseOp.BROADCAST


def _plain(name: str) -> str:
    """Return the normal form of a collective's name, which is equal for `all_to_all`, `AllToAll` and `all2all`."""
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "").replace("2", "to")


_BY_PLAIN_NAME = {_plain(each.value): each for each in Collective}


def collective_named(name: Collective | str) -> Collective:
    """Return the collective called `name`, in any of the usual spellings.

    Example:
        >>> collective_named("ReduceScatter") is collective_named("reduce_scatter") is Collective.REDUCE_SCATTER
        True

    Raises:
        InputError: there is no such collective.
    """
    found = _BY_PLAIN_NAME.get(_plain(name)) if isinstance(name, str) else None
    if found is not None:
        return found
    names = [each.value for each in Collective]
    hint = did_you_mean(name, names) if isinstance(name, str) else ""
    known = ", ".join(map(repr, names))
    raise InputError(f"there is no collective {shown(name)}; {hint}there are {known}")


def shards_of(
    topology: Topology,
    values: object,
    *,
    ranks: tuple[int, ...] | None = None,
    where: str = "shards",
    digits: int = MAX_DIGITS,
) -> tuple[Fraction, ...]:
    """Return the shard of each compute node that takes part as a fraction of M, in the order of their numbers.

    Args:
        topology: the network.
        values: a mapping from ids of compute nodes, which may be text, to numbers that `exact.to_fraction` accepts.
            Nodes that are missing have no shard.
        ranks: the numbers of the nodes that take part; all compute nodes if None.
        where: the beginning of every error message.
        digits: the most digits that a shard may have.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> shards_of(build_topology("ring:nodes=3"), {0: "1/3", 2: "2/3"})
        (Fraction(1, 3), Fraction(0, 1), Fraction(2, 3))

    Raises:
        InputError: an id is unknown, is that of a switch, or occurs twice; a shard is not a number or is negative; an
            idle node has a shard; the shards do not add up to 1; or their common denominator has more than
            `MAX_SHARDS_DIGITS` digits.
    """
    if not isinstance(values, Mapping):
        raise InputError(f'{where} are {shown(values)}; expected an object, {{"<node id>": "<rational>", ...}}')
    shards: dict[int, Fraction] = {}
    for name, value in values.items():
        node = _compute_number(topology, name, where)
        if node in shards:
            raise InputError(f"{where}: node {topology.nodes[node].id!r} has two shards; give it one")
        shards[node] = _shard(value, f"{where}: the shard of node {topology.nodes[node].id!r}", digits)
    members = members_of(topology, ranks)
    _check_members(topology, shards, members, where)
    listed = tuple(shards.get(node, Fraction(0)) for node in members)
    _check_sum(listed, where)
    return listed


def _check_members(topology: Topology, shards: Mapping[int, Fraction], members: tuple[int, ...], where: str) -> None:
    taking_part = set(members)
    for node, shard in shards.items():
        if shard and node not in taking_part:
            place = f"node {topology.nodes[node].id!r} is not among the ranks"
            raise InputError(f"{where}: {place}, but has the shard {shard}; leave it out, or name it as a rank")


def _compute_number(topology: Topology, name: NodeId, where: str) -> int:
    try:
        node = topology.named(name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if not topology.nodes[node].is_compute:
        raise InputError(f"{where}: {topology.nodes[node].id!r} is a switch; only compute nodes have shards")
    return node


def _shard(value: object, where: str, digits: int) -> Fraction:
    try:
        shard = to_fraction(value, digits=digits)
    except ValueError as error:
        raise InputError(f"{where}, {shown(value)}, {error}; write a rational such as '1/48'") from None
    if shard < 0:
        raise InputError(f"{where} is {shown(value)}; it must be 0 or more")
    return shard


def _check_sum(shards: tuple[Fraction, ...], where: str) -> None:
    common = 1
    for denominator in {shard.denominator for shard in shards}:
        common = lcm(common, denominator)
        if common >= 10**MAX_SHARDS_DIGITS:
            raise InputError(f"{where}: the common denominator has more than {MAX_SHARDS_DIGITS} digits; round them")
    total = sum(shards, Fraction(0))
    if total != 1:
        exact = str(total) if len(str(total)) <= 60 else f"about {float(total)}"
        raise InputError(f"{where}: the shards add up to {exact}; they must add up to exactly 1")
