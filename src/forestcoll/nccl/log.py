"""Reads the output of nccl-tests and rccl-tests: the tables of sizes, times and bandwidths, in and out of place.

A log may hold several tests, one after the other, and lines of NCCL, of MPI and of the user's scripts between them. A
row is a line of numbers below a header that names the columns:

    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong

Each line may begin with the mark of mpirun (`[1,0]<stdout>:`) or of srun (`0: `). New versions name the test
(`# Collective test starting: all_reduce_perf`); else the command line may be in the log; else `collectives_of` says
which collectives the columns allow.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.files import read_bytes
from forestcoll.demand.collective import Collective

MAX_LOG_BYTES = 2**28
"""The longest log that is read (256 MiB)."""

MAX_ROWS = 100_000
"""The most rows of a log."""

COLLECTIVES = {
    "all_reduce_perf": Collective.ALLREDUCE,
    "all_gather_perf": Collective.ALLGATHER,
    "reduce_scatter_perf": Collective.REDUCE_SCATTER,
    "broadcast_perf": Collective.BROADCAST,
    "reduce_perf": Collective.REDUCE,
    "alltoall_perf": Collective.ALL_TO_ALL,
}
"""The programs of nccl-tests that run a collective with a bound."""

_OTHERS = ("sendrecv_perf", "gather_perf", "scatter_perf", "hypercube_perf", "alltoallv_perf", "all_gather_bias_perf")

_PREFIX = re.compile(r"^\s*(?:\[\d+,\d+\]<(?:stdout|stderr)>:\s?|\d{1,6}: )")
_PROGRAM = re.compile(rf"(?<![\w-])({'|'.join((*COLLECTIVES, *_OTHERS))})(?![\w-])")
_RANK = re.compile(r"^#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?Pid\s+\d+\s+on\s+(\S+)")
_HEADER = re.compile(r"^#\s*size\s+count\s+type\s+(?:redop\s+)?root\s+time\s+algbw\s+busbw\b")
_START = re.compile(r"^#\s*(?:nThread\s+\d+|Collective test starting:|nccl-tests version|Using devices)")

_BEFORE, _EACH = 5, 4
"""The columns before the first time, and those of each way of running a collective."""


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
    """

    line: int
    size: int
    root: int
    operation: str
    out_of_place: Measured | None
    in_place: Measured | None

    @property
    def results(self) -> tuple[Measured, ...]:
        """The results that are there."""
        return tuple(each for each in (self.out_of_place, self.in_place) if each is not None)


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
    """

    line: int
    program: str | None
    ranks: int | None
    hosts: int
    groups: int
    repeated: bool
    rows: tuple[LogRow, ...]


@dataclass(frozen=True)
class Log:
    """A log of nccl-tests or rccl-tests.

    Attributes:
        name: how the user named the log.
        tests: the tests, in the order of the log.
        skipped: the lines that look like rows but cannot be read, each with the reason.
    """

    name: str
    tests: tuple[LogTest, ...]
    skipped: tuple[tuple[int, str], ...]


def read_log(path: Path) -> Log:
    """Return the tests in the file at `path`.

    Raises:
        InputError: the file cannot be read, is not text, or has no row of nccl-tests.
    """
    data = bytes(read_bytes(path, limit=MAX_LOG_BYTES))
    if b"\0" in data[:4096]:
        raise InputError(f"{path}: is not text; give the output of nccl-tests or rccl-tests")
    return parse_log(data.decode("utf-8", errors="replace"), str(path))


def parse_log(text: str, name: str) -> Log:
    """Return the tests in a text; `name` begins error messages.

    Raises:
        InputError: the text has no row of nccl-tests, or too many.
    """
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.read(number, _PREFIX.sub("", line))
    tests = tuple(reader.tests())
    if not any(test.rows for test in tests):
        why = f"; line {reader.skipped[0][0]}: {reader.skipped[0][1]}" if reader.skipped else ""
        fix = "give the output of a program such as all_reduce_perf -b 1M -e 4G -f 2"
        raise InputError(f"{name}: has no row of nccl-tests or rccl-tests{why}; {fix}")
    return Log(name, tuple(test for test in tests if test.rows), tuple(reader.skipped))


@dataclass
class _Draft:
    """A test while it is read."""

    line: int
    program: str | None
    ranks: list[tuple[int, int, str]]
    times: int = 2
    rows: list[LogRow] = field(default_factory=list)


class _Reader:
    """Reads a log line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drafts: list[_Draft] = []
        self._program: str | None = None
        self._ranks: list[tuple[int, int, str]] = []
        self._in_table = False
        self._count = 0
        self.skipped: list[tuple[int, str]] = []

    def read(self, number: int, line: str) -> None:
        """Read one line."""
        if (program := _PROGRAM.search(line)) is not None and "concluded" not in line:
            self._program = program[1]
        if line.lstrip().startswith("#"):
            self._comment(number, line.strip())
        elif self._in_table:
            self._row(number, line)

    def _comment(self, number: int, line: str) -> None:
        if (rank := _RANK.match(line)) is not None:
            if self._in_table:
                self._ranks, self._in_table = [], False
            self._ranks.append((int(rank[1]), int(rank[2] or 0), rank[3]))
        elif _HEADER.match(line):
            draft = _Draft(number, self._program, list(self._ranks), max(1, line.split().count("time")))
            self._drafts.append(draft)
            self._in_table = True
        elif _START.match(line) and self._in_table:
            self._in_table, self._ranks = False, []
            if _PROGRAM.search(line) is None:
                self._program = None

    def _row(self, number: int, line: str) -> None:
        words = line.split()
        if not words or not words[0].isdigit():
            return
        draft = self._drafts[-1]
        try:
            draft.rows.append(_row_of(number, words, draft.times))
        except ValueError as error:
            self.skipped.append((number, str(error)))
            return
        self._count += 1
        if self._count > MAX_ROWS:
            raise InputError(f"{self._name}: has more than {MAX_ROWS:,} rows; split the log")

    def tests(self) -> Iterator[LogTest]:
        """Yield the tests that were read."""
        for draft in self._drafts:
            numbers = {(group, rank) for rank, group, _ in draft.ranks}
            yield LogTest(
                line=draft.line,
                program=draft.program,
                ranks=len(numbers) or None,
                hosts=len({host for _, _, host in draft.ranks}),
                groups=len({group for _, group, _ in draft.ranks}),
                repeated=len(numbers) < len(draft.ranks),
                rows=tuple(draft.rows),
            )


