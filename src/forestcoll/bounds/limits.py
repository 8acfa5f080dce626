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
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

from forestcoll.allreduce.plan import AllreducePlan
from forestcoll.allreduce.program import AllreduceOptimum
from forestcoll.bounds.all_to_all import AllToAllOptimum
from forestcoll.bounds.latency import LatencyBound
from forestcoll.optima.rooted import RootedBound
from forestcoll.topology import Topology


class Operation(StrEnum):
    """A collective that has a bound, by the name that the command line uses."""

    ALLGATHER = "allgather"
    REDUCE_SCATTER = "reduce-scatter"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    ALLREDUCE = "allreduce"
    ALL_TO_ALL = "all-to-all"


@dataclass(frozen=True)
class CutLimit:
    """A set of nodes that a share of the data must leave: algbw <= exit bandwidth / share.

    Attributes:
        inside: node numbers, rising.
        share: of M, what must leave.
        exit_bandwidth: of the links that leave.
    """

    inside: tuple[int, ...]
    share: Fraction
    exit_bandwidth: Fraction

    @property
    def algbw(self) -> Fraction:
        """The bound."""
        return self.exit_bandwidth / self.share


@dataclass(frozen=True)
class ReceiptLimit:
    """Corollary 2.1: every compute node but the root takes part in both phases of an allreduce along trees.

    Attributes:
        receivers: N - 1.
        bandwidth: of all links into compute nodes (or out of them, if that is less) together.
    """

    receivers: int
    bandwidth: Fraction

    @property
    def algbw(self) -> Fraction:
        """The bound."""
        return self.bandwidth / (2 * self.receivers)


def receipt_limit(topology: Topology) -> ReceiptLimit:
    """Return what the links of the compute nodes of `topology` allow (Corollary 2.1)."""
    into = sum((topology.ingress[node] for node in topology.compute), Fraction(0))
    out = sum((topology.egress[node] for node in topology.compute), Fraction(0))
    return ReceiptLimit(len(topology.compute) - 1, min(into, out))


@dataclass(frozen=True)
class ProgramLimit:
    """An optimum of a linear program: its dual is the certificate."""

    optimum: AllreduceOptimum | AllToAllOptimum
    algbw: Fraction


Limit: TypeAlias = CutLimit | ReceiptLimit | ProgramLimit


@dataclass(frozen=True)
class CollectiveBound:
    """What no schedule of a collective can beat.

    Attributes:
        operation: the collective.
        limit: why; its `algbw` is the bound.
        busbw_factor: busbw by algbw.
        achieved_algbw: what a schedule that `generate` makes reaches; None where it makes none.
        tight: whether some schedule is known to reach the bound.
        root: the node that data comes from or goes to, where the collective has one.
    """

    operation: Operation
    limit: Limit
    busbw_factor: Fraction
    achieved_algbw: Fraction | None
    tight: bool
    root: int | None = None

    @property
    def upper_algbw(self) -> Fraction:
        """The bound, in the topology's unit."""
        return self.limit.algbw

    @property
    def upper_busbw(self) -> Fraction:
        """The bound as busbw."""
        return self.upper_algbw * self.busbw_factor


@dataclass(frozen=True)
class AllreduceRate:
    """The all-reduce rate between the bounds of *On the Computation Rate of All-Reduce*.

    Attributes:
        cut_set_upper: Theorem 1, over all sets that hold a compute node and miss one; no schedule of any kind is
            faster, even with switches that compute.
        tree_lower: Theorem 2, the best reduce-and-broadcast along trees; less than that where `exact` is false.
        corollary_upper: Corollary 2.1, which bounds the best along trees without a linear program.
        one_after_the_other: what a reduce-scatter and then an allgather reach, each by itself at its optimum; None
            where switches are not balanced.
        equal_roots: what a reduce-scatter and an allgather reach at once, the links shared between them as is best;
            None where no program was solved, or not in fractions.
        exact: whether `tree_lower` is known to be the best along trees.
        plan: how much each node roots and how each link is shared, at `tree_lower`; None where no program was solved.
    """

    cut_set_upper: CutLimit
    tree_lower: Fraction | None
    corollary_upper: ReceiptLimit
    one_after_the_other: Fraction | None
    equal_roots: Fraction | None
    exact: bool
    plan: AllreducePlan | None


@dataclass(frozen=True)
class Bounds:
    """All bounds of a network.

    Attributes:
        topology: the network.
        collectives: in the order of `Operation`; one whose bound would take too long is missing.
        allreduce_rate: the rate of allreduce between its bounds.
        latency: the steps that any schedule takes.
        roots: of broadcast and reduce the bounds for the worst and the best root.
        too_large: of each program that was left out why, in words.
        ranks: the numbers of the compute nodes that take part, rising, None if all do; `topology` has the idle ones as
            switches.
        nodes: how many compute nodes there are, idle ones too.
    """

    topology: Topology
    collectives: tuple[CollectiveBound, ...]
    allreduce_rate: AllreduceRate
    latency: LatencyBound
    roots: Mapping[Operation, tuple[RootedBound, RootedBound]]
    too_large: Mapping[Operation, str]
    ranks: tuple[int, ...] | None = None
    nodes: int = 0

    def of(self, operation: Operation) -> CollectiveBound | None:
        """Return the bound of one collective, None if it is missing."""
        return next((each for each in self.collectives if each.operation is operation), None)
