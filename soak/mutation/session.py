"""A pytest session that runs, for each change of a file, the tests that execute the changed line, each in a fork.

The tests run once as they are, to find the lines of the files that each test executes, and its time. A change is then
made in a fork of this process: the functions of the file get the changed code. Nothing is imported again, so a change
takes milliseconds. Code that only runs while a module is imported cannot be changed so; `importing.py` changes it.
"""

import gc
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Self

import pytest
from _pytest.runner import runtestprotocol

from mutation.changes import Change, changes_of

MOST_MEMORY = 8 * 2**30
"""Bytes of address space for the tests of a change; some changes make arrays of any size."""

MOST_SECONDS = 12.0
"""CPU seconds of the tests that are tried for one change, as the first run measures them; the shortest come first."""

MOST_WAIT = 600
"""Seconds by the clock after which a fork is stopped; its limit of CPU time is usually reached first."""


@dataclass(frozen=True)
class Result:
    """What became of a change.

    Attributes:
        path: the file.
        change: the change.
        outcome: "killed" by a test; "stopped" by the limits of a fork; "alive"; or "imported", which cannot be tried in
            a fork, because the code has run while its module was imported.
    """

    path: Path
    change: Change
    outcome: str


@dataclass
class Session:
    """The plugin: it replaces the loop of pytest over its tests.

    Attributes:
        files: the files to change.
        report: is called with each result.
        is_chosen: returns whether a change is tried.
        jobs: the forks at the same time.
        tests: the numbers of the tests that execute each line of each file.
        seconds: the CPU time of each test.
        imported: the lines of each file that run while modules are imported.
    """

    files: Sequence[Path]
    report: Callable[[Result], None]
    is_chosen: Callable[[Path, Change], bool]
    jobs: int = 1
    tests: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    seconds: dict[int, float] = field(default_factory=dict)
    imported: set[tuple[str, int]] = field(default_factory=set)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Note the lines that run while the modules are imported, with those of the tests."""
        with _Lines({str(path) for path in self.files}) as lines:
            result = yield
        self.imported |= lines.found
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests once, then for each change."""
        items = session.items
        names = {str(path) for path in self.files}
        for number, item in enumerate(items):
            following = items[number + 1] if number + 1 < len(items) else None
            with _Lines(names) as lines:
                began = time.process_time()
                passed = _run(item, following)
                self.seconds[number] = time.process_time() - began
            if not passed:
                session.shouldfail = f"{item.nodeid} fails without a change"
                return True
            for line in lines.found:
                self.tests[line].add(number)
        self._try_all(items)
        return True

    def _try_all(self, items: list[pytest.Item]) -> None:
        running: dict[int, tuple[Path, Change]] = {}
        functions = defaultdict[str, list[FunctionType]](list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                functions[each.__code__.co_filename].append(each)
        gc.freeze()
        for path, change, chosen in self._pending():
            if not chosen:
                self.report(Result(path, change, self._without_fork(path, change)))
                continue
            while len(running) >= self.jobs:
                self._collect(running)
            tests = {items[number]: 1 + 10 * self.seconds[number] for number in chosen}
            work = partial(_try, functions[str(path)], path, change, tests)
            running[_fork(work)] = path, change
        while running:
            self._collect(running)

    def _pending(self) -> Iterator[tuple[Path, Change, list[int]]]:
        for path in self.files:
            for change in filter(partial(self.is_chosen, path), changes_of(path.read_text(), str(path))):
                found = set().union(*(self.tests.get((str(path), line), set()) for line in change.lines))
                yield path, change, self._shortest(found)

    def _shortest(self, found: set[int]) -> list[int]:
        """Return the shortest of the tests `found`, at least one, as long as they keep `MOST_SECONDS`."""
        ordered = sorted(found, key=lambda number: (self.seconds[number], number))
        ends = accumulate(self.seconds[number] for number in ordered)
        return [
            number
            for place, (number, end) in enumerate(zip(ordered, ends, strict=True))
            if not place or end <= MOST_SECONDS
        ]

    def _collect(self, running: dict[int, tuple[Path, Change]]) -> None:
        child, status = os.wait()
        path, change = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        outcome = {0: "alive", 1: "killed", 2: "imported"}.get(code, "stopped")
        self.report(Result(path, change, outcome))

    def _without_fork(self, path: Path, change: Change) -> str:
        """Return the outcome of a change that no test executes."""
        return "imported" if any((str(path), line) in self.imported for line in change.lines) else "alive"


def _run(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test with its fixtures; return whether it passed, was skipped or failed as expected."""
    reports = runtestprotocol(item, log=False, nextitem=following)
    return all(not report.failed for report in reports)


class _Lines:
    """While it is entered, the lines of some files that are executed are noted."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.found: set[tuple[str, int]] = set()

    def __enter__(self) -> Self:
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        return self._line if frame.f_code.co_filename in self.names else None

    def _line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self.found.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def _fork(work: Callable[[], int]) -> int:
    child = os.fork()
    if child:
        return child
    status = 3
    try:
        status = work()
    finally:
        os._exit(status)


def _try(functions: list[FunctionType], path: Path, change: Change, tests: dict[pytest.Item, float]) -> int:
    """Make the change and run the tests up to the first that fails; return 1 if one fails, 2 without a change.

    Each test has a limit of CPU seconds. If it takes longer, the process is stopped.
    """
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(MOST_WAIT)
    if not substitute(functions, path, change):
        return 2
    items = list(tests)
    for number, (item, limit) in enumerate(tests.items()):
        signal.setitimer(signal.ITIMER_PROF, limit)
        following = items[number + 1] if number + 1 < len(items) else None
        if not _run(item, following):
            return 1
    return 0


def substitute(functions: list[FunctionType], path: Path, change: Change) -> bool:
    """Give the functions of a file their code after the change; return whether it was possible."""
    before = {code: key for key, code in _codes(compile(path.read_text(), str(path), "exec"), Counter())}
    after = dict(_codes(change.code, Counter()))
    found = False
    for function in functions:
        old = function.__code__
        if old.co_qualname != change.function and not old.co_qualname.startswith(f"{change.function}.<locals>."):
            continue
        new = after.get(before[old])
        if new is not None:
            if new.co_freevars != old.co_freevars:
                return False
            function.__code__ = new
            found = True
    return found


def _codes(code: CodeType, seen: Counter[tuple[str, int]]) -> Iterator[tuple[tuple[str, int, int], CodeType]]:
    """Yield the code of all functions in `code`, each with its name, its line, and its number among those of both."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            place = each.co_qualname, each.co_firstlineno
            yield (*place, seen[place]), each
            seen[place] += 1
            yield from _codes(each, seen)
