"""Weights of sets of nodes: the dual of packing trees (ForestColl, appendices G and H).

Every set S that misses a member has a weight y_S >= 0 and belongs to a phase: data leaves S in a broadcast, and enters
it in a reduce. A node that only forwards data in a phase is *passive*: it has a potential in that phase. Other nodes
have none. The price of a link in a phase is the total weight of the sets that it crosses plus the decrease of the
potential along it, or 0 if that is negative. Trees of rate x_v with root v cross S at least at the rate of the roots
inside, and potentials cancel along every path through passive nodes. So

    sum over phases and S of y_S x(S)  <=  sum over links of b * price.

In an allreduce, both phases share the links, so the greater of the two prices of a link is used. Its roots can be
chosen, so the bound is that of the root with the least total weight of the sets that contain it. All other collectives
have one phase, and x(S) is the part of the data whose root is inside S.

If the roots of an allreduce are free (`roots_are_free`), each tree can have its root at any member without any change
of the bandwidth that the allreduce needs. Then all members can be roots of equal parts, and the mean of the total
weights replaces the least one (`equal_roots`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import ClassVar, Self

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import reading
from forestcoll.schedule.proof.proof import NodeName, Proof, ProofError
from forestcoll.topology import Link, Node, NodeKind, Symmetry, Topology
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.symmetry.orbits import Orbits

PHASES = (PhaseOp.REDUCE, PhaseOp.BROADCAST)
"""The phases of an allreduce, in order: data flows towards the roots, then away from them."""

_NO_SYMMETRY = Symmetry(())

_EQUAL = "equal"
"""The value of the key `roots` in a document whose proof uses equal roots."""


@dataclass(frozen=True)
class WeightedCut:
    """A set of nodes with its weight in the dual.

    Attributes:
        phase: the phase. Data must leave the set in a broadcast, and enter it in a reduce.
        inside: the numbers of its nodes, in rising order; at least one member is missing.
        weight: y_S, 0 or more.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.solver import allreduce_optimum
        >>> cut = allreduce_optimum(load_topology("ring:nodes=3")).proof.cuts[0]
        >>> str(cut.phase), len(cut.inside), str(cut.weight)
        ('reduce', 2, '3/4')
    """

    phase: PhaseOp
    inside: tuple[int, ...]
    weight: Fraction


@dataclass(frozen=True)
class Roles:
    """The roles of the nodes of a network in the trees of each phase.

    Attributes:
        roots: the nodes that may be roots of trees.
        receivers: for each phase, the nodes that all data must reach (broadcast) or must come from (reduce).
        passive: for each phase, the nodes that only forward data.
    """

    roots: frozenset[int]
    receivers: Mapping[PhaseOp, frozenset[int]]
    passive: Mapping[PhaseOp, frozenset[int]]

    @staticmethod
    def of(topology: Topology, copying: Iterable[int] = ()) -> "Roles":
        """Return roles for which trees reach every plan.

        The switches `copying` copy or add up data, in the phases for which they have the ability, and all data of the
        phase must reach them. The other switches only forward data.
        """
        compute, numbers = frozenset(topology.compute), frozenset(copying)
        receivers = {phase: compute | _able(topology, phase) & numbers for phase in PHASES}
        return Roles(compute, receivers, {phase: _others(topology, receivers[phase]) for phase in PHASES})

    @staticmethod
    def in_network(topology: Topology) -> "Roles":
        """Return the roles that bound all schedules of trees: able switches copy or add up any data that they have."""
        compute = frozenset(topology.compute)
        able = {phase: _able(topology, phase) for phase in PHASES}
        passive = {phase: _others(topology, compute | able[phase]) for phase in PHASES}
        roots = compute | able[PhaseOp.REDUCE] & able[PhaseOp.BROADCAST]
        return Roles(roots, dict.fromkeys(PHASES, compute), passive)


def roots_are_free(topology: Topology, roles: Roles) -> bool:
    """Return whether each allreduce along trees can have any roots, at the same rate.

    This is true on full duplex networks whose nodes copy if and only if they add up. The trees of an allreduce and of
    its mirror image (phases exchanged, directions reversed) together are undirected trees: the reduce along such a tree
    loads one direction of each link, and the broadcast the other, for any root.
    """
    return topology.is_full_duplex and roles.passive[PhaseOp.REDUCE] == roles.passive[PhaseOp.BROADCAST]


def _able(topology: Topology, phase: PhaseOp) -> frozenset[int]:
    """Return the switches that can copy in a broadcast, or add up in a reduce."""
    copies = phase is PhaseOp.BROADCAST
    nodes = enumerate(topology.nodes)
    return frozenset(number for number, node in nodes if (node.multicast if copies else node.aggregation))


def _others(topology: Topology, nodes: frozenset[int]) -> frozenset[int]:
    return frozenset(range(len(topology.nodes))) - nodes


@dataclass(frozen=True, repr=False)
class TreeDualProof(Proof):
    """A feasible solution of the dual, which proves that no packing of trees is faster.

    Attributes:
        cuts: sets with weights. Each represents its images under `symmetry`, which share its weight.
        potentials: for each phase, the nodes with a potential, and the potential; it is equal on each orbit.
        symmetry: a group of symmetries of the network.
        equal_roots: whether the proof of an allreduce uses that all compute nodes can be roots of equal parts. It
            requires `roots_are_free`.

    Example:
        >>> from forestcoll import Collective, load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.solver import allreduce_optimum
        >>> ring = load_topology("ring:nodes=3")
        >>> proof = allreduce_optimum(ring).proof
        >>> str(proof.algbw(ring, NodeDemand(Collective.ALLREDUCE)))
        '3/2'
    """

    cuts: tuple[WeightedCut, ...]
    potentials: Mapping[PhaseOp, Mapping[int, Fraction]]
    symmetry: Symmetry = _NO_SYMMETRY
    equal_roots: bool = False

    kind: ClassVar[str] = "tree-dual"
    trees_only: ClassVar[bool] = True

    def words(self) -> str:
        """See `Proof.words`."""
        images = f", each at {self.symmetry.order} symmetric places" * (self.symmetry.order > 1)
        return (
            f"At the weights of {plural(len(self.cuts), 'set')} of nodes{images}, a link costs the weights of the sets "
            "that it crosses, and every tree crosses the sets. So algbw is at most the sum of bandwidth times cost "
            "divided by the least cost of the trees."
        )

    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        """See `Proof.algbw`. Idle compute nodes and able switches may copy and add up data."""
        if demand.collective is Collective.ALL_TO_ALL:
            raise ProofError("weights of sets bound schedules of trees, which do not support an all-to-all")
        members = demand.members(topology)
        network = usable_part(topology, members)
        roles = Roles.in_network(network)
        if demand.collective is Collective.ALLREDUCE:
            return self.allreduce_rate(network, roles, equal_roots=self.equal_roots)
        if self.equal_roots:
            raise ProofError("only a proof about an allreduce can choose equal roots")
        phase = PhaseOp.REDUCE if demand.collective.only_reduces else PhaseOp.BROADCAST
        for place, cut in enumerate(self.cuts):
            if cut.phase is not phase:
                raise ProofError(f"set {place} belongs to a {cut.phase}, and this is {demand.collective.with_article}")
        return self.forest_rate(network, roles, phase, demand.parts(topology))

    def forest_rate(self, topology: Topology, roles: Roles, phase: PhaseOp, parts: Sequence[Fraction]) -> Fraction:
        """Return the rate that no forest exceeds if the nodes have these `roles`.

        Args:
            topology: the network.
            roles: the roles of its nodes.
            phase: the operation of the trees.
            parts: the part of the data that each compute node of `topology` is the root of.

        Raises:
            ProofError: the proof is not valid for this network.
        """
        orbits = self._checked_orbits(topology, roles)
        rooted = self._rooted(orbits, topology.compute, parts)
        held = sum(map(mul, self._weights_inside(orbits), rooted), Fraction(0))
        return _quotient(self._paid(topology, orbits, [phase]), held)

    def allreduce_rate(self, topology: Topology, roles: Roles, *, equal_roots: bool = False) -> Fraction:
        """Return the rate that no allreduce along trees exceeds if the nodes have these `roles`.

        With `equal_roots`, all compute nodes are roots of equal parts; the mean of their weights replaces the least.

        Raises:
            ProofError: the proof is not valid for this network.
        """
        if self.equal_roots and not roots_are_free(topology, roles):
            raise ProofError("the roots are equal, but on this network other roots may be faster")
        orbits = self._checked_orbits(topology, roles)
        held = self._weights_inside(orbits)
        if equal_roots:
            compute = {orbits.of_node[node] for node in topology.compute}
            least = sum((held[orbit] for orbit in compute), Fraction(0)) / len(topology.compute)
        else:
            roots = {orbits.of_node[node] for node in roles.roots}
            least = min(held[orbit] / orbits.node_sizes[orbit] for orbit in roots)
        return _quotient(self._paid(topology, orbits, PHASES), least)

    def limiting(self, topology: Topology) -> dict[Link, Fraction]:
        """Return the links that cost something, each with its greatest price of the phases."""
        orbits = Orbits.of(topology, self.symmetry)
        prices = zip(*(self._prices(topology, orbits, phase) for phase in PHASES), strict=True)
        of_orbit = [max(each) / size for each, size in zip(prices, orbits.link_sizes, strict=True)]
        of_link = zip(topology.links, orbits.of_link, strict=True)
        return {link: of_orbit[orbit] for link, orbit in of_link if of_orbit[orbit] > 0}

    def _checked_orbits(self, topology: Topology, roles: Roles) -> Orbits:
        """Return the orbits of nodes and links, after a check of the conditions under which the inequality holds."""
        fault = self._fault(roles)
        if fault is not None:
            raise ProofError(fault)
        for place, shift in enumerate(self.symmetry.shifts):
            if not _is_symmetry(topology, shift.image.tolist()):
                raise ProofError(f"shift {place} is not a symmetry of the network")
        orbits = Orbits.of(topology, self.symmetry)
        if not all(self._has_equal_potentials(phase, orbits) for phase in PHASES):
            raise ProofError("the symmetry maps a node to a node with another potential")
        return orbits

    def _has_equal_potentials(self, phase: PhaseOp, orbits: Orbits) -> bool:
        """Return whether all nodes of each orbit have the same potential."""
        potential = dict(self._of_phase(phase))
        return all(
            potential.get(node, Fraction(0)) == potential.get(orbits.first_nodes[orbit], Fraction(0))
            for node, orbit in enumerate(orbits.of_node)
        )

    def _fault(self, roles: Roles) -> str | None:
        for place, cut in enumerate(self.cuts):
            if cut.weight < 0:
                return f"the weight of set {place} is negative"
            if roles.receivers[cut.phase] <= set(cut.inside):
                return f"set {place} contains all nodes that take part"
        for phase in PHASES:
            if any(potential and node not in roles.passive[phase] for node, potential in self._of_phase(phase)):
                return f"a node that does more than forward data has a potential in the {phase}"
        return None

    def _of_phase(self, phase: PhaseOp) -> Iterable[tuple[int, Fraction]]:
        return self.potentials.get(phase, {}).items()

    def _weights_inside(self, orbits: Orbits) -> list[Fraction]:
        """Return, for each orbit of nodes, the sum over all sets of weight times number of its nodes inside."""
        held = [Fraction(0)] * len(orbits.node_sizes)
        for cut in self.cuts:
            for node in cut.inside:
                held[orbits.of_node[node]] += cut.weight
        return held

    @staticmethod
    def _rooted(orbits: Orbits, members: Sequence[int], parts: Sequence[Fraction]) -> list[Fraction]:
        """Return, for each orbit of nodes, the mean part of the data that its nodes are the roots of."""
        rooted = [Fraction(0)] * len(orbits.node_sizes)
        for node, part in zip(members, parts, strict=True):
            rooted[orbits.of_node[node]] += part
        return [part / size for part, size in zip(rooted, orbits.node_sizes, strict=True)]

    def _paid(self, topology: Topology, orbits: Orbits, phases: Sequence[PhaseOp]) -> Fraction:
        """Return the sum of bandwidth times price over all links, with the greatest price of the `phases`."""
        prices = [self._prices(topology, orbits, phase) for phase in phases]
        bandwidths = (topology.links[link].bandwidth for link in orbits.first_links)
        paid = (
            bandwidth * max(Fraction(0), *of_link)
            for bandwidth, of_link in zip(bandwidths, zip(*prices, strict=True), strict=True)
        )
        return sum(paid, Fraction(0))

    def _prices(self, topology: Topology, orbits: Orbits, phase: PhaseOp) -> list[Fraction]:
        """Return the sum of the prices of the links of each orbit in `phase`."""
        potential = dict(self._of_phase(phase))
        prices = [
            size
            * (
                potential.get(topology.links[link].source, Fraction(0))
                - potential.get(topology.links[link].target, Fraction(0))
            )
            for link, size in zip(orbits.first_links, orbits.link_sizes, strict=True)
        ]
        for cut in self.cuts:
            if cut.phase is phase:
                for orbit, count in crossings(topology, orbits, phase, cut.inside).items():
                    prices[orbit] += cut.weight * count
        return prices

    def transposed(self) -> "TreeDualProof":
        """Return the proof of the dual collective on the transposed network."""
        return TreeDualProof(
            tuple(WeightedCut(cut.phase.dual, cut.inside, cut.weight) for cut in self.cuts),
            {
                phase.dual: {node: -each for node, each in of_nodes.items()}
                for phase, of_nodes in self.potentials.items()
            },
            self.symmetry,
            self.equal_roots,
        )

    def restricted(self, nodes: Collection[int]) -> "TreeDualProof":
        """Return the proof with only the given nodes: others are in no set and have no potential."""
        kept = frozenset(nodes)
        return TreeDualProof(
            tuple(
                WeightedCut(cut.phase, tuple(filter(kept.__contains__, cut.inside)), cut.weight) for cut in self.cuts
            ),
            {
                phase: {node: each for node, each in of_nodes.items() if node in kept}
                for phase, of_nodes in self.potentials.items()
            },
            self.symmetry,
            self.equal_roots,
        )

    def expanded(self, topology: Topology) -> "TreeDualProof":
        """Return the proof with all images listed, without a symmetry."""
        order = self.symmetry.order
        cuts = tuple(
            WeightedCut(cut.phase, tuple(sorted(int(image[node]) for node in cut.inside)), cut.weight / order)
            for image in self.symmetry.elements(len(topology.nodes))
            for cut in self.cuts
        )
        return TreeDualProof(cuts, self.potentials, equal_roots=self.equal_roots)

    def document(self, name: NodeName) -> dict[str, object]:
        """See `Proof.document`. The images of a symmetry stay node numbers."""
        cuts = [
            {"phase": cut.phase.value, "cut": [name(node) for node in cut.inside], "weight": str(cut.weight)}
            for cut in self.cuts
        ]
        potentials = {
            phase.value: [
                {"node": name(node), "potential": str(value)} for node, value in sorted(self._of_phase(phase)) if value
            ]
            for phase in PHASES
        }
        shifts = [{"order": shift.order, "image": shift.image.tolist()} for shift in self.symmetry.shifts]
        optional = ({"symmetry": shifts} if shifts else {}) | ({"roots": _EQUAL} if self.equal_roots else {})
        return {"cuts": cuts, "potentials": potentials, **optional}

    @classmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        cuts = tuple(
            WeightedCut(
                reading.phase(each, "phase", f"{where}.cuts[{place}]"),
                reading.nodes(each, "cut", topology, f"{where}.cuts[{place}]"),
                reading.rational(each, "weight", f"{where}.cuts[{place}]"),
            )
            for place, each in enumerate(reading.objects(document, "cuts", where))
        )
        listed = reading.mapping(document, "potentials", where)
        potentials = {
            phase: {
                reading.node(each, "node", topology, place): reading.rational(each, "potential", place)
                for number, each in enumerate(reading.objects(listed, phase.value, f"{where}.potentials"))
                if (place := f"{where}.potentials.{phase}[{number}]")
            }
            for phase in PHASES
        }
        roots = document.get("roots")
        if roots not in (None, _EQUAL):
            raise InputError(f"{where}.roots is {shown(roots)}; expected {_EQUAL!r} or no such key")
        return cls(cuts, potentials, reading.symmetry(document, topology, where), equal_roots=roots == _EQUAL)


def _quotient(paid: Fraction, held: Fraction) -> Fraction:
    if held <= 0:
        raise ProofError("the sets contain no data")
    return paid / held


def _is_symmetry(topology: Topology, image: Sequence[int]) -> bool:
    """Return whether `image` maps nodes to nodes of the same kind, and links to links of the same bandwidth."""
    nodes = topology.nodes
    if sorted(image) != list(range(len(nodes))):
        return False
    if any(_abilities(node) != _abilities(nodes[moved]) for node, moved in zip(nodes, image, strict=True)):
        return False
    bandwidths = topology.bandwidths
    return all(
        bandwidths.get((image[source], image[target])) == bandwidth
        for (source, target), bandwidth in bandwidths.items()
    )


def _abilities(node: Node) -> tuple[NodeKind, bool, bool]:
    return node.kind, node.multicast, node.aggregation


def crossings(topology: Topology, orbits: Orbits, phase: PhaseOp, inside: Iterable[int]) -> dict[int, int]:
    """Return, for each orbit, how many of its links leave the set (broadcast) or enter it (reduce)."""
    members = frozenset(inside)
    counts: dict[int, int] = {}
    for link, orbit in zip(topology.links, orbits.of_link, strict=True):
        source, target = (link.source, link.target) if phase is PhaseOp.BROADCAST else (link.target, link.source)
        if source in members and target not in members:
            counts[orbit] = counts.get(orbit, 0) + 1
    return counts
