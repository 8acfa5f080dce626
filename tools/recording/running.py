"""Jobs: units of work in an empty folder, each with many outputs. An output is a name and its bytes."""

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

PREFIX = "same-bytes-"
"""The beginning of the name of the temporary folder of a job."""

ENVIRONMENT = {
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "LINES": "40",
    "NO_COLOR": "",
    "PYTHONUNBUFFERED": "",
    "TERM": "dumb",
    "TZ": "UTC",
}
"""Variables that have the same value in each run; others of forestcoll are removed."""

Outputs: TypeAlias = Iterator[tuple[str, str | bytes]]
Content: TypeAlias = str | bytes


@dataclass(frozen=True)
class Job:
    """A unit of work.

    Attributes:
        name: the beginning of the names of all its outputs.
        work: yields the outputs, in an empty folder that is the current one.
        arguments: the arguments of `work`.
    """

    name: str
    work: Callable[..., Outputs]
    arguments: tuple[object, ...] = ()

    def outputs(self) -> Outputs:
        """Yield all outputs; an exception is the last of them."""
        try:
            for name, content in self.work(*self.arguments):
                yield f"{self.name}: {name}", content
        except Exception as error:  # noqa: BLE001 (what broke is a difference, too; the other jobs go on)
            yield f"{self.name}: raised", f"{type(error).__name__}: {error}\n"


class _Output(io.TextIOWrapper):
    """A stream of text that also accepts bytes in its buffer, as standard output does."""

    def __init__(self) -> None:
        self._written = io.BytesIO()
        super().__init__(self._written, encoding="utf-8", newline="", write_through=True)

    @property
    def text(self) -> str:
        """What was written."""
        return self._written.getvalue().decode("utf-8", "backslashreplace")


def set_environment() -> None:
    """Give this process the environment of all runs."""
    for name in list(os.environ):
        if name.startswith(("FORESTCOLL", "_FORESTCOLL", "FORCE_COLOR", "XDG_", "NCCL_", "COMP_")):
            del os.environ[name]
    os.environ.update(ENVIRONMENT)


def shown(status: object, out: str, err: str) -> str:
    """Return what a run shows, as one text."""
    errors = f"--- standard error\n{err}" if err else ""
    return f"--- exit status {status}\n{out}{errors}"


def run(*words: str, stdin: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Run a command in this process, and return what it shows. `main` maps errors to exit statuses, as in a process.

    Args:
        words: the arguments of the command.
        stdin: the file that is standard input; nothing by default.
        variables: more variables of the environment.
    """
    from forestcoll.cli import main

    out, err = _Output(), _Output()
    status: object = None
    with (
        mock.patch.object(sys, "argv", ["forestcoll", *words]),
        mock.patch.dict(os.environ, variables or {}),
        standard_input(stdin),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code
    return shown(status, out.text, err.text)


@contextlib.contextmanager
def standard_input(path: Path | None) -> Iterator[None]:
    """Let standard input of this process be a file: commands read the file descriptor 0."""
    with Path(os.devnull if path is None else path).open("rb") as file:
        before = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(before, 0)
            os.close(before)


def write_files(files: Mapping[str, Content]) -> None:
    """Write files into the current folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def run_lines(lines: Sequence[str], files: Mapping[str, Content] | None = None, first: Sequence[str] = ()) -> Outputs:
    """Run command lines in order; an output is what a line shows, and each file that it writes, changes or removes.

    Args:
        lines: the arguments of `forestcoll`, as in a shell; `< FILE` at the end is standard input.
        files: the files in the folder at the beginning.
        first: lines that run before and write more files; they are no outputs.
    """
    write_files(files or {})
    for line in first:
        run(*shlex.split(line))
    before = _files()
    for line in lines:
        words = shlex.split(line)
        stdin = Path(words[-1]) if "<" in words else None
        yield line, run(*(words[:-2] if stdin is not None else words), stdin=stdin)
        after = _files()
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                yield f"{line} > {path}", after.get(path, "(removed)\n")
        before = after


def _files() -> dict[str, bytes]:
    """Return the content of all files in the current folder."""
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}
