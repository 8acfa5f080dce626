"""The circulant graph C(nodes, offsets): node i is joined to node i + offset, modulo nodes, for each offset."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from forestcoll.base.parameters import flag, integer, integers, link_bandwidth
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.registry import topology_builder

_MOST_PARALLEL = 1024


@topology_builder("circulant", summary="circulant graph, bidirectional or one-way", source="unit bandwidth")
@dataclass(frozen=True)
class Circulant(ArcRecipe):
    """A circulant graph. An offset of half the nodes joins two opposite nodes by one full-duplex link, not two."""

    nodes: int = integer(16, "compute nodes", minimum=2, is_size=True)
    offsets: tuple[int, ...] = integers((3, 4), "steps around the circle that a link spans")
    bandwidth: Fraction = link_bandwidth(1, "of each link, each way")
    one_way: bool = flag("links lead forward only")
    parallel: tuple[int, ...] = integers(
        (1,), "parallel links, whose bandwidths add up: of all offsets, or of each", is_size=False
    )

    def problem(self) -> str | None:
        most = self.nodes - 1 if self.one_way else self.nodes // 2
        if max(self.offsets) > most:
            return f"offset {max(self.offsets)} is too large; with {self.nodes} nodes it must be at most {most}"
        if len(set(self.offsets)) < len(self.offsets):
            return "an offset is given twice; give each once"
        if len(self.parallel) not in {1, len(self.offsets)}:
            return (
                f"parallel has {len(self.parallel)} numbers; give one, or one for each of {len(self.offsets)} offsets"
            )
        if max(self.parallel) > _MOST_PARALLEL:
            return f"parallel is {max(self.parallel)}; it must be at most {_MOST_PARALLEL}"
        if (common := gcd(self.nodes, *self.offsets)) > 1:
            return f"nodes and offsets are all multiples of {common}, so the network is disconnected; add an offset"
        return None

    def order(self) -> int:
        return self.nodes

    def degree_of_arcs(self) -> int:
        return len(self._steps())

    def arcs(self) -> Iterator[tuple[int, int]]:
        steps = self._steps()
        for node in range(self.nodes):
            for step in steps:
                yield node, (node + step) % self.nodes

    def _steps(self) -> list[int]:
        counts = self.parallel * len(self.offsets) if len(self.parallel) == 1 else self.parallel
        onward = [offset for offset, count in zip(self.offsets, counts, strict=True) for _ in range(count)]
        back = [] if self.one_way else [self.nodes - offset for offset in onward if 2 * offset != self.nodes]
        return sorted([*back, *onward])
