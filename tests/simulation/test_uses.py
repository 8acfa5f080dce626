"""Blocks of finite length: the formula is compared with a pipeline that sends numbers over links, use by use."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.files import schedule_from_document
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.trees.uses import block_rate, pipeline_overhead
from forestcoll.topology import topology_to_document
from forestcoll.topology.registry import load_topology
from forestcoll.verification import verify

Route = tuple[int, ...]
Forest = list[tuple[int, Fraction, list[Route]]]


def forests_of(schedule: TreeSchedule) -> dict[PhaseOp, Forest]:
    """Return root, share and routes of each tree; routes of a reduce lead to the root."""
    whole = expanded(schedule)
    nodes = [whole.routes[each] for each in range(len(whole.routes))]
    return {
        phase.op: [(tree.root, tree.share, [tuple(map(int, nodes[each])) for each in tree.routes]) for tree in phase]
        for phase in whole.phases
    }


def pairs_of(forests: dict[PhaseOp, Forest]) -> list[tuple[int, dict[PhaseOp, list[Route]]]]:
    """Return pairs of an in-tree and an out-tree of one root; trees are divided so that both carry the same."""
    pairs = []
    for root in sorted({root for root, _, _ in forests[PhaseOp.REDUCE]}):
        waiting = {op: [each[1:] for each in forest if each[0] == root] for op, forest in forests.items()}
        while waiting[PhaseOp.REDUCE]:
            first = {op: trees.pop(0) for op, trees in waiting.items()}
            part = min(share for share, _ in first.values())
            pairs.append((root, {op: routes for op, (_, routes) in first.items()}))
            for op, (share, routes) in first.items():
                if share > part:
                    waiting[op].insert(0, (share - part, routes))
        assert not waiting[PhaseOp.BROADCAST]
    return pairs


class Pipeline:
    """One pair of trees that sends the data of one period after the other, as numbers.

    In a period, each link carries the data of at most one period, which its source has received in earlier periods.
    """

    def __init__(self, nodes: int, root: int, forests: dict[PhaseOp, list[Route]], periods: int) -> None:
        self.root, self.forests, self.periods, self.nodes = root, forests, periods, nodes
        self.crossed: Counter[tuple[PhaseOp, Route, int]] = Counter()
        self.sums = {(node, number): 1 << node for node in range(nodes) for number in range(periods)}
        self.known: dict[tuple[int, int], int] = {}

    def ready(self, op: PhaseOp, route: Route, place: int) -> bool:
        """Whether the node at `place` has the next data that it must send."""
        number = self.crossed[op, route, place]
        if number == self.periods:
            return False
        if place:
            return self.crossed[op, route, place - 1] > number
        return self.complete(route[0], number) if op is PhaseOp.REDUCE else (route[0], number) in self.known

    def complete(self, node: int, number: int) -> bool:
        """Whether a node has the parts of all nodes that send to it in the reduce."""
        feeding = [route for route in self.forests[PhaseOp.REDUCE] if route[-1] == node]
        return all(self.crossed[PhaseOp.REDUCE, route, len(route) - 2] > number for route in feeding)

    def advance(self) -> None:
        """Let a period pass."""
        links = [
            (op, route, place)
            for op, forest in self.forests.items()
            for route in forest
            for place in range(len(route) - 1)
        ]
        for op, route, place in [link for link in links if self.ready(*link)]:
            number = self.crossed[op, route, place]
            self.crossed[op, route, place] += 1
            if place == len(route) - 2:
                self.arrive(op, route, number)
        for number in range(self.periods):
            if self.complete(self.root, number):
                self.known[self.root, number] = self.sums[self.root, number]

    def arrive(self, op: PhaseOp, route: Route, number: int) -> None:
        if op is PhaseOp.REDUCE:
            self.sums[route[-1], number] += self.sums[route[0], number]
        else:
            self.known[route[-1], number] = self.known[route[0], number]

    def run(self) -> int:
        """Return the number of periods after which all nodes have all sums."""
        needed = 0
        while len(self.known) < self.nodes * self.periods:
            self.advance()
            needed += 1
            assert needed < 10 * (self.periods + self.nodes)
        assert set(self.known.values()) == {(1 << self.nodes) - 1}
        return needed


def periods_needed(schedule: TreeSchedule, periods: int) -> int:
    pairs = pairs_of(forests_of(schedule))
    nodes = len(schedule.topology.compute)
    return max(Pipeline(nodes, root, forests, periods).run() for root, forests in pairs)


def check_loads(schedule: TreeSchedule, period: int) -> None:
    """Check that a period is long enough for the symbols of all trees, which are whole numbers."""
    load: Counter[tuple[int, int]] = Counter()
    for forest in forests_of(schedule).values():
        for _, share, routes in forest:
            symbols = share * schedule.algbw * period
            assert symbols.denominator == 1
            for route in routes:
                for ends in pairwise(route):
                    load[ends] += int(symbols)
    bandwidths = {(link.source, link.target): link.bandwidth for link in schedule.topology.links}
    assert all(load[ends] <= bandwidths[ends] * period for ends in load)


@pytest.mark.parametrize(
    "spec", ["mesh:dims=4", "ring:nodes=3,one_way=true", "ring:nodes=5", "complete:nodes=4", "torus:dims=2x3"]
)
def test_a_pipeline_takes_the_uses_of_the_formula(spec: str) -> None:
    schedule = generate(spec, Collective.ALLREDUCE)
    overhead = pipeline_overhead(len(schedule.topology.compute))
    for periods in (1, 2, 7):
        block = block_rate(schedule, periods)
        check_loads(schedule, block.period)
        assert periods_needed(schedule, periods) * block.period <= block.uses
        assert block.symbols == schedule.algbw * block.period * periods
        assert block.rate == Fraction(block.symbols, block.uses)
        assert schedule.algbw * Fraction(periods, periods + overhead) <= block.rate <= schedule.algbw


def paths_from_the_end(nodes: int) -> TreeSchedule:
    """Return a path with one pair of trees, whose root is the first node and whose height is K - 1."""
    path = load_topology(f"mesh:dims={nodes}")
    up, down = [[node + 1, node] for node in range(nodes - 1)], [[node, node + 1] for node in range(nodes - 1)]
    numbers = list(range(2 * nodes - 2))
    forests = (("reduce", numbers[: nodes - 1][::-1]), ("broadcast", numbers[nodes - 1 :]))
    phases = [{"op": op, "trees": [{"root": 0, "share": "1", "routes": routes}]} for op, routes in forests]
    document = {
        "format": "forestcoll.schedule/1",
        "collective": "allreduce",
        "topology": topology_to_document(path),
        "algbw": "1",
        "optimal_algbw": "1",
        "certificate": {"cut": [0]},
        "routes": [*up, *down],
        "phases": phases,
    }
    schedule = schedule_from_document(document, where="paths")
    assert isinstance(schedule, TreeSchedule)
    return schedule


@pytest.mark.parametrize("nodes", [3, 6])
def test_a_pair_of_the_highest_trees_takes_the_uses_of_the_paper(nodes: int) -> None:
    schedule = paths_from_the_end(nodes)
    assert verify(schedule).ok
    for length in (1, 5, 40):
        block = block_rate(schedule, length)
        assert (block.period, block.symbols, block.uses) == (1, length, length + pipeline_overhead(nodes))
        assert block.uses == periods_needed(schedule, length)


def test_the_rate_grows_to_the_algbw_with_the_periods_of_which_there_is_one_at_least() -> None:
    schedule = generate("ring:nodes=4", Collective.ALLREDUCE)
    rates = [block_rate(schedule, periods).rate for periods in (1, 2, 10, 10**6)]
    assert rates == sorted(rates)
    assert schedule.algbw * Fraction(99_999, 100_000) < rates[-1] < schedule.algbw
    with pytest.raises(InputError, match="periods must be at least 1, but is 0"):
        block_rate(schedule, 0)
