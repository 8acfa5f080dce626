"""Who holds how much: what a collective asks of the network, as weights of the compute nodes (ForestColl §5.7).

A collective whose data flows from the roots of trees is a broadcast from every compute node at once, each of its own
shard: 1/N of the data in an allgather, shards of any size in an allgather(v), all data at the root in a broadcast.
With D the least common denominator of all shards, node v has the *weight* D times its shard, an integer; weights have
no common divisor. So k trees for each 1/D of the data are k times its weight at each node, and k may be any integer.
A collective whose data flows towards the roots is the same on the transposed network.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from forestcoll.collective import SCHEDULED, Collective, ShardsByNode, collective_named, shards_of
from forestcoll.errors import InputError
from forestcoll.ranks import RanksLike, members_of, ranks_of, require_reach, root_number
from forestcoll.topology import NodeId, Topology


@dataclass(frozen=True)
class Request:
    """What a caller asks for, by names and ids; it can be passed in place of the keywords of the same names.

    Attributes:
        collective: the operation, or its name.
        ranks: which compute nodes take part, as `ranks.ranks_of` takes them; all if None.
        root: of a broadcast or a reduce, the id of the compute node that data comes from or goes to.
        shards: of an allgather or a reduce-scatter, what part of the data each compute node has, by node ids; equal
            parts if None.

    Example:
        >>> from forestcoll import Request, optimum
        >>> str(optimum("dgx-a100:boxes=2", Request("broadcast", root="b0/gpu0")).algbw)
        '200'
    """

    collective: Collective | str = Collective.ALLGATHER
    ranks: RanksLike | None = None
    root: NodeId | None = None
    shards: ShardsByNode | None = None

    @staticmethod
    def of(
        asked: "RequestLike",
        ranks: RanksLike | None = None,
        root: NodeId | None = None,
        shards: ShardsByNode | None = None,
    ) -> "Request":
        """Return `asked` if it is a request, else one of that collective and the keywords.

        Raises:
            InputError: `asked` is a request, and there is a keyword besides.
        """
        if not isinstance(asked, Request):
            return Request(asked, ranks, root, shards)
        given = {"ranks": ranks, "root": root, "shards": shards}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} is given besides a Request; put it into the Request, as {name}=...")
        return asked

    def demand(self, topology: Topology) -> "Demand":
        """Return what is asked in node numbers of `topology`, checked.

        Raises:
            InputError: as `Demand.of`.
        """
        return Demand.of(topology, self.collective, self.root, self.shards, self.ranks)


RequestLike: TypeAlias = Collective | str | Request
"""A collective, its name, or a request."""


@dataclass(frozen=True)
class Demand:
    """What is asked of a network, in its node numbers.

    Attributes:
        collective: the operation.
        root: the number of the node that data comes from or goes to, where the collective has one.
        shards: of each compute node that takes part, in the order of their numbers, where they are not all equal.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
    """

    collective: Collective = Collective.ALLGATHER
    root: int | None = None
    shards: tuple[Fraction, ...] | None = None
    ranks: tuple[int, ...] | None = None

    @staticmethod
    def of(
        topology: Topology,
        collective: Collective | str,
        root: NodeId | None,
        shards: ShardsByNode | None,
        ranks: RanksLike | None = None,
    ) -> "Demand":
        """Return what is asked, checked.

        Raises:
            InputError: there is no such collective, root, node or rank, the collective needs a root or takes none,
                shards are not its own or not right, or one that takes part cannot reach another.
        """
        asked = collective_named(collective)
        if asked not in SCHEDULED:
            raise InputError(
                f"no schedule of {asked.with_article} is made yet; 'forestcoll bounds' says what it can reach"
            )
        members = ranks_of(topology, ranks)
        number = _root(topology, asked, root, members)
        demand = Demand(asked, number, None, members)
        if shards is not None:
            if not asked.has_shards:
                raise InputError(f"{asked.with_article} has no shards of different sizes; leave shards out")
            sizes = shards_of(topology, shards, ranks=members)
            demand = replace(demand, shards=sizes if len(set(sizes)) > 1 else None)
        require_reach(topology, members, number, backwards=asked.only_reduces)
        return demand

    def members(self, topology: Topology) -> tuple[int, ...]:
        """Return the numbers of the compute nodes that take part."""
        return members_of(topology, self.ranks)

    def parts(self, topology: Topology) -> tuple[Fraction, ...]:
        """Return of each compute node its part of the data; these add up to 1."""
        weights = self.weights(topology)
        return tuple(Fraction(weight, sum(weights)) for weight in weights)

    def weights(self, topology: Topology) -> tuple[int, ...]:
        """Return of each compute node that takes part its shard as a count of 1/D, D being the sum of these counts."""
        members = self.members(topology)
        if self.root is not None:
            return tuple(int(node == self.root) for node in members)
        if self.shards is None:
            return (1,) * len(members)
        common = lcm(*(shard.denominator for shard in self.shards))
        return tuple(int(shard * common) for shard in self.shards)


def _root(
    topology: Topology, collective: Collective, root: NodeId | None, members: tuple[int, ...] | None
) -> int | None:
    if not collective.has_root:
        if root is not None:
            raise InputError(f"{collective.with_article} has no root; leave root out")
        return None
    if root is None:
        raise InputError(f"{collective.with_article} needs a root; give the id of a compute node")
    return root_number(topology, root, members)
