"""Both halves of the proof of an allreduce's optimum: a plan that reaches it and weights that no plan can beat.

Everything here is exact, and uses no linear programming: whoever doubts the optimum adds up links.

The program (ForestColl, appendix G). A plan says how much of the vector each node is the root of, x_v, and how much
of each link's bandwidth b the reduce and the broadcast get, c_RE + c_BC <= b. Spanning out-trees that carry x_v from
each root fit into c_BC if and only if for every set S that misses a compute node

    c_BC(links that leave S) >= sum of x_v over v in S,                                                          (1)

(Edmonds) and in-trees into c_RE likewise with the links that enter S. With switches, which only pass data on, c_BC and
c_RE must besides enter each switch with as much as they leave it:

- what trees use does, for each route passes through; and each tree enters a set's complement, so (1) holds;
- where it does, switches can be split off without making any cut of (1) less (Bang-Jensen, Frank and Jackson: compute
  nodes have arcs back to the source, and so are connected enough among each other), and (1) holds for what is left.

So this program has the optimum of the appendix, which routes each logical link through the switches as a commodity of
its own; it only takes fewer columns. A switch that can multicast need not be balanced by the broadcast, nor one that
can aggregate by the reduce, and one that does both may be a root: with these `Roles` the optimum bounds all schedules
of trees, but is not known to be reached. It is reached where each such switch either *copies*, so that all data of the
phase must get to it as to a compute node (a tree may then leave it out), or passes data on like any other.

The dual. Weights y_S >= 0 on sets, each for one of the phases, and potentials of switches in each phase, give each
link a price in each phase, and the greater of the two counts:

    rate * least over v of (weight of the sets that hold v)  <=  sum over links of b * price.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.optima.cuts import FlowNetwork
from forestcoll.proof.tree_dual import PHASES, Roles
from forestcoll.topology import Topology


@dataclass(frozen=True)
class AllreducePlan:
    """A feasible solution of the program: what the trees of an allreduce may be packed into.

    Attributes:
        roots: of each node the rate at which sums are rooted at it, x_v.
        reduce: of each link the bandwidth that the reduce gets, c_RE.
        broadcast: of each link the bandwidth that the broadcast gets, c_BC.
    """

    roots: tuple[Fraction, ...]
    reduce: tuple[Fraction, ...]
    broadcast: tuple[Fraction, ...]

    @property
    def rate(self) -> Fraction:
        """The rate of the whole: the algbw of an allreduce by this plan."""
        return sum(self.roots, Fraction(0))

    def of_phase(self, phase: PhaseOp) -> tuple[Fraction, ...]:
        """Return of each link the bandwidth that `phase` gets."""
        return self.reduce if phase is PhaseOp.REDUCE else self.broadcast

    def fault(self, topology: Topology, roles: Roles | None = None) -> str | None:
        """Return what is wrong with the plan on `topology`, in words, or None if it is feasible.

        `roles`: of its nodes; switches only pass data on unless they are given.
        """
        return next(self._faults(topology, roles or Roles.of(topology)), None)

    def _faults(self, topology: Topology, roles: Roles) -> Iterator[str]:
        if len(self.roots) != len(topology.nodes) or {len(self.reduce), len(self.broadcast)} != {len(topology.links)}:
            yield "it is of another network"
            return
        if min((*self.roots, *self.reduce, *self.broadcast)) < 0:
            yield "a number is negative"
        for number, rooted in enumerate(self.roots):
            if rooted and number not in roles.roots:
                yield f"switch {topology.nodes[number].id!r} is a root"
        for link, reduced, sent in zip(topology.links, self.reduce, self.broadcast, strict=True):
            if reduced + sent > link.bandwidth:
                yield f"link {topology.ids([link.source, link.target])} is used more than it can be"
        for phase in PHASES:
            yield from self._unbalanced(topology, phase, roles)
            yield from self._cut_off(topology, phase, roles)

    def _unbalanced(self, topology: Topology, phase: PhaseOp, roles: Roles) -> Iterator[str]:
        surplus = [Fraction(0)] * len(topology.nodes)
        for link, used in zip(topology.links, self.of_phase(phase), strict=True):
            surplus[link.target] += used
            surplus[link.source] -= used
        for number in sorted(roles.passive[phase]):
            if surplus[number]:
                yield f"switch {topology.nodes[number].id!r} is not balanced in the {phase}"

    def _cut_off(self, topology: Topology, phase: PhaseOp, roles: Roles) -> Iterator[str]:
        network, whole = flow_network(topology, phase, self.roots, self.of_phase(phase))
        cut = network.least_cut_from(len(topology.nodes), roles.receivers[phase])
        if cut.capacity < self.rate * whole:
            missed = min(roles.receivers[phase].difference(cut.inside))
            yield f"what the {phase} needs does not get past a cut that misses {topology.nodes[missed].id!r}"


def flow_network(
    topology: Topology, phase: PhaseOp, roots: Sequence[Fraction], used: Sequence[Fraction]
) -> tuple[FlowNetwork, int]:
    """Return the network in which every compute node must receive all from a source before the roots.

    The source is the node after the last. A reduce is taken the other way round. Capacities are in parts of a unit:
    the second value says how many make a whole.
    """
    whole = lcm(*(each.denominator for each in (*roots, *used)))
    ends = np.array([(link.source, link.target) for link in topology.links])
    tails, heads = (ends[:, 0], ends[:, 1]) if phase is PhaseOp.BROADCAST else (ends[:, 1], ends[:, 0])
    source, nodes = len(topology.nodes), np.arange(len(topology.nodes))
    return (
        FlowNetwork(
            source + 1,
            np.concatenate([tails, np.full(source, source)]),
            np.concatenate([heads, nodes]),
            [int(each * whole) for each in (*used, *roots)],
        ),
        whole,
    )
