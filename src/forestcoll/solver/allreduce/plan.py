"""A plan for the trees of an allreduce, and the exact test whether it is feasible. A feasible plan proves its rate.

The proof that no plan has a greater rate is a `TreeDualProof`. Both are checked by exact additions and max-flows,
without linear programming.

The program (ForestColl, appendix G). A plan states x_v, the part of the vector that each node is the root of, and how
the bandwidth b of each link is shared by the reduce and the broadcast: c_RE + c_BC <= b. Spanning out-trees that carry
x_v from each root fit into c_BC if and only if for each set S that misses a compute node

    c_BC(links that leave S) >= sum of x_v over v in S                                                           (1)

(Edmonds). In-trees fit into c_RE under the same condition with the links that enter S. On a network with switches that
only forward data, c_BC and c_RE must also be balanced at each switch:

- The links that trees use are balanced, because each route passes through its switches. Each tree enters the complement
  of S, so (1) holds.
- Conversely, if c is balanced and (1) holds, edge splitting removes the switches without making any cut of (1) smaller
  (Bang-Jensen, Frank and Jackson; the arcs from compute nodes back to the source provide the connectivity that their
  theorem needs). So (1) holds for the logical links that remain.

So this program has the same optimum as that of the appendix, which routes each logical link through the switches as a
separate commodity, but it has fewer columns.

A switch that can multicast need not be balanced in the broadcast, a switch that can aggregate need not be balanced in
the reduce, and a switch that can do both may be a root. With these `Roles` the optimum bounds all schedules of trees,
but it is not known whether schedules reach it. They do if each able switch has one of two roles: it *copies*, so that
all data of the phase must reach it as if it were a compute node (a tree may leave it out in the end), or it only
forwards data.

The dual. Weights y_S >= 0 of sets, each for one phase, and potentials of switches in each phase give each link a price
in each phase. With the greater of the two prices,

    rate * least over v of (weight of the sets that contain v)  <=  sum over links of b * price.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.tree_dual import PHASES, Roles
from forestcoll.solver.forests.cuts import FlowNetwork
from forestcoll.topology import Topology


@dataclass(frozen=True)
class AllreducePlan:
    """A solution of the program: the bandwidths into which the trees of an allreduce are packed.

    Attributes:
        roots: x_v of each node: the rate of the sums that it is the root of, in the unit of the topology.
        reduce: c_RE: the bandwidth of each link for the reduce, in the unit of the topology.
        broadcast: c_BC: the bandwidth of each link for the broadcast, in the unit of the topology.
    """

    roots: tuple[Fraction, ...]
    reduce: tuple[Fraction, ...]
    broadcast: tuple[Fraction, ...]

    @property
    def rate(self) -> Fraction:
        """The rate of all roots together: the algbw of an allreduce with this plan."""
        return sum(self.roots, Fraction(0))

    def of_phase(self, phase: PhaseOp) -> tuple[Fraction, ...]:
        """Return the bandwidth of each link for `phase`."""
        return self.reduce if phase is PhaseOp.REDUCE else self.broadcast

    def fault(self, topology: Topology, roles: Roles | None = None) -> str | None:
        """Return, in words, why the plan is not feasible on `topology`, or None if it is.

        `roles` are the roles of the nodes; without them, switches only forward data.
        """
        return next(self._faults(topology, roles or Roles.of(topology)), None)

    def _faults(self, topology: Topology, roles: Roles) -> Iterator[str]:
        if len(self.roots) != len(topology.nodes) or {len(self.reduce), len(self.broadcast)} != {len(topology.links)}:
            yield "it belongs to another network"
            return
        if min((*self.roots, *self.reduce, *self.broadcast)) < 0:
            yield "a number is negative"
        for number, rooted in enumerate(self.roots):
            if rooted and number not in roles.roots:
                yield f"switch {topology.nodes[number].id!r} is a root"
        for link, reduced, sent in zip(topology.links, self.reduce, self.broadcast, strict=True):
            if reduced + sent > link.bandwidth:
                yield f"link {topology.ids([link.source, link.target])} is used beyond its bandwidth"
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
            yield f"the {phase} needs more bandwidth over a cut that misses {topology.nodes[missed].id!r}"


def flow_network(
    topology: Topology, phase: PhaseOp, roots: Sequence[Fraction], used: Sequence[Fraction]
) -> tuple[FlowNetwork, int]:
    """Return the network in which a source with an arc to each root must send all data to every compute node.

    The source is the node after the last one. For a reduce, all links are reversed. The second value is the factor by
    which bandwidths were multiplied to make the capacities integers.
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
