"""The optimum of an all-to-all, or of any demand matrix, as an exact linear program over classes of flows.

All data of one source is one flow (Zhao et al., *Efficient Direct-Connect Topologies*, appendix A.5). Let y(s, e) be
the flow of source s over link e, d(s, v) the part of M that s sends to v, and f the algbw:

    maximise f,  where  sum over s of y(s, e) <= b(e)                for each link e,
                        y(s, into v) - y(s, out of v) = d(s, v) f    for each node v but s.

Each pair of nodes has different data, so copying does not help. `classes` finds out which y(s, e) may be equal, which
leaves a few hundred columns of millions. The prices of the load rows are lengths of links, which prove the optimum.
A second program keeps f and minimises the traffic, the sum of all y(s, e), so that data takes short paths.

HiGHS proposes the bases, and both programs are solved in fractions. Small programs whose numbers are too far apart for
floating point are solved without it. The result is checked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram, Solution
from forestcoll.solver.flows.classes import FlowClasses
from forestcoll.solver.flows.recognition import recognised_flows
from forestcoll.solver.forests.scaling import ScaledTopology

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ProgramResult:
    """What the programs found.

    Attributes:
        lengths: candidates for lengths of links that prove a bound, best guess first.
        values: the exact flow of each class for one unit of M, checked; None if there is no exact result, or if its
            fractions have large denominators.
        algbw: the algbw of exact flows, which were checked; None if there are none.
        guess: the flow of each class for one unit of M in floating point.
    """

    lengths: tuple[tuple[int, ...], ...]
    values: tuple[Fraction, ...] | None
    algbw: Fraction | None
    guess: Floats


_FINE = (1, 12, 720, 10**6, 10**9)
"""The denominators to which lengths, relative to the greatest length, are rounded."""

_LONGEST = 10**200
"""The greatest length that is tried."""

_SIMPLE = 10**6
"""The greatest denominator of an algbw that is recognised in floating point."""


class FlowProgram:
    """The programs of one demand on one network."""

    def __init__(self, classes: FlowClasses, needs: Sequence[Mapping[int, Fraction]]) -> None:
        """Prepare the programs; `needs` has the parts of M that each listed source sends, by target."""
        self._classes, self._topology = classes, classes.topology
        self._scaled = ScaledTopology.of(classes.topology)
        self._needs = needs
        self._whole = lcm(*{part.denominator for each in needs for part in each.values()})

    @cached_property
    def _balances(self) -> list[tuple[dict[int, int], int]]:
        """For each class of pairs of a source and a node: its row without the rate, and the need of the node."""
        entering, leaving = self._topology.entering, self._topology.leaving
        rows = []
        for place, node in self._classes.first_cells:
            if node == self._classes.sources[place]:
                continue
            row: dict[int, int] = {}
            for links, sign in ((entering[node], 1), (leaving[node], -1)):
                for column in self._classes.of_pair[place, links].tolist():
                    if column >= 0:
                        row[column] = row.get(column, 0) + sign
            row = {column: each for column, each in row.items() if each}
            need = int(self._needs[place].get(node, 0) * self._whole)
            if row or need:
                rows.append((row, need))
        return rows

    @cached_property
    def _loads(self) -> list[tuple[dict[int, int], int]]:
        """For each class of links: how often each class of pairs uses one of its links, and the capacity of a link."""
        _, firsts = np.unique(self._classes.of_link, return_index=True)
        return [
            (self._classes.loads(number), self._scaled.capacities[int(first)]) for number, first in enumerate(firsts)
        ]

    def solve(self) -> ProgramResult:
        """Solve the program of the rate, then the program of the traffic."""
        program = self._rate_program()
        solution = program.solve()
        exact = program.proven(solution)
        lengths = self._candidates(solution, exact[1] if exact else ())
        reached = solution.values[0] * self._whole  # 0 in floating point if bandwidths are very far apart
        guess = solution.values[1:] / reached if reached > 0 else np.zeros_like(solution.values[1:])
        if exact is None:
            return ProgramResult(lengths, None, self._recognised(program, solution), guess)
        rate, values = exact[0][0], tuple(each / (exact[0][0] * self._whole) for each in exact[0][1:])
        if rate <= 0 or not self._is_right(values, rate):
            return ProgramResult(lengths, None, None, guess)
        return ProgramResult(lengths, self._with_least_traffic(rate) or values, self._algbw(rate), guess)

    def _recognised(self, program: LinearProgram, solution: Solution) -> Fraction | None:
        """Return the algbw of flows that are recognised in a solution in floating point, and checked; None without."""
        guess = Fraction(solution.values[0] * max(self._scaled.capacities) * self._whole)
        rate = guess.limit_denominator(_SIMPLE) / self._whole
        flows = recognised_flows(program, solution, rate) if rate > 0 else None
        is_right = flows is not None and self._is_right([each / self._whole for each in flows], rate)
        return self._algbw(rate) if is_right else None

    def _algbw(self, rate: Fraction) -> Fraction:
        """Return the algbw of a rate of one unit of need."""
        return rate * self._whole * self._scaled.unit

    def _rate_program(self) -> LinearProgram:
        """Return the program of the rate; rows of loads come first. Column 0 is the rate of one unit of need."""
        columns = self._classes.columns
        program = LinearProgram([1] + [0] * columns, scale=max(self._scaled.capacities))
        for row, capacity in self._loads:
            program.add(Constraint({1 + column: each for column, each in row.items()}, None, capacity))
        for row, need in self._balances:
            rate = {0: -need} if need else {}
            program.add(Constraint(rate | {1 + column: each for column, each in row.items()}, 0, 0))
        return program

    def _with_least_traffic(self, rate: Fraction) -> tuple[Fraction, ...] | None:
        """Return the flow of each class for one unit of M with the least traffic at `rate`; None if it is not exact."""
        sizes = (-self._classes.column_sizes).tolist()
        program = LinearProgram(sizes, scale=rate.denominator * max(self._scaled.capacities))
        for row, capacity in self._loads:
            program.add(Constraint(row, None, capacity * rate.denominator))
        for row, need in self._balances:
            program.add(Constraint(row, need * rate.numerator, need * rate.numerator))
        exact = program.proven(program.attempt())
        if exact is None:
            return None
        values = tuple(each / (rate.numerator * self._whole) for each in exact[0])
        return values if self._is_right(values, rate) else None

    def _is_right(self, values: Sequence[Fraction], rate: Fraction) -> bool:
        """Return whether flows of classes, for one unit of M, deliver all needs within the loads of `rate`."""
        if min(values) < 0:
            return False
        delivered = all(
            sum((values[column] * each for column, each in row.items()), Fraction(0)) == Fraction(need, self._whole)
            for row, need in self._balances
        )
        return delivered and all(
            sum((values[column] * each for column, each in row.items()), Fraction(0)) * rate * self._whole <= capacity
            for row, capacity in self._loads
        )

    def _candidates(self, solution: Solution, prices: Sequence[Fraction]) -> tuple[tuple[int, ...], ...]:
        """Return lengths from the exact prices of links, if given, and from rounded ones.

        The price of a class is the sum of the lengths of its links, which are equal.
        """
        counts = np.bincount(self._classes.of_link).tolist()
        rows = len(counts)
        candidates = (
            [[max(each, Fraction(0)) / count for each, count in zip(prices, counts, strict=False)]] if prices else []
        )
        suggested = np.maximum(solution.prices[:rows], 0.0) / np.array(counts)
        relative = (suggested / max(suggested.max(), 1e-300)).tolist()
        candidates += [[Fraction(each).limit_denominator(most) for each in relative] for most in _FINE]
        candidates += [[Fraction(round(each * most), most) for each in relative] for most in _FINE]
        found: dict[tuple[int, ...], None] = {}
        for candidate in candidates:
            common = lcm(*(each.denominator for each in candidate))
            if common <= _LONGEST and any(candidate):
                whole = [int(each * common) for each in candidate]
                found[tuple(whole[each] for each in self._classes.of_link.tolist())] = None
        return tuple(found)
