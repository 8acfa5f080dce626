"""Weights of sets bound schedules whose data moves along trees (ForestColl, appendices G and H).

Each set S has a weight, belongs to a phase, and does not contain all members. Trees of a broadcast leave S, and trees
of a reduce enter S, at least at the rate of the roots inside. Nodes that neither copy nor add up in a phase send as
much as they receive, so that their potentials cancel out. In each phase, the cost of a link is the sum of the weights
of the sets that it crosses plus the decrease of the potential along it. Both phases of an allreduce share the links, so
that the greater cost counts. Then

    rate <= sum over links of (bandwidth * cost) / sum over sets of (weight * part of the data rooted inside).

The roots of an allreduce can be chosen, so the least value over all roots counts. If every link has a link of the same
bandwidth in the opposite direction, and nodes copy if and only if they add up, trees can have any roots at the same
rate. A proof with equal roots needs this, and uses the mean over all members instead.

A set stands for all its images under a group of symmetries; the images share its weight. The cost of the images for a
link, and their weight for a node, depend only on the orbit of the link or node: they are means over the orbit. So no
image is computed.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.base.errors import times
from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import TreeDualProof, WeightedCut
from forestcoll.schedule.rows import IntArray
from forestcoll.verification.network import BoolArray
from forestcoll.verification.permutations import orbits, power
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError, require_coarse

_PHASES = {
    Collective.ALLREDUCE: (PhaseOp.REDUCE, PhaseOp.BROADCAST),
    Collective.ALLGATHER: (PhaseOp.BROADCAST,),
    Collective.BROADCAST: (PhaseOp.BROADCAST,),
    Collective.REDUCE_SCATTER: (PhaseOp.REDUCE,),
    Collective.REDUCE: (PhaseOp.REDUCE,),
}


def tree_dual_bound(proof: TreeDualProof, question: BoundQuestion) -> Fraction:
    """Return the algbw that the weights prove for schedules along trees."""
    if question.collective not in _PHASES:
        raise UnprovenError(
            f"weights of sets bound schedules of trees, which do not support {question.collective.with_article}"
        )
    dual = _Dual(proof, question)
    dual.check()
    held = dual.held()
    if held <= 0:
        raise UnprovenError("the sets contain no data")
    return dual.paid() / held


@dataclass(frozen=True)
class _Dual:
    """A solution of the dual problem on the network."""

    proof: TreeDualProof
    question: BoundQuestion

    @property
    def phases(self) -> tuple[PhaseOp, ...]:
        return _PHASES[self.question.collective]

    def check(self) -> None:
        """Check the conditions under which the inequality holds."""
        if self.proof.equal_roots:
            self._check_free_roots()
        members = set(self.question.members)
        require_coarse([*(cut.weight for cut in self.proof.cuts), *self._potential_values()])
        for place, cut in enumerate(self.proof.cuts):
            self.question.require_nodes(cut.inside, f"set {place}")
            if cut.weight < 0:
                raise UnprovenError(f"the weight of set {place} is negative")
            if cut.phase not in self.phases:
                raise UnprovenError(
                    f"set {place} belongs to a {cut.phase}, and this is {self.question.collective.with_article}"
                )
            if members.issubset(cut.inside):
                raise UnprovenError(f"set {place} contains all nodes that take part")
        for phase in self.phases:
            self._check_potentials(phase)
        for place, shift in enumerate(self.proof.symmetry.shifts):
            self._check_shift(shift.image, shift.order, f"shift {place}")

    def _check_free_roots(self) -> None:
        """Check that an allreduce is equally fast with any roots."""
        if self.question.collective is not Collective.ALLREDUCE:
            raise UnprovenError("only a proof about an allreduce can choose equal roots")
        adding, copying = (self.able(phase) for phase in self.phases)
        if not np.array_equal(adding, copying):
            raise UnprovenError("the roots are equal, but a switch can copy data and not add it up, or the reverse")
        links, usable = self.question.topology.links, self.question.usable.tolist()
        bandwidths = {
            (link.source, link.target): link.bandwidth for link, used in zip(links, usable, strict=True) if used
        }
        if any(bandwidths.get(ends[::-1]) != bandwidth for ends, bandwidth in bandwidths.items()):
            raise UnprovenError("the roots are equal, but a link has no opposite link of the same bandwidth")

    def _potential_values(self) -> Iterable[Fraction]:
        return (value for of_phase in self.proof.potentials.values() for value in of_phase.values())

    def _check_potentials(self, phase: PhaseOp) -> None:
        passive = ~self.question.takes_part & ~self.able(phase)
        for node, value in self.proof.potentials.get(phase, {}).items():
            self.question.require_nodes([node], "the list of potentials")
            if value and not passive[node]:
                raise UnprovenError(f"a node that does more than forward data has a potential in the {phase}")

    def _check_shift(self, image: IntArray, order: int, what: str) -> None:
        """Check that a shift maps the usable part of the network onto itself, and that its order is right."""
        network = self.question.network
        if sorted(image.tolist()) != list(range(network.size)):
            raise UnprovenError(f"{what} is not a permutation of the nodes")
        roles = (self.question.takes_part, *map(self.able, PhaseOp))
        if any((role != role[image]).any() for role in roles):
            raise UnprovenError(f"{what} maps a node to one of another kind")
        _, class_of = network.bandwidths
        moved, usable = self._moved_links(image), self.question.usable
        if (moved < 0).any() or not usable[moved[usable]].all() or (class_of != class_of[moved]).any():
            raise UnprovenError(f"{what} maps a link to no link of the same bandwidth")
        if order < 2 or (power(image, order) != np.arange(network.size)).any():
            raise UnprovenError(f"{what}, applied {times(order)} as its order says, does not map each node to itself")

    def _moved_links(self, image: IntArray) -> IntArray:
        """Return the image of each usable link, -1 if there is no such link; other links stay where they are."""
        network = self.question.network
        moved = network.find_links(image[network.sources], image[network.targets])
        return np.where(self.question.usable, moved, np.arange(len(moved)))

    def able(self, phase: PhaseOp) -> BoolArray:
        """Return which non-members copy data in a broadcast or add up data in a reduce; idle nodes can do both."""
        return self.question.network.can_branch(phase) & ~self.question.takes_part

    @cached_property
    def node_orbits(self) -> IntArray:
        """For each node, the least node of its orbit."""
        return orbits([shift.image for shift in self.proof.symmetry.shifts], self.question.network.size)

    @cached_property
    def link_orbits(self) -> IntArray:
        """For each link, the least link of its orbit."""
        images = [self._moved_links(shift.image) for shift in self.proof.symmetry.shifts]
        return orbits(images, len(self.question.network.sources))

    def held(self) -> Fraction:
        """Return the sum over sets of the weight times the part of the data that is rooted inside."""
        of_orbit = self._held_by_orbit()
        orbit_of, zero = self.node_orbits, Fraction(0)
        if self.question.collective is Collective.ALLREDUCE:
            if self.proof.equal_roots:
                total = exact_sum(of_orbit.get(int(orbit_of[node]), zero) for node in self.question.members)
                return total / len(self.question.members)
            roots = self.question.takes_part | np.all([self.able(phase) for phase in self.phases], axis=0)
            return min(of_orbit.get(int(orbit), zero) for orbit in np.unique(orbit_of[roots]))
        parts = zip(self.question.members, self.question.parts, strict=True)
        return exact_sum(part * of_orbit.get(int(orbit_of[node]), zero) for node, part in parts)

    def _held_by_orbit(self) -> dict[int, Fraction]:
        """Return, for each orbit of nodes (by its least node), the weight of all images of sets that contain a node."""
        sizes = np.bincount(self.node_orbits)
        return _means(((cut, self.node_orbits[list(cut.inside)]) for cut in self.proof.cuts), sizes)

    def _costs(self, phase: PhaseOp) -> dict[int, Fraction]:
        """Return, for each orbit of links (by its least link), the cost of a link by all sets of `phase`."""
        network = self.question.network
        tails, heads = network.sources, network.targets
        if phase is PhaseOp.REDUCE:
            tails, heads = heads, tails
        crossed = []
        for cut in self.proof.cuts:
            if cut.phase is phase:
                inside = self.question.marks(cut.inside)
                crossed.append((cut, self.link_orbits[inside[tails] & ~inside[heads]]))
        return _means(crossed, np.bincount(self.link_orbits))

    def paid(self) -> Fraction:
        """Return the sum over usable links of bandwidth times the greatest cost over the phases."""
        distinct, class_of = self.question.network.bandwidths
        costs = [self._costs(phase) for phase in self.phases]
        falls = [self._falls(phase) for phase in self.phases]
        links = np.flatnonzero(self.question.usable).tolist()
        alike = Counter((int(self.link_orbits[link]), tuple(fall.get(link) for fall in falls)) for link in links)
        total = Fraction(0)
        for (orbit, of_phases), count in alike.items():
            prices = (of_sets.get(orbit, 0) + (fall or 0) for of_sets, fall in zip(costs, of_phases, strict=True))
            total += count * distinct[class_of[orbit]] * max(Fraction(0), *prices)
        return total

    def _falls(self, phase: PhaseOp) -> dict[int, Fraction]:
        """Return, for each link with a potential at an end, the decrease of the potential along the link."""
        potentials = self.proof.potentials.get(phase, {})
        zero, ends = Fraction(0), enumerate(self.question.topology.links)
        return {
            place: potentials.get(link.source, zero) - potentials.get(link.target, zero)
            for place, link in ends
            if link.source in potentials or link.target in potentials
        }


def _means(held: Iterable[tuple[WeightedCut, IntArray]], sizes: IntArray) -> dict[int, Fraction]:
    """Return, for each orbit, the sum over sets of the weight times the part of the orbit in `held` for the set."""
    total: dict[int, Fraction] = {}
    for cut, places in held:
        for orbit, count in zip(*(each.tolist() for each in np.unique(places, return_counts=True)), strict=True):
            total[orbit] = total.get(orbit, Fraction(0)) + cut.weight * Fraction(count, int(sizes[orbit]))
    return total
