"""Least cuts between nodes, computed exactly by the core (Ford and Fulkerson: the max-flow equals the least cut).

The core finds one kind of cut: the set S that misses a terminal and has the greatest ratio of terminals inside to
exit capacity. Here the terminals are the source and the sink, and an arc from the sink back to the source is wider than
any cut. So only sets that contain the source and miss the sink compete, and the result is the least cut. An additional
arc of capacity 1 from source to sink keeps the ratio defined if nothing can flow; it is subtracted from the result.

Cost: one max-flow per cut, with integers wide enough for all sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.kernels import core_for
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology.graph.walks import reached

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """A set of nodes and the capacity that leaves it.

    Attributes:
        capacity: the sum of the capacities of all arcs that leave `inside`.
        inside: the numbers of its nodes, in rising order.
    """

    capacity: int
    inside: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """Directed arcs with integer capacities between nodes 0, 1, …; parallel arcs add up.

    Attributes:
        nodes: how many nodes there are.
        tails: the node that each arc leaves.
        heads: the node that each arc enters.
        capacities: the capacity of each arc, 0 or more, of any size.
    """

    nodes: int
    tails: Integers
    heads: Integers
    capacities: Sequence[int]

    @staticmethod
    def of(scaled: ScaledTopology) -> "FlowNetwork":
        """Return the network of `scaled`, with the same capacities."""
        links = scaled.topology.links
        tails, heads = [link.source for link in links], [link.target for link in links]
        return FlowNetwork(len(scaled.topology.nodes), np.array(tails), np.array(heads), scaled.capacities)

    def reversed(self) -> "FlowNetwork":
        """Return the network with all arcs reversed."""
        return FlowNetwork(self.nodes, self.heads, self.tails, self.capacities)

    @cached_property
    def total(self) -> int:
        """The sum of all capacities."""
        return sum(self.capacities)

    def least_cut(self, source: int, sink: int) -> Cut:
        """Return a set with the least exit capacity of all that contain `source` and miss `sink`."""
        tails, heads = [*self.tails.tolist(), source, sink], [*self.heads.tolist(), sink, source]
        wide = self.total + 2
        core = core_for(4 * (self.total + wide))
        problem = core.Problem(self.nodes, tails, heads, [*self.capacities, 1, wide], sorted((source, sink)))
        _, leaving, inside = core.bottleneck(problem)
        return Cut(leaving - 1, tuple(inside))

    def least_cut_from(self, source: int, targets: Iterable[int]) -> Cut:
        """Return a set with the least exit capacity of all that contain `source` and miss at least one of `targets`.

        One call of the core is enough, because the source has all the weight.
        """
        missing = set(targets) - {source}
        if not missing:
            raise ValueError("targets must contain a node other than the source")
        entered = self.reached(source)
        if not missing <= entered:
            return Cut(0, tuple(sorted(entered)))
        terminals = sorted({source} | missing)
        core = core_for(4 * (self.total + 2))
        weights = [int(terminal == source) for terminal in terminals]
        arcs = self.tails.tolist(), self.heads.tolist(), list(self.capacities)
        _, leaving, inside = core.bottleneck(core.Problem(self.nodes, *arcs, terminals, weights))
        return Cut(leaving, tuple(inside))

    def reached(self, source: int) -> set[int]:
        """Return the nodes that flow from `source` can reach."""
        after: dict[int, list[int]] = {}
        for tail, head, capacity in zip(self.tails.tolist(), self.heads.tolist(), self.capacities, strict=True):
            if capacity:
                after.setdefault(tail, []).append(head)
        return reached([source], lambda node: after.get(node, ()))
