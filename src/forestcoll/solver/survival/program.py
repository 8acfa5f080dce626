"""The greatest algbw that the trees of a schedule have after any single failure: a linear program over trees.

A schedule gives each tree T of the root v a bandwidth x_T. If f fails, the trees that it does not break keep their
bandwidth, and the data of v is divided among its trees that are left. So with the part w_v of the data, and D_f as the
sum of the parts of the nodes that are left,

    maximise r' + e r    so that    sum of n_e(T) x_T          <= b_e         for each link e,
                                    sum of x_T, T of v         >= r w_v / D   for each root v,
                                    sum of x_T, T of v, not broken by f >= r' w_v / D_f  for each failure f and root v.

First e = 0: r' is the guarantee. Then e > 0: of all schedules with this guarantee, the one with the greatest algbw r
without a failure. The dual has a price p_e of each link, q_fv of each failure and root, and s_v of each root:

    minimise sum of b_e p_e   so that   sum of n_e(T) p_e >= s_v + (sum of q_fv over the f that do not break T),
                                        sum of q_fv w_v / D_f = 1,   sum of s_v w_v / D = e.

Trees are rows of the dual, and are added while one is violated: with a price q_fv for each failure that breaks it, it
is a least tree (`least_tree`). The last basis is solved in fractions. If exact prices violate no tree, they prove that
no schedule has a greater r'. With a symmetry of the network, the mean of all images of a schedule is as good. So links,
and pairs of a failure and a root, share a column for each orbit, and roots of one orbit share their trees.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import cached_property
from math import ceil, lcm

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram
from forestcoll.solver.forests.packed_trees import Arc, PackedTree
from forestcoll.solver.survival.breaking import Breaking
from forestcoll.solver.survival.least_tree import least_tree
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.orbits import DisjointSets, Orbits

_UNITS = 2**40
"""The greatest price that a price in floating point becomes, in integers."""

_TOLERANCE = 1e-7
"""The violation, relative to all prices of a root, that is accepted in floating point."""

_FIXED = 2
"""The rows of the program before those of trees."""

MOST_TREES = 400
"""The most trees that are added; a search that needs more is not complete. With 32 nodes they take a minute or two."""

MOST_BRANCHES = 3000
"""The most branches of the search for one tree."""


class _Search(Enum):
    """How a search for violated trees ended."""

    FOUND = auto()
    NONE = auto()
    STOPPED = auto()


@dataclass(frozen=True)
class SurvivingTrees:
    """Trees from one root of each orbit.

    Attributes:
        orbits: the symmetry. The schedule has all images of the trees.
        trees: the trees; the weight of a tree is the bandwidth of all of its images together.
        complete: whether no schedule has a greater guarantee.
    """

    orbits: Orbits
    trees: tuple[PackedTree, ...]
    complete: bool


@dataclass(frozen=True)
class _Pairs:
    """The pairs of a failure and a root that is left, and their orbits.

    Attributes:
        breaking: the failures.
        weights: the part of the data of each compute node, relative to the others.
        of_pair: the orbit of each pair.
    """

    breaking: Breaking
    weights: dict[int, int]
    of_pair: dict[tuple[int, int], int]

    @staticmethod
    def of(breaking: Breaking, weights: dict[int, int], orbits: Orbits) -> "_Pairs":
        topology = breaking.topology
        pairs = [(failure, v) for failure in range(len(breaking.failures)) for v in breaking.roots(failure)]
        pairs = [pair for pair in pairs if weights[pair[1]]]
        places, failure_of = {pair: place for place, pair in enumerate(pairs)}, _failures_by_links(breaking)
        sets = DisjointSets(len(pairs))
        for image in (shift.image.tolist() for shift in orbits.symmetry.shifts):
            moved = [failure_of[_images(topology, links, image)] for links in breaking.links]
            for (failure, root), place in places.items():
                sets.join(place, places[moved[failure], image[root]])
        return _Pairs(breaking, weights, dict(zip(pairs, sets.numbers(), strict=True)))

    @cached_property
    def sizes(self) -> list[int]:
        """The number of pairs of each orbit."""
        counts = Counter(self.of_pair.values())
        return [counts[orbit] for orbit in range(len(counts))]

    def parts(self) -> dict[int, Fraction]:
        """Return for each orbit the sum of the parts of the data of its roots, among the roots that are left."""
        whole = [sum(self.weights[v] for v in self.breaking.roots(f)) for f in range(len(self.breaking.failures))]
        sums: dict[int, Fraction] = {}
        for (failure, root), orbit in self.of_pair.items():
            sums[orbit] = sums.get(orbit, Fraction(0)) + Fraction(self.weights[root], whole[failure])
        return sums

    def of_root(self, root: int) -> list[tuple[int, int]]:
        """Return the failures that leave a root, each with the orbit of the pair."""
        return [(failure, orbit) for (failure, other), orbit in self.of_pair.items() if other == root]


def _failures_by_links(breaking: Breaking) -> dict[frozenset[int], int]:
    return {links: failure for failure, links in enumerate(breaking.links)}


def _images(topology: Topology, links: frozenset[int], image: Sequence[int]) -> frozenset[int]:
    ends = (topology.links[number] for number in links)
    return frozenset(topology.link_numbers[image[link.source], image[link.target]] for link in ends)


class SurvivalProgram:
    """The dual program with the trees found so far.

    Args:
        breaking: the failures of a network.
        weights: the part of the data of each compute node, relative to the others.
        progress: receives the number of trees.
    """

    def __init__(self, breaking: Breaking, weights: dict[int, int], progress: Progress) -> None:
        self._breaking, self._weights, self._progress = breaking, weights, progress
        alike = len(set(weights.values())) == 1
        self._orbits = Orbits.of(breaking.topology, None if alike else Symmetry(()))
        self._pairs = _Pairs.of(breaking, weights, self._orbits)
        self._roots = [v for v in self._orbits.first_compute(breaking.topology) if weights[v]]
        self._links, self._classes = len(self._orbits.link_sizes), len(self._pairs.sizes)
        self._trees: list[tuple[int, tuple[Arc, ...]]] = []

    @property
    def first_failures(self) -> list[int]:
        """A failure of each orbit, and each failure that leaves no root."""
        firsts: dict[int, int] = {}
        for (failure, _), orbit in self._pairs.of_pair.items():
            firsts.setdefault(orbit, failure)
        rooted = {failure for failure, _ in self._pairs.of_pair}
        return sorted({*firsts.values(), *set(range(len(self._breaking.failures))).difference(rooted)})

    def solved(self) -> SurvivingTrees:
        """Return trees with the greatest guarantee and, among those, with the greatest algbw without a failure."""
        surest = self._solved(Fraction(0))
        goal = self.guarantee(surest)
        for exponent in (4, 10, 20):
            fast = self._solved(Fraction(1, 2**exponent))
            if self.guarantee(fast) >= goal:
                return SurvivingTrees(self._orbits, fast.trees, surest.complete)
        return surest

    def guarantee(self, found: SurvivingTrees) -> Fraction:
        """Return r': the least algbw, over failures and roots, that the bandwidth of the trees that are left allows."""
        left = [Fraction(0)] * self._classes
        for tree in found.trees:
            broken = self._breaking.broken_by(self._breaking.uses(tree.arcs))
            for failure, orbit in self._pairs.of_root(tree.root):
                if failure not in broken:
                    left[orbit] += tree.weight
        return min(left[orbit] / part for orbit, part in self._pairs.parts().items())

    def _solved(self, extra: Fraction) -> SurvivingTrees:
        """Return the best trees if the algbw without a failure counts `extra` times the guarantee."""
        program = self._program(extra)
        for place, arcs in self._trees:
            program.add(self._row(place, arcs))
        while True:
            self._progress.advance(len(self._trees), 0)
            found = self._add_trees(program, _in_units(program.solve().values), _TOLERANCE)
            if found is _Search.FOUND:
                continue
            exact = program.proven(program.solve())
            if exact is None:
                raise NoSolutionError(
                    f"{self._breaking.topology.name}: the linear program for failures could not be solved exactly; "
                    "give bandwidths with fewer digits"
                )
            values, prices = exact
            whole = lcm(*(value.denominator for value in values))
            if found is _Search.NONE:
                found = self._add_trees(program, [int(value * whole) for value in values], 0)
            if found is not _Search.FOUND:
                return SurvivingTrees(self._orbits, self._weighted(prices[_FIXED:]), found is _Search.NONE)

    def _program(self, extra: Fraction) -> LinearProgram:
        """Return the program without trees. Its columns are links, pairs and roots, each by orbits."""
        numerators, _ = self._breaking.topology.bandwidth_numerators
        limits = [
            -numerators[first] * size
            for first, size in zip(self._orbits.first_links, self._orbits.link_sizes, strict=True)
        ]
        program = LinearProgram([*limits, *[0] * (self._classes + len(self._roots))])
        program.add(_sum_of(self._links, self._pairs.parts(), Fraction(1)))
        whole = sum(self._weights.values())
        sizes = (self._orbits.node_sizes[self._orbits.of_node[root]] for root in self._roots)
        of_roots = {
            place: Fraction(size * self._weights[root], whole)
            for place, (root, size) in enumerate(zip(self._roots, sizes, strict=True))
        }
        program.add(_sum_of(self._links + self._classes, of_roots, extra))
        return program

    def _row(self, place: int, arcs: tuple[Arc, ...]) -> Constraint:
        """Return the condition of a tree: its links cost at least what its root and the failures that keep it pay."""
        uses = self._breaking.uses(arcs)
        broken = self._breaking.broken_by(uses)
        row = Counter(self._orbits.of_link[number] for number in uses)
        row.subtract(
            self._links + orbit for failure, orbit in self._pairs.of_root(self._roots[place]) if failure not in broken
        )
        row[self._links + self._classes + place] = -1
        return Constraint(dict(row), 0, None)

    def _add_trees(self, program: LinearProgram, values: Sequence[int], tolerance: float) -> "_Search":
        """Add a tree of each root whose condition the values of the columns violate."""
        if len(self._trees) >= MOST_TREES:
            return _Search.STOPPED
        lengths = [values[orbit] for orbit in self._orbits.of_link]
        outcome = _Search.NONE
        for place, root in enumerate(self._roots):
            prices = {failure: values[self._links + orbit] for failure, orbit in self._pairs.of_root(root)}
            limit = sum(prices.values()) + values[self._links + self._classes + place]
            least = least_tree(self._breaking, root, lengths, prices, limit - ceil(limit * tolerance), MOST_BRANCHES)
            tree = place, least.arcs
            if least.arcs and tree not in self._trees:
                self._trees.append(tree)
                program.add(self._row(*tree))
                outcome = _Search.FOUND
            elif not least.complete and outcome is _Search.NONE:
                outcome = _Search.STOPPED
        return outcome

    def _weighted(self, prices: Sequence[Fraction]) -> tuple[PackedTree, ...]:
        _, unit = self._breaking.topology.bandwidth_numerators
        listed = zip(self._trees, prices, strict=True)
        return tuple(PackedTree(self._roots[place], arcs, -price / unit) for (place, arcs), price in listed if price)


def _sum_of(first: int, coefficients: Mapping[int, Fraction], value: Fraction) -> Constraint:
    """Return the condition that a sum over columns from `first` on has a value, in integers."""
    whole = lcm(value.denominator, *(each.denominator for each in coefficients.values()))
    row = {first + place: int(each * whole) for place, each in coefficients.items()}
    return Constraint(row, int(value * whole), int(value * whole))


def _in_units(values: Floats) -> list[int]:
    """Return approximate prices as integers."""
    scale = _UNITS / max(1e-300, values.max())
    return [max(0, round(value * scale)) for value in values.tolist()]
