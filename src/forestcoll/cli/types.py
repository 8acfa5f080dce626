"""The types of the values of arguments and options: reading, error messages and shell completion.

A value that cannot be read is wrong usage (exit status 2), and the message names the option. Modules that read values
are imported when a value is read, so that `--help` starts quickly.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from forestcoll.base.errors import InputError, nearest, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from forestcoll.base.parameters import NameOrInteger
    from forestcoll.base.registry import Registry, Spec

    AnyType = click.ParamType[Any]
else:
    AnyType = click.ParamType  # before click 8.3 it takes no parameter

Value = TypeVar("Value")


class TextType(AnyType, Generic[Value]):
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


class CollectiveName(TextType[str]):
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


class SpecText(TextType[Any]):
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


class DataSize(TextType[int]):
    """An amount of data in bytes."""

    name = "size"

    def read(self, text: str) -> int:
        """Return the number of bytes."""
        from forestcoll.base.units import data_size

        return data_size(text)


SIZES = "a list, or a range A..B: A, 2A, 4A and so on, up to the last that is at most B."
"""The values of `MessageSizes`, for the help of options."""


class MessageSizes(TextType[tuple[int, ...]]):
    """Message sizes in bytes: a list, or a range in which each size is twice the previous one."""

    name = "sizes"

    def read(self, text: str) -> tuple[int, ...]:
        """Return the number of bytes of each size."""
        from forestcoll.simulation.sizes import sizes_of

        return sizes_of(text)


class DataSizes(TextType[tuple[int, ...]]):
    """Amounts of data in bytes, separated by commas."""

    name = "sizes"

    def read(self, text: str) -> tuple[int, ...]:
        """Return the number of bytes of each size."""
        from forestcoll.base.units import data_size

        return tuple(data_size(part) for part in text.split(","))


class TreeCount(TextType[int]):
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


class Ranks(TextType[str]):
    """Ranks as text. The command checks whether they exist in the network."""

    name = "ranks"

    def read(self, text: str) -> str:
        """Return the text, after a check of its form."""
        from forestcoll.demand.ranks import rank_parts

        rank_parts(text)
        return text


_MOST_DIGITS = 18
"""The most digits of a number of a `NumberSpan`; the command refuses those that are too large for it."""


class NumberSpan(TextType[range]):
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


class ExactNumber(TextType[Fraction]):
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


class ElementTypes(TextType[str]):
    """A type of elements, or all of them."""

    name = "type"

    def read(self, text: str) -> str:
        """Return the text, after a check that it names a type."""
        from forestcoll.measurement.bench.request import elements_named

        elements_named(text)
        return text


class Reductions(TextType[str]):
    """A reduction, or all of them."""

    name = "op"

    def read(self, text: str) -> str:
        """Return the text, after a check that it names a reduction."""
        from forestcoll.measurement.bench.request import ops_named

        ops_named(text)
        return text


class Speed(TextType[Fraction]):
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


class FormatName(TextType[str]):
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
