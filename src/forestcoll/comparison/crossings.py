"""The data that crosses the limits of a network under each schedule, next to the data that must cross them.

The limits are the links into a box, because NICs are often the slowest links, and the links out of the bottleneck cut.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.baselines.boxes import Boxes
from forestcoll.collective import Collective
from forestcoll.comparison.link_loads import link_classes, link_loads
from forestcoll.comparison.reasons import needed_in_boxes
from forestcoll.comparison.value import Comparison, Row
from forestcoll.proof import CutProof


@dataclass(frozen=True)
class Crossing:
    """The data that crosses some links.

    Attributes:
        box: the first compute node of the box that the data enters or, in a reduce-scatter, leaves; None for the
            bottleneck cut.
        links: the numbers of the links.
        needed: the part of M that must cross them.
        carried: the part of M that crosses them under each schedule, by the name of the row.
    """

    box: int | None
    links: tuple[int, ...]
    needed: Fraction
    carried: Mapping[str, Fraction]

    @property
    def greatest_excess(self) -> Fraction:
        """The greatest amount that crosses the links under a schedule, as a multiple of what must."""
        return max(self.carried.values()) / self.needed


@dataclass(frozen=True)
class LinkClass:
    """Links of one class.

    Attributes:
        name: the name of the class in the plural.
        links: the numbers of the links.
        busy: for each row, by name, the part of the time in which the busiest link of the class is busy.
        mean: for each row, by name, the part of the time in which the links of the class are busy on average.
    """

    name: str
    links: tuple[int, ...]
    busy: Mapping[str, Fraction]
    mean: Mapping[str, Fraction]


class Loads:
    """The loads of all links under all schedules of a comparison.

    Args:
        found: the comparison.
    """

    def __init__(self, found: Comparison) -> None:
        self._found, self._topology = found, found.topology
        self._boxes = Boxes(found.topology, found.demand.members(found.topology))
        self.of: dict[str, Sequence[Fraction]] = {row.name: link_loads(row.schedule) for row in found.rows}

    def times(self, row: Row) -> list[Fraction]:
        """Return the time that each link is busy for one unit of M, in the unit of 1 / bandwidth."""
        pairs = zip(self.of[row.name], self._topology.links, strict=True)
        return [load / link.bandwidth for load, link in pairs]

    def into_boxes(self) -> Crossing | None:
        """Return the data that enters the box with the greatest excess; None if it is not known what must enter."""
        needed = needed_in_boxes(self._topology, self._boxes, self._found.demand)
        each = [self._into_box(place, enough) for place, enough in enumerate(needed)]
        return max(each, key=lambda crossing: crossing.greatest_excess, default=None)

    def _into_box(self, place: int, needed: Fraction) -> Crossing:
        node = self._boxes.members[place][0]
        is_outward = self._found.demand.collective is Collective.REDUCE_SCATTER
        box = self._boxes.of[node]
        links = []
        for number, link in enumerate(self._topology.links):
            near, far = (link.source, link.target) if is_outward else (link.target, link.source)
            if self._boxes.of.get(near) == box != self._boxes.of.get(far):
                links.append(number)
        return self._crossing(node, links, needed)

    def over_cut(self) -> Crossing | None:
        """Return the data that leaves the bottleneck cut; None if the bound has another proof."""
        proof = self._found.bound.proof
        if not isinstance(proof, CutProof):
            return None
        inside = set(proof.inside)
        numbered = enumerate(self._topology.links)
        links = [number for number, link in numbered if link.source in inside and link.target not in inside]
        return self._crossing(None, links, proof.must_leave(self._topology, self._found.demand))

    def _crossing(self, box: int | None, links: Sequence[int], needed: Fraction) -> Crossing:
        carried = {name: sum((loads[link] for link in links), Fraction(0)) for name, loads in self.of.items()}
        return Crossing(box, tuple(links), needed, carried)

    def classes(self) -> Iterator[LinkClass]:
        """Yield the classes of links of the network, with how busy each is."""
        times = {row.name: self.times(row) for row in self._found.rows}
        for name, links in link_classes(self._topology, self._boxes).items():
            busy = {row: max(each[link] for link in links) / max(each) for row, each in times.items()}
            mean = {row: _mean([each[link] for link in links]) / max(each) for row, each in times.items()}
            yield LinkClass(name, tuple(links), busy, mean)


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
