"""Run the command line, in this process or, if its exit behaviour matters, in its own process."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import click

from forestcoll.cli import main
from forestcoll.cli.main import _COMMANDS, forestcoll
from recording.masks import NOTE_OF_TIME
from recording.running import standard_input

_CONTEXT = click.Context(forestcoll)
COMMANDS = {name: found for name in _COMMANDS if (found := forestcoll.get_command(_CONTEXT, name)) is not None}
"""Every command, by its name."""


@dataclass(frozen=True)
class Run:
    """The exit status and the output of a run."""

    status: object
    out: str
    err: str

    def document(self) -> Any:
        """Return the JSON object on standard output, and check that the run succeeded."""
        assert (self.status, self.err) == (0, "")
        return json.loads(self.out)

    def error_line(self, status: int = 1) -> str:
        """Return the error message, and check that the run failed with this status and one line."""
        assert self.status == status
        assert self.out == ""
        assert self.err.startswith("forestcoll: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("forestcoll: ").removesuffix("\n")


class Output(io.TextIOWrapper):
    """A stream of text that also accepts bytes in its buffer, as standard output does."""

    def __init__(self, *, terminal: bool, encoding: str = "utf-8") -> None:
        self._written = io.BytesIO()
        self._terminal = terminal
        super().__init__(self._written, encoding=encoding, newline="", write_through=True)

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._terminal

    def text(self, encoding: str = "utf-8") -> str:
        """What was written."""
        return self._written.getvalue().decode(encoding)


@contextlib.contextmanager
def _standard_input(content: bytes) -> Iterator[None]:
    """Let this process find some bytes on its standard input."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        with standard_input(Path(file.name)):
            yield


def run_command(
    *arguments: object,
    terminal: bool = False,
    stdin: bytes | None = None,
    encoding: str = "utf-8",
    memory: str | None = None,
) -> Run:
    """Run a command in this process; its output is a pipe or a terminal, and `memory` the limit of memory."""
    out, err = Output(terminal=terminal, encoding=encoding), Output(terminal=terminal)
    status: object = None
    with (
        mock.patch.object(sys, "argv", ["forestcoll", *map(str, arguments)]),
        mock.patch.dict(os.environ, {} if memory is None else {"FORESTCOLL_MAX_MEMORY": memory}),
        contextlib.nullcontext() if stdin is None else _standard_input(stdin),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code
    return Run(status, out.text("utf-8" if encoding == "ascii" else encoding), err.text())  # click avoids ASCII


def json_of(*arguments: object) -> Any:
    """Return what a command prints with --json."""
    return run_command(*arguments, "--json").document()


def written(path: Path, *arguments: object) -> Path:
    """Let a command write a file, and return its path."""
    assert run_command(*arguments, "-o", path).status == 0
    return path


def changed(path: Path, **keys: object) -> Path:
    """Replace keys of a JSON file, and return its path."""
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
    return path


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment with an absolute module path, buffered output as users have it, and `more`."""
    places = [str(Path(place).resolve()) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    path = {"PYTHONPATH": os.pathsep.join(places)} if places else {}
    return os.environ | {"PYTHONUNBUFFERED": ""} | path | more


def command(*arguments: object) -> list[str]:
    """Return the arguments that run a command as a process."""
    return [sys.executable, "-m", "forestcoll", *map(str, arguments)]


def process(*arguments: object, stdin: str = "", **more: str) -> Run:
    """Run a command as a process, with `more` in its environment."""
    return completed(command(*arguments), stdin=stdin, **more)


def completed(words: Sequence[str], *, stdin: str = "", **more: str) -> Run:
    """Run a process to its end."""
    done = subprocess.run(  # noqa: S603 (our own command)
        words, input=stdin, capture_output=True, text=True, env=environment(**more), timeout=60, check=False
    )
    return Run(done.returncode, done.stdout, without_times(done.stderr))


def without_times(err: str) -> str:
    """Return standard error without the notes that say how far a long stage is: they depend on the machine."""
    return re.sub(NOTE_OF_TIME, "", err, flags=re.MULTILINE)


GRAPH = {"format": "forestcoll.topology/1", "name": "small", "bandwidth_unit": "GB/s"}


def edge(source: object, target: object, bandwidth: object = 10) -> dict[str, object]:
    """Return an edge of a topology file."""
    return {"source": source, "target": target, "bandwidth": bandwidth}


def write_network(
    folder: Path,
    edges: Sequence[dict[str, object]],
    nodes: Sequence[object] = "ab",
    switches: Sequence[object] = "",
    *,
    directed: bool = False,
    graph: object = GRAPH,
) -> Path:
    """Write a topology file. Each element (or letter) of `nodes` and `switches` is the id of a node."""
    listed = [{"id": node} for node in nodes] + [{"id": node, "kind": "switch"} for node in switches]
    path = folder / "network.json"
    path.write_text(json.dumps({"directed": directed, "graph": graph, "nodes": listed, "edges": edges}))
    return path
