"""The memory that reading a file may take, estimated from its bytes before they become Python objects.

A compressed text of some kilobytes may become gigabytes of objects: an empty JSON list takes 2 bytes of text and 80
bytes of memory. The estimates count the characters that separate values, which is fast, and are rather too high than
too low. The limit is that of `set_memory_limit`, of the environment variable `FORESTCOLL_MAX_MEMORY`, or 1.2 GB.
"""

import os

from forestcoll.base.errors import InputError
from forestcoll.base.units import data_size, size_name

VARIABLE = "FORESTCOLL_MAX_MEMORY"
"""The environment variable with the most memory that reading may take: a size such as 4GB."""

DEFAULT_LIMIT = 1200 * 10**6
"""The most memory of a process that reads a file, in bytes, if nothing else is set."""

_PROCESS = 120 * 10**6
"""Bytes of a process that has read nothing yet, with the modules that it imports."""

_TEXTS = 2
"""The copies of a plain text at the same time: the bytes, and the decoded text."""

_FOUR_BYTES = range(0xF0, 0xF5)
"""The first bytes of characters for which Python stores each character of a text in four bytes."""

_JSON_BYTES = {b"[": 90, b"{": 150, b",": 48, b":": 60, b'"': 25, b".": 100, b"N": 100, b"I": 100}
"""Bytes of memory for each such character of JSON. A number with a point keeps its text, so it is large."""

_EXPONENTS = [b"%d%c" % (digit, letter) for digit in range(10) for letter in b"eE"]
_EXPONENT_BYTES = 130

_WORD_BYTES = 60
_LINE_BYTES = 150
_WORD_ENDS = (b" ", b"\t", b",", b";", b"=", b":")

_set: int | None = None


def set_memory_limit(size: int | None) -> None:
    """Set the most memory of a process that reads files, in bytes; None is the default.

    Example:
        >>> set_memory_limit(4 * 10**9)
        >>> memory_limit()
        4000000000
        >>> set_memory_limit(None)
    """
    global _set  # noqa: PLW0603 (a setting of the process, as a limit of memory is)
    _set = size


def memory_limit() -> int:
    """Return the most memory of a process that reads files, in bytes.

    Raises:
        InputError: the environment variable is no size.
    """
    if _set is not None:
        return _set
    text = os.environ.get(VARIABLE)
    if not text:
        return DEFAULT_LIMIT
    try:
        return data_size(text)
    except InputError as error:
        raise InputError(f"{VARIABLE}: {error}") from None


def most_text() -> int:
    """Return the most bytes of text, after decompression, that are read.

    Raises:
        InputError: the limit is less than what the process takes without any file.
    """
    limit = memory_limit()
    if limit <= _PROCESS:
        raise InputError(
            f"the memory limit {size_name(limit)} is less than what the process needs without a file; set --max-memory "
            f"or {VARIABLE} to more than {size_name(_PROCESS)}"
        )
    return (limit - _PROCESS) // _TEXTS


def check_json_memory(data: bytes | bytearray, where: object) -> None:
    """Check that JSON text fits into the memory once it is read.

    Raises:
        InputError: it does not fit.
    """
    values = sum(size * data.count(mark) for mark, size in _JSON_BYTES.items())
    if _texts(data) + values + _EXPONENT_BYTES * len(data) // 2 < memory_limit() - _PROCESS:
        return  # even if half of the text were numbers with exponents
    _check(data, values + _EXPONENT_BYTES * sum(data.count(mark) for mark in _EXPONENTS), where)


def check_text_memory(data: bytes | bytearray, where: object) -> None:
    """Check that text in lines and words fits into the memory once it is split.

    Raises:
        InputError: it does not fit.
    """
    words = sum(data.count(mark) for mark in _WORD_ENDS)
    _check(data, _WORD_BYTES * words + _LINE_BYTES * data.count(b"\n"), where)


def _check(data: bytes | bytearray, values: int, where: object) -> None:
    need = _PROCESS + _texts(data) + values
    if need > memory_limit():
        raise InputError(f"{where}: its content would take about {size_name(need)} of memory; {advice()}")


def _texts(data: bytes | bytearray) -> int:
    """Return the bytes of all copies of a text: as bytes, decoded, and in parts."""
    if data.isascii():
        return _TEXTS * len(data)
    width = 4 if any(first in data for first in _FOUR_BYTES) else 2
    return (1 + 2 * width) * len(data)


def advice() -> str:
    """Return how to read a larger file, as the end of a message."""
    return f"the limit is {size_name(memory_limit())}, and --max-memory or {VARIABLE} sets another one"
