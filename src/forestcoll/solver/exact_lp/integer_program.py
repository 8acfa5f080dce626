"""Mixed-integer programs, solved by HiGHS in floating point: for searches whose answers are checked afterwards.

The result is a proposal of integers and a bound that is as reliable as floating point is. HiGHS runs on one thread
and stops after a number of nodes of its search tree, so that the same program has the same answer on every machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from forestcoll.solver.exact_lp.highs import quiet_highs


@dataclass(frozen=True, eq=False)
class IntegerSolution:
    """What HiGHS found.

    Attributes:
        values: the value of each column; None if no solution was found.
        bound: no solution has a smaller objective.
        complete: whether the search ran to its end, so that the solution is optimal, or there is none.
    """

    values: npt.NDArray[np.float64] | None
    bound: float
    complete: bool


class IntegerProgram:
    """Minimise a sum over bounded columns, some of them integers, under rows; rows can be added at any time."""

    def __init__(self) -> None:
        self._highs = quiet_highs()
        self._highs.setOptionValue("mip_rel_gap", 0.0)
        self._columns = 0

    def add_column(self, *, cost: float = 0.0, upper: float = inf, whole: bool = False) -> int:
        """Add a column from 0 to `upper`, and return its number."""
        self._highs.addCol(cost, 0.0, upper, 0, np.array([], dtype=np.int32), np.array([], dtype=np.float64))
        if whole:
            import highspy  # here, as modules that declare a method that uses this are imported to list it

            self._highs.changeColIntegrality(self._columns, highspy.HighsVarType.kInteger)
        self._columns += 1
        return self._columns - 1

    def add_row(self, coefficients: Mapping[int, float], lower: float = -inf, upper: float = inf) -> None:
        """Keep the sum of coefficient times column between `lower` and `upper`."""
        columns = sorted(coefficients)
        values = np.array([coefficients[column] for column in columns], dtype=np.float64)
        self._highs.addRow(lower, upper, len(columns), np.array(columns, dtype=np.int32), values)

    def solve(self, most_nodes: int) -> IntegerSolution:
        """Return the best result of `most_nodes` nodes; no solution if the numbers are too far apart for HiGHS."""
        import highspy

        self._highs.setOptionValue("mip_max_nodes", most_nodes)
        self._highs.run()
        info = self._highs.getInfo()
        status = self._highs.getModelStatus()
        complete = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kInfeasible)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return IntegerSolution(None, info.mip_dual_bound, complete)
        return IntegerSolution(np.array(self._highs.getSolution().col_value), info.mip_dual_bound, complete)
