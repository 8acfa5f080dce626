"""Few equal chunks of a shard that reach the least time of the linear program, as SCCL sends them.

The parts of the linear program are fractions, whose common denominator may be huge. If a shard has C equal chunks that
are sent whole, trees carry whole numbers of chunks, and steps last whole numbers of rounds, in each of which a link of
capacity c sends c chunks. Integer programs try the few C with which the least time is a whole number of rounds. They
have the columns that the linear program found, so they may miss a smaller C.
"""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.integer_program import IntegerProgram

_MOST_PROGRAMS = 12
"""The most numbers of chunks that are tried."""

_MOST_NODES = 100
"""The most nodes of the search tree of each integer program."""


class Chunks:
    """The transpose of the dual program (`program`): the times of steps and the parts of trees, in whole numbers.

    Args:
        rows: the rows of the dual program, first those of steps, then those of trees.
        roots: the number of its columns for roots, which come first.
        steps: the number of steps.
    """

    def __init__(self, rows: Sequence[Constraint], roots: int, steps: int) -> None:
        self._count, self._roots, self._steps = len(rows), roots, steps
        self._rows: dict[int, dict[int, int]] = {}
        for number, row in enumerate(rows):
            for column, each in row.coefficients.items():
                self._rows.setdefault(column, {})[number] = each

    def few(self, time: Fraction) -> list[Fraction] | None:
        """Return times and parts that take the least time, in multiples of 1/C for a small C; None if none is found."""
        for multiple in range(1, _MOST_PROGRAMS + 1):
            chunks = multiple * time.denominator
            if (found := self._found(chunks, int(time * chunks))) is not None:
                return [Fraction(each, chunks) for each in found]
        return None

    def _found(self, chunks: int, rounds: int) -> list[int] | None:
        program = IntegerProgram()
        columns = [
            program.add_column(upper=rounds if number < self._steps else chunks, whole=True)
            for number in range(self._count)
        ]
        program.add_row(dict.fromkeys(columns[: self._steps], 1), upper=rounds)
        for column, row in self._rows.items():
            if column < self._roots:
                program.add_row(row, lower=chunks, upper=chunks)
            else:
                program.add_row(row, lower=0)
        values = program.solve(_MOST_NODES).values
        if values is None:
            return None
        whole = [round(each) for each in values.tolist()]
        return whole if self._holds(whole, chunks, rounds) else None

    def _holds(self, whole: list[int], chunks: int, rounds: int) -> bool:
        """Return whether integers meet all rows exactly."""
        sums = {column: sum(each * whole[number] for number, each in row.items()) for column, row in self._rows.items()}
        are_met = all(each == chunks if column < self._roots else each >= 0 for column, each in sums.items())
        return are_met and min(whole) >= 0 and sum(whole[: self._steps]) <= rounds
