"""Weighted edge colouring of any graph: divide jobs between ports into matchings, also if ports form odd cycles.

The least total time of matchings that do all jobs is a linear program with a column for each matching. Its dual has a
weight for each pair of ports:

    maximise the sum of time * weight,   each matching: sum of its weights <= 1.

By Edmonds' theorem the optimum is the greater of the load of the busiest port and the load of the busiest odd set. The
matchings are found when they are needed: greedily or, if no greedy matching weighs more than 1, by a mixed-integer
program for a heaviest matching. A basis has at most as many matchings as pairs of ports. The times of the matchings are
exact, and it is checked in fractions that they do all jobs.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

from forestcoll.base.errors import InternalError
from forestcoll.base.exact import as_float
from forestcoll.oneport.series.coloring import Matching, PortTask
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.integer_program import IntegerProgram
from forestcoll.solver.exact_lp.linear_program import LinearProgram

_CLOSE = Fraction(1, 10**9)
_MAX_NODES = 10_000

Pair = tuple[int, int]
Pairs = tuple[Pair, ...]


def matchings_of_any_graph(jobs: Sequence[PortTask]) -> tuple[list[Matching], int]:
    """Return matchings that do all `jobs` in the least time, and an integer by which all times are multiplied.

    Args:
        jobs: the two ends of a job are ports of the same set of numbers.
    """
    members: dict[Pair, list[int]] = {}
    for place, job in enumerate(jobs):
        members.setdefault((min(job.sender, job.receiver), max(job.sender, job.receiver)), []).append(place)
    times = {pair: sum(jobs[place].time for place in places) for pair, places in sorted(members.items())}
    exact = _MatchingProgram(times).solve()
    factor = lcm(*(time.denominator for time in exact.values()))
    left = [job.time * factor for job in jobs]
    found: list[Matching] = []
    for pairs, time in exact.items():
        found += _in_turn([members[pair] for pair in pairs], left, int(time * factor))
    if any(left):
        raise InternalError("the matchings do not do all jobs")
    return found, factor


def _in_turn(members: Sequence[Sequence[int]], left: list[int], time: int) -> Iterator[Matching]:
    """Yield matchings that last for `time` at most, in which each list of `members` does its jobs in their order."""
    while time:
        busy = [place for each in members if (place := next((one for one in each if left[one]), None)) is not None]
        if not busy:
            return
        step = min(time, *(left[place] for place in busy))
        for place in busy:
            left[place] -= step
        yield Matching(step, tuple(sorted(busy)))
        time -= step


class _MatchingProgram:
    """The dual program: a column for each pair of ports, a row for each matching."""

    def __init__(self, times: Mapping[Pair, int]) -> None:
        self._times = times
        self._pairs = list(times)
        self._column = {pair: column for column, pair in enumerate(times)}
        self._program = LinearProgram(list(times.values()))
        self._matchings: list[Pairs] = []
        self._busiest = max(_loads(times).values())
        for pair in times:
            self._add((pair,))
        for matching in _greedy_matchings(times):
            self._add(matching)

    def solve(self) -> dict[Pairs, Fraction]:
        """Return matchings with exact times."""
        while True:
            solution = self._program.attempt()
            if solution is None:
                return self._without_floats()
            weights = [Fraction(as_float(each)) for each in solution.values]
            reached = sum(weight * time for weight, time in zip(weights, self._times.values(), strict=True))
            if reached > self._busiest * (1 + _CLOSE) and self._add_heavy(weights, 1 + _CLOSE):
                continue
            exact = self._program.exact(solution)
            if exact is None or not self._program.proves(*exact):
                return self._without_floats()
            if sum(exact[1]) == self._busiest or not self._add_heavy(exact[0], Fraction(1)):
                return self._of_prices(exact[1])

    def _without_floats(self) -> dict[Pairs, Fraction]:
        while True:
            exact = self._program.refined()
            if exact is None:
                raise InternalError("the colouring has no exact solution")
            if sum(exact[1]) == self._busiest or not self._add_heavy(exact[0], Fraction(1)):
                return self._of_prices(exact[1])

    def _of_prices(self, prices: Sequence[Fraction]) -> dict[Pairs, Fraction]:
        return {pairs: price for pairs, price in zip(self._matchings, prices, strict=True) if price}

    def _add_heavy(self, weights: Sequence[Fraction], least: Fraction) -> bool:
        """Add a new matching that weighs more than `least`. Return whether there is one."""
        weight = dict(zip(self._pairs, weights, strict=True))
        positive = {pair: as_float(each) for pair, each in weight.items() if each > 0}
        for find in (_greedy, _heaviest):
            matching = find(positive)
            if sum((weight[pair] for pair in matching), Fraction(0)) > least and matching not in self._matchings:
                self._add(matching)
                return True
        return False

    def _add(self, matching: Pairs) -> None:
        if matching not in self._matchings:
            self._matchings.append(matching)
            self._program.add(Constraint({self._column[pair]: 1 for pair in matching}, None, 1))


def _loads(times: Mapping[Pair, int]) -> dict[int, int]:
    loads: dict[int, int] = {}
    for pair, time in times.items():
        for port in pair:
            loads[port] = loads.get(port, 0) + time
    return loads


def _greedy_matchings(times: Mapping[Pair, int]) -> Iterator[Pairs]:
    """Yield matchings that do all work, each with the pairs at the busiest ports."""
    left = dict(times)
    while left:
        loads = _loads(left)
        matching = _greedy({pair: as_float(loads[pair[0]] + loads[pair[1]]) for pair in left})
        yield matching
        step = min(left[pair] for pair in matching)
        left = {pair: time - step * (pair in matching) for pair, time in left.items()}
        left = {pair: time for pair, time in left.items() if time}


def _greedy(weights: Mapping[Pair, float]) -> Pairs:
    """Return a matching that takes the heaviest pair first."""
    taken: set[int] = set()
    matching = []
    for pair in sorted(weights, key=lambda each: (-weights[each], each)):
        if taken.isdisjoint(pair):
            taken.update(pair)
            matching.append(pair)
    return tuple(sorted(matching))


def _heaviest(weights: Mapping[Pair, float]) -> Pairs:
    """Return a matching of the greatest weight, by a mixed-integer program."""
    program = IntegerProgram()
    rows: dict[int, dict[int, float]] = {}
    for pair, weight in weights.items():
        column = program.add_column(cost=-weight, upper=1.0, whole=True)
        for port in pair:
            rows.setdefault(port, {})[column] = 1.0
    for row in rows.values():
        program.add_row(row, upper=1.0)
    values = program.solve(_MAX_NODES).values
    if values is None:
        raise InternalError("no heaviest matching was found")
    return tuple(pair for pair, value in zip(weights, values, strict=True) if value > 0.5)
