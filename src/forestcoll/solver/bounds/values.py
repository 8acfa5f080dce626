"""The bounds of every collective on a network, with their proofs, as values.

algbw is M / time, with M as in nccl-tests: the gathered vector for allgather and reduce-scatter, the vector of one node
for allreduce, broadcast and reduce, and for all-to-all the N blocks that one node sends (one of them to itself). busbw
is algbw times (N-1)/N for allgather, reduce-scatter and all-to-all, 2(N-1)/N for allreduce, 1 for broadcast and reduce.

The rate of an allreduce in *On the Computation Rate of All-Reduce* counts sums per use of the network. With M symbols
in a vector it is M / time, which is algbw. The network of the paper has no switches. Here switches forward data, and
the sets in the cut-set bound (Theorem 1) are those with some but not all compute nodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.matrix import Matrix
from forestcoll.schedule.proof.bound import Bound
from forestcoll.solver.allreduce.plan import AllreducePlan
from forestcoll.solver.bounds.cut_edge import CutEdge
from forestcoll.solver.bounds.latency import LatencyBound
from forestcoll.solver.forests.broadcast import RootedBound
from forestcoll.topology import Topology
from forestcoll.topology.graph.part import usable_part


@dataclass(frozen=True)
class CollectiveBound:
    """The bound of a collective, and the algbw that is reached.

    Attributes:
        bound: the bound of `optimum`, with its proof.
        busbw_factor: busbw / algbw.
        achieved_algbw: the algbw of `optimum` and `generate`, in the unit of the topology; None if they have none.
        tight: whether some schedule is known to reach the bound.
        root: the number of the root; None if the collective has no root.
        residual: the relative amount by which the bound exceeds the rate that was reached, for an all-to-all; 0 if the
            bound is tight, and for other collectives.
        matrix: the demand matrix of an all-to-all, a gather or a scatter; None if all parts are 1/N.

    Example:
        >>> from forestcoll import Collective, bounds
        >>> found = bounds("ring:nodes=3").of(Collective.ALLGATHER)
        >>> str(found.upper_algbw), str(found.upper_busbw), found.tight, found.bound.proof.kind
        ('3', '2', True, 'cut')
    """

    bound: Bound
    busbw_factor: Fraction
    achieved_algbw: Fraction | None
    tight: bool
    root: int | None = None
    residual: float = 0.0
    matrix: Matrix | None = None

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.bound.collective

    @property
    def upper_algbw(self) -> Fraction:
        """The bound as algbw, in the unit of the topology."""
        return self.bound.algbw

    @property
    def upper_busbw(self) -> Fraction:
        """The bound as busbw, in the unit of the topology."""
        return self.upper_algbw * self.busbw_factor

    def demand(self, ranks: tuple[int, ...] | None = None) -> NodeDemand:
        """Return the demand that the bound is for, of all compute nodes or of `ranks`."""
        return NodeDemand(self.collective, self.root, None, ranks, self.matrix)


@dataclass(frozen=True)
class AllreduceRate:
    """The rate of an allreduce with the bounds of *On the Computation Rate of All-Reduce*, in the unit of the topology.

    Along trees, switches and idle nodes only forward data here. If some can copy or add up data, greater rates may be
    possible; the row of the allreduce in `Bounds.collectives` counts these copies.

    Attributes:
        cut_set_upper: Theorem 1, over all sets with some but not all compute nodes, with its proof. No schedule of any
            kind is faster, even with switches that compute.
        tree_lower: Theorem 2, the greatest rate of a reduce and a broadcast along trees. If `exact` is false, it is a
            rate that is reached, and may not be the greatest; None if no rate is known.
        corollary_upper: Corollary 2.1, a bound of the rate along trees without a linear program.
        one_after_the_other: the rate of a reduce-scatter and then an allgather, each at its optimum; None if a switch
            is not balanced.
        equal_roots: the greatest rate of a reduce-scatter and an allgather at the same time that share the links; None
            if no linear program was solved exactly.
        exact: whether `tree_lower` is known to be the greatest rate along trees.
        plan: the part that each node is the root of and the shares of each link, at `tree_lower`; None if no linear
            program was solved.
        linear_upper: a bound of all linear codes, also over several sums at the same time.
        greatest_factor: 2 - 2/K for K compute nodes that take part: `factor` is never greater. None if a switch is not
            balanced; then there is no such bound.
        cut_edge: the link that determines the rate (Theorem 3); None if there is none.

    Example:
        >>> from forestcoll import bounds
        >>> rate = bounds("ring:nodes=3").allreduce_rate
        >>> str(rate.cut_set_upper.algbw), str(rate.tree_lower), rate.exact
        ('2', '3/2', True)
        >>> str(rate.factor), str(rate.greatest_factor), str(rate.linear_upper), rate.cut_edge
        ('4/3', '4/3', '3/2', None)
    """

    cut_set_upper: Bound
    tree_lower: Fraction | None
    corollary_upper: Fraction
    one_after_the_other: Fraction | None
    equal_roots: Fraction | None
    exact: bool
    plan: AllreducePlan | None
    linear_upper: Fraction
    greatest_factor: Fraction | None
    cut_edge: CutEdge | None

    @property
    def factor(self) -> Fraction | None:
        """The cut-set bound divided by `tree_lower`; 1 if the rate is known, None if `tree_lower` is None."""
        return None if self.tree_lower is None else self.cut_set_upper.algbw / self.tree_lower


@dataclass(frozen=True, repr=False)
class Bounds(Displayed):
    """All bounds of a network. `bounds` returns them.

    Attributes:
        topology: the network.
        collectives: one row for each collective, without those whose bound would take too long to compute.
        allreduce_rate: the rate of an allreduce with its bounds.
        latency: the least number of steps of any schedule.
        roots: for broadcast and for reduce, the bounds of the worst and of the best root.
        too_large: for each collective whose linear program was not solved, the reason, in words.
        ranks: the numbers of the compute nodes that take part, in rising order; None if all take part.

    Example:
        >>> from forestcoll import bounds
        >>> found = bounds("ring:nodes=3")
        >>> [f"{each.collective}: {each.upper_algbw}" for each in found.collectives if each.collective.has_root]
        ['broadcast: 2', 'reduce: 2']
        >>> found.latency.steps
        1
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
        """The numbers of the compute nodes that take part, in rising order."""
        return NodeDemand(ranks=self.ranks).members(self.topology)

    @property
    def has_copies(self) -> bool:
        """Whether a switch or an idle node can copy or add up data, which `allreduce_rate` leaves out along trees."""
        return bool(usable_part(self.topology, self.members).able_switches)

    def of(self, collective: Collective) -> CollectiveBound | None:
        """Return the row of one collective, or None if it is missing."""
        return next((each for each in self.collectives if each.collective is collective), None)
