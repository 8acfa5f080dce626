"""The modified de Bruijn graph: loops and 2-cycles of the de Bruijn graph rewired into one long cycle.

The loops of the de Bruijn graph waste ports. When its loops and its pairs of opposite arcs are removed, their nodes
have free ports, and a cycle through these nodes uses them. The paper (Figure 20, Table 9) shows one such cycle and
lists four sizes. The cycles here have the least mean distance among those for which a bandwidth-optimal schedule with
as many steps as in the paper was found; `forestcoll.design` contains the schedules.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.base.parameters import integer, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.families.de_bruijn import shifts
from forestcoll.topology.registry import topology_builder

_CYCLES: Mapping[tuple[int, int], tuple[int, ...]] = {
    (2, 3): (0, 2, 5, 7),
    (2, 4): (0, 10, 15, 5),
    (3, 2): (0, 5, 2, 4, 1, 7, 6, 3, 8),
    (4, 2): (0, 12, 3, 8, 7, 1, 4, 6, 13, 9, 11, 10, 14, 15, 2, 5),
}
"""For each degree and length: the nodes of the cycle that replaces loops and 2-cycles, in order."""


@topology_builder(
    "modified-de-bruijn",
    summary="de Bruijn graph with loops and 2-cycles rewired to one cycle: degree and length 2,3 2,4 3,2 or 4,2",
    source="unit bandwidth; L. Zhao et al., Efficient Direct-Connect Topologies (NSDI 2025), Table 9",
)
@dataclass(frozen=True)
class ModifiedDeBruijn(ArcRecipe):
    """A modified de Bruijn graph: every node has `degree` links out and in, and no links are parallel."""

    degree: int = integer(2, "links that leave a node", minimum=2, maximum=4, is_size=True)
    length: int = integer(4, "digits of a word", minimum=2, maximum=4, is_size=True)
    bandwidth: Fraction = link_bandwidth(1, "of each link")

    def problem(self) -> str | None:
        if (self.degree, self.length) in _CYCLES:
            return None
        known = ", ".join(f"degree={degree},length={length}" for degree, length in _CYCLES)
        return f"no such rewiring is known; take one of {known}"

    def order(self) -> int:
        nodes: int = self.degree**self.length
        return nodes

    def degree_of_arcs(self) -> int:
        return self.degree

    def arcs(self) -> Iterator[tuple[int, int]]:
        present = set(shifts(self.degree, self.order()))
        yield from sorted(arc for arc in present if arc[::-1] not in present)
        cycle = _CYCLES[self.degree, self.length]
        yield from pairwise((*cycle, cycle[0]))
