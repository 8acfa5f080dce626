"""The types of the values of arguments and options: reading, error messages and shell completion.

A value that cannot be read is wrong usage (exit status 2), and the message names the option. Modules that read values
are imported when a value is read, so that `--help` starts quickly.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from forestcoll.base.errors import InputError, nearest, shown, unknown_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from forestcoll.base.parameters import NameOrInteger
    from forestcoll.base.registry import Registry, Spec

    AnyType = click.ParamType[Any]
else:
    AnyType = click.ParamType  # before click 8.3 it takes no parameter

Value = TypeVar("Value")


class _TextType(AnyType, Generic[Value]):
    """A value that is given as text. Subclasses implement `read`."""

    def read(self, text: str) -> Value:
        """Return the value of `text`. Raises `InputError` or `ValueError` if the text is not valid."""
        raise NotImplementedError

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Value | object:
        """Return the value of a text. Values that are not texts have been read before and are returned unchanged."""
        if not isinstance(value, str):
            return value
        try:
            return self.read(value)
        except (InputError, ValueError) as error:
            raise click.BadParameter(str(error), ctx, param) from None


class IntegerFrom(click.IntRange):
    """An integer of `min` or more and, if `max` is given, at most that."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the integer."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise click.BadParameter(f"{shown(str(value))}; expected {self.expected()}", ctx, param) from None

    def expected(self) -> str:
        """Return what is valid, in words."""
        return f"an integer{_from_to(self.min, self.max)}"


class OneOf(click.Choice[str]):
    """One of some words. The message about an unknown word names the nearest one."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the message about a value that is none of the words."""
        message = super().get_invalid_choice_message(value, ctx)
        near = nearest(str(value), map(str, self.choices))
        return message if near is None else f"{message.removesuffix('.')}; did you mean {shown(near)}?"


class ChoiceOrDigits(click.Choice[str]):
    """One of some words, or a number of digits."""

    def __init__(self, kind: "NameOrInteger") -> None:
        super().__init__(kind.names)
        self.kind = kind

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return what the help shows."""
        return f"[{'|'.join(self.choices)}|DIGITS]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word or the number."""
        try:
            return self.kind.parse(str(value))
        except ValueError:
            raise click.BadParameter(f"{shown(str(value))}; expected {self.kind.form}", ctx, param) from None


class NumberFrom(click.FloatRange):
    """A decimal number of `min` or more and, if `max` is given, at most that."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            words = f"a number{_from_to(self.min, self.max)}"
            raise click.BadParameter(f"{shown(str(value))}; expected {words}", ctx, param) from None


def _from_to(least: float | None, most: float | None) -> str:
    return f" of {least:g} or more" if most is None else f" from {least:g} to {most:.12g}"


class FileName(_TextType[Path]):
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


class FilesByKind(_TextType[tuple[str, str]]):
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


class CollectiveName(_TextType[str]):
    """The name of a collective in any of the usual spellings. Commands receive the spelling of the file formats."""

    name = "collective"

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def read(self, text: str) -> str:
        """Return the name in the spelling of the file formats."""
        from forestcoll.demand.collective import collective_named

        name = collective_named(text).value
        if name not in self.names:
            raise ValueError(f"{shown(name)} is not supported by this command; choose one of {', '.join(self.names)}")
        return name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return the names that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(each) for each in self.names if each.startswith(incomplete.lower())]


class RootlessCollective(CollectiveName):
    """The name of a collective without a root, of which a schedule is made."""

    def read(self, text: str) -> str:
        """Return the name in the spelling of the file formats."""
        from forestcoll.demand.collective import collective_named

        name = collective_named(text)
        if name.has_root:
            made = f"forestcoll generate TOPOLOGY --collective {name} --root ID -o FILE"
            raise ValueError(f"'{name}' needs a root; make a file with '{made}' and give it instead of TOPOLOGY")
        return super().read(text)


class TrafficName(CollectiveName):
    """The collectives of a workload: the name of one, or `mix`."""

    def __init__(self) -> None:
        super().__init__(("allgather", "reduce-scatter", "allreduce", "all-to-all", "mix"))

    def read(self, text: str) -> str:
        """Return the name in the spelling of the file formats."""
        return text if text == "mix" else super().read(text)


class SpecText(_TextType[Any]):
    """A value with parameters as a text, such as msccl-xml:blocks=64 or, without a name, alpha=5,bandwidth=25.

    Args:
        noun: what a value is called.
        registry: imports the registry of the values, or how the only one is written.
    """

    def __init__(self, noun: str, registry: "Callable[[], Registry | Spec]") -> None:
        self.name = noun
        self.registry = registry

    def read(self, text: str) -> Any:
        """Return the value."""
        return self.registry().read(text)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return the names that begin with `incomplete`."""
        from click.shell_completion import CompletionItem

        found = self.registry().completions()
        return [CompletionItem(name, help=text) for name, text in found.items() if name.startswith(incomplete)]


def _methods() -> "Registry":
    from forestcoll.algorithms.method import methods

    return methods


class MethodText(SpecText):
    """A method as a text, such as trees:k=4. The command checks it."""

    def __init__(self) -> None:
        super().__init__("method", _methods)

    def read(self, text: str) -> str:
        """Return the text."""
        return text


