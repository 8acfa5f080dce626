"""The symmetry of a network with groups: symmetries that map each group to a group of the same kind and size.

`find_symmetry` finds it in a larger network. This has one more switch for each group, which is linked to the members
of the group by links of a bandwidth that only groups of the same kind and size have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.groups.value import Group
from forestcoll.topology import Link, Node, NodeKind, Shift, Symmetry, Topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.topology.symmetry.orbits import DisjointSets, Orbits

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GroupOrbits:
    """The orbits of links, groups, and pairs of a group and a root.

    Attributes:
        nodes: the number of nodes of the network.
        whole: the symmetry of the nodes, followed by the groups.
        orbits: the orbits of the nodes and links of the network.
        of_group: for each group, the first group of its orbit.
    """

    nodes: int
    whole: Symmetry
    orbits: Orbits
    of_group: tuple[int, ...]

    @staticmethod
    def of(part: Topology, groups: Sequence[Group]) -> "GroupOrbits":
        """Return the orbits of the symmetries of a network and its groups.

        Args:
            part: the network. Its compute nodes are those of all groups.
            groups: the groups.
        """
        nodes = len(part.nodes)
        whole = find_symmetry(_with_markers(part, groups))
        shifts = tuple(Shift(shift.order, shift.image[:nodes].copy()) for shift in whole.shifts)
        sets = DisjointSets(len(groups))
        for shift in whole.shifts:
            for place, image in enumerate(shift.image[nodes:].tolist()):
                sets.join(place, image - nodes)
        return GroupOrbits(nodes, whole, Orbits.of(part, Symmetry(shifts)), _firsts(sets.numbers()))

    @property
    def order(self) -> int:
        """The number of elements of the symmetry."""
        return self.whole.order

    @cached_property
    def first_groups(self) -> tuple[int, ...]:
        """The first group of each orbit of groups."""
        return tuple(sorted(set(self.of_group)))

    def size_of(self, group: int) -> int:
        """Return the number of groups in the orbit of a group."""
        return self.of_group.count(self.of_group[group])

    def elements(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the images of nodes and the images of groups under each element."""
        for element in self.whole.elements(self.nodes + len(self.of_group)):
            yield element[: self.nodes].tolist(), (element[self.nodes :] - self.nodes).tolist()

    def orbits_in(self, group: int, items: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], int]]:
        """Return the first item of each orbit under the elements that fix the group, with the size of the orbit.

        An item is a root, or a pair of nodes.
        """
        places = {item: place for place, item in enumerate(items)}
        sets = DisjointSets(len(items))
        for images, of_groups in self.elements() if self.order > 1 else ():
            if of_groups[group] == group:
                for item, place in places.items():
                    sets.join(place, places[tuple(images[node] for node in item)])
        numbers = sets.numbers()
        firsts = dict(reversed([(number, item) for number, item in zip(numbers, items, strict=True)]))
        return [(item, numbers.count(number)) for number, item in sorted(firsts.items())]


def _firsts(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(numbers.index(number) for number in numbers)


def _with_markers(part: Topology, groups: Sequence[Group]) -> Topology:
    """Return the network with a switch for each group."""
    above = max(link.bandwidth for link in part.links) + 1
    kinds: dict[object, int] = {}
    nodes, links = list(part.nodes), list(part.links)
    for place, group in enumerate(groups):
        members, parts = group.demand.members(part), group.demand.parts(part)
        joined = [set(group.demand.joined(part, op)) for op in PhaseOp]
        number = len(nodes)
        nodes.append(Node(f"group {place}", NodeKind.SWITCH))
        for member, share in zip(members, parts, strict=True):
            roles = tuple(member in each for each in joined)
            kind = (group.demand.collective, group.size, len(members), share, roles)
            bandwidth = Fraction(above + kinds.setdefault(kind, len(kinds)))
            links += [Link(number, member, bandwidth), Link(member, number, bandwidth)]
    return replace(part, nodes=tuple(nodes), links=tuple(sorted(links, key=lambda link: (link.source, link.target))))
