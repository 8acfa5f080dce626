"""What a stage will take, said before it begins, and the one limit of memory.

Each stage that may take long, or much memory, makes a `ResourceEstimate` of the sizes of its input. `announce` says it
if it is long, and refuses it if it is above the limit: half of the memory of the machine, or what `set_memory_limit` or
the environment variable `FORESTCOLL_MAX_MEMORY` sets. Estimates do not depend on how much memory is free, so that the
same input has the same result on the same machine.

A compressed text of some kilobytes may become gigabytes of objects: an empty JSON list takes 2 bytes of text and 80
bytes of memory. So the content of files is estimated before it is parsed, by counting the characters that separate
values, which is fast. These estimates are rather too high than too low.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.units import data_size

VARIABLE = "FORESTCOLL_MAX_MEMORY"
"""The environment variable with the limit of memory: a size such as 4GB."""

LONG_SECONDS = 10
"""Work that is expected to take longer is announced."""

LONG_MEMORY = 2 * 10**9
"""Work that is expected to take more bytes of memory is announced."""

_UNKNOWN_MACHINE = 4 * 10**9
"""The memory of a machine, in bytes, whose system does not say it."""

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


@dataclass(frozen=True, slots=True)
class ResourceEstimate:
    """What a stage is expected to take.

    Attributes:
        seconds: CPU time, on a machine of 2020.
        memory: bytes of memory.
    """

    seconds: float
    memory: float

    def __mul__(self, count: int) -> "ResourceEstimate":
        """The cost of `count` things."""
        return ResourceEstimate(self.seconds * count, self.memory * count)

    def __str__(self) -> str:
        return f"{time_text(self.seconds)} and {size_text(self.memory)} of memory"


def announce(work: str, cost: ResourceEstimate, progress: Progress, fix: str = "use a smaller network") -> None:
    """Say what a stage will take if that is much.

    Args:
        work: what is done, as the begin of a sentence: `"an all-to-all of 6,400 nodes"`.
        cost: what it is expected to take.
        progress: receives the remark.
        fix: what to do if it takes too much memory.

    Raises:
        InputError: it is expected to take more memory than the limit.

    Example:
        >>> announce("a ring of 4 nodes", ResourceEstimate(0.1, 10**6), Progress())
        >>> set_memory_limit(10**9)
        >>> announce("a ring of 10^9 nodes", ResourceEstimate(10**6, 10**12), Progress(), "make it shorter")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: a ring of 10^9 nodes would take about 1,000 GB of memory; make it shorter; \
