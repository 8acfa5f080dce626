"""The types of the values that name files, folders and networks: reading, error messages and shell completion."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.cli.types import AnyType, TextType

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class FileName(TextType[Path]):
    """A file. `-` is the standard stream, and `./-` is a file with the name `-`."""

    name = "file"

    def read(self, text: str) -> Path:
        """Return the path."""
        from forestcoll.base.files import path_of

        if not text:
            raise ValueError("the file name is empty; give a name")
        return path_of(text)

    def files(self, path: Path) -> Iterator[Path]:
        """Yield the file."""
        yield path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return an item that lets the shell complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class OutputFile(FileName):
    """A file to write. `outputs.check_outputs` calls `check` before the command does any work.

    Args:
        endings: the endings of such files. The ending of another kind of file is refused, and any other name is taken.
    """

    is_folder = False
    """Whether the command writes a folder."""

    def __init__(self, *endings: str) -> None:
        self.endings = endings

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path | object:
        """Return the path; a path that ends with a slash is a folder, which `Path` does not keep."""
        if isinstance(value, str) and value.endswith(_SLASHES) and not self.is_folder_of(ctx):
            raise InputError(f"{value}: is a folder; name a file in it")
        return super().convert(value, param, ctx)

    def is_folder_of(self, ctx: click.Context | None) -> bool:  # noqa: ARG002
        """Return whether the command writes a folder; options that are read before may decide it."""
        return self.is_folder

    def check(self, path: Path, values: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Check that the file can be written and that its name has no ending of another kind of file.

        Args:
            path: the file.
            values: the values of all options of the command, by name.

        Raises:
            InputError: it cannot be written.
        """
        from forestcoll.base.files import check_writable

        check_ending(path, self.endings)
        check_writable(path)


class FirstRankFile(OutputFile):
    """A file that only rank 0 writes; the folders of other hosts do not matter."""

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Leave the check to rank 0."""


class NetworkFile(OutputFile):
    """A network in the format of `--to` or, without this option, in any format that networks are written in."""

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check that the file can be written and that its ending is that of the format."""
        from forestcoll.topology.writers.formats import endings_of, may_be_folder

        check_ending(path, endings_of(values.get("to")))
        if not (path.is_dir() and may_be_folder(values.get("to"))):
            super().check(path, values)


class PictureFile(OutputFile):
    """A picture that is made as SVG, or a page with it."""

    def check(self, path: Path, values: Mapping[str, Any]) -> None:
        """Check that such a picture can be drawn and written."""
        from forestcoll.presentation.pictures.raster import check_picture

        check_picture(path, self.endings)
        super().check(path, values)


class OutputFolder(OutputFile):
    """A folder to write. The function that writes it checks what the folder holds already.

    Args:
        names: a regular expression for the names of the files that the command writes into it; by default all names.
    """

    is_folder = True

    def __init__(self, names: str = ".*") -> None:
        super().__init__()
        self.names = re.compile(names)

    def read(self, text: str) -> Path:
        """Return the path."""
        if text == "-":
            raise ValueError("the output is a folder, which standard output cannot take; name a folder")
        return super().read(text)

    def check(self, path: Path, values: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Check that such a folder can be made."""
        from forestcoll.base.folders import check_place

        check_place(path)


class FilesByKind(TextType[tuple[str, str]]):
    """One of several kinds of files that a command reads or writes, as KIND=FILE. Without a kind, it is the first.

    Args:
        kinds: the type of each kind of file.
    """

    name = "file"

    def __init__(self, kinds: Mapping[str, FileName]) -> None:
        self.kinds = kinds
        self.first = next(iter(kinds))

    def read(self, text: str) -> tuple[str, str]:
        """Return the kind and the name of the file."""
        kind, equals, name = text.partition("=")
        if not equals:
            kind, name = self.first, text
        if kind not in self.kinds:
            raise unknown_name(f"there is no kind {shown(kind)}", kind, self.kinds)
        return kind, name

    def by_kind(self, ctx: click.Context, param: click.Parameter, value: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Return the path of each kind; the callback of the option."""
        if len(dict(value)) < len(value):
            raise click.BadParameter("a kind of file is given twice; give each once", ctx, param)
        return {kind: self.kinds[kind].convert(name, param, ctx) for kind, name in value}

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return the kinds that begin with `incomplete`; the shell adds file names."""
        from click.shell_completion import CompletionItem

        kinds = [CompletionItem(f"{kind}=") for kind in self.kinds if kind.startswith(incomplete)]
        return [*kinds, CompletionItem(incomplete, type="file")]


_SLASHES = tuple({os.sep, "/"})

_ENDINGS = (
    ".json",
    ".xml",
    ".html",
    ".svg",
    ".png",
    ".pdf",
    ".csv",
    ".py",
    ".et",
    ".goal",
    ".graphml",
    ".txt",
    ".yml",
    ".yaml",
)
"""The endings that say what kind of file it is."""


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Check that the name of an output has no ending of another kind of file than its own `endings`; none allow all.

    Raises:
        InputError: it has.
    """
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if endings and ending in _ENDINGS and ending not in endings:
        named = " or ".join(endings)
        raise InputError(f"{path}: is not written as {ending}; name a file that ends in {named}")


class FileOrText(AnyType):
    """A text that may be, or contain, the name of a file to read. The command reads it."""

    name = "text"
    may_be_empty = False

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Return the text. The name of a file is not empty, for that would be the current folder."""
        if value == "" and not self.may_be_empty:
            raise click.BadParameter("is empty; give a name", ctx, param)
        return value

    def files(self, text: str) -> Iterator[Path]:
        """Yield the names of files that the text may contain: all of it, and the values of its parameters."""
        from forestcoll.base.files import path_of

        yield from (path_of(each) for each in (text, *re.findall("=([^,=]+)", text)))


class TopologySpec(FileOrText):
    """A network: a file, or the name of a builder with parameters. The command reads it."""

    name = "topology"
    may_be_empty = True  # no builder has an empty name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return the builders that begin with `incomplete`; the shell adds file names."""
        from click.shell_completion import CompletionItem

        from forestcoll.topology.registry import builders

        names = [
            CompletionItem(each.name, help=each.summary) for each in builders() if each.name.startswith(incomplete)
        ]
        return [*names, CompletionItem(incomplete, type="file")]
