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
of trees, but is not known to be reached. It is reached where each such switch either is *enlisted*, so that all data of
the phase must get to it as to a compute node (a tree may then leave it out), or passes data on like any other.

The dual. Weights y_S >= 0 on sets, each for one of the phases, and potentials of switches in each phase, give each
link a price in each phase, and the greater of the two counts:

    rate * least over v of (weight of the sets that hold v)  <=  sum over links of b * price.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.bounds.cuts import FlowNetwork
from forestcoll.bounds.orbits import Orbits
from forestcoll.schedule import PhaseOp
from forestcoll.topology import Symmetry, Topology

_NO_SYMMETRY = Symmetry(())


PHASES = (PhaseOp.REDUCE, PhaseOp.BROADCAST)
"""The phases of an allreduce, in their order: data flows towards the roots, then away from them."""


@dataclass(frozen=True)
class Roles:
    """What the nodes of a network do in an allreduce.

    Attributes:
        roots: nodes that sums may be rooted at.
        receivers: of each phase the nodes that all its data must get to, or come from.
        passive: of each phase the nodes that pass on just what they take in.
    """

    roots: frozenset[int]
    receivers: Mapping[PhaseOp, frozenset[int]]
    passive: Mapping[PhaseOp, frozenset[int]]

    @staticmethod
    def of(topology: Topology, enlisted: Iterable[int] = ()) -> "Roles":
        """Return the roles in which a plan can be reached.

        `enlisted` switches copy or add, in the phases for which they are able to; the others pass data on.
        """
        compute, numbers = frozenset(topology.compute), frozenset(enlisted)
        receivers = {phase: compute | _able(topology, phase) & numbers for phase in PHASES}
        return Roles(compute, receivers, {phase: _others(topology, receivers[phase]) for phase in PHASES})

    @staticmethod
    def in_network(topology: Topology) -> "Roles":
        """Return the roles that bound all schedules: switches do what they can, and need not get all data for it."""
        compute = frozenset(topology.compute)
        able = {phase: _able(topology, phase) for phase in PHASES}
        passive = {phase: _others(topology, compute | able[phase]) for phase in PHASES}
        roots = compute | able[PhaseOp.REDUCE] & able[PhaseOp.BROADCAST]
        return Roles(roots, dict.fromkeys(PHASES, compute), passive)


def _able(topology: Topology, phase: PhaseOp) -> frozenset[int]:
    """Return the switches that can copy in a broadcast, or add in a reduce."""
    nodes = enumerate(topology.nodes)
    return frozenset(number for number, node in nodes if node.multicast and phase is PhaseOp.BROADCAST) | frozenset(
        number for number, node in enumerate(topology.nodes) if node.aggregation and phase is PhaseOp.REDUCE
    )


def _others(topology: Topology, nodes: frozenset[int]) -> frozenset[int]:
    return frozenset(range(len(topology.nodes))) - nodes


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


@dataclass(frozen=True)
class WeightedCut:
    """A set of nodes with its weight in the dual.

    Attributes:
        phase: what must leave the set in a broadcast, and enter it in a reduce.
        inside: its nodes, rising; at least one receiver of the phase is missing.
        weight: y_S, 0 or more.
    """

    phase: PhaseOp
    inside: tuple[int, ...]
    weight: Fraction


@dataclass(frozen=True)
class AllreduceProof:
    """A feasible solution of the dual: why no plan is faster.

    Attributes:
        cuts: sets with weights. Each stands for its images under `symmetry`, which share its weight.
        potentials: of each phase that of each node; zero but for switches that must be balanced in that phase, and the
            same for all nodes of an orbit.
        symmetry: a group of symmetries of the network.
    """

    cuts: tuple[WeightedCut, ...]
    potentials: Mapping[PhaseOp, tuple[Fraction, ...]]
    symmetry: Symmetry = _NO_SYMMETRY

    def expanded(self, topology: Topology) -> "AllreduceProof":
        """Return the proof with all images written out: it leans on no symmetry."""
        order = self.symmetry.order
        cuts = tuple(
            WeightedCut(cut.phase, tuple(sorted(int(image[node]) for node in cut.inside)), cut.weight / order)
            for image in self.symmetry.elements(len(topology.nodes))
            for cut in self.cuts
        )
        return AllreduceProof(cuts, self.potentials)

    def bound(self, topology: Topology, roles: Roles | None = None, *, equal_roots: bool = False) -> Fraction | None:
        """Return the rate that no plan on `topology` can beat, or None if this proves nothing.

        Sums are over the orbits of `symmetry`, taken on trust to be one; `expanded` needs no such trust. With
        `equal_roots` the mean over compute nodes takes the place of the least. `roles` are as for `AllreducePlan`.
        """
        roles = roles or Roles.of(topology)
        if not self._is_sound(roles):
            return None
        orbits = Orbits.of(topology, self.symmetry)
        held = [Fraction(0)] * len(orbits.node_sizes)
        for cut in self.cuts:
            for node in cut.inside:
                held[orbits.of_node[node]] += cut.weight
        if equal_roots:
            compute = {orbits.of_node[node] for node in topology.compute}
            least = sum((held[orbit] for orbit in compute), Fraction(0)) / len(topology.compute)
        else:
            roots = [node for node in orbits.first_nodes if node in roles.roots]
            least = min(held[orbits.of_node[node]] / orbits.node_sizes[orbits.of_node[node]] for node in roots)
        if least <= 0:
            return None
        prices = map(max, *(self._prices(topology, orbits, phase) for phase in PHASES))
        bandwidths = (topology.links[link].bandwidth for link in orbits.first_links)
        paid = (bandwidth * max(price, Fraction(0)) for bandwidth, price in zip(bandwidths, prices, strict=True))
        return sum(paid, Fraction(0)) / least

    def _prices(self, topology: Topology, orbits: Orbits, phase: PhaseOp) -> list[Fraction]:
        """Return what the links of each orbit cost in `phase`: the weights of the sets they leave, and their falls."""
        potentials = self.potentials[phase]
        prices = [
            size * (potentials[topology.links[link].source] - potentials[topology.links[link].target])
            for link, size in zip(orbits.first_links, orbits.link_sizes, strict=True)
        ]
        for cut in self.cuts:
            if cut.phase is phase:
                for orbit, count in crossings(topology, orbits, phase, cut.inside).items():
                    prices[orbit] += cut.weight * count
        return prices

    def _is_sound(self, roles: Roles) -> bool:
        """Return whether the numbers are what they must be for the inequality to hold."""
        return all(cut.weight >= 0 and not roles.receivers[cut.phase] <= set(cut.inside) for cut in self.cuts) and all(
            number in roles.passive[phase]
            for phase in PHASES
            for number, potential in enumerate(self.potentials[phase])
            if potential
        )


def crossings(topology: Topology, orbits: Orbits, phase: PhaseOp, inside: Iterable[int]) -> dict[int, int]:
    """Return of each orbit how many of its links a broadcast crosses out of a set, or a reduce into it."""
    members = frozenset(inside)
    counts: dict[int, int] = {}
    for link, orbit in zip(topology.links, orbits.of_link, strict=True):
        source, target = (link.source, link.target) if phase is PhaseOp.BROADCAST else (link.target, link.source)
        if source in members and target not in members:
            counts[orbit] = counts.get(orbit, 0) + 1
    return counts
