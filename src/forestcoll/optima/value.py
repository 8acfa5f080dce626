"""The optimum of a collective as a value: how fast, by how many trees, and the cut that proves it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import floor
from operator import sub

from forestcoll.collective import Collective
from forestcoll.ranks import members_of
from forestcoll.request import Demand
from forestcoll.topology import Link, Topology
from forestcoll.topology.part import usable_part


@dataclass(frozen=True)
class Optimum:
    """How fast a collective can run on a topology, and why no faster.

    Attributes:
        topology: the network.
        collective: the operation.
        algbw: the best algorithmic bandwidth for `trees_per_root` trees per root, in the topology's unit. Of an
            allreduce: what its two forests reach at least, if neither gives way to the other.
        trees_per_root: k, how many trees from every compute node reach `algbw`: k times its weight, where they hold
            different weights; of an allreduce, the greater number of its two phases.
        tree_bandwidth: y, the bandwidth that each tree gets.
        optimal_algbw: what no schedule can beat, with any number of trees; `algbw` unless k was asked for. Of an
            allreduce it is a bound that need not be reached.
        cut: the bottleneck cut, node numbers, rising: data must leave it, and its links bound `optimal_algbw`.
        unused: of each link, how many more trees would fit on it but must not use it, so that switches stay balanced;
            empty if all may.
        root: the number of the node that data comes from or goes to, where the collective has one.
        shards: of each compute node that takes part, in the order of their numbers, where they are not all equal.
        phases: of an allreduce, the optimum of its reduce-scatter and that of its allgather, each on the part of the
            network that it gets; of others the optimum on a part of the network, if trees use no more. Idle compute
            nodes are switches in a part, and switches that copy or add may be compute nodes.
        tree_bound: what no schedule of trees can beat, where that is known to be less than `optimal_algbw`.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
        spare: of switches that are not balanced what must stay unused: links, with the bandwidth that is left.
    """

    topology: Topology
    collective: Collective
    algbw: Fraction
    trees_per_root: int
    tree_bandwidth: Fraction
    optimal_algbw: Fraction
    cut: tuple[int, ...]
    unused: tuple[int, ...] = ()
    root: int | None = None
    shards: tuple[Fraction, ...] | None = None
    phases: tuple["Optimum", ...] = ()
    tree_bound: Fraction | None = None
    ranks: tuple[int, ...] | None = None
    spare: tuple[Link, ...] = ()

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, rising."""
        return members_of(self.topology, self.ranks)

    @cached_property
    def network(self) -> Topology:
        """The topology as trees can use it: idle compute nodes are switches that copy and add; no dead ends."""
        return usable_part(self.topology, self.members)

    @property
    def demand(self) -> Demand:
        """What was asked."""
        return Demand(self.collective, self.root, self.shards, self.ranks)

    @property
    def weights(self) -> tuple[int, ...]:
        """Of each compute node that takes part its shard, as a count of the 1/D that they add up to; D is their sum."""
        return self.demand.weights(self.topology)

    @property
    def bound(self) -> Fraction:
        """What no schedule of trees can beat, with any number of trees."""
        return self.optimal_algbw if self.tree_bound is None else self.tree_bound

    @property
    def compute_inside(self) -> int:
        """How many of the compute nodes that take part the cut holds."""
        return len(set(self.cut).intersection(self.members))

    @property
    def must_leave(self) -> Fraction:
        """What must leave the cut, as a fraction of M.

        It is the shards inside or, where data is reduced, those of the nodes outside; all data in an allreduce.
        """
        if self.collective is Collective.ALLREDUCE:
            return Fraction(1)
        inside, weights = set(self.cut), self.weights
        leaves = (
            weight
            for node, weight in zip(self.members, weights, strict=True)
            if (node in inside) != self.collective.only_reduces
        )
        return Fraction(sum(leaves), sum(weights))

    @property
    def exit_bandwidth(self) -> Fraction:
        """The sum of the bandwidths of the links that leave the cut."""
        inside = set(self.cut)
        leaving = (link for link in self.topology.links if link.source in inside and link.target not in inside)
        return sum((link.bandwidth for link in leaving), Fraction(0))

    def tree_capacities(self) -> tuple[int, ...]:
        """Return of each link how many trees may use it: its bandwidth by `tree_bandwidth`, rounded down."""
        whole = tuple(floor(link.bandwidth / self.tree_bandwidth) for link in self.topology.links)
        return tuple(map(sub, whole, self.unused)) if self.unused else whole

    @property
    def is_reachable(self) -> bool:
        """Whether some number of trees is known to reach `bound`."""
        if self.collective is Collective.ALLREDUCE:
            return self.algbw == self.bound
        return all(phase.optimal_algbw == self.bound for phase in self.phases)

    @property
    def kept_back(self) -> tuple[Link, ...]:
        """What stays unused so that switches give out what they take in: links, with the bandwidth that is left.

        None where all switches are balanced as they are; of an allreduce what its two phases leave together.
        """
        if self.collective is Collective.ALLREDUCE and not self.network.has_balanced_switches:
            return unused_links(self.topology, [phase.topology for phase in self.phases])
        usable = {(link.source, link.target) for link in self.network.links}
        return (*self.spare, *(link for link in self.topology.links if (link.source, link.target) not in usable))

    def transposed(self) -> "Optimum":
        """Return the same of the dual collective on the transposed network: all data flows backwards.

        What left the cut there enters it here, so that it leaves the other nodes: these are the cut here.
        """
        inside = set(self.cut)
        ends = [(link.target, link.source) for link in self.topology.links]
        order = sorted(range(len(ends)), key=ends.__getitem__)
        return replace(
            self,
            topology=self.topology.transposed(),
            collective=self.collective.dual,
            cut=tuple(node for node in range(len(self.topology.nodes)) if node not in inside),
            unused=tuple(self.unused[link] for link in order) if self.unused else (),
            phases=tuple(phase.transposed() for phase in reversed(self.phases)),
            spare=tuple(replace(link, source=link.target, target=link.source) for link in self.spare),
        )


def unused_links(topology: Topology, used: Iterable[Topology]) -> tuple[Link, ...]:
    """Return the links of `topology` with what is left of their bandwidth beside that of all networks `used`."""
    left = {(link.source, link.target): link for link in topology.links}
    for link in chain.from_iterable(network.links for network in used):
        ends = link.source, link.target
        left[ends] = replace(left[ends], bandwidth=left[ends].bandwidth - link.bandwidth)
    return tuple(link for link in left.values() if link.bandwidth > 0)
