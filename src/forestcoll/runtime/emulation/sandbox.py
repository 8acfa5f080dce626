"""A sandbox: processes in namespaces of their own that end together, however their starter ends.

The starter forks a janitor, and the janitor forks the first process of a new process namespace. When the first process
ends, the kernel ends every process of that namespace, and with the last of them all network namespaces and links. Named
network namespaces are files in `/run/netns`; the sandbox has an empty one of its own. So nothing is left, and no other
process sees any of it.

The janitor gets a signal when the starter ends, even if the starter was killed. It then ends the first process, removes
the folder of temporary files, and ends.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from forestcoll.base.errors import ForestcollError, InputError
from forestcoll.runtime.emulation.system import (
    CLONE_NEWNS,
    CLONE_NEWPID,
    end_with_parent,
    mount,
    mount_privately,
    unshare,
)

NAMES = "/run/netns"
"""Where `ip netns` keeps the names of namespaces."""

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end an emulation."""


def run_in_sandbox(work: Callable[[Path], int]) -> int:
    """Run `work` as the first process of a sandbox.

    Args:
        work: gets a folder for temporary files and returns an exit status. `STOPS` and SIGCHLD are blocked in it.

    Returns:
        The exit status.

    Raises:
        InputError: the sandbox cannot be made, or `work` raised an error; the message is that error's.
        KeyboardInterrupt: SIGINT came, and all processes have ended.
        SystemExit: SIGTERM or SIGHUP came, and all processes have ended.
    """
    folder = Path(tempfile.mkdtemp(prefix="forestcoll-emulate-"))
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    starter = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [*STOPS, signal.SIGCHLD])
    janitor = os.fork()
    if janitor == 0:
        os.close(reading)
        _exit_with(lambda: _janitor(starter, folder, work, writing), writing)
    os.close(writing)
    return _await(janitor, reading, before)


def _await(janitor: int, reading: int, before: set[int | signal.Signals]) -> int:
    """Wait for the janitor and pass signals on to it."""
    received: list[signal.Signals] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        received.append(signal.Signals(number))
        with suppress(ProcessLookupError):
            os.kill(janitor, signal.SIGTERM)

    handlers = {number: signal.signal(number, forward) for number in STOPS}
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        _, status = os.waitpid(janitor, 0)
        said = _read(reading)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt if received[0] is signal.SIGINT else SystemExit(128 + received[0])
    if said:
        raise InputError(json.loads(said)["error"])
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _read(reading: int) -> bytes:
    with os.fdopen(reading, "rb") as stream:
        return stream.read()


def _exit_with(main: Callable[[], int], writing: int) -> NoReturn:
    """End this process with the status that `main` returns; an error goes to the pipe."""
    status = 1
    try:
        status = main()
    except (ForestcollError, OSError) as error:
        os.write(
            writing, json.dumps({"error": f"emulate: {error}" if isinstance(error, OSError) else str(error)}).encode()
        )
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _janitor(starter: int, folder: Path, work: Callable[[Path], int], writing: int) -> int:
    try:
        if not end_with_parent(signal.SIGTERM, starter):
            return 1
        unshare(CLONE_NEWPID)
        parent = os.getpid()
        first = os.fork()
        if first == 0:
            _exit_with(lambda: _first(parent, folder, work), writing)
        os.close(writing)
        return _watch(first, starter)
    finally:
        if os.getpid() != 1:
            shutil.rmtree(folder, ignore_errors=True)


def _watch(first: int, starter: int) -> int:
    """Return the exit status of the first process; end it when a signal comes or the starter is gone."""
    while True:
        number = signal.sigwait([*STOPS, signal.SIGCHLD])
        if number in STOPS:
            os.kill(first, signal.SIGTERM if os.getppid() == starter else signal.SIGKILL)
        ended, status = os.waitpid(first, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _first(parent: int, folder: Path, work: Callable[[Path], int]) -> int:
    # Parent ids of another process namespace read as 0; a janitor that has ended already cannot be told from one that
    # has not, but a janitor ends only after its starter, and then this process gets its signal all the same.
    end_with_parent(signal.SIGKILL, parent)
    unshare(CLONE_NEWNS)
    mount_privately()
    mount("proc", "/proc")
    Path(NAMES).mkdir(parents=True, exist_ok=True)
    mount("tmpfs", NAMES)
    return work(folder)
