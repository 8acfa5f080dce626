"""Measured results: the rows of a test of nccl-tests or rccl-tests, or the calls that NCCL's Inspector timed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from forestcoll.base.errors import shown
from forestcoll.base.exact import to_fraction
from forestcoll.demand.collective import Collective

COLLECTIVES = MappingProxyType(
    {
        "all_reduce_perf": Collective.ALLREDUCE,
        "all_gather_perf": Collective.ALLGATHER,
        "reduce_scatter_perf": Collective.REDUCE_SCATTER,
        "broadcast_perf": Collective.BROADCAST,
        "reduce_perf": Collective.REDUCE,
        "alltoall_perf": Collective.ALL_TO_ALL,
    }
)
"""The programs of nccl-tests that run a collective with a bound."""

OTHERS = (
    "sendrecv_perf",
    "gather_perf",
    "scatter_perf",
    "hypercube_perf",
    "alltoallv_perf",
    "all_gather_bias_perf",
    "all_reduce_bias_perf",
)
"""The other programs."""

_PLAIN = {name.removesuffix("_perf").replace("_", ""): name for name in (*COLLECTIVES, *OTHERS)}


def program_of(name: str) -> str | None:
    """Return the program that measures a collective, by the name of the collective in files; None if there is none.

    Example:
        >>> program_of("AllReduce"), program_of("AlltoAll")
        ('all_reduce_perf', 'alltoall_perf')
    """
    return _PLAIN.get(name.lower().replace("_", "").replace("-", ""))


@dataclass(frozen=True)
class Measured:
    """One time of one size.

    Attributes:
        time_us: microseconds.
        algbw: GB/s, from size and time, since the printed figure has two decimals only.
        busbw: GB/s, as printed.
        wrong: the number of wrong values; None if they were not checked.
    """

    time_us: Fraction
    algbw: Fraction
    busbw: Fraction
    wrong: int | None


@dataclass(frozen=True)
class LogRow:
    """One row of a table.

    Attributes:
        line: its line number in the log, from 1.
        size: the size M in bytes.
        root: the rank of the root; -1 if the collective has none.
        operation: the reduction, as printed; `none` if nothing is added up.
        out_of_place: the result out of place; None if the log has none.
        in_place: the result in place; None if the log has none.
        algorithm: the algorithm that the table names, such as `RING`; empty if it names none.
    """

    line: int
    size: int
    root: int
    operation: str
    out_of_place: Measured | None
    in_place: Measured | None
    algorithm: str = ""

    @property
    def results(self) -> tuple[Measured, ...]:
        """The results that are there."""
        return tuple(each for each in (self.out_of_place, self.in_place) if each is not None)

    def joined(self, other: "LogRow") -> "LogRow | None":
        """Return one row for the results in and out of place that two rows of a CSV file have; None if they do not fit.

        The rows fit if they are of one size, and one has only the result that the other one lacks.
        """
        if (self.size, self.operation) != (other.size, other.operation):
            return None
        if self.in_place is None and other.out_of_place is None:
            return replace(self, in_place=other.in_place)
        return None


@dataclass(frozen=True)
class LogTest:
    """One test of a log.

    Attributes:
        line: the line of the header of its table.
        program: the program that the log names, such as `all_reduce_perf`; None if it names none.
        ranks: the number of ranks that the log lists; None if it lists none.
        hosts: the number of hosts that the log lists.
        groups: the number of groups of ranks, each of which ran a collective of its own.
        repeated: whether a rank is listed twice: several processes each ran a test of one rank.
        rows: the rows.
        remarks: what the file says about the test besides, in sentences without a period; that it hung, for example.
    """

    line: int
    program: str | None
    ranks: int | None
    hosts: int
    groups: int
    repeated: bool
    rows: tuple[LogRow, ...]
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[LogRow, Measured] | None:
        """The result with the greatest algbw and its row; None if no row has a result."""
        found = [(row, each) for row in self.rows for each in row.results]
        return max(found, key=lambda each: (each[1].algbw, -each[0].line), default=None)


@dataclass(frozen=True)
class MissingRank:
    """A rank of which RAS has no data: its process has ended, or does not answer.

    Attributes:
        rank: its number in the communicator.
        host: the address of its host; empty if RAS does not know it.
        pid: its process; None if RAS does not know it.
    """

    rank: int
    host: str = ""
    pid: int | None = None


@dataclass(frozen=True)
class RasCommunicator:
    """A communicator in a report of NCCL's RAS.

    Attributes:
        name: its hash, as RAS prints it.
        size: the number of its ranks; None if the report does not say.
        missing: the ranks without data.
        late: the ranks that have made fewer calls of a collective than others, each as a sentence without a period.
    """

    name: str
    size: int | None
    missing: tuple[MissingRank, ...]
    late: tuple[str, ...] = ()


@dataclass(frozen=True)
class Log:
    """A log of nccl-tests or rccl-tests, of NCCL's Inspector, or a report of RAS.

    Attributes:
        name: how the user named the log.
        tests: the tests, in the order of the log.
        skipped: the lines that look like rows but cannot be read, each with the reason.
        communicators: what RAS says of each communicator; none if the file is no report of RAS.
    """

    name: str
    tests: tuple[LogTest, ...]
    skipped: tuple[tuple[int, str], ...]
    communicators: tuple[RasCommunicator, ...] = ()


def measured(size: int, cells: Mapping[str, str], *, micros: int = 1, ranks: int | None = None) -> Measured | None:
    """Return the result in the cells `time`, `algbw`, `busbw` and `wrong`; None if there is none.

    Versions of nccl-tests before June 2020 print an algbw of (N-1)/N of size / time for an allgather and a
    reduce-scatter of N ranks.

    Args:
        size: the size M in bytes.
        cells: the texts by column.
        micros: microseconds of one unit of the time.
        ranks: the number of ranks; None if not known.

    Raises:
        ValueError: a cell is not valid; the message says what is wrong.
    """
    if not cells.get("busbw") or cells["time"].upper() in {"N/A", "NONE", "-"}:
        return None
    time, busbw = _number(cells["time"], "time") * micros, _number(cells["busbw"], "busbw")
    printed = _number(cells["algbw"], "algbw")
    if time <= 0:
        raise ValueError(f"time is {shown(cells['time'])}; expected more than 0")
    algbw = Fraction(size) / time / 1000
    counts = [Fraction(1), *([Fraction(ranks - 1, ranks)] if ranks and busbw == printed else [])]
    rough = algbw / 10 ** (_digits(cells["time"]) - 1) / 2
    if all(abs(algbw * each - printed) > Fraction(1, 50) + printed / 50 + rough for each in counts):
        raise ValueError(f"algbw is {shown(cells['algbw'])}, but size and time give {float(algbw):.4g}")
    return Measured(time, algbw, busbw, wrong_of(cells.get("wrong", "")))


def _digits(number: str) -> int:
    """Return how many digits a number is written with: 2 of 1.1e+07, which stands for 1.05e7 to 1.15e7."""
    return max(1, len(re.sub(r"e.*|\D", "", number.lower()).lstrip("0")))


def wrong_of(text: str) -> int | None:
    """Return how many values were wrong; old versions print the greatest error, such as 5e-07, or N/A."""
    return int(text) if text.isdigit() else None


def _number(word: str, column: str) -> Fraction:
    try:
        return to_fraction(word)
    except ValueError:
        raise ValueError(f"{column} is {shown(word)}; expected a number") from None


def collectives_of(test: LogTest) -> tuple[Collective, ...]:
    """Return the collectives that the columns of a test allow, if the log does not name it.

    An operation means that values are added up, and a root means that one rank has all data. The busbw of an allreduce
    is at least its algbw, and that of a reduce-scatter is less.
    """
    row = max(test.rows, key=lambda each: max((result.busbw for result in each.results), default=Fraction(0)))
    adds, rooted = row.operation.lower() != "none", row.root >= 0
    if rooted:
        return (Collective.REDUCE,) if adds else (Collective.BROADCAST,)
    if not adds:
        return Collective.ALLGATHER, Collective.ALL_TO_ALL
    result = max(row.results, key=lambda each: each.busbw, default=None)
    if result is None or not result.busbw:
        return Collective.ALLREDUCE, Collective.REDUCE_SCATTER
    return (Collective.ALLREDUCE,) if result.busbw >= result.algbw * Fraction(99, 100) else (Collective.REDUCE_SCATTER,)
