"""A collective and its parameters, by names and as weights of the compute nodes (ForestColl §5.7).

A collective whose data flows away from the roots of trees is a broadcast from all compute nodes at the same time, each
of its shard: 1/N of the data in an allgather, shards of any size in an allgather(v), all data at the root in a
broadcast. Let D be the least common denominator of all shards. The *weight* of node v is D times its shard, an integer;
weights have no common divisor. With k trees for each 1/D of the data, a node has k times its weight of trees, where k
is any positive integer. A collective whose data flows towards the roots is its dual on the transposed network.
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
    """A collective and its parameters, by names and ids. Functions take it instead of the keywords of the same names.

    Attributes:
        collective: the collective, or its name.
        ranks: the compute nodes that take part, as for `ranks.ranks_of`; all if None.
        root: for a broadcast or a reduce, the id of the compute node that is its root.
        shards: for an allgather or a reduce-scatter, the part of the data of each compute node, by node id; equal
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
        request: "RequestLike",
        ranks: RanksLike | None = None,
        root: NodeId | None = None,
        shards: ShardsByNode | None = None,
    ) -> "Request":
        """Return `request` if it is a `Request`, else a request with that collective and the keywords.

        Raises:
            InputError: `request` is a `Request`, and a keyword is also given.
        """
        if not isinstance(request, Request):
            return Request(request, ranks, root, shards)
        given = {"ranks": ranks, "root": root, "shards": shards}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} is given in addition to a Request; put it into the Request, as {name}=...")
        return request

    def demand(self, topology: Topology) -> "Demand":
        """Check the request and return it in node numbers of `topology`.

        Raises:
            InputError: as `Demand.of`.
        """
        return Demand.of(topology, self.collective, self.root, self.shards, self.ranks)


RequestLike: TypeAlias = Collective | str | Request
"""A collective, its name, or a request."""


@dataclass(frozen=True)
class Demand:
    """A collective and its parameters, in node numbers of a network.

    Attributes:
        collective: the collective.
        root: the number of the root of a broadcast or a reduce; None for other collectives.
        shards: the shard of each compute node that takes part, in the order of their numbers, as a part of all data;
            None if all are equal.
        ranks: the numbers of the compute nodes that take part, in ascending order; None if all take part.

    Example:
        >>> from forestcoll import Collective, Demand, load_topology
        >>> Demand(Collective.BROADCAST, root=2).weights(load_topology("ring:nodes=4"))
        (0, 0, 1, 0)
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
        """Check the arguments and return the demand.

        Raises:
            InputError: there is no such collective, root, node or rank; the collective needs a root or has none; it
                has no shards, or the shards are not valid; or a node that takes part cannot reach another.
        """
        kind = collective_named(collective)
        if kind not in SCHEDULED:
            raise InputError(
                f"forestcoll makes no schedule of {kind.with_article} yet; 'forestcoll bounds' shows its bound"
            )
        members = ranks_of(topology, ranks)
        number = _root(topology, kind, root, members)
        demand = Demand(kind, number, None, members)
        if shards is not None:
            if not kind.has_shards:
                raise InputError(f"{kind.with_article} has no shards of different sizes; leave shards out")
            sizes = shards_of(topology, shards, ranks=members)
            demand = replace(demand, shards=sizes if len(set(sizes)) > 1 else None)
        require_reach(topology, members, number, backwards=kind.only_reduces)
        return demand

    def members(self, topology: Topology) -> tuple[int, ...]:
        """Return the numbers of the compute nodes that take part."""
        return members_of(topology, self.ranks)

    def parts(self, topology: Topology) -> tuple[Fraction, ...]:
        """Return the part of the data of each compute node that takes part; the parts add up to 1."""
        weights = self.weights(topology)
        return tuple(Fraction(weight, sum(weights)) for weight in weights)

    def weights(self, topology: Topology) -> tuple[int, ...]:
        """Return the weight of each compute node that takes part: its shard in units of 1/D; D is their sum."""
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
