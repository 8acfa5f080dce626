"""The optimum of a collective as a value: its bandwidth, its bound with the proof, and the forests that reach it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm

from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.optimum import CollectiveOptimum
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.packed_trees import TreePacking
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.logical_network import LogicalNetwork
from forestcoll.topology.graph.part import usable_part


@dataclass(frozen=True, repr=False)
class TreeOptimum(CollectiveOptimum):
    """The optimum of a collective along trees.

    Attributes:
        topology: the network.
        demand: the collective and its parameters, in node numbers.
        algbw: the algorithmic bandwidth that the schedule of `generate` reaches with the requested number of trees, in
            the unit of the topology.
        bound: the algbw that no schedule exceeds with any number of trees, with the proof. If
            `bound.proof.trees_only`, it holds only for schedules whose data moves along trees.
        cut: a least cut, node numbers in rising order. Data must leave it, so its links bound every schedule.
        forests: the input to the generation of the trees: one forest, or two for an allreduce (reduce, broadcast).
            Empty if there is a packing.
        spare: the links with unused bandwidth, each with the bandwidth that is left. It is unused to keep switches
            balanced, or because the link leads nowhere.
        packing: the trees of an allreduce that were packed one by one, because relays or switches copy or add up data;
            None if the trees are grown from `forests`.
        logical: the logical network of the trees, if the number of peers is limited; else None.
        by_trees: the optimum of each number of trees that was tried, if the best number was requested.
        relays: what is gained by idle nodes that serve as relays; None if none does, or if it was not computed.
        schedule: the schedule whose loads determined the algbw; None if none was made.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("dgx-a100:boxes=2")
        >>> str(best.algbw), best.trees_per_root, best.is_optimal
        ('1040/3', 13, True)
    """

    cut: tuple[int, ...]
    forests: tuple[ForestPlan, ...]
    spare: tuple[Link, ...] = ()
    packing: TreePacking | None = None
    logical: LogicalNetwork | None = None
    by_trees: tuple["TreeOptimum", ...] = ()
    relays: "RelayGain | None" = None
    schedule: TreeSchedule | None = field(default=None, repr=False, compare=False)

    @property
    def shards(self) -> tuple[Fraction, ...] | None:
        """The part of the data of each compute node that takes part; None if all parts are equal."""
        return self.demand.shards

    @cached_property
    def network(self) -> Topology:
        """The part of the topology that trees can use: idle compute nodes are switches that copy and add up."""
        return usable_part(self.topology, self.members)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The weight of each compute node that takes part: its shard in units of 1/D; D is the sum of all weights."""
        return self.demand.weights(self.topology)

    @property
    def trees_per_root(self) -> int:
        """k, the number of trees of each root; if weights differ, a root has k times its weight.

        For an allreduce, the number is an average over the roots, of the forest with more trees.
        """
        trees = [plan.trees for plan in self.forests] if self.packing is None else [self.packing.trees]
        return max(ceil(Fraction(each, sum(self.weights))) for each in trees)

    @property
    def least_trees_per_root(self) -> int:
        """A lower bound of the k of every forest that reaches the bound; 1 if the proof of the bound gives none.

        The links that leave the cut of the proof are full, so each carries a whole number of trees.
        """
        proof = self.bound.proof
        if self.collective is Collective.ALLREDUCE or not self.is_optimal or not isinstance(proof, CutProof):
            return 1
        whole = sum(self.weights)
        return lcm(*((each.bandwidth * whole / self.algbw).denominator for each in proof.leaving(self.topology)))

    @property
    def tree_bandwidth(self) -> Fraction:
        """The bandwidth of each tree, in the unit of the topology."""
        return self.algbw / (self.trees_per_root * sum(self.weights))

    @property
    def compute_inside(self) -> int:
        """The number of compute nodes inside the cut that take part."""
        return len(set(self.cut).intersection(self.members))

    @property
    def exit_bandwidth(self) -> Fraction:
        """The sum of the bandwidths of the links that leave the cut."""
        return CutProof(self.cut).exit_bandwidth(self.topology)


@dataclass(frozen=True)
class RelayGain:
    """What is gained by idle nodes that serve as relays.

    Attributes:
        algbw: the optimum with relays, in the unit of the topology.
        without: the optimum without idle nodes and their links; None if the ranks cannot all reach each other without
            them, or if there is no solution with the requested number of trees.
    """

    algbw: Fraction
    without: Fraction | None


def unused_links(topology: Topology, used: Iterable[Topology]) -> tuple[Link, ...]:
    """Return the links of `topology` with the bandwidth that the networks `used` leave, without links with none."""
    networks = (topology, *used)
    if len(networks) == 2 and networks[1] is topology:
        return ()
    denominator = lcm(*(network.bandwidth_numerators[1] for network in networks))
    left = dict.fromkeys(((link.source, link.target) for link in topology.links), 0)
    for place, network in enumerate(networks):
        numerators, own = network.bandwidth_numerators
        factor = -denominator // own if place else denominator // own
        for link, numerator in zip(network.links, numerators, strict=True):
            left[link.source, link.target] += factor * numerator
    rest = zip(topology.links, left.values(), strict=True)
    return tuple(replace(link, bandwidth=Fraction(bandwidth, denominator)) for link, bandwidth in rest if bandwidth > 0)
