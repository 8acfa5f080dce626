"""The collectives and their shards."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.base.exact import MAX_DIGITS, to_fraction
from forestcoll.demand.ranks import members_of
from forestcoll.topology import NodeId, Topology

ShardsByNode: TypeAlias = Mapping[int, object] | Mapping[str, object] | Mapping[NodeId, object]
"""The shard of each compute node by its id: numbers that `exact.to_fraction` takes."""

MAX_SHARDS_DIGITS = 300
"""The most digits of the common denominator of the shards; numbers of trees grow with it."""


class Collective(StrEnum):
    """A collective operation of N compute nodes, by its name in files and on the command line.

    M is the total data, as nccl-tests defines it. Functions also take the name, in any of its usual spellings.

    Example:
        >>> from forestcoll import optimum
        >>> str(optimum("ring:nodes=3", Collective.ALLREDUCE).algbw), str(optimum("ring:nodes=3", "all_reduce").algbw)
        ('3/2', '3/2')
    """

    ALLGATHER = "allgather"
    """Every compute node ends with the shards of all nodes. M is the gathered vector: N shards of M/N."""
    REDUCE_SCATTER = "reduce-scatter"
    """The reverse of allgather: every compute node ends with the sum of its shard over all nodes."""
    ALLREDUCE = "allreduce"
    """Every compute node ends with the sum of the vectors of all nodes. M is one vector."""
    BROADCAST = "broadcast"
    """Every compute node ends with the vector of the root. M is this vector."""
    REDUCE = "reduce"
    """The reverse of broadcast: the root ends with the sum of the vectors of all nodes. M is one vector."""
    ALL_TO_ALL = "all-to-all"
    """Every compute node sends M/N to every other node, or what a demand matrix says. M is the buffer of one node."""
    GATHER = "gather"
    """The root ends with the shards of all nodes, one after the other. M is the buffer of the root: N shards of M/N."""
    SCATTER = "scatter"
    """The reverse of gather: every compute node ends with its shard of the buffer of the root. M is this buffer."""

    @property
    def has_root(self) -> bool:
        """Whether one compute node has all data at the beginning or at the end."""
        return self in {Collective.BROADCAST, Collective.REDUCE, Collective.GATHER, Collective.SCATTER}

    @property
    def is_personalised(self) -> bool:
        """Whether each pair of nodes exchanges data of its own, which is never copied or added up."""
        return self in {Collective.ALL_TO_ALL, Collective.GATHER, Collective.SCATTER}

    @property
    def has_shards(self) -> bool:
        """Whether each compute node has a shard, where shards may differ in size."""
        return self in {Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.GATHER, Collective.SCATTER}

    @property
    def reduces(self) -> bool:
        """Whether data of different nodes is added up."""
        return self in {Collective.REDUCE_SCATTER, Collective.ALLREDUCE, Collective.REDUCE}

    @property
    def only_reduces(self) -> bool:
        """Whether all data flows towards the roots of trees."""
        return self in {Collective.REDUCE_SCATTER, Collective.REDUCE}

    @property
    def flows_to_roots(self) -> bool:
        """Whether all data flows towards the root, or towards the root of each shard."""
        return self.only_reduces or self is Collective.GATHER

    @property
    def with_article(self) -> str:
        """The name with its article: `an allgather`, `a broadcast`."""
        return f"{'an' if self.value.startswith('a') else 'a'} {self.value}"

    def busbw_factor(self, nodes: int) -> Fraction:
        """Return busbw / algbw, as nccl-tests defines both, for `nodes` compute nodes that take part.

        Example:
            >>> [str(each.busbw_factor(8)) for each in (Collective.ALLREDUCE, Collective.GATHER, Collective.BROADCAST)]
            ['7/4', '7/8', '1']
        """
        if self in {Collective.BROADCAST, Collective.REDUCE}:
            return Fraction(1)
        return Fraction(nodes - 1, nodes) * (2 if self is Collective.ALLREDUCE else 1)

    @property
    def dual(self) -> "Collective":
        """The collective that results when all data flows backwards; an allreduce is its own dual."""
        return _DUAL[self]


_DUAL = {
    Collective.ALLGATHER: Collective.REDUCE_SCATTER,
    Collective.REDUCE_SCATTER: Collective.ALLGATHER,
    Collective.ALLREDUCE: Collective.ALLREDUCE,
    Collective.BROADCAST: Collective.REDUCE,
    Collective.REDUCE: Collective.BROADCAST,
    Collective.ALL_TO_ALL: Collective.ALL_TO_ALL,
    Collective.GATHER: Collective.SCATTER,
    Collective.SCATTER: Collective.GATHER,
}

SCHEDULED = tuple(each for each in Collective if not each.is_personalised)
"""The collectives whose data is copied or added up: their schedules are trees or steps."""

UNROOTED = tuple(each for each in SCHEDULED if not each.has_root)
"""The collectives of `SCHEDULED` without a root: allgather, reduce-scatter and allreduce."""

COMPARED = (*UNROOTED, Collective.ALL_TO_ALL)
"""All collectives without a root: those that `compare` has algorithms for."""

PERSONALISED = tuple(each for each in Collective if each.is_personalised)
"""The collectives whose pairs of nodes exchange data of their own: their schedules are flows."""


SERIES = tuple(each for each in Collective if each not in {Collective.ALLREDUCE, Collective.ALL_TO_ALL})
"""The collectives that a series may repeat: each message starts from or ends on one node."""


class PhaseOp(StrEnum):
    """The operation of a phase of a schedule.

    Example:
        >>> from forestcoll import generate
        >>> [phase.op.value for phase in generate("ring:nodes=3", "allreduce").phases]
        ['reduce', 'broadcast']
    """

    BROADCAST = "broadcast"
    """Data flows from the root of each tree to all compute nodes."""
    REDUCE = "reduce"
    """Data flows from all compute nodes to the root of each tree, and is added up at each node on its path."""

    @property
    def dual(self) -> "PhaseOp":
        """The operation that results when all data flows backwards."""
        return PhaseOp.REDUCE if self is PhaseOp.BROADCAST else PhaseOp.BROADCAST


def _plain(name: str) -> str:
    """Return a common form of all spellings of a name, such as `all_to_all`, `AllToAll` and `all2all`."""
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "").replace("2", "to")


_BY_PLAIN_NAME = {_plain(each.value): each for each in Collective}


def known_collective(name: object) -> Collective | None:
    """Return the collective called `name`, in any of the usual spellings; None if there is none."""
    return _BY_PLAIN_NAME.get(_plain(name)) if isinstance(name, str) else None


def collective_named(name: Collective | str) -> Collective:
    """Return the collective called `name`, in any of the usual spellings.

    Example:
        >>> collective_named("ReduceScatter") is collective_named("reduce_scatter") is Collective.REDUCE_SCATTER
        True

    Raises:
        InputError: there is no such collective.
    """
    found = known_collective(name)
    if found is not None:
        return found
    raise unknown_name(f"there is no collective {shown(name)}", name, Collective)


def shards_of(
    topology: Topology,
    values: object,
    *,
    ranks: tuple[int, ...] | None = None,
    where: str = "shards",
    digits: int = MAX_DIGITS,
) -> tuple[Fraction, ...]:
    """Return the shard of each rank as a fraction of M, in the order of the node numbers.

    Args:
        topology: the network.
        ranks: the numbers of the nodes that take part; all compute nodes if None.
        values: a mapping from ids of compute nodes, or the text of ids, to numbers that `exact.to_fraction` takes. The
            shard of a node that is not in the mapping is 0.
        where: the text that begins error messages.
        digits: the most digits that a shard may have.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> shards_of(build_topology("ring:nodes=3"), {0: "1/3", 2: "2/3"})
        (Fraction(1, 3), Fraction(0, 1), Fraction(2, 3))

    Raises:
        InputError: an id is unknown, is that of a switch, or occurs twice; a shard is not a number or negative; an idle
            node has a shard greater than 0; the shards do not add up to 1; or their common denominator has more than
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
