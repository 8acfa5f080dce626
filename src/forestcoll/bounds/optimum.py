"""The optimum of a collective as a value: how fast, by how many trees, and the cut that proves it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from operator import sub

from forestcoll.bounds.demand import Demand
from forestcoll.collective import Collective
from forestcoll.ranks import members_of
from forestcoll.topology import Link, Topology


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
        unused: of each link of `network`, how many more trees would fit on it but must not use it, so that switches
            stay balanced; empty if all may.
        root: the number of the node that data comes from or goes to, where the collective has one.
        shards: of each compute node that takes part, in the order of their numbers, where they are not all equal.
        phases: of an allreduce, the optimum of its reduce-scatter and that of its allgather.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
        usable_algbw: what trees reach at most on what switches can use, where that may be less than `optimal_algbw`.
        part: what trees use of the topology, with the same numbers of nodes: idle nodes are switches there, and what
            unbalanced switches cannot use is missing from links; None if it is the topology itself.
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
    ranks: tuple[int, ...] | None = None
    usable_algbw: Fraction | None = None
    part: Topology | None = None

    @property
    def network(self) -> Topology:
        """What trees use of the topology."""
        return self.topology if self.part is None else self.part

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, rising."""
        return members_of(self.topology, self.ranks)

    @property
    def is_reachable(self) -> bool:
        """Whether some number of trees is known to reach `optimal_algbw`."""
        return not self.phases and self.usable_algbw in {None, self.optimal_algbw}

    @property
    def demand(self) -> Demand:
        """What was asked."""
        return Demand(self.collective, self.root, self.shards, self.ranks)

    @property
    def weights(self) -> tuple[int, ...]:
        """Of each compute node of `network` its shard, as a count of the 1/D that they add up to; D is their sum."""
        return self.demand.weights(self.network)

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
            for node, weight in zip(self.network.compute, weights, strict=True)
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
        """Return of each link of `network` how many trees may use it: its bandwidth by `tree_bandwidth`, rounded."""
        whole = tuple(floor(link.bandwidth / self.tree_bandwidth) for link in self.network.links)
        return tuple(map(sub, whole, self.unused)) if self.unused else whole

    @property
    def kept_back(self) -> tuple[Link, ...]:
        """What must stay unused so that switches stay balanced: links with as much bandwidth as trees do not get."""
        usable = {(link.source, link.target): link.bandwidth for link in self.network.links}
        spare = (
            replace(link, bandwidth=link.bandwidth - usable.get((link.source, link.target), Fraction(0)))
            for link in self.topology.links
        )
        return tuple(link for link in spare if link.bandwidth)

    def transposed(self) -> "Optimum":
        """Return the same of the dual collective on the transposed network: all data flows backwards.

        What left the cut there enters it here, so that it leaves the other nodes: these are the cut here.
        """
        inside = set(self.cut)
        ends = [(link.target, link.source) for link in self.network.links]
        order = sorted(range(len(ends)), key=ends.__getitem__)
        return replace(
            self,
            topology=self.topology.transposed(),
            part=None if self.part is None else self.part.transposed(),
            collective=self.collective.dual,
            cut=tuple(node for node in range(len(self.topology.nodes)) if node not in inside),
            unused=tuple(self.unused[link] for link in order) if self.unused else (),
            phases=tuple(phase.transposed() for phase in reversed(self.phases)),
        )
