"""The fastest all-to-all in steps: each step sends data over links, and data moves on at a later step.

Networks have no switches. If there are K steps, let x(s, e, k) be the flow of source s over link e at step k, and T(k)
the time of step k:

    minimise the sum of T(k),  where
        sum over s of x(s, e, k) <= b(e) T(k)                               for each link e and step k,
        x(s, out of v, up to k) <= x(s, into v, before k)                   for each node v but s, and step k,
        x(s, into v, all steps) - x(s, out of v, all steps) = d(s, v)       for each node v but s.

The fewest steps are the greatest distance of two nodes. With more steps, the time for large data may be less; it is at
least that of the best flow, which has no steps. As in `program`, columns and rows of a class are equal: the classes of
pairs of a source and a link are equitable for each step, so they are equitable for all steps together.

The flow of a source over links and time is divided into walks. Each walk leaves a node at a later step than it
arrives, so no cycle occurs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.base.errors import InputError, InternalError, plural
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_system import LONGEST_FAST
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.flows.classes import MOST_CELLS, FlowClasses, Numbers
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.orbits import Orbits

MOST_COLUMNS = 8_000
"""The most columns of the linear program: classes times steps."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Data that moves along links at given steps.

    Attributes:
        source: the number of the source.
        target: the number of the target.
        share: the part of M.
        sends: for each link that it crosses: the step, the node that sends, and the node that receives.
    """

    source: int
    target: int
    share: Fraction
    sends: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class StepFlows:
    """An all-to-all in steps.

    Attributes:
        steps: the number of steps.
        walks: the walks of one source of each orbit of the symmetry.
        symmetry: a symmetry of the network; the images of `walks` under its elements are all walks.
    """

    steps: int
    walks: tuple[Walk, ...]
    symmetry: Symmetry


def fastest_steps(topology: Topology, steps: int | None = None, progress: Progress = SILENT) -> StepFlows:
    """Return the walks of the all-to-all in `steps` steps that takes the least time for large data.

    Args:
        topology: a network without switches.
        steps: the number of steps; None for the fewest.
        progress: receives the stages of the work.

    Raises:
        InputError: no all-to-all has so few steps, or the linear program is too large.

    Example:
        >>> from forestcoll import load_topology
        >>> fastest_steps(load_topology("ring:nodes=5")).steps
        2
    """
    progress.begin("looking for a symmetry")
    orbits = Orbits.of(topology)
    if len(orbits.first_nodes) * len(topology.links) > MOST_CELLS:
        raise _too_large(topology, len(orbits.first_nodes) * len(topology.links))
    demand = NodeDemand(Collective.ALL_TO_ALL)
    sent = dict(zip(topology.compute, demand.sent(topology), strict=True))
    progress.begin("dividing flows into classes")
    classes = FlowClasses.of(topology, sent, orbits)
    distances = _distances(classes)
    fewest = int(distances.max())
    steps = fewest if steps is None else steps
    if steps < fewest:
        raise InputError(f"{topology.name}: an all-to-all takes {plural(fewest, 'step')} or more; steps is {steps}")
    if classes.columns * steps > MOST_COLUMNS:
        raise _too_large(topology, classes.columns * steps)
    progress.begin("solving the linear program of steps")
    values = _WalkProgram(classes, distances, steps).solve()
    walks = [
        walk
        for place, source in enumerate(classes.sources)
        for walk in _TimedFlow(classes, place, values, steps).walks(sent[source])
    ]
    return StepFlows(steps, tuple(walks), orbits.symmetry)


def _too_large(topology: Topology, columns: int) -> InputError:
    return InputError(
        f"{topology.name}: the linear program of an all-to-all in steps has {columns:,} columns; at most "
        f"{MOST_COLUMNS:,} can be solved; use a network with more symmetry, or the flows of --method auto"
    )


def _distances(classes: FlowClasses) -> Numbers:
    """Return the number of links from each listed source to each node."""
    topology = classes.topology
    tails = np.array([link.source for link in topology.links])
    heads = np.array([link.target for link in topology.links])
    found = np.full((len(classes.sources), len(topology.nodes)), -1, dtype=np.int64)
    for row, source in zip(found, classes.sources, strict=True):
        row[source], hops = 0, 0
        while (row < 0).any():
            fresh = heads[(row[tails] == hops) & (row[heads] < 0)]
            hops += 1
            row[fresh] = hops
    return found


_Values = dict[tuple[int, int], Fraction]
"""The flow of a class at a step, for one unit of M; classes and steps without flow are left out."""


class _WalkProgram:
    """The linear program; a column for the time of each step comes first.

    If capacities are long, their columns are the times that the link with the greatest capacity would need for one unit
    of data, so that columns have similar sizes.
    """

    def __init__(self, classes: FlowClasses, distances: Numbers, steps: int) -> None:
        self._classes, self._steps = classes, steps
        self._scaled = ScaledTopology.of(classes.topology)
        longest = max(self._scaled.capacities)
        self._time_unit = longest if longest > LONGEST_FAST else 1
        self._columns: dict[tuple[int, int], int] = {}
        tails = np.array([link.source for link in classes.topology.links])
        nearest = np.full(classes.columns, steps, dtype=np.int64)
        useful = classes.of_pair >= 0
        np.minimum.at(nearest, classes.of_pair[useful], distances[:, tails][useful])
        for column in range(classes.columns):
            for step in range(int(nearest[column]), steps):
                self._columns[column, step] = steps + len(self._columns)

    def solve(self) -> _Values:
        """Return the flows of the fastest steps, checked.

        Raises:
            InternalError: the solution is not right in fractions.
        """
        program = LinearProgram([-1] * self._steps + [0] * len(self._columns), scale=1)
        rows = [*self._loads(), *self._balances()]
        for row in rows:
            program.add(row)
        exact = program.proven(program.attempt())
        if exact is None or not all(_holds(row, exact[0]) for row in rows) or min(exact[0]) < 0:
            raise InternalError("the linear program of steps has no exact solution")
        nodes = len(self._classes.topology.compute)
        return {key: exact[0][column] / nodes for key, column in self._columns.items() if exact[0][column]}

    def _loads(self) -> Iterator[Constraint]:
        """Yield, for each class of links and each step: the load takes at most the time of the step."""
        _, firsts = np.unique(self._classes.of_link, return_index=True)
        for number, first in enumerate(firsts.tolist()):
            loads = self._classes.loads(number)
            for step in range(self._steps):
                row = {step: -self._scaled.capacities[first]}
                for column, each in loads.items():
                    if (key := (column, step)) in self._columns:
                        row[self._columns[key]] = each * self._time_unit
                yield Constraint(row, None, 0)

    def _balances(self) -> Iterator[Constraint]:
        """Yield, for each class of a source and a node: what leaves has arrived before, and the rest is the need."""
        entering, leaving = self._classes.topology.entering, self._classes.topology.leaving
        for place, node in self._classes.first_cells:
            if node == self._classes.sources[place]:
                continue
            into = [self._classes.of_pair[place, link] for link in entering[node]]
            out = [self._classes.of_pair[place, link] for link in leaving[node]]
            for step in range(1, self._steps):
                row = self._row(into, range(step), out, range(step + 1))
                if any(each < 0 for each in row.values()):
                    yield Constraint(row, 0, None)
            yield Constraint(self._row(into, range(self._steps), out, range(self._steps)), 1, 1)

    def _row(self, into: list[int], arriving: range, out: list[int], departing: range) -> dict[int, int]:
        row: dict[int, int] = {}
        for columns, steps, sign in ((into, arriving, 1), (out, departing, -1)):
            for column in columns:
                for step in steps:
                    if (key := (int(column), step)) in self._columns:
                        row[self._columns[key]] = row.get(self._columns[key], 0) + sign
        return {column: each for column, each in row.items() if each}


def _holds(row: Constraint, values: list[Fraction]) -> bool:
    total = sum((values[column] * each for column, each in row.coefficients.items()), Fraction(0))
    return (row.lower is None or total >= row.lower) and (row.upper is None or total <= row.upper)


class _TimedFlow:
    """The flow of one source over links and steps, in integers, while walks are taken out of it.

    A walk leaves a node as long as some flow leaves at the step, and waits otherwise. What arrives at a node before a
    step is what leaves it at the step and what waits, so no walk waits that has to leave.
    """

    def __init__(self, classes: FlowClasses, place: int, values: _Values, steps: int) -> None:
        self._source, self._steps = classes.sources[place], steps
        self._whole = lcm(len(classes.topology.compute), *{each.denominator for each in values.values()})
        self._left: dict[tuple[int, int], dict[int, int]] = {}
        for link, column in zip(classes.topology.links, classes.of_pair[place].tolist(), strict=True):
            for step in range(steps):
                if amount := int(values.get((column, step), Fraction(0)) * self._whole):
                    self._left.setdefault((link.source, step), {})[link.target] = amount

    def walks(self, needs: Mapping[int, Fraction]) -> Iterator[Walk]:
        """Yield the walks to all targets of `needs`, which has the part of M of each."""
        left = {node: int(need * self._whole) for node, need in needs.items()}
        while any(left.values()):
            sends = self._walk()
            node = sends[-1][-1] if sends else self._source
            amount = min(left.get(node, 0), *(self._left[source, step][target] for step, source, target in sends))
            if not amount:
                raise InternalError("the flow of an all-to-all in steps does not reach its targets")
            for step, source, target in sends:
                self._left[source, step][target] -= amount
            left[node] -= amount
            yield Walk(self._source, node, Fraction(amount, self._whole), tuple(sends))

    def _walk(self) -> list[tuple[int, int, int]]:
        """Return the sends of one walk."""
        node, sends = self._source, list[tuple[int, int, int]]()
        for step in range(self._steps):
            leaving = self._left.get((node, step), {})
            target = next((each for each, amount in leaving.items() if amount), None)
            if target is not None:
                sends.append((step, node, target))
                node = target
        return sends
