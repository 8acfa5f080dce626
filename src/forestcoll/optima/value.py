"""The optimum of a collective as a value: how fast it can run, what bounds it and why, and which forests reach it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import ceil

from forestcoll.collective import Collective
from forestcoll.display import Displayed
from forestcoll.optima.plan import ForestPlan
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.request import Demand
from forestcoll.topology import Link, Topology
from forestcoll.topology.part import usable_part


@dataclass(frozen=True)
class Optimum(Displayed):
    """How fast a collective can run on a topology, and why no faster.

    Attributes:
        topology: the network.
        demand: what is asked of it.
        algbw: the algorithmic bandwidth that a schedule of `generate` reaches with the trees that were asked for, in
            the topology's unit.
        bound: what no schedule beats with any number of trees, with its proof; where `bound.proof.trees_only`, no
            schedule whose data moves along trees.
        cut: a least cut, node numbers, rising: data must leave it, and its links bound every schedule.
        forests: what the trees are grown with: one forest, or two of an allreduce, which reduce and then gather.
        spare: what stays unused so that switches send what they take in, and links that lead nowhere: links, with the
            bandwidth that is left.
    """

    topology: Topology
    demand: Demand
    algbw: Fraction
    bound: Bound
    cut: tuple[int, ...]
    forests: tuple[ForestPlan, ...]
    spare: tuple[Link, ...] = ()

    @property
    def collective(self) -> Collective:
        """The operation."""
        return self.demand.collective

    @property
    def root(self) -> int | None:
        """The number of the node that data comes from or goes to, where the collective has one."""
        return self.demand.root

    @property
    def ranks(self) -> tuple[int, ...] | None:
        """The numbers of the compute nodes that take part, rising; None if all do."""
        return self.demand.ranks

    @property
    def shards(self) -> tuple[Fraction, ...] | None:
        """Of each compute node that takes part its part of the data, where they are not all equal."""
        return self.demand.shards

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, rising."""
        return self.demand.members(self.topology)

    @cached_property
    def network(self) -> Topology:
        """The topology as trees can use it: idle compute nodes are switches that copy and add; no dead ends."""
        return usable_part(self.topology, self.members)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Of each compute node that takes part its shard, as a count of the 1/D that they add up to; D is their sum."""
        return self.demand.weights(self.topology)

    @property
    def trees_per_root(self) -> int:
        """k, how many trees every root has: k times its weight, where they hold different weights.

        Of an allreduce, the greater number of its two forests, on average over the roots.
        """
        whole = sum(self.weights)
        return max(ceil(Fraction(plan.trees, whole)) for plan in self.forests)

    @property
    def tree_bandwidth(self) -> Fraction:
        """The bandwidth that each tree gets, in the topology's unit."""
        return self.algbw / (self.trees_per_root * sum(self.weights))

    @property
    def is_optimal(self) -> bool:
        """Whether `algbw` reaches the bound."""
        return self.algbw == self.bound.algbw

    @property
    def compute_inside(self) -> int:
        """How many of the compute nodes that take part the cut holds."""
        return len(set(self.cut).intersection(self.members))

    @property
    def exit_bandwidth(self) -> Fraction:
        """The sum of the bandwidths of the links that leave the cut."""
        return CutProof(self.cut).exit_bandwidth(self.topology)


def unused_links(topology: Topology, used: Iterable[Topology]) -> tuple[Link, ...]:
    """Return the links of `topology` with what is left of their bandwidth beside that of all networks `used`."""
    left = {(link.source, link.target): link for link in topology.links}
    for link in chain.from_iterable(network.links for network in used):
        ends = link.source, link.target
        left[ends] = replace(left[ends], bandwidth=left[ends].bandwidth - link.bandwidth)
    return tuple(link for link in left.values() if link.bandwidth > 0)
