"""Least cuts between nodes, exact, asked of the core (Ford and Fulkerson: a least cut is a max-flow's value).

The core answers one question about cuts: which set S that misses a terminal has the most terminals inside for the
capacity that leaves it. With two terminals, the source and the sink, an arc back from the sink that is wider than any
cut leaves only the sets that hold the source and miss the sink, and the answer is the least cut. An arc of 1 from
source to sink, taken off again at the end, keeps a ratio defined where nothing can flow.

Cost: one max-flow a question, within an integer width that holds all sums.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.core import core_for
from forestcoll.optima.scaling import ScaledTopology

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """A set of nodes and the capacity that leaves it.

    Attributes:
        capacity: the capacities of all arcs that leave `inside`, added up.
        inside: its nodes, rising.
    """

    capacity: int
    inside: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """Directed arcs with integer capacities between nodes 0, 1, …; parallel arcs add up.

    Attributes:
        nodes: how many nodes there are.
        tails: of each arc the node that it leaves.
        heads: of each arc the node that it enters.
        capacities: of each arc what it can carry, 0 or more, of any length.
    """

    nodes: int
    tails: Integers
    heads: Integers
    capacities: Sequence[int]

    @staticmethod
    def of(scaled: ScaledTopology) -> "FlowNetwork":
        """Return the network of `scaled`, a capacity of 1 for each of its units."""
        links = scaled.topology.links
        tails, heads = [link.source for link in links], [link.target for link in links]
        return FlowNetwork(len(scaled.topology.nodes), np.array(tails), np.array(heads), scaled.capacities)

    def reversed(self) -> "FlowNetwork":
        """Return the same arcs the other way: what enters a set there leaves it here."""
        return FlowNetwork(self.nodes, self.heads, self.tails, self.capacities)

    @cached_property
    def total(self) -> int:
        """The sum of all capacities."""
        return sum(self.capacities)

    def least_cut(self, source: int, sink: int) -> Cut:
        """Return a set of least exit capacity among those that hold `source` and miss `sink`."""
        tails, heads = [*self.tails.tolist(), source, sink], [*self.heads.tolist(), sink, source]
        wide = self.total + 2
        core = core_for(4 * (self.total + wide))
        problem = core.Problem(self.nodes, tails, heads, [*self.capacities, 1, wide], sorted((source, sink)))
        _, leaving, inside = core.bottleneck(problem)
        return Cut(leaving - 1, tuple(inside))

    def least_cut_from(self, source: int, targets: Iterable[int]) -> Cut:
        """Return a set of least exit capacity among those that hold `source` and miss one of `targets` at least.

        All weight on the source makes it one question to the core.
        """
        missing = set(targets) - {source}
        if not missing:
            raise ValueError("there must be a target besides the source")
        reached = self.reached(source)
        if not missing <= reached:
            return Cut(0, tuple(sorted(reached)))
        terminals = sorted({source} | missing)
        core = core_for(4 * (self.total + 2))
        weights = [int(terminal == source) for terminal in terminals]
        arcs = self.tails.tolist(), self.heads.tolist(), list(self.capacities)
        _, leaving, inside = core.bottleneck(core.Problem(self.nodes, *arcs, terminals, weights))
        return Cut(leaving, tuple(inside))

    def reached(self, source: int) -> set[int]:
        """Return the nodes that anything can flow to from `source`."""
        after: dict[int, list[int]] = {}
        for tail, head, capacity in zip(self.tails.tolist(), self.heads.tolist(), self.capacities, strict=True):
            if capacity:
                after.setdefault(tail, []).append(head)
        reached, waiting = {source}, [source]
        while waiting:
            new = set(after.get(waiting.pop(), ())) - reached
            reached |= new
            waiting.extend(new)
        return reached