class DataSize(_TextType[int]):
    """An amount of data in bytes."""

    name = "size"

    def read(self, text: str) -> int:
        """Return the number of bytes."""
        from forestcoll.base.units import data_size

        return data_size(text)


SIZES = "a list, or a range A..B: A, 2A, 4A and so on, up to the last that is at most B."
"""The values of `MessageSizes`, for the help of options."""


class MessageSizes(_TextType[tuple[int, ...]]):
    """Message sizes in bytes: a list, or a range in which each size is twice the previous one."""

    name = "sizes"

    def read(self, text: str) -> tuple[int, ...]:
        """Return the number of bytes of each size."""
        from forestcoll.simulation.sizes import sizes_of

        return sizes_of(text)


class DataSizes(_TextType[tuple[int, ...]]):
    """Amounts of data in bytes, separated by commas."""

    name = "sizes"

    def read(self, text: str) -> tuple[int, ...]:
        """Return the number of bytes of each size."""
        from forestcoll.base.units import data_size

        return tuple(data_size(part) for part in text.split(","))


class TreeCount(_TextType[int]):
    """A number of trees, with at most as many digits as the solver supports."""

    name = "trees"

    def read(self, text: str) -> int:
        """Return the integer."""
        from forestcoll.base.exact import MAX_TREES_DIGITS

        digits = text.removeprefix("+").lstrip("0")
        if not (digits.isascii() and digits.isdecimal()):
            raise ValueError(f"{shown(text)}; expected an integer of 1 or more")
        if len(digits) > MAX_TREES_DIGITS:
            raise ValueError(f"{shown(text)} has more than {MAX_TREES_DIGITS} digits")
        return int(digits)


class Ranks(_TextType[str]):
    """Ranks as text. The command checks whether they exist in the network."""

    name = "ranks"

    def read(self, text: str) -> str:
        """Return the text, after a check of its form."""
        from forestcoll.demand.ranks import rank_parts

        rank_parts(text)
        return text


_MOST_DIGITS = 18
"""The most digits of a number of a `NumberSpan`; the command refuses those that are too large for it."""


class NumberSpan(_TextType[range]):
    """An integer, or all integers of a range."""

    name = "numbers"

    def read(self, text: str) -> range:
        """Return the numbers that a text such as `64` or `32..64` denotes."""
        first, dots, last = text.partition("..")
        ends = (first, last if dots else first)
        if not all(end.isascii() and end.isdecimal() and len(end) <= _MOST_DIGITS for end in ends):
            raise ValueError(f"{shown(text)}; expected a number such as 64, or 32..64")
        if int(ends[0]) > int(ends[1]):
            raise ValueError(f"{shown(text)} is a decreasing range; write the smaller number first")
        return range(int(ends[0]), int(ends[1]) + 1)


class ExactNumber(_TextType[Fraction]):
    """An exact number such as 10, 2.5 or 25/2.

    Args:
        unit: the unit of the number, for messages.
        least: the smallest valid value; None if every value is valid.
    """

    name = "number"

    def __init__(self, unit: str, least: int | None = None) -> None:
        self.unit = unit
        self.least = least

    def read(self, text: str) -> Fraction:
        """Return the number."""
        from forestcoll.base.exact import to_fraction

        try:
            number = to_fraction(text)
        except ValueError:
            raise ValueError(f"{shown(text)}; expected {self.unit} such as 10 or 25/2") from None
        if self.least is not None and number < self.least:
            raise ValueError(f"{shown(text)}; expected {self.least} or more")
        return number


class ElementTypes(_TextType[str]):
    """A type of elements, or all of them."""

    name = "type"

    def read(self, text: str) -> str:
        """Return the text, after a check that it names a type."""
        from forestcoll.measurement.bench.request import elements_named

        elements_named(text)
        return text


class Reductions(_TextType[str]):
    """A reduction, or all of them."""

    name = "op"

    def read(self, text: str) -> str:
        """Return the text, after a check that it names a reduction."""
        from forestcoll.measurement.bench.request import ops_named

        ops_named(text)
        return text


class Speed(_TextType[Fraction]):
    """A bandwidth in GB/s, or with a unit of its own."""

    name = "speed"

    def read(self, text: str) -> Fraction:
        """Return the GB/s."""
        from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in

        try:
            speed = bandwidth_in(BANDWIDTH_UNIT, text)
        except ValueError as error:
            raise ValueError(f"{shown(text)} {error}") from None
        if speed <= 0:
            raise ValueError(f"{shown(text)}; expected a bandwidth above 0")
        return speed


class FormatName(_TextType[str]):
    """A format that networks are written in."""

    name = "format"

    def read(self, text: str) -> str:
        """Return the name, after a check that there is such a format."""
        from forestcoll.topology.writers.formats import format_named

        return format_named(text).name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002
        """Return the formats that begin so."""
        from click.shell_completion import CompletionItem

        from forestcoll.topology.writers.formats import FORMATS

        return [CompletionItem(each.name, help=each.title) for each in FORMATS if each.name.startswith(incomplete)]
