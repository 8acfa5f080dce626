"""Problems for the cores, made from random networks, and checks of forests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.demand.demand import Demand
from forestcoll.kernels import AnyProblem, Core
from forestcoll.topology import Topology
from networks import shards_for
from oracles import Arc

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Scaled:
    """A network with capacities in trees. Every terminal has `supply` times its weight of trees."""

    nodes: int
    capacities: Mapping[Arc, int]
    terminals: tuple[int, ...]
    supply: int
    weights: tuple[int, ...] = ()

    @property
    def supplies(self) -> dict[int, int]:
        """The number of trees of each terminal."""
        return self.times(self.supply)

    def times(self, supply: int) -> dict[int, int]:
        """Return `supply` times the weight of each terminal."""
        weights = self.weights or (1,) * len(self.terminals)
        return {node: supply * weight for node, weight in zip(self.terminals, weights, strict=True)}

    def on(self, core: Core, capacities: Mapping[Arc, int] | None = None) -> AnyProblem:
        """Return the problem for `core`, with `capacities` instead of its own if they are given."""
        capacities = self.capacities if capacities is None else capacities
        return problem_of(core, self.nodes, capacities, self.terminals, self.weights)


def problem_of(
    core: Core, nodes: int, capacities: Mapping[Arc, int], terminals: Sequence[int], weights: Sequence[int] = ()
) -> AnyProblem:
    tails, heads = [tail for tail, _ in capacities], [head for _, head in capacities]
    return core.Problem(nodes, tails, heads, list(capacities.values()), list(terminals), list(weights))


@st.composite
def weighted(draw: st.DrawFn, among: st.SearchStrategy[Topology]) -> Scaled:
    """A network as the generator passes it to a core; shards are equal, unequal, or all at one node."""
    topology = draw(among)
    one = st.sampled_from(topology.compute).map(lambda node: {node: Fraction(1)})
    return scaled(topology, draw(st.one_of(st.none(), shards_for(topology.compute), one)))


def scaled(topology: Topology, shards: dict[int, Fraction] | None = None) -> Scaled:
    """Return the network as the generator passes it to a core."""
    best = optimum(topology, Demand(shards=shards))
    arcs = [(link.source, link.target) for link in topology.links]
    capacities = dict(zip(arcs, best.forests[0].tree_capacities(), strict=True))
    return Scaled(len(topology.nodes), capacities, topology.compute, best.trees_per_root, best.weights)


def check_trees(
    terminals: Sequence[int],
    roots: Sequence[int],
    trees: Sequence[Sequence[Arc]],
    multiplicities: Sequence[int],
    supplies: Mapping[int, int],
) -> None:
    """Check that each tree grows from its root to all terminals, and that each root has its number of trees."""
    per_root: Counter[int] = Counter()
    for root, arcs, multiplicity in zip(roots, trees, multiplicities, strict=True):
        assert multiplicity > 0
        per_root[root] += multiplicity
        reached = {root}
        for tail, head in arcs:
            assert tail in reached
            assert head not in reached
            reached.add(head)
        assert reached == set(terminals)
    assert per_root == Counter(supplies)


def load_of(trees: Sequence[Sequence[Arc]], multiplicities: Sequence[int]) -> Counter[Arc]:
    load: Counter[Arc] = Counter()
    for arcs, multiplicity in zip(trees, multiplicities, strict=True):
        for arc in arcs:
            load[arc] += multiplicity
    return load


def within(load: Mapping[Arc, int], capacities: Mapping[Arc, int]) -> bool:
    return all(amount <= capacities.get(arc, 0) for arc, amount in load.items())


def chunks(values: Sequence[Arc], size: int) -> list[Sequence[Arc]]:
    return [values[begin : begin + size] for begin in range(0, len(values), size)]


def routes_of(starts: IntArray, nodes: IntArray | npt.NDArray[np.int16]) -> list[list[int]]:
    return [nodes[begin:end].tolist() for begin, end in pairwise(starts.tolist())]


def logical_capacities(arcs: tuple[list[int], list[int], list[int]]) -> dict[Arc, int]:
    tails, heads, capacities = arcs
    by_arc = dict(zip(zip(tails, heads, strict=True), capacities, strict=True))
    assert len(by_arc) == len(capacities)
    return by_arc
