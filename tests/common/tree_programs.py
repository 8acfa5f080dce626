"""The optimum of allreduces, groups and pieces by a linear program with a column for each tree, on small networks."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import lcm

from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.value import Group
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.topology import Topology

Walk = tuple[int, ...]
Tree = frozenset[Walk]
"""Walks between nodes that branch, in the direction of the data."""


def best_by_all_trees(topology: Topology, groups: Sequence[Group]) -> Fraction:
    """Return the greatest common rate of groups, from all of their trees and paths."""
    program = _AllTrees(topology)
    for group in groups:
        program.add(group)
    return program.value()


def best_of_allreduce(topology: Topology, roots: Sequence[int] | None = None) -> Fraction:
    """Return the greatest rate of an allreduce of all compute nodes. All nodes, or only `roots`, are roots of trees."""
    program = _AllTrees(topology)
    program.add_sum(topology.compute, topology.compute, Fraction(1), roots)
    return program.value()


PieceNodes = tuple[bool, Sequence[int], Sequence[int], Fraction]
"""Whether a piece is a sum, the nodes that hold it or its parts, the nodes that need it, and its size."""


def best_of_pieces(topology: Topology, pieces: Sequence[PieceNodes]) -> Fraction:
    """Return the greatest rate of pieces. Each part of a sum is added up at any node, and sent from there."""
    program = _AllTrees(topology)
    for is_sum, sources, targets, size in pieces:
        if is_sum:
            program.add_sum(sources, targets, size)
        else:
            program.add_copies(sources, targets, size)
    return program.value()


def all_trees(topology: Topology, roots: Sequence[int], members: Sequence[int], *, out: bool) -> Iterator[Tree]:
    """Yield all trees from any of the roots (or to them) that join all members, with branches where nodes may branch.

    A tree from several roots is one tree from each of them.
    """
    able = [
        number
        for number, node in enumerate(topology.nodes)
        if node.is_compute or (node.multicast if out else node.aggregation)
    ]
    if not set(roots) <= set(able):
        return
    entering: dict[int, list[Walk]] = {node: [] for node in able}
    for walk in _walks(topology, set(able), out=out):
        entering[walk[-1]].append(walk)
    others = [node for node in able if node not in roots]
    choices = [entering[node] if node in members else [None, *entering[node]] for node in others]
    for chosen in product(*choices):
        parents = {node: walk[0] for node, walk in zip(others, chosen, strict=True) if walk is not None}
        if all(_reaches(parents, node, roots) for node in parents):
            yield frozenset(walk if out else walk[::-1] for walk in chosen if walk is not None)


def _reaches(parents: dict[int, int], node: int, roots: Sequence[int]) -> bool:
    for _ in range(len(parents) + 1):
        if node in roots:
            return True
        if node not in parents:
            return False
        node = parents[node]
    return False


def _walks(topology: Topology, able: set[int], *, out: bool) -> Iterator[Walk]:
    """Yield the simple paths between nodes that branch, through nodes that do not, away from the root."""
    after: dict[int, list[int]] = {}
    for link in topology.links:
        source, target = (link.source, link.target) if out else (link.target, link.source)
        after.setdefault(source, []).append(target)
    pending: list[Walk] = [(node,) for node in sorted(able)]
    for walk in pending:
        for node in after.get(walk[-1], ()):
            if node in able and node != walk[0]:
                yield (*walk, node)
            elif node not in able and node not in walk:
                pending.append((*walk, node))


class _AllTrees:
    """The program: the rate is column 0, and each tree of a group, a phase and a root is another column."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._unit = lcm(*(link.bandwidth.denominator for link in topology.links))
        self._links = {(link.source, link.target): place for place, link in enumerate(topology.links)}
        self._uses: list[dict[int, int]] = [{} for _ in topology.links]
        self._rows: list[Constraint] = []
        self._columns = 1

    def add(self, group: Group) -> None:
        """Add the trees of a group and the rows of its demands."""
        demand, members = group.demand, group.members(self._topology)
        if demand.collective.is_personalised:
            for source, targets in zip(members, demand.sent(self._topology), strict=True):
                for target, part in targets.items():
                    self._demand(self._paths(source, target), part * group.size)
            return
        if demand.collective is Collective.ALLREDUCE:
            self.add_sum(members, members, group.size)
            return
        out = not demand.collective.only_reduces
        for root, part in zip(members, demand.parts(self._topology), strict=True):
            if part:
                self._demand(self._trees([root], members, out=out), part * group.size)

    def add_copies(self, sources: Sequence[int], targets: Sequence[int], size: Fraction) -> None:
        """Add the trees of a piece that all sources hold, and the row of its demand."""
        self._demand(self._trees(sources, targets, out=True), size)

    def add_sum(
        self, sources: Sequence[int], targets: Sequence[int], size: Fraction, roots: Sequence[int] | None = None
    ) -> None:
        """Add the trees of a sum, and the rows of its demand: as much data leaves each root as is added up there."""
        into: list[int] = []
        for root in range(len(self._topology.nodes)) if roots is None else roots:
            inward = self._trees([root], sources, out=False)
            outward = self._trees([root], targets, out=True)
            self._rows.append(Constraint(dict.fromkeys(outward, 1) | dict.fromkeys(inward, -1), 0, None))
            into += inward
        self._demand(into, size)

    def _trees(self, roots: Sequence[int], members: Sequence[int], *, out: bool) -> list[int]:
        """Add a column for each tree, and return the columns."""
        columns = []
        for tree in sorted(all_trees(self._topology, roots, members, out=out), key=sorted):
            for walk in tree:
                for ends in pairwise(walk):
                    uses = self._uses[self._links[ends]]
                    uses[self._columns] = uses.get(self._columns, 0) + 1
            columns.append(self._columns)
            self._columns += 1
        return columns

    def _paths(self, source: int, target: int) -> list[int]:
        """Add a column for each simple path, and return the columns."""
        after: dict[int, list[int]] = {}
        for link in self._topology.links:
            after.setdefault(link.source, []).append(link.target)
        columns: list[int] = []
        pending: list[Walk] = [(source,)]
        for path in pending:
            if path[-1] == target:
                for ends in pairwise(path):
                    self._uses[self._links[ends]][self._columns] = 1
                columns.append(self._columns)
                self._columns += 1
            else:
                pending += [(*path, node) for node in after.get(path[-1], ()) if node not in path]
        return columns

    def _demand(self, columns: Sequence[int], amount: Fraction) -> None:
        """Require trees of `amount` times the rate."""
        row = dict.fromkeys(columns, amount.denominator) | {0: -amount.numerator}
        self._rows.append(Constraint(row, 0, None))

    def value(self) -> Fraction:
        """Return the exact optimum."""
        capacities = [int(link.bandwidth * self._unit) for link in self._topology.links]
        program = LinearProgram([1] + [0] * (self._columns - 1), scale=max(capacities))
        for uses, capacity in zip(self._uses, capacities, strict=True):
            program.add(Constraint(uses, None, capacity))
        for row in self._rows:
            program.add(row)
        return exact_value(program) / self._unit


def exact_value(program: LinearProgram) -> Fraction:
    """Return the exact optimum of a program: both halves of the basis are checked against the rows."""
    exact = program.exact(program.solve())
    assert exact is not None
    values, prices = exact
    assert min(values) >= 0
    costs, sides = [Fraction(each) for each in program.objective], Fraction(0)
    for row, price in zip(program.rows, prices, strict=True):
        total = sum(coefficient * values[column] for column, coefficient in row.coefficients.items())
        assert row.upper is None or total <= row.upper
        assert row.lower is None or total >= row.lower
        side = row.upper if row.upper is not None else row.lower
        assert side is not None
        assert price >= 0 if row.lower is None else price <= 0
        sides += price * side
        for column, coefficient in row.coefficients.items():
            costs[column] -= coefficient * price
    assert max(costs) <= 0
    value = sum((weight * each for weight, each in zip(program.objective, values, strict=True)), Fraction(0))
    assert value == sides
    return value
