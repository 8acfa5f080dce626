"""What no schedule can beat on a network, collective by collective, each with what proves it.

algbw is M / time with M as nccl-tests has it: the gathered vector of allgather and reduce-scatter, one node's vector
of allreduce, broadcast and reduce, and of all-to-all the N blocks that one node sends (one of them to itself). busbw is
algbw times (N-1)/N for allgather, reduce-scatter and all-to-all, 2(N-1)/N for allreduce, 1 for broadcast and reduce.

The rate of an allreduce in *On the Computation Rate of All-Reduce* counts sums per use of the network; with M symbols
to a vector it is M / time, which is algbw. The paper's network has no switches: here they pass data on, and the sets of
its cut-set bound (Theorem 1) are those that hold a compute node and miss one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.allreduce.plan import AllreducePlan
from forestcoll.bounds.latency import LatencyBound
from forestcoll.collective import Collective
from forestcoll.display import Displayed
from forestcoll.optima.rooted import RootedBound
from forestcoll.proof.bound import Bound
from forestcoll.request import Demand
from forestcoll.topology import Topology


@dataclass(frozen=True)
class CollectiveBound:
    """What no schedule of a collective beats, and what is reached.

    Attributes:
        bound: the bound, that of `optimum`, with its proof.
        busbw_factor: busbw by algbw.
        achieved_algbw: the algbw of `optimum` and `generate`; None where they have none.
        tight: whether some schedule is known to reach the bound.
        root: the node that data comes from or goes to, where the collective has one.
        residual: by how much of it the bound is above what a solver reached in floating point; 0 where it is tight or
            nothing is known.
    """

    bound: Bound
    busbw_factor: Fraction
    achieved_algbw: Fraction | None
    tight: bool
    root: int | None = None
    residual: float = 0.0

    @property
    def collective(self) -> Collective:
        """The operation."""
        return self.bound.collective

    @property
    def upper_algbw(self) -> Fraction:
        """The bound, in the topology's unit."""
        return self.bound.algbw

    @property
    def upper_busbw(self) -> Fraction:
        """The bound as busbw."""
        return self.upper_algbw * self.busbw_factor

    def demand(self, ranks: tuple[int, ...] | None = None) -> Demand:
        """Return what is bounded, of all compute nodes or of `ranks`."""
        return Demand(self.collective, self.root, None, ranks)


@dataclass(frozen=True)
class AllreduceRate:
    """The all-reduce rate between the bounds of *On the Computation Rate of All-Reduce*.

    Attributes:
        cut_set_upper: Theorem 1, over all sets that hold a compute node and miss one, with its proof; no schedule of
            any kind is faster, even with switches that compute.
        tree_lower: Theorem 2, the best reduce-and-broadcast along trees; less than that where `exact` is false.
        corollary_upper: Corollary 2.1, which bounds the best along trees without a linear program.
        one_after_the_other: what a reduce-scatter and then an allgather reach, each by itself at its optimum; None
            where switches are not balanced.
        equal_roots: what a reduce-scatter and an allgather reach at once, the links shared between them as is best;
            None where no program was solved, or not in fractions.
        exact: whether `tree_lower` is known to be the best along trees.
        plan: how much each node roots and how each link is shared, at `tree_lower`; None where no program was solved.
    """

    cut_set_upper: Bound
    tree_lower: Fraction | None
    corollary_upper: Fraction
    one_after_the_other: Fraction | None
    equal_roots: Fraction | None
    exact: bool
    plan: AllreducePlan | None


@dataclass(frozen=True)
class Bounds(Displayed):
    """All bounds of a network.

    Attributes:
        topology: the network.
        collectives: a row for each collective; one whose bound would take too long is missing.
        allreduce_rate: the rate of allreduce between its bounds.
        latency: the steps that any schedule takes.
        roots: of broadcast and reduce the least cuts of the worst and the best root.
        too_large: of each program that was left out why, in words.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
    """

    topology: Topology
    collectives: tuple[CollectiveBound, ...]
    allreduce_rate: AllreduceRate
    latency: LatencyBound
    roots: Mapping[Collective, tuple[RootedBound, RootedBound]]
    too_large: Mapping[Collective, str]
    ranks: tuple[int, ...] | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part, rising."""
        return Demand(ranks=self.ranks).members(self.topology)

    def of(self, collective: Collective) -> CollectiveBound | None:
        """Return the bound of one collective, None if it is missing."""
        return next((each for each in self.collectives if each.collective is collective), None)
