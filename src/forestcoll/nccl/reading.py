"""Reads a measurement of any kind, recognised by its content: tables, CSV, JSON, Inspector, RAS."""

from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_bytes
from forestcoll.nccl.documents import document_log
from forestcoll.nccl.results import Log
from forestcoll.nccl.tables import TableReader

MAX_LOG_BYTES = 2**28
"""The longest log that is read (256 MiB)."""


def read_log(path: Path) -> Log:
    """Return the tests in the file at `path`.

    Raises:
        InputError: the file cannot be read, is not text, or has no measurement.
    """
    data = bytes(read_bytes(path, limit=MAX_LOG_BYTES))
    if b"\0" in data[:4096]:
        raise InputError(f"{path}: is not text; give the output of nccl-tests or rccl-tests")
    return parse_log(data.decode("utf-8-sig", errors="replace"), str(path))


def parse_log(text: str, name: str) -> Log:
    """Return the tests in a text; `name` begins error messages.

    Raises:
        InputError: the text has no row of nccl-tests, or too many.
    """
    read = document_log(text, name) or _table_log(text, name)
    if read.communicators:
        return read
    tests = tuple(test for test in read.tests if test.best is not None)
    if not tests:
        hung = next((f"; the test of line {test.line}: {each}" for test in read.tests for each in test.remarks), "")
        why = f"; line {read.skipped[0][0]}: {read.skipped[0][1]}" if read.skipped else ""
        fix = "give the output of a program such as all_reduce_perf -b 1M -e 4G -f 2"
        raise InputError(f"{name}: has no row of nccl-tests or rccl-tests{hung}{why}; {fix}")
    return Log(name, tests, read.skipped)


def _table_log(text: str, name: str) -> Log:
    reader = TableReader(name)
    for number, line in enumerate(text.splitlines(), start=1):
        if " NCCL INFO " not in line:  # there may be 100,000 of them
            reader.read(number, line)
    return Log(name, tuple(reader.tests()), tuple(reader.skipped))
