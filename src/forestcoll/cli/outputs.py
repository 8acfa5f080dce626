"""The check of all output paths of a command line together, before any work.

An output that is also an input, or a second output with the same name, would be lost without a word. An output that
cannot be written is refused before the first file is written.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import click

from forestcoll.base.errors import InputError
from forestcoll.base.files import is_stream
from forestcoll.cli.file_types import FileName, FileOrText, FilesByKind, OutputFile, OutputFolder


@dataclass(frozen=True)
class _Named:
    """A file that the command line names.

    Attributes:
        words: the argument or option, as the user writes it, and the file.
        path: the file.
        role: what other outputs call it.
    """

    words: str
    path: Path
    role: str


@dataclass(frozen=True)
class _Output(_Named):
    """An output.

    Attributes:
        kind: the type of its option.
    """

    kind: OutputFile


def check_outputs(ctx: click.Context) -> None:
    """Check all outputs of a command line.

    Raises:
        InputError: an output is also an input or another output, is a folder where a file is written, is in a folder
            that does not exist or cannot be written to, or has an ending of another kind of file.
    """
    inputs, outputs = list(_inputs(ctx)), list(_outputs(ctx))
    for place, output in enumerate(outputs):
        for other in (*inputs, *outputs[:place]):
            if _is_same(output.path, other.path):
                raise InputError(f"{output.words}: is also {other.role}; name another file")
    for output, folder in permutations(outputs, 2):
        if _is_in(output.path, folder):
            raise InputError(f"{output.words}: is a file of {folder.role}; name another file")
    for output in outputs:
        output.kind.check(output.path, ctx.params)


def _outputs(ctx: click.Context) -> Iterator[_Output]:
    for each in ctx.command.params:
        for name, equals, kind, value in _values(ctx, each):
            if isinstance(kind, OutputFile) and isinstance(value, Path):
                yield _Output(f"{name}{equals}{value}", value, f"the output {name}", kind)


def _inputs(ctx: click.Context) -> Iterator[_Named]:
    for each in ctx.command.params:
        for name, equals, kind, value in _values(ctx, each):
            if isinstance(kind, FileName | FileOrText) and not isinstance(kind, OutputFile) and value is not None:
                role = "the input" if isinstance(each, click.Argument) else f"the input {name}"
                yield from (_Named(f"{name}{equals}{path}", path, role) for path in kind.files(value))


def _values(ctx: click.Context, param: click.Parameter) -> Iterator[tuple[str, str, object, Any]]:
    """Yield what the user calls each value of a parameter, what stands between this and the value, its type and it."""
    value, name = ctx.params.get(param.name or ""), param.opts[0]
    if isinstance(param.type, FilesByKind):
        for kind, path in cast("dict[str, Path]", value or {}).items():
            is_first = kind == param.type.first
            yield (name if is_first else f"{name} {kind}", " " if is_first else "=", param.type.kinds[kind], path)
        return
    for one in value if isinstance(value, tuple) else (value,):
        yield name, " ", param.type, one


def _is_in(path: Path, folder: _Output) -> bool:
    """Return whether a command that writes a folder may write this file of it, too."""
    names = folder.kind.names if isinstance(folder.kind, OutputFolder) else None
    return names is not None and names.fullmatch(path.name) is not None and _is_same(path.parent, folder.path)


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two names are those of one file; devices and pipes may be written several times."""
    try:
        if is_stream(one) or is_stream(other):
            return False
        if one.exists() and other.exists():
            return one.samefile(other)
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):  # no name of a file; who opens it reports it
        return False
