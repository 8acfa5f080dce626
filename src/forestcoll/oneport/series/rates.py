"""The greatest throughput of a series of a collective: how many messages each link carries in a unit of time.

A message of size 1 takes c over a link and occupies its ports for this time. Let n be the number of messages that each
link carries in a unit of time, and x the number of operations. The linear program

    maximise x,   each port: sum of n * c over its links <= 1,   each switch: what enters = what leaves,

has more rows for each collective:

- Scatter: what enters a node minus what leaves it is x. The flow divides into paths to each node (the steady-state
  scatter of Legrand, Beaumont, Marchal and Robert, with the flows of all destinations in one).
- Broadcast: what enters each set without the source is at least x. By Edmonds' branching theorem, trees of the weight x
  fit into n.
- Allgather: what enters each set S of nodes is at least x for each compute node outside S. With a further node that
  sends x to each node, this is Edmonds' condition for trees of the weight x from every node.

There are too many sets to list, so violated ones are added as long as maximum flows find them. A gather, a reduce and
a reduce-scatter are the same programs with all links reversed; ports stay.

The dual has a price for each port and a weight for each set: the proof (`PricesProof`). For a scatter, the sets are
the nodes beyond a distance from the source, where the length of a link is its time at the prices.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InternalError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.oneport.platform.platform import Cuts, Platform
from forestcoll.schedule.proof.prices import Port, PricesProof, crossings
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.flows.max_flow import MaxFlow
from forestcoll.topology.graph.walks import cheapest

_SCALE = 2**40
"""Approximate rates are multiples of 1/2^40 in the search for violated sets."""

_CLOSE = 2**12
"""The part of `_SCALE` by which an approximate flow may be too small."""


@dataclass(frozen=True)
class BestRates:
    """The optimum of a series of a collective.

    Attributes:
        throughput: operations in a unit of time.
        rates: the messages that each link carries in a unit of time.
        certificate: the proof that no greater throughput is possible.
    """

    throughput: Fraction
    rates: tuple[Fraction, ...]
    certificate: PricesProof


def best_rates(platform: Platform, collective: Collective, progress: Progress = SILENT) -> BestRates:
    """Return the greatest throughput of a series of `collective` on `platform`, exactly.

    Raises:
        NoSolutionError: the bandwidths differ too much for an exact solution.
    """
    progress.begin("finding the optimum of the series")
    return _RateProgram(platform, collective).run(progress)


class _RateProgram:
    """The linear program. Columns: the throughput, then the rate of each link."""

    def __init__(self, platform: Platform, collective: Collective) -> None:
        self._platform, self._collective = platform, collective
        topology = platform.topology
        inwards = collective.flows_to_roots
        self._ends = [(link.target, link.source) if inwards else (link.source, link.target) for link in topology.links]
        self._unit = min(platform.costs)
        self._program = LinearProgram([1] + [0] * len(self._ends))
        self._ports = self._add_ports()
        self._cuts: dict[frozenset[int], int] = {}
        for switch in topology.switches:
            self._program.add(Constraint(self._crossing({switch}, both=True), 0, 0))
        for node in platform.destinations:
            if collective.is_personalised:
                self._program.add(Constraint(self._crossing({node}, both=True) | {0: -1}, 0, 0))
            else:
                self._add_cut(frozenset({node}))

    def _add_ports(self) -> dict[Port, int]:
        times: dict[Port, dict[int, Fraction]] = {}
        for link, uses in enumerate(self._platform.uses):
            for port, part in uses:
                times.setdefault(port, {})[1 + link] = part * self._platform.costs[link] / self._unit
        for port in sorted(times):
            scale = lcm(*(time.denominator for time in times[port].values()))
            row = {column: int(time * scale) for column, time in times[port].items()}
            self._program.add(Constraint(row, None, scale))
        self._scales = [row.upper or 1 for row in self._program.rows]
        return {port: row for row, port in enumerate(sorted(times))}

    def _crossing(self, inside: Collection[int], *, both: bool = False) -> dict[int, int]:
        """Return the row of what enters a set of nodes, with `both` minus what leaves it."""
        row = {}
        for link, (tail, head) in enumerate(self._ends):
            if head in inside and tail not in inside:
                row[1 + link] = 1
            elif both and tail in inside and head not in inside:
                row[1 + link] = -1
        return row

    def _add_cut(self, inside: frozenset[int]) -> None:
        """Add the row of a set of nodes if it is new."""
        if inside in self._cuts:
            return
        self._cuts[inside] = len(self._program.rows)
        needed = crossings(self._collective, len(self._platform.topology.compute), len(self._members(inside)))
        self._program.add(Constraint(self._crossing(inside) | {0: -needed}, 0, None))

    def _members(self, inside: Collection[int]) -> tuple[int, ...]:
        return tuple(node for node in self._platform.topology.compute if node in inside)

    def run(self, progress: Progress) -> BestRates:
        rounds = 0
        while True:
            solution = self._program.attempt()
            rounds += 1
            progress.advance(rounds, 0)
            if solution is not None:
                near = [int(max(0.0, each) * _SCALE) for each in solution.values.tolist()]
                if self._add_violated(near[1:], max(0, near[0] - _CLOSE)):
                    continue
            exact = self._program.proven(solution)
            if exact is None:
                name = self._platform.topology.name
                raise NoSolutionError(f"{name}: the bandwidths differ too much for an exact solution; round them")
            values, prices = exact
            scale = lcm(*(value.denominator for value in values))
            if not self._add_violated([int(value * scale) for value in values[1:]], int(values[0] * scale)):
                return self._optimum(values, prices)

    def _add_violated(self, rates: Sequence[int], throughput: int) -> bool:
        """Add the sets that too little enters. Return whether one is new."""
        if self._collective.is_personalised:
            return False
        before = len(self._cuts)
        for inside in self._violated(rates, throughput):
            self._add_cut(inside)
        return len(self._cuts) > before

    def _violated(self, rates: Sequence[int], throughput: int) -> Iterator[frozenset[int]]:
        nodes, compute = len(self._platform.topology.nodes), self._platform.topology.compute
        arcs = [(*ends, rate) for ends, rate in zip(self._ends, rates, strict=True) if rate]
        source, needed = self._platform.source, throughput
        if not self._collective.has_root:
            arcs += [(nodes, node, throughput) for node in compute]
            source, needed = nodes, throughput * len(compute)
        for node in compute:
            if node != source:
                flow = MaxFlow(nodes + 1, arcs, source, node)
                if flow.value < needed:
                    yield frozenset(range(nodes)) - flow.inside

    def _optimum(self, values: Sequence[Fraction], prices: Sequence[Fraction]) -> BestRates:
        throughput = values[0] / self._unit
        of_ports = {
            port: prices[row] * self._scales[row] / self._unit for port, row in self._ports.items() if prices[row]
        }
        if self._collective.is_personalised:
            cuts = self._distances(of_ports)
        else:
            cuts = tuple((-prices[row], self._members(cut)) for cut, row in self._cuts.items() if prices[row])
        certificate = self._platform.proof(of_ports, cuts)
        if certificate.operations(self._collective, len(self._platform.topology.compute)) != throughput:
            raise InternalError(f"rates of links reach {throughput}, and the prices do not prove it")
        return BestRates(throughput, tuple(value / self._unit for value in values[1:]), certificate)

    def _distances(self, prices: Mapping[Port, Fraction]) -> Cuts:
        """Return the sets of nodes beyond each distance from the source, at the prices of ports."""
        after: dict[int, list[tuple[int, Fraction]]] = {}
        for (tail, head), uses, cost in zip(self._ends, self._platform.uses, self._platform.costs, strict=True):
            paid = sum((prices.get(port, Fraction(0)) * part for port, part in uses), Fraction(0)) * cost
            after.setdefault(tail, []).append((head, paid))
        found = cheapest(
            {self._platform.source: Fraction(0)},
            lambda node, cost: [(head, cost + paid) for head, paid in after.get(node, [])],
        )
        cuts, before = [], Fraction(0)
        for distance in sorted({found[node] for node in self._platform.destinations} - {before}):
            cuts.append((distance - before, tuple(n for n in self._platform.destinations if found[n] >= distance)))
            before = distance
        return tuple(cuts)