def _row_of(number: int, words: Sequence[str], times: int) -> LogRow:
    """Return the row, or raise a `ValueError` that says what is wrong with it."""
    most = _BEFORE + times * _EACH
    if len(words) < _BEFORE + _EACH:
        raise ValueError(f"has {len(words)} columns; a row has {most}")
    size, operation, root = _whole(words[0], "size"), words[3], _whole(words[4], "root")
    if not size:
        raise ValueError("size is 0")
    results = [_measured(size, words[first : first + _EACH]) for first in range(_BEFORE, most, _EACH)]
    return LogRow(number, size, root, operation, results[0], results[1] if times > 1 else None)


def _measured(size: int, words: Sequence[str]) -> Measured | None:
    if len(words) < _EACH or words[0] == "N/A":
        return None
    time, busbw = _number(words[0], "time"), _number(words[2], "busbw")
    printed = _number(words[1], "algbw")
    if time <= 0:
        raise ValueError(f"time is {shown(words[0])}; expected more than 0")
    algbw = Fraction(size) / time / 1000
    if abs(algbw - printed) > Fraction(1, 50) + printed / 50:
        raise ValueError(f"algbw is {shown(words[1])}, but size and time give {float(algbw):.4g}")
    return Measured(time, algbw, busbw, _wrong(words[3]))


def _wrong(word: str) -> int | None:
    """Return how many values were wrong; old versions print the greatest error, such as 5e-07, or N/A."""
    return int(word) if word.isdigit() else None


def _whole(word: str, column: str) -> int:
    if not re.fullmatch(r"-?\d{1,18}", word):
        raise ValueError(f"{column} is {shown(word)}; expected an integer")
    return int(word)


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
