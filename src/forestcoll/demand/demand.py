"""A collective and its parameters, by names and as weights of the compute nodes (ForestColl §5.7).

A collective whose data flows away from the roots of trees is a broadcast from all compute nodes at the same time, each
of its shard: 1/N of the data in an allgather, shards of any size in an allgather(v), all data at the root in a
broadcast. Let D be the least common denominator of all shards. The *weight* of node v is D times its shard, an integer;
weights have no common divisor. With k trees for each 1/D of the data, a node has k times its weight of trees, where k
is any positive integer. A collective whose data flows towards the roots is its dual on the transposed network.

In an all-to-all, a gather and a scatter, each pair of nodes exchanges data of its own. What each node sends to each
other one is described by a demand matrix, or is 1/N.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.base.files import as_path, read_document
from forestcoll.demand.collective import Collective, PhaseOp, ShardsByNode, collective_named, shards_of
from forestcoll.demand.matrix import Matrix, MatrixLike, matrix_of, read_matrix
from forestcoll.demand.ranks import RanksLike, members_of, ranks_of, require_reach, root_number, without_relays
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.graph.walks import reached_from, unreachable_pair


class EqualParts(Mapping[int, Fraction]):
    """The same part of M for all members but one; dictionaries of all pairs would take gigabytes.

    Args:
        part: the part.
        members: the members, in order.
        known: the members, as a set.
        without: the member that gets nothing.
    """

    def __init__(self, part: Fraction, members: tuple[int, ...], known: frozenset[int], without: int) -> None:
        self.part = part
        self._members, self._known, self._without = members, known, without

    def __getitem__(self, node: int) -> Fraction:
        if node == self._without or node not in self._known:
            raise KeyError(node)
        return self.part

    def __iter__(self) -> Iterator[int]:
        return (node for node in self._members if node != self._without)

    def __len__(self) -> int:
        return len(self._members) - 1


@dataclass(frozen=True)
class Demand:
    """A collective and its parameters, by names and ids.

    Attributes:
        collective: the collective, or its name.
        ranks: the compute nodes that take part: positions or ids, or a text such as `0-7,16-23`; all if None. The
            others are idle.
        root: for a broadcast, a reduce, a gather or a scatter, the compute node that is its root: an id or a position.
        shards: for an allgather, a reduce-scatter, a gather or a scatter, the part of the data of each compute node, by
            node id, or a JSON file of them. They add up to 1; nodes that are missing have 0. All are equal if None.
        matrix: for an all-to-all, a gather or a scatter, the demand matrix: what each node that takes part (row) sends
            to each other one (column), in multiples of M, or a CSV file of it. If None, each part is 1/N.
        relays: whether idle compute nodes may relay data.
        in_network: whether switches copy and add up data of trees, if the network says that they can.

    Example:
        >>> from forestcoll import Demand, optimum
        >>> str(optimum("dgx-a100:boxes=2", Demand("broadcast", root="b0/gpu0")).algbw)
        '200'
    """

    collective: Collective | str = Collective.ALLGATHER
    ranks: RanksLike | None = None
    root: NodeId | None = None
    shards: ShardsByNode | str | Path | None = None
    matrix: MatrixLike | str | Path | None = None
    relays: bool = True
    in_network: bool = True

    @property
    def needs_all(self) -> bool:
        """Whether all compute nodes of a network must reach each other."""
        return self.ranks is None

    def problem(self) -> str | None:
        """Return what is wrong with the combination of parameters on any network and how to fix it, or None."""
        kind = collective_named(self.collective)
        named = kind.with_article
        problems = {
            f"{named} needs a root; give the id of a compute node, or its position": kind.has_root
            and self.root is None,
            f"{named} has no root; leave root out": self.root is not None and not kind.has_root,
            f"{named} has no shards of different sizes; leave shards out": self.shards is not None
            and not kind.has_shards,
            f"{named} has no demand matrix; leave it out": self.matrix is not None and not kind.is_personalised,
            "shards and a demand matrix exclude each other; give one of them": self.shards is not None
            and self.matrix is not None,
            "all compute nodes take part, so none relays data; give ranks, or allow relays": not self.relays
            and self.ranks is None,
        }
        return next((text for text, is_so in problems.items() if is_so), None)

    def bind(self, topology: Topology) -> tuple[Topology, "NodeDemand"]:
        """Return the network as the demand may use it, and the demand in its node numbers, after all checks.

        Raises:
            InputError: there is no such collective, root, node or rank; the collective needs a root or has none; it
                has no shards or no demand matrix, or they are not valid; or a node that takes part cannot reach another
                to which it sends data.
        """
        kind = collective_named(self.collective)
        if (problem := self.problem()) is not None:
            raise InputError(problem)
        network = topology if self.in_network or kind.is_personalised else topology.without_abilities()
        if not self.relays:
            network = without_relays(network, () if self.ranks is None else self.ranks)
        members = ranks_of(network, self.ranks)
        number = _root(network, kind, self.root, members)
        shards = None if self.shards is None else _shards(self.shards, network, members)
        demand = NodeDemand(kind, number, shards, members)
        if kind.is_personalised:
            return network, demand.personalised(network, self._rows(network, members))
        require_reach(network, members, number, backwards=kind.only_reduces)
        return network, demand

    def _rows(self, network: Topology, members: tuple[int, ...] | None) -> MatrixLike | None:
        if isinstance(self.matrix, str | Path):
            return read_matrix(self.matrix, network, members)
        return self.matrix


def _shards(
    given: ShardsByNode | str | Path, topology: Topology, members: tuple[int, ...] | None
) -> tuple[Fraction, ...] | None:
    """Return the shard of each node; None if all are equal."""
    values, where = (read_document(as_path(given)), str(given)) if isinstance(given, str | Path) else (given, "shards")
    sizes = shards_of(topology, values, ranks=members, where=where)
    return sizes if len(set(sizes)) > 1 else None


@dataclass(frozen=True)
class NodeDemand:
    """A collective and its parameters, in node numbers of a network.

    Attributes:
        collective: the collective.
        root: the number of the root of a broadcast, a reduce, a gather or a scatter; None for other collectives.
        shards: the shard of each compute node that takes part, in the order of their numbers, as a part of all data;
            None if all are equal.
        ranks: the numbers of the compute nodes that take part, in ascending order; None if all take part.
        matrix: the demand matrix of an all-to-all, a gather or a scatter; None if all parts are 1/N.
        sources: in a broadcast, the numbers of the compute nodes that all have the data, the root among them; in an
            allreduce, of those whose vectors are added up. None for the root, or for all that take part.
        targets: in a broadcast or an allreduce, the numbers of the compute nodes that need the result; None for all
            that take part. It is given if and only if `sources` is given.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> NodeDemand(Collective.BROADCAST, root=2).weights(load_topology("ring:nodes=4"))
        (0, 0, 1, 0)
    """

    collective: Collective = Collective.ALLGATHER
    root: int | None = None
    shards: tuple[Fraction, ...] | None = None
    ranks: tuple[int, ...] | None = None
    matrix: Matrix | None = None
    sources: tuple[int, ...] | None = None
    targets: tuple[int, ...] | None = None

    def personalised(self, topology: Topology, rows: MatrixLike | None) -> "NodeDemand":
        """Return this demand of an all-to-all, a gather or a scatter with its matrix, after all checks."""
        plain = replace(self, shards=None)
        if self.shards is not None:
            rows = _matrix_of_shards(self, topology, self.shards)
        demand = plain if rows is None else plain.with_matrix(topology, matrix_of(topology, rows, ranks=self.ranks))
        _check_reach(topology, demand)
        return demand

    def with_matrix(self, topology: Topology, matrix: Matrix, where: str = "demand") -> "NodeDemand":
        """Return this demand with a checked `matrix`, or without a matrix if all parts are those without one.

        Raises:
            InputError: in a gather, data goes to another node than the root, or in a scatter, it comes from another
                node than the root. `where` begins the message.
        """
        members = self.members(topology)
        demand, kept = replace(self, matrix=matrix), members.index(self.root) if self.root is not None else None
        by_source = self.collective is Collective.SCATTER
        for source, row in enumerate(matrix):
            for target, part in enumerate(row if kept is not None else ()):
                if part and kept != (source if by_source else target):
                    ends = [repr(topology.nodes[members[each]].id) for each in (source, target)]
                    raise InputError(
                        f"{where}: {ends[0]} sends {part} to {ends[1]}; in {self.collective.with_article}, data "
                        f"{'comes from' if by_source else 'goes to'} the root only"
                    )
        plain = replace(self, matrix=None)
        return plain if plain.sent(topology) == demand.sent(topology) else demand

    def sent(self, topology: Topology) -> tuple[Mapping[int, Fraction], ...]:
        """Return, for each node that takes part, what it sends: the parts of M above 0, by the number of the target.

        Only for an all-to-all, a gather or a scatter.
        """
        members = self.members(topology)
        if self.matrix is not None:
            return tuple({node: part for node, part in zip(members, row, strict=True) if part} for row in self.matrix)
        part = Fraction(1, len(members))
        if self.collective is Collective.GATHER and self.root is not None:
            return tuple({} if node == self.root else {self.root: part} for node in members)
        senders, all_members = members if self.root is None else (self.root,), frozenset(members)
        return tuple(EqualParts(part, members, all_members, node) if node in senders else {} for node in members)

    def members(self, topology: Topology) -> tuple[int, ...]:
        """Return the numbers of the compute nodes that take part."""
        return members_of(topology, self.ranks)

    def joined(self, topology: Topology, op: PhaseOp) -> tuple[int, ...]:
        """Return the numbers of the compute nodes that each tree of a phase joins with its root."""
        joined = self.targets if op is PhaseOp.BROADCAST else self.sources
        return self.members(topology) if joined is None else joined

    @property
    def holders(self) -> tuple[int, ...] | None:
        """The nodes that all have the data of a broadcast; None if only its root has it, or if it is no broadcast."""
        return self.sources if self.collective is Collective.BROADCAST else None

    def parts(self, topology: Topology) -> tuple[Fraction, ...]:
        """Return the part of the data of each compute node that takes part; the parts add up to 1."""
        weights = self.weights(topology)
        whole = sum(weights)
        of_weight = {weight: Fraction(weight, whole) for weight in set(weights)}
        return tuple(map(of_weight.__getitem__, weights))

    def busbw_factor(self, topology: Topology) -> Fraction | None:
        """Return busbw / algbw; None for parts of different sizes, of which nccl-tests has no busbw."""
        if self.shards is not None or self.matrix is not None or self.sources is not None:
            return None
        return self.collective.busbw_factor(len(self.members(topology)))

    def weights(self, topology: Topology) -> tuple[int, ...]:
        """Return the weight of each compute node that takes part: its shard in units of 1/D; D is their sum."""
        members = self.members(topology)
        if self.root is not None:
            return tuple(int(node == self.root) for node in members)
        if self.shards is None:
            return (1,) * len(members)
        common = lcm(*(shard.denominator for shard in self.shards))
        return tuple(int(shard * common) for shard in self.shards)


def _matrix_of_shards(
    demand: NodeDemand, topology: Topology, shards: tuple[Fraction, ...]
) -> tuple[tuple[Fraction, ...], ...]:
    """Return the demand matrix of a gather or a scatter with these shards."""
    members, nothing = demand.members(topology), Fraction(0)
    if demand.collective is Collective.SCATTER:
        return tuple(shards if node == demand.root else (nothing,) * len(members) for node in members)
    return tuple(tuple(shard if node == demand.root else nothing for node in members) for shard in shards)


def _check_reach(topology: Topology, demand: NodeDemand) -> None:
    """Check that each node reaches the nodes to which it sends data."""
    if demand.matrix is None:
        require_reach(topology, demand.ranks, demand.root, backwards=demand.collective is Collective.GATHER)
        return
    if unreachable_pair(topology, demand.members(topology)) is None:
        return
    for source, targets in zip(demand.members(topology), demand.sent(topology), strict=True):
        missed = sorted(set(targets).difference(reached_from(topology, (source,)))) if targets else []
        if missed:
            ends = [repr(topology.nodes[each].id) for each in (source, missed[0])]
            raise InputError(f"{topology.name}: {ends[0]} cannot reach {ends[1]}, and sends data to it; add links")


def _root(
    topology: Topology, collective: Collective, root: NodeId | None, members: tuple[int, ...] | None
) -> int | None:
    return None if root is None or not collective.has_root else root_number(topology, root, members)
