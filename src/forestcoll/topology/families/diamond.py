"""The diamond: 8 nodes of degree 2, one-way links, least diameter, a bandwidth-optimal allgather of three steps.

The paper draws its diamond (Figure 19), but does not list the links. This graph was found by a search among the graphs
of 8 nodes and degree 2. Its diameter is 3, the least, and it is isomorphic to its own transpose. Among such graphs with
a bandwidth-optimal allgather it has the least mean distance, 53/28 hops. `forestcoll.design` contains the schedule.
The schedule is not breadth first, because a breadth-first one cannot load all links equally.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder

_TARGETS = ((1, 4), (6, 7), (3, 7), (1, 5), (3, 6), (0, 2), (0, 2), (4, 5))


@topology_builder(
    "diamond",
    summary="diamond: 8 nodes of degree 2, one-way links, least diameter",
    source="unit bandwidth; L. Zhao et al., Efficient Direct-Connect Topologies (NSDI 2025), Table 9",
)
@dataclass(frozen=True)
class Diamond(ArcRecipe):
    """The diamond, which always has 8 nodes."""

    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def order(self) -> int:
        return len(_TARGETS)

    def degree_of_arcs(self) -> int:
        return len(_TARGETS[0])

    def arcs(self) -> Iterator[tuple[int, int]]:
        for node, targets in enumerate(_TARGETS):
            for target in targets:
                yield node, target
