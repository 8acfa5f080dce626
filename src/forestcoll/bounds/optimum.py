"""The optimum of a collective as a value: how fast, by how many trees, and the cut that proves it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from operator import sub

from forestcoll.bounds.demand import Demand
from forestcoll.collective import Collective
from forestcoll.topology import Topology


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
        shards: of each compute node, in the order of their numbers, where they are not all equal.
        phases: of an allreduce, the optimum of its reduce-scatter and that of its allgather, each on the part of the
            network that it gets.
        tree_bound: of an allreduce, what no schedule of trees can beat; at most `optimal_algbw`.
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

    @property
    def demand(self) -> Demand:
        """What was asked."""
        return Demand(self.collective, self.root, self.shards)

    @property
    def weights(self) -> tuple[int, ...]:
        """Of each compute node its shard, as a count of the 1/D that they add up to; D is their sum."""
        return self.demand.weights(self.topology)

    @property
    def bound(self) -> Fraction:
        """What no schedule of trees can beat, with any number of trees."""
        return self.optimal_algbw if self.tree_bound is None else self.tree_bound

    @property
    def compute_inside(self) -> int:
        """How many compute nodes the cut holds."""
        return sum(self.topology.nodes[number].is_compute for number in self.cut)

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
            for node, weight in zip(self.topology.compute, weights, strict=True)
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
        )
