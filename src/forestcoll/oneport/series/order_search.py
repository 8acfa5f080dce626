"""The order of the nodes for which SSBPDAG (§4.1) has the greatest optimum, as a mixed-integer program.

The program minimises the time T of a message, in units of the time in the optimum of the series. A message is divided:
m is the part of it that a link carries for a node. For each pair of nodes that could send to each other, a binary
column says which one is earlier.

    minimise T,   what enters each node for it: sum of m = 1,   each port: sum of m * c <= T,
    each switch and node behind it: what enters = what leaves,   from u to v: sum of m <= (u is before v).

Positions of nodes make these orders one order, and every cycle of three pairs, and of four without a chord, has a row:
not all of its nodes can be before the next. The rows of cycles save most of the search. As m are parts of one message,
the limit of m is 1, and not the throughput: this makes the bound of the relaxation close.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.base.exact import as_float
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.optimum import SteadyOptimum
from forestcoll.solver.exact_lp.integer_program import IntegerProgram

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port

Row = dict[int, float]


class OrderSearch:
    """The integer program; its objective is T.

    Attributes:
        program: the program.
        places: the column of the position of each node; those of switches mean nothing.
    """

    def __init__(self, best: SteadyOptimum, known: Fraction, bound: Fraction) -> None:
        """Make the program for orders that are not worse than the throughput `known`; none exceeds `bound`."""
        self._platform, self.program = best.platform, IntegerProgram()
        self._period = self.program.add_column(cost=1.0, upper=as_float(best.throughput / known))
        self.program.add_row({self._period: 1.0}, lower=as_float(best.throughput / bound))
        nodes = len(best.platform.topology.nodes)
        self.places = [
            self.program.add_column(upper=0.0 if node == best.platform.source else as_float(nodes - 1))
            for node in range(nodes)
        ]
        self._pairs: dict[tuple[int, int], int] = {}
        self._add_amounts(1 / best.throughput)
        self._add_cycles()

    def _add_amounts(self, unit: Fraction) -> None:
        """Add the parts of a message on each link, and their rows."""
        platform, topology = self._platform, self._platform.topology
        entering: dict[tuple[int, int], Row] = {}
        leaving: dict[tuple[int, int], Row] = {}
        ports: dict[Port, Row] = {}
        for number, node in _amounts(platform):
            link, amount = topology.links[number], self.program.add_column(upper=1.0)
            entering.setdefault((link.target, node), {})[amount] = 1.0
            leaving.setdefault((link.source, node), {})[amount] = 1.0
            for port, part in platform.uses[number]:
                row = ports.setdefault(port, {self._period: -1.0})
                row[amount] = as_float(part * platform.costs[number] / unit)
        for port in sorted(ports):
            self.program.add_row(ports[port], upper=0.0)
        for node in platform.destinations:
            self.program.add_row(entering.pop((node, node)), 1.0, 1.0)
        for sender, node in sorted(entering.keys() | leaving.keys()):
            sent = leaving.get((sender, node), {})
            if topology.nodes[sender].is_compute:
                if sender != platform.source:
                    self._keep_order([(sender, node)], sent)
            else:
                received = entering.get((sender, node), {})
                self.program.add_row(sent | dict.fromkeys(received, -1.0), 0.0, 0.0)

    def _keep_order(self, steps: list[tuple[int, int]], row: Row) -> None:
        """Keep the sum of `row` within the number of `steps` from one node to a later one."""
        row, room = dict(row), 0.0
        for one, other in steps:
            forward = one < other
            column = self._before(*sorted((one, other)))
            row[column] = -1.0 if forward else 1.0
            room += 0.0 if forward else 1.0
        self.program.add_row(row, upper=room)

    def _before(self, one: int, other: int) -> int:
        """Return the column that says whether `one` is before `other`, the node with the greater number."""
        if (one, other) not in self._pairs:
            self._pairs[one, other] = earlier = self.program.add_column(upper=1.0, whole=True)
            apart = {self.places[other]: 1.0, self.places[one]: -1.0}
            nodes = as_float(len(self.places))
            self.program.add_row(apart | {earlier: -nodes}, 1.0 - nodes, -1.0)
        return self._pairs[one, other]

    def _add_cycles(self) -> None:
        """Add the rows of short cycles: at least one step leads to an earlier node, in both directions."""
        for cycle in list(_cycles(self._pairs)):
            steps = list(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
            row = {self._pairs[min(step), max(step)]: 1.0 if step[0] < step[1] else -1.0 for step in steps}
            backwards = sum(one > other for one, other in steps)
            self.program.add_row(row, 1.0 - backwards, len(steps) - 1.0 - backwards)


def number_of_amounts(platform: Platform) -> int:
    """Return the number of parts of a message in the program."""
    return sum(1 for _ in _amounts(platform))


def _amounts(platform: Platform) -> Iterator[tuple[int, int]]:
    """Yield each link with each node that it could carry messages for."""
    topology = platform.topology
    for number, link in enumerate(topology.links):
        for node in [link.target] if topology.nodes[link.target].is_compute else platform.destinations:
            if node not in (platform.source, link.source):
                yield number, node


def _cycles(pairs: dict[tuple[int, int], int]) -> Iterator[tuple[int, ...]]:
    """Yield the cycles of three pairs, and of four without a chord, each once."""
    near: dict[int, set[int]] = {}
    for one, other in pairs:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    for first in sorted(near):
        later = sorted(node for node in near[first] if node > first)
        for second in later:
            for last in later:
                if last <= second:
                    continue
                if last in near[second]:
                    yield first, second, last
                    continue
                for across in sorted(near[second] & near[last]):
                    if across > first and across not in near[first]:
                        yield first, second, across, last
