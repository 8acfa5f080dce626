"""Reads the tables that nccl-tests and rccl-tests of all releases print, and their CSV files.

A log may hold several tests, one after the other, and lines of NCCL, of MPI and of the user's scripts between them. A
header names the columns, and a row is a line of values below it:

    #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong

Columns by release (facts: the repositories NVIDIA/nccl-tests and ROCm/rccl-tests):

| release | columns |
| --- | --- |
| 2017 | `bytes N type [op] [root] time algbw busbw res …`, the time in milliseconds |
| 2019 | `size count type [redop] [root] time algbw busbw error …`, only what the collective has |
| 2022 | always `redop` and `root`; `#wrong`; the cell of redop is empty if nothing is added up; `cputime` with -C |
| 2025 | -I: `i_min i_max i_p99 i_cv%` behind each result; rccl-tests: `algo proto nchannels` at the end |
| CSV of rccl-tests | `numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,…` |

A line may begin with a time stamp or the mark of mpirun (`[1,0]<stdout>:`), torchrun (`[default0]:`) or srun (`0: `).
It may have lost its `#`, and may be a line of Markdown (`| size | count |`). A test that hangs has printed the size,
and no time behind it.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from forestcoll.base.errors import InputError, shown
from forestcoll.base.units import size_name
from forestcoll.nccl.results import COLLECTIVES, OTHERS, LogRow, LogTest, Measured, measured, program_of

MAX_ROWS = 100_000
"""The most rows of a log."""

_PREFIX = re.compile(
    r"^(?:\s*(?:\x1b\[[0-9;]*m|\[[^\]\s]{1,200}\](?:<(?:stdout|stderr)>)?\s?:?(?=\s|#|\x1b)|\d{1,6}: "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*(?: std(?:out|err) [FP])?(?=\s)))+"
)
"""Colours, marks of mpirun, torchrun and srun, and time stamps."""

_PROGRAM = re.compile(rf"(?<![\w-])({'|'.join((*COLLECTIVES, *OTHERS))})(?![\w-])")
_RANK = re.compile(r"^[\s#>]*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?(?:Pid\s+\d+\s+)?on\b\s*(\S*?)\s*device\b")
_START = re.compile(r"^[\s#>]*(?:nThread\s+\d+|Collective test starting:|nccl-tests version|Using devices)")
_END = re.compile(r"^[\s#>]*Out of bounds values\s*:")
_FAILURE = re.compile(
    r"(?<![A-Za-z_.-])[A-Za-z][\w.-]*: Test (?:timeout \((\d+)s\)|(NCCL|CUDA|HIP) failure \S+ '(.{1,200}?)[\s/]*').*$"
)
"""What a host prints when a test ends, often behind the row in which the test was."""
_SIZE = re.compile(r"0*[1-9][0-9]*")
"""A size. nccl-tests print a row of size 0 if less than one element a rank was asked for; it measures nothing."""
_ONLY_IN_PLACE = re.compile(r"\S {26,}[\d.]")
_NAMES = {
    "bytes": "size",
    "n": "count",
    "op": "redop",
    "cputime": "time",
    "#wrong": "wrong",
    "error": "wrong",
    "res": "wrong",
    "name": "collective",
}


@dataclass(frozen=True)
class Columns:
    """What the columns of a table mean.

    Attributes:
        names: the name of each column up to the first time, and of single columns behind the results.
        groups: the places of the columns of each result.
        width: the number of columns.
        micros: microseconds of one unit of the time.
        in_place: whether the first result is the one in place.
    """

    names: Mapping[str, int]
    groups: tuple[Mapping[str, int], ...]
    width: int
    micros: int = 1
    in_place: bool = False

    @staticmethod
    def of(cells: Sequence[str], *, in_place: bool = False) -> "Columns | None":
        """Return the columns that the cells of a header name; None if the line is no header."""
        plain = [each.partition("(")[0].strip().lower() for each in cells]
        names = [_NAMES.get(each, each) for each in plain]
        if not {"size", "time", "algbw", "busbw"} <= set(names):
            return None
        starts = [place for place, name in enumerate(names) if name == "time"]
        groups = []
        for start, end in zip(starts, [*starts[1:], len(names)], strict=True):
            groups.append({name: start + place for place, name in reversed(list(enumerate(names[start:end])))})
        if names.index("size") > starts[0] or not all({"algbw", "busbw"} <= set(each) for each in groups):
            return None
        single = {name: place for place, name in reversed(list(enumerate(names))) if name not in ("time", "algbw")}
        return Columns(single, tuple(groups), len(names), 1000 if "bytes" in plain else 1, in_place)

    def completed(self, cells: list[str]) -> list[str]:
        """Return the cells of a row with `none` in the place of an empty redop, which printed rows do not show."""
        place = self.names.get("redop")
        if place is None or "root" not in self.names or len(cells) <= place + 1:
            return cells
        is_root = re.fullmatch(r"-?\d+", cells[place]) is not None
        return [*cells[:place], "none", *cells[place:]] if is_root else cells

    def row(self, number: int, cells: Sequence[str], ranks: int | None, *, only_in_place: bool) -> LogRow:
        """Return the row with these cells.

        Raises:
            ValueError: it cannot be read; the message says what is wrong with it.
        """
        first = self.groups[0]
        if len(cells) <= max(first["algbw"], first["busbw"]):
            raise ValueError(f"has {len(cells)} columns; a row has {self.width}")
        size = _whole(self._cell(cells, "size"), "size")
        root = _whole(self._cell(cells, "root") or "-1", "root")
        found = [self._result(size, cells, group, ranks) for group in self.groups]
        in_place = found[1] if len(found) > 1 else None
        if self.in_place or only_in_place or self._cell(cells, "inplace") == "1":
            found, in_place = [None], found[0]
        operation = self._cell(cells, "redop") or "none"
        return LogRow(number, size, root, operation, found[0], in_place, self._cell(cells, "algo"))

    def _cell(self, cells: Sequence[str], name: str) -> str:
        place = self.names.get(name)
        return cells[place] if place is not None and place < len(cells) else ""

    def _result(self, size: int, cells: Sequence[str], group: Mapping[str, int], ranks: int | None) -> Measured | None:
        texts = {name: cells[place] for name, place in group.items() if place < len(cells)}
        return measured(size, texts, micros=self.micros, ranks=ranks) if "time" in texts else None


@dataclass
class Draft:
    """A test while it is read."""

    line: int
    program: str | None
    ranks: list[tuple[int, int, str]]
    columns: Columns = Columns(MappingProxyType({}), (), 0)
    counted: int | None = None
    rows: list[LogRow] = field(default_factory=list)
    open: int | None = None
    ended: str = "hung, or was ended"
    remarks: list[str] = field(default_factory=list)

    def test(self) -> LogTest:
        """Return the test."""
        numbers = {(group, rank) for rank, group, _ in self.ranks}
        is_whole = {rank for _, rank in numbers} == set(range(len(numbers)))
        if self.open is not None:
            self.remarks.append(f"the test {self.ended} at {size_name(self.open)}; NCCL_DEBUG=INFO may say why")
        return LogTest(
            line=self.line,
            program=self.program,
            ranks=self.counted or (len(numbers) if is_whole else 0) or None,
            hosts=len({host for _, _, host in self.ranks}),
            groups=len({group for _, group, _ in self.ranks}),
            repeated=len(numbers) < len(self.ranks),
            rows=tuple(self.rows),
            remarks=tuple(self.remarks),
        )


class TableReader:
    """Reads a log line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drafts: list[Draft] = []
        self._program: str | None = None
        self._ranks: list[tuple[int, int, str]] = []
        self._in_table = self._in_place = False
        self._count = 0
        self.skipped: list[tuple[int, str]] = []

    def read(self, number: int, line: str) -> None:
        """Read one line."""
        line = _PREFIX.sub("", line)
        if (program := _PROGRAM.search(line)) is not None and "concluded" not in line:
            self._program = program[1]
        line = self._without_failure(number, line)
        cells = cells_of(line)
        if "in-place" in line.lower():
            self._in_place = "out-of-place" not in line.lower()
        if (rank := _RANK.match(line)) is not None:
            self._rank((int(rank[1]), int(rank[2] or 0), rank[3]))
        elif (columns := Columns.of(cells, in_place=self._in_place)) is not None:
            self._drafts.append(Draft(number, self._program, list(self._ranks), columns))
            self._in_table = True
        elif _END.match(line) and self._drafts:
            self._drafts[-1].open = None
        elif _START.match(line) and self._in_table:
            self._in_table, self._ranks = False, []
            if _PROGRAM.search(line) is None:
                self._program = None
        elif self._in_table and not line.lstrip().startswith("#"):
            self._row(number, line, cells)

    def _without_failure(self, number: int, line: str) -> str:
        """Return a line without what a host printed when the test ended, which is noted."""
        failure = _FAILURE.search(line)
        if failure is None:
            return line
        if self._drafts and failure[1] is not None:
            self._drafts[-1].ended = f"hung, and ended itself after {failure[1]} s"
        elif self._drafts:
            self._drafts[-1].remarks.append(f"{failure[2]} failed (line {number}): {failure[3]}")
        return line[: failure.start()]

    def _rank(self, rank: tuple[int, int, str]) -> None:
        if self._in_table:
            self._ranks, self._in_table = [], False
        self._ranks.append(rank)

    def _row(self, number: int, line: str, cells: list[str]) -> None:
        draft = self._drafts[-1]
        columns = draft.columns
        place = columns.names["size"]
        if len(cells) <= place or not _SIZE.fullmatch(cells[place]):
            return
        if "," in line or "|" in line:
            draft = self._of_collective(number, draft, cells)
        else:
            cells = columns.completed(cells)
        only_in_place = len(columns.groups) > 1 and _ONLY_IN_PLACE.search(line) is not None
        draft.open = None
        try:
            row = columns.row(number, cells, draft.counted or len(draft.ranks), only_in_place=only_in_place)
        except ValueError as error:
            self.skipped.append((number, str(error)))
            if len(cells) == columns.groups[0]["time"] and len(cells[place]) < 19:
                draft.open = int(cells[place])
            return
        stops = row.in_place is None and len(cells) <= columns.groups[-1]["time"]
        if stops and any(each.in_place for each in draft.rows):
            draft.open = row.size
        self.add(draft, row)

    def add(self, draft: Draft, row: LogRow) -> None:
        """Add a row to a test; a row of a CSV file may complete the last one."""
        joined = draft.rows[-1].joined(row) if draft.rows else None
        if joined is not None:
            draft.rows[-1] = joined
            return
        draft.rows.append(row)
        self._count += 1
        if self._count > MAX_ROWS:
            raise InputError(f"{self._name}: has more than {MAX_ROWS:,} rows; split the log")

    def _of_collective(self, number: int, draft: Draft, cells: Sequence[str]) -> Draft:
        """Return the test of a row of a CSV file, which may name its collective and the number of its ranks."""

        def cell(name: str) -> str:
            place = draft.columns.names.get(name)
            return cells[place] if place is not None and place < len(cells) else ""

        program = program_of(cell("collective")) or draft.program
        ranks, gpus = cell("ranks") or "1", cell("gpusperrank") or cell("gpus") or "1"
        counted = int(ranks) * int(gpus) if ranks.isdigit() and gpus.isdigit() else 0
        counted = counted if cell("ranks") or cell("gpus") else 0
        if draft.rows and (program, counted or None) != (draft.program, draft.counted):
            self._drafts.append(Draft(number, program, [], draft.columns))
        self._drafts[-1].program, self._drafts[-1].counted = program, counted or None
        return self._drafts[-1]

    def tests(self) -> Iterator[LogTest]:
        """Yield the tests that were read."""
        return (draft.test() for draft in self._drafts)


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of a table, of CSV, or of Markdown.

    Example:
        >>> cells_of("#  size  count"), cells_of("| size | algbw (GB/s) |"), cells_of("8,float")
        (['size', 'count'], ['size', 'algbw (GB/s)'], ['8', 'float'])
    """
    plain = line.strip().lstrip("#>` ")
    if "|" in plain:
        return [each.strip() for each in plain.strip("|").split("|")]
    if "," in plain:
        return [each.strip() for each in next(csv.reader([plain], skipinitialspace=True))]
    return re.sub(r"\[\d+\]", " ", plain).split()


def _whole(word: str, column: str) -> int:
    if not re.fullmatch(r"-?\d{1,18}", word):
        raise ValueError(f"{column} is {shown(word)}; expected an integer")
    return int(word)
