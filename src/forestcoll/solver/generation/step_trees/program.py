"""The fastest step trees: those that bring the shards of all nodes to all others in S steps, in the least time.

Let y(T) be the part of a shard that step tree T carries, and u(t) the time of step t, in which a link of bandwidth b
carries b u(t):

    minimise the sum of u(t),  where
        sum of y(T) over all T that cross e at t  <=  b(e) u(t)      for each link e and step t,
        sum of y(T) over all T with root v        >=  1              for each node v.

Every allgather without coding is such a packing of step trees, because a node needs no part twice. So the minimum is
the least T_B of all schedules with S steps; breadth-first schedules only use trees of shortest paths. The dual program
has a price for each link and step, and few columns, but a row for each tree:

    maximise the sum of s(v),  where
        sum of b(e) p(e, t) over all links e  <=  1                  for each step t,
        s(v)  <=  the price of T                                     for each v and each step tree T with root v.

Rows are added when `CheapestTrees` finds that they are violated, until none is. The last solution is computed again in
fractions, and the cheapest trees for its exact prices prove that no other tree would help. The prices of its rows are
the parts y(T), unless a few equal chunks do as well (`chunks`). Links and roots that a symmetry maps to each other
share a column.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InternalError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.generation.step_trees.cheapest import CheapestTrees, StepTree
from forestcoll.solver.generation.step_trees.chunks import Chunks
from forestcoll.topology import Symmetry
from forestcoll.topology.symmetry.orbits import Orbits

_FINE = 2**40
"""Approximate prices are rounded to multiples of 1 / this number."""

_NEAR = 2**12
"""A row that is violated by at most this multiple of 1 / `_FINE` may be violated by rounding alone."""

_SCALE = 2**12
"""The factor of optimal prices before they are changed; a tree of fewer than 65 sends changes by less."""

_MOST_TRIES, _MOST_ADDITIONS = 60, 300_000_000
"""The most changes of prices that are tried, and the most additions for them."""


@dataclass(frozen=True)
class FastestTrees:
    """Step trees that bring all shards to all nodes in the least time.

    Attributes:
        trees: step trees of one root of each orbit, and the part of the shard that each carries.
        symmetry: a symmetry of the network; the images of `trees` under its elements are all trees.
    """

    trees: tuple[tuple[StepTree, Fraction], ...]
    symmetry: Symmetry


def fastest_trees(scaled: ScaledTopology, orbits: Orbits, steps: int, progress: Progress = SILENT) -> FastestTrees:
    """Return the step trees with the least total time of all steps.

    Args:
        scaled: a network without switches.
        orbits: the orbits of a symmetry of the network that leaves no node in its place.
        steps: the number of steps; every node reaches all others in as many.
        progress: receives the number of trees.
    """
    program = _TreeProgram(scaled, orbits, steps)
    while True:
        progress.note({"step trees": len(program.trees)})
        if (found := program.proven()) is not None:
            return FastestTrees(tuple(found), orbits.symmetry)


class _TreeProgram:
    """The dual program: a column for each orbit of roots, then one for each step and orbit of links."""

    def __init__(self, scaled: ScaledTopology, orbits: Orbits, steps: int) -> None:
        self._orbits, self._steps, links = orbits, steps, len(orbits.first_links)
        self._cheapest = CheapestTrees(scaled.topology, orbits.first_nodes, steps)
        self._roots = len(orbits.first_nodes)
        self._program = LinearProgram([1] * self._roots + [0] * (links * steps))
        self.trees: list[StepTree] = []
        for step in range(steps):
            capacities = (scaled.capacities[first] * size for first, size in self._firsts())
            row = {self._roots + step * links + orbit: each for orbit, each in enumerate(capacities)}
            self._program.add(Constraint(row, None, 1))
        self._add(self._cheapest.find([[1] * len(scaled.topology.links)] * steps))

    def _firsts(self) -> Iterator[tuple[int, int]]:
        return zip(self._orbits.first_links, self._orbits.link_sizes, strict=True)

    def _add(self, trees: list[StepTree]) -> None:
        """Add the rows of trees: the value of a shard is at most the price of the tree and its images."""
        links = len(self._orbits.first_links)
        for tree in trees:
            place = self._orbits.of_node[tree.root]
            row = {place: 1}
            for step, link in tree.sends:
                column = self._roots + step * links + self._orbits.of_link[link]
                row[column] = row.get(column, 0) - self._orbits.node_sizes[place]
            self._program.add(Constraint(row, None, 0))
        self.trees += trees

    def proven(self) -> list[tuple[StepTree, Fraction]] | None:
        """Return the trees of the optimum and their parts; None if a cheaper tree was found and added."""
        solution = self._program.solve()
        rounded = [max(0, round(each * _FINE)) for each in solution.values.tolist()]
        if self._add_cheaper(rounded, _NEAR):
            return None
        exact = self._program.proven(solution)
        if exact is None:
            raise InternalError("the linear program of step trees has no exact solution")
        values, parts = exact
        whole = lcm(*(each.denominator for each in values))
        scaled = [int(each * whole) for each in values]
        if self._add_cheaper(scaled, 0):
            return None
        self._add_equal(scaled)
        chunks = Chunks(self._program.rows, self._roots, self._steps)
        parts = chunks.few(sum(values[: self._roots], Fraction(0))) or parts
        return [(tree, part) for tree, part in zip(self.trees, parts[self._steps :], strict=False) if part]

    def _add_cheaper(self, values: list[int], tolerance: int) -> bool:
        """Add the cheapest trees whose rows these values violate, and return whether there are any."""
        found = self._cheapest.find(self._prices(values))
        cheaper = [tree for tree in found if self._room(tree.root, tree.price, values) < -tolerance]
        self._add(cheaper)
        return bool(cheaper)

    def _add_equal(self, values: list[int]) -> None:
        """Add more trees whose rows are tight at the optimum, so that whole chunks can be divided among them.

        They are the cheapest ones for prices that differ a little from the optimal ones.
        """
        prices = self._prices(values)
        known = {(tree.root, tree.sends) for tree in self.trees}
        for number in range(min(_MOST_TRIES, _MOST_ADDITIONS // max(1, self._cheapest.additions))):
            moved = [
                [price * _SCALE + _scattered(number, step, link) for link, price in enumerate(row)]
                for step, row in enumerate(prices)
            ]
            for tree in self._cheapest.find(moved):
                price = sum(prices[step][link] for step, link in tree.sends)
                if self._room(tree.root, price, values) == 0 and (tree.root, tree.sends) not in known:
                    known.add((tree.root, tree.sends))
                    self._add([tree])

    def _prices(self, values: list[int]) -> list[list[int]]:
        """Return, for each step, the price of each link."""
        starts = range(self._roots, len(values), len(self._orbits.first_links))
        return [[values[start + orbit] for orbit in self._orbits.of_link] for start in starts]

    def _room(self, root: int, price: int, values: list[int]) -> int:
        """Return by how much the price of a tree and its images exceeds the values of their shards."""
        place = self._orbits.of_node[root]
        return self._orbits.node_sizes[place] * price - values[place]


def _scattered(number: int, step: int, link: int) -> int:
    """Return a number from 0 to 63 that looks random."""
    return (number * 69069 + step * 40503 + link * 2654435761 >> 7) % 64
