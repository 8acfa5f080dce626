"""Reads measured times from tables of comma-separated values and from logs of nccl-tests.

A table begins with a line of column names. Lines that begin with `#` are comments:

    schedule,algorithm,collective,size,algbw
    dgx-a100:boxes=2,nccl-ring,allgather,1M,3.17

Columns: `size`; `time_us` or `algbw` (GB/s); and, if a table has the times of several schedules, `schedule`,
`algorithm` and `collective`. Other columns are ignored, so a table that `simulate -o` wrote can be read.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.files import read_bytes
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.nccl.reading import parse_log
from forestcoll.nccl.results import COLLECTIVES, LogTest, collectives_of
from forestcoll.simulation.sizes import size_of

_MOST_BYTES = 2**28
_MOST_ROWS = 10_000


@dataclass(frozen=True)
class Record:
    """One measured time.

    Attributes:
        where: the file and the line, for error messages.
        schedule: the schedule that ran, as text; "" if the table does not say.
        algorithm: the algorithm, as text; "" if the table does not say.
        collective: the collective; None if the table does not say.
        ranks: the number of ranks; None if the table does not say.
        size: the size M in bytes.
        seconds: the time.
    """

    where: str
    schedule: str
    algorithm: str
    collective: Collective | None
    ranks: int | None
    size: int
    seconds: float


def read_records(path: Path, collective: Collective | None) -> list[Record]:
    """Return the times in the file at `path`, a table or a log of nccl-tests or rccl-tests.

    Args:
        path: the file.
        collective: the collective of tests that a log does not name; None if not known.

    Raises:
        InputError: the file cannot be read, or a line is not valid.
    """
    text = bytes(read_bytes(path, limit=_MOST_BYTES)).decode("utf-8", errors="replace")
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if _counts(line)]
    is_json = text.lstrip().startswith(("{", "["))
    if lines and not is_json and "," in lines[0][1] and "size" in lines[0][1].lower():
        return list(_from_table(lines, str(path)))
    return list(_from_log(text, str(path), collective))


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _from_table(lines: Sequence[tuple[int, str]], name: str) -> Iterator[Record]:
    columns = [_column(each) for each in _cells(lines[0][1], f"{name}: line {lines[0][0]}")]
    if "size" not in columns or not {"time_us", "algbw"} & set(columns):
        titles = shown(", ".join(columns)).strip("'")
        raise InputError(f"{name}: the columns are {titles}; there must be size, and time_us or algbw")
    if len(lines) > _MOST_ROWS:
        raise InputError(f"{name}: has {len(lines) - 1:,} rows; give at most {_MOST_ROWS - 1:,}")
    for number, line in lines[1:]:
        where = f"{name}: line {number}"
        cells = _cells(line, where)
        if len(cells) != len(columns):
            raise InputError(f"{where}: has {len(cells)} values; expected {len(columns)}, as in the first line")
        yield _record(dict(zip(columns, map(str.strip, cells), strict=True)), where)


def _cells(line: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}; write values separated by commas") from None


def _column(name: str) -> str:
    """Return the name of a column; `algbw (GB/s)` is `algbw`."""
    plain, _, unit = name.strip().partition("(")
    if unit and plain.strip() == "algbw" and unit.strip(") ") != "GB/s":
        raise InputError(f"{shown(name)} is not in GB/s; convert the column, or give time_us")
    return plain.strip().lower()


def _record(cells: Mapping[str, str], where: str) -> Record:
    try:
        size = size_of(cells["size"])
        collective = collective_named(cells["collective"]) if cells.get("collective") else None
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if cells.get("time_us"):
        seconds = _positive(cells["time_us"], f"{where}: time_us") * 1e-6
    else:
        seconds = size / (_positive(cells.get("algbw", ""), f"{where}: algbw") * 1e9)
    return Record(where, cells.get("schedule", ""), cells.get("algorithm", ""), collective, None, size, seconds)


def _positive(text: str, what: str) -> float:
    try:
        value = float(to_fraction(text))
    except (ValueError, OverflowError):
        value = 0.0
    if not 0 < value < 1e30:
        raise InputError(f"{what} is {shown(text)}; expected a number greater than 0")
    return value


def _from_log(text: str, name: str, collective: Collective | None) -> Iterator[Record]:
    for test in parse_log(text, name).tests:
        ran = _collective(test, collective, f"{name}: line {test.line}")
        for row in test.rows:
            for result in row.results[:1]:
                where = f"{name}: line {row.line}"
                yield Record(where, "", "", ran, test.ranks, row.size, float(result.time_us) * 1e-6)


def _collective(test: LogTest, requested: Collective | None, where: str) -> Collective:
    """Return the collective of a test of a log."""
    if test.program is not None:
        if test.program not in COLLECTIVES:
            raise InputError(f"{where}: there are no schedules for {test.program}; remove this test from the log")
        return COLLECTIVES[test.program]
    possible = collectives_of(test)
    if requested in possible:
        return requested
    if len(possible) > 1 or requested is not None:
        names = " or ".join(f"--collective {each.value}" for each in possible)
        raise InputError(f"{where}: the log does not say which collective this test is; give {names}")
    return possible[0]
