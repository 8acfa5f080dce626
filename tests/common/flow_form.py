"""The optimum of a series of broadcasts by the flow form of SSB(G) (§5.2), independent of the solver over trees.

The program has a flow x_i of one message to every destination P_i, the maximum n of the flows on each link, and the
period T* for one message:

    minimise T*,   flow x_i from the source to P_i of value 1 with conservation at all other nodes,
    x_i(e) <= n(e),   each port: sum of n(e) c(e) <= T*.

Switches copy nothing, so the messages into a switch and out of it are equal: n is conserved at switches, and a flow may
use a switch only within n. The program has |V| |E| + |E| + 1 columns, so it is for small platforms: the solver over
trees (`optimum`) is faster by far.

The program is solved as an equivalent one for the throughput: flows of value TP, and every port is busy for at most 1.
Exact values and prices prove each other optimal. No tree, price or cut of the other solver is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from forestcoll.base.errors import NoSolutionError
from forestcoll.oneport.platform.platform import Platform
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import MOST_EXACT_COLUMNS, LinearProgram

if TYPE_CHECKING:
    from forestcoll.schedule.proof.prices import Port


@dataclass(frozen=True)
class FlowForm:
    """The solution of the flow form.

    Attributes:
        throughput: messages per unit of time (1/T*).
        rates: the messages that each link carries per unit of time (n).
        flows: for each destination, in the order of `Platform.destinations`, the part of its messages on each link.
    """

    throughput: Fraction
    rates: tuple[Fraction, ...]
    flows: tuple[tuple[Fraction, ...], ...]


def flow_form(platform: Platform) -> FlowForm:
    """Return the optimum of `platform` by the flow form of SSB(G).

    Raises:
        NoSolutionError: the program is too large for an exact solution.
    """
    program = _Columns(platform).program()
    exact = program.proven(program.attempt())
    if exact is None:
        raise NoSolutionError(
            f"{platform.topology.name}: the flow form has {len(program.objective)} columns, too many for an exact "
            f"solution (about {MOST_EXACT_COLUMNS} are possible); use a smaller platform"
        )
    return _Columns(platform).solution(exact[0])


class _Columns:
    """The columns: the throughput, n of each link, and the flow to each destination on each link."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._links = range(len(platform.topology.links))
        self._unit = min(platform.costs)

    def _rate(self, link: int) -> int:
        return 1 + link

    def _flow(self, place: int, link: int) -> int:
        return 1 + len(self._links) * (1 + place) + link

    def program(self) -> LinearProgram:
        """Return the program, with costs in units of the least cost."""
        columns = 1 + len(self._links) * (1 + len(self._platform.destinations))
        program = LinearProgram([1] + [0] * (columns - 1))
        self._add_ports(program)
        for switch in self._platform.topology.switches:
            program.add(Constraint(self._balance(switch, self._rate), 0, 0))
        for place, node in enumerate(self._platform.destinations):
            self._add_flow(program, place, node)
        return program

    def _add_ports(self, program: LinearProgram) -> None:
        ports: dict[Port, dict[int, Fraction]] = {}
        for link in self._links:
            for port, part in self._platform.uses[link]:
                ports.setdefault(port, {})[link] = part * self._platform.costs[link] / self._unit
        for port in sorted(ports):
            scale = lcm(*(time.denominator for time in ports[port].values()))
            row = {self._rate(link): int(time * scale) for link, time in ports[port].items()}
            program.add(Constraint(row, None, scale))

    def _balance(self, node: int, column: Callable[[int], int]) -> dict[int, int]:
        """Return the row of what leaves a node minus what enters it."""
        row = {}
        for link in self._links:
            ends = self._platform.topology.links[link]
            if node in (ends.source, ends.target):
                row[column(link)] = 1 if ends.source == node else -1
        return row

    def _add_flow(self, program: LinearProgram, place: int, destination: int) -> None:
        for node in range(len(self._platform.topology.nodes)):
            if node == destination:
                continue  # its row follows from the others
            row = self._balance(node, lambda link: self._flow(place, link))
            if node == self._platform.source:
                row[0] = -1
            program.add(Constraint(row, 0, 0))
        for link in self._links:
            program.add(Constraint({self._rate(link): 1, self._flow(place, link): -1}, 0, None))

    def solution(self, values: Sequence[Fraction]) -> FlowForm:
        """Return the solution of these exact values."""
        throughput = values[0]
        flows = tuple(
            tuple(values[self._flow(place, link)] / throughput for link in self._links)
            for place in range(len(self._platform.destinations))
        )
        rates = tuple(values[self._rate(link)] / self._unit for link in self._links)
        return FlowForm(throughput / self._unit, rates, flows)
