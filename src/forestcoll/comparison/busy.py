"""How busy the links of each class are under the schedules of a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.boxes import Boxes
from forestcoll.comparison.link_classes import link_classes
from forestcoll.comparison.value import Comparison, Row
from forestcoll.schedule.loads_of import link_loads


@dataclass(frozen=True)
class Busy:
    """How busy links are, as parts of the time in which the busiest link of the network is busy.

    Attributes:
        most: the part of the time in which the busiest of the links is busy.
        mean: the part of the time in which the links are busy on average.
    """

    most: Fraction
    mean: Fraction


@dataclass(frozen=True)
class LinkClassLoad:
    """Links of one class.

    Attributes:
        name: the name of the class in the plural.
        links: the numbers of the links.
        busy: how busy the links are under each schedule, by the name of the row; rows without a schedule are left out.
    """

    name: str
    links: tuple[int, ...]
    busy: Mapping[str, Busy]


def busy_classes(found: Comparison, rows: Sequence[Row]) -> Iterator[LinkClassLoad]:
    """Yield the classes of links of a network, with how busy they are.

    Args:
        found: the comparison.
        rows: the rows for which the classes are computed.
    """
    topology = found.topology
    times: dict[str, list[Fraction]] = {}
    for row in rows:
        if row.schedule is not None:
            pairs = zip(link_loads(row.schedule).exact, topology.links, strict=True)
            times[row.name] = [load / link.bandwidth for load, link in pairs]
    classes = link_classes(topology, Boxes(topology, found.demand.members(topology)))
    for name, links in classes.items():
        yield LinkClassLoad(name, tuple(links), {row: _busy(each, links) for row, each in times.items()})


def _busy(times: Sequence[Fraction], links: Sequence[int]) -> Busy:
    own, most = [times[link] for link in links], max(times)
    return Busy(max(own) / most, sum(own, Fraction(0)) / len(own) / most)
