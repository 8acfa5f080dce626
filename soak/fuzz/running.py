"""One run of the command line in a process of its own, with limits, and the judge of what it did.

The process is a fork of this one, which has imported forestcoll already, so a run takes some milliseconds.
"""

import faulthandler
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forestcoll.cli import main

STATUSES = {0, 1, 2, 130}
"""The exit statuses that the documents promise."""

MOST_MEMORY = 6 * 2**30
"""Bytes of address space that a run may take."""

MOST_SECONDS_UNSAID, MOST_MEMORY_UNSAID = 12, 2.2e9
"""The seconds and bytes that a run may take without a note: 10 s and 2 GB, and what passes until it is printed."""

MOST_CHARACTERS = 20_000
"""The most characters of a message; an exact number alone may have 4,000 digits."""


@dataclass(frozen=True)
class Run:
    """What a run did.

    Attributes:
        words: the words after `forestcoll`.
        status: the exit status; None if the run was stopped after its time limit, below 0 if a signal ended it.
        out: standard output.
        err: standard error.
        seconds: the wall-clock time.
        busy_seconds: the CPU time.
        memory: the most memory at a time, in bytes.
    """

    words: tuple[str, ...]
    status: int | None
    out: str
    err: str
    seconds: float
    busy_seconds: float = 0.0
    memory: int = 0


def run(words: Sequence[str], folder: Path, *, seconds: float = 20.0) -> Run:
    """Run `forestcoll WORDS` in `folder`."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _become(words, folder, out.fileno(), err.fileno())
        status, used = _wait(child, began + seconds)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(2**22).decode("utf-8", "replace"))
    busy, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    return Run(tuple(words), status, texts[0], texts[1], time.monotonic() - began, busy, memory)


def _become(words: Sequence[str], folder: Path, out: int, err: int) -> None:
    """Turn this process, a fork, into the command; it never returns."""
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 (the standard streams)
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        faulthandler.enable(sys.stderr)
        sys.argv = ["forestcoll", *words]
        main()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else 1)
    except BaseException:  # noqa: BLE001 (a fork must end here, whatever happened)
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        os._exit(99)
    os._exit(98)


def _wait(child: int, end: float) -> tuple[int | None, resource.struct_rusage]:
    """Return the exit status of a process, and what it used.

    After the time limit it is stopped with its children, and the status is None.
    """
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            return None, os.wait4(child, 0)[2]
        time.sleep(0.002)


def fault_of(done: Run, folder: Path, outputs: Sequence[str]) -> str | None:
    """Return what is wrong with a run, or None.

    Args:
        done: the run.
        folder: its folder, which was empty before it.
        outputs: the words of files that the run may write; a file is expected to begin with one of them. It
            may also be another word of the run, which names a file by chance, and with the word `.` any file.
    """
    if done.status is None:
        return f"no end after {done.seconds:.0f} s"
    if done.status not in STATUSES:
        return f"exit status {done.status}"
    for mark in ("Traceback", "defect in forestcoll", "Warning:", "Fatal Python error", "core dumped"):
        if mark in done.err:
            return f"{mark!r} in standard error"
    if done.status in {1, 2} and (problem := _bad_message(done)) is not None:
        return problem
    if done.status == 0 and _prints_json(done, folder) and (problem := _bad_json(done)) is not None:
        return problem
    return _unsaid(done) or _leftover(folder, outputs, done.words)


def _unsaid(done: Run) -> str | None:
    """Return what a run took without saying so in a note."""
    notes = "\n".join(line for line in done.err.splitlines() if line.startswith("forestcoll: note: "))
    if min(done.seconds, done.busy_seconds) > MOST_SECONDS_UNSAID and re.search(r"\d s\b", notes) is None:
        return f"{done.seconds:.0f} s in silence"
    if done.memory > MOST_MEMORY_UNSAID and "of memory" not in notes:
        return f"{done.memory / 1e9:.1f} GB of memory in silence"
    return None


def _prints_json(done: Run, folder: Path) -> bool:
    """Return whether a run prints JSON; `--json` may also be the value of an option, such as the name of a file."""
    words = set(done.words)
    return "--json" in words and not {"--help", "-h", "--version"} & words and not (folder / "--json").exists()


def _bad_json(done: Run) -> str | None:
    """Return why a run printed no JSON document; it is in standard error if a file was written to standard output."""
    problem = None
    err = "".join(line for line in done.err.splitlines(keepends=True) if not line.startswith("forestcoll: note: "))
    for text in (done.out, err) if "-" in done.words else (done.out,):
        try:
            json.loads(text)
        except ValueError as error:
            problem = problem or f"standard output is not JSON: {error}"
        else:
            return None
    return problem


def _bad_message(done: Run) -> str | None:
    """Return what is wrong with the messages of a run that failed."""
    lines = [line for line in done.err.splitlines() if line.startswith("forestcoll:") and ": note: " not in line]
    if not done.out and not lines and len(done.words) > 0:
        return "a failure without a message"
    if any(len(line) > MOST_CHARACTERS for line in lines):
        return f"a message of more than {MOST_CHARACTERS} characters"
    return "more than one message" if len(lines) > 1 else None


def _leftover(folder: Path, outputs: Sequence[str], words: Sequence[str]) -> str | None:
    """Return what is wrong with the files that a run left."""
    for path in folder.rglob("*"):
        if path.name.endswith(".part"):
            return f"the temporary file {path.name} remains"
        name = path.relative_to(folder).parts[0]
        expected = any(name.startswith(each.removeprefix("./")) for each in outputs)
        if not expected and name not in words and "." not in words:
            return f"the file {name} was not requested"
    return None