the limit is 1.0 GB, and FORESTCOLL_MAX_MEMORY sets another one
        >>> set_memory_limit(None)
    """
    require_memory(work, cost.memory, fix)
    if is_long(cost):
        progress.remark(f"{work} takes {cost}")


def is_long(cost: ResourceEstimate) -> bool:
    """Return whether work of this cost is announced."""
    return cost.seconds >= LONG_SECONDS or cost.memory >= LONG_MEMORY


def require_memory(work: str, memory: float, fix: str = "") -> None:
    """Raise `InputError` if a stage is expected to take more memory than the limit; arguments as for `announce`."""
    limit = memory_limit()
    if limit <= _PROCESS:
        raise _too_low(limit)
    if _PROCESS + memory > limit:
        fixes = f"{fix}; {advice()}" if fix else advice()
        raise InputError(f"{work} would take about {size_text(_PROCESS + memory)} of memory; {fixes}")


def time_text(seconds: float) -> str:
    """Return a time in seconds, with two digits: `about 12 s`."""
    return f"about {_rounded(seconds)} s"


def size_text(size: float) -> str:
    """Return a number of bytes in GB or MB, with two digits.

    Example:
        >>> size_text(3.72e9), size_text(48)
        ('3.7 GB', '1 MB')
    """
    return f"{_rounded(size / 10**9)} GB" if size >= 10**9 else f"{_rounded(size / 10**6)} MB"


def _rounded(value: float) -> str:
    return f"{value:.1f}" if 1 <= value < 10 else f"{max(1, round(value)):,}"


def set_memory_limit(size: int | None) -> None:
    """Set the limit of memory of this process, in bytes; None is the default.

    Example:
        >>> set_memory_limit(4 * 10**9)
        >>> memory_limit()
        4000000000
        >>> set_memory_limit(None)
    """
    global _set  # noqa: PLW0603 (a setting of the process, as a limit of memory is)
    _set = size


def memory_limit() -> int:
    """Return the limit of memory, in bytes: half of the memory of the machine unless set.

    Raises:
        InputError: the environment variable is no size.
    """
    if _set is not None:
        return _set
    text = os.environ.get(VARIABLE)
    if not text:
        return machine_memory() // 2
    try:
        return data_size(text)
    except InputError as error:
        raise InputError(f"{VARIABLE}: {error}") from None


@cache
def machine_memory() -> int:
    """Return the memory that a process may have, in bytes: of the machine, `ulimit -v` and control groups, the least.

    What other programs use at present does not count.
    """
    return min((*_of_machine(), *_of_address_space(), *_of_groups()), default=_UNKNOWN_MACHINE)


def _of_machine() -> Iterator[int]:
    try:
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a Unix
        return


def _of_address_space() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit


def _of_groups() -> Iterator[int]:
    """Yield the limit of each control group of the process and of the groups above, for both versions of cgroups."""
    for line in (system_text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = "/sys/fs/cgroup", "memory.max"
        if controllers:
            root, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        folder = PurePosixPath(root, path.lstrip("/"))
        for place in (folder, *folder.parents):
            limit = (system_text(str(place / name)) or "").strip()
            if limit.isdigit():
                yield int(limit)
            if str(place) == root:
                break


def system_text(path: str) -> str | None:
    """Return the text of a small file of the operating system, such as one in /proc; None if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def most_text() -> int:
    """Return the most bytes of text, after decompression, that are read.

    Raises:
        InputError: the limit is less than what the process takes without any file.
    """
    limit = memory_limit()
    if limit <= _PROCESS:
        raise _too_low(limit)
    return limit - _PROCESS


def _too_low(limit: int) -> InputError:
    return InputError(
        f"the memory limit {size_text(limit)} is less than what the process needs without a file; set "
        f"{VARIABLE} to more than {size_text(_PROCESS)}"
    )


def check_json_memory(data: bytes | bytearray, where: object) -> None:
    """Check that JSON text fits into the memory once it is read.

    Raises:
        InputError: it does not fit.
    """
    values = sum(size * data.count(mark) for mark, size in _JSON_BYTES.items())
    if _texts(data) + values + _EXPONENT_BYTES * len(data) // 2 < memory_limit() - _PROCESS:
        return  # even if half of the text were numbers with exponents
    values += _EXPONENT_BYTES * sum(data.count(mark) for mark in _EXPONENTS)
    require_memory(f"{where}: its content", _texts(data) + values)


def check_text_memory(data: bytes | bytearray, where: object) -> None:
    """Check that text in lines and words fits into the memory once it is split.

    Raises:
        InputError: it does not fit.
    """
    words = sum(data.count(mark) for mark in _WORD_ENDS)
    values = _WORD_BYTES * words + _LINE_BYTES * data.count(b"\n")
    require_memory(f"{where}: its content", _texts(data) + values)


def _texts(data: bytes | bytearray) -> int:
    """Return the bytes of all copies of a text: as bytes, decoded, and in parts."""
    if data.isascii():
        return _TEXTS * len(data)
    width = 4 if any(first in data for first in _FOUR_BYTES) else 2
    return (1 + 2 * width) * len(data)


def advice() -> str:
    """Return what the limit is and what sets another one, as the end of a message."""
    return f"the limit is {size_text(memory_limit())}, and {VARIABLE} sets another one"
