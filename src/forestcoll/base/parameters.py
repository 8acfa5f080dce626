"""The parameters of a topology builder: the kinds of values, and how a dataclass field declares a parameter.

A kind reads a value from the text of a spec string, writes a value back in one normal form, and describes in words what
it accepts. `registry` does the rest in the same way for each builder. The text of a value never contains `,`,
which separates parameters: dimensions are joined by `x`, lists by `+`.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeVar, cast

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import MAX_DIGITS, MAX_TREES_DIGITS, to_fraction
from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in, data_size, size_name

MAX_COMPUTE = 2**20
"""The most compute nodes that a builder makes; also the largest integer that a parameter accepts."""

MAX_DIMENSIONS = 20
"""The most dimensions: each has at least two nodes, and the product is at most `MAX_COMPUTE`."""

MAX_LISTED = 1024
"""The most integers in a list."""

Asked = TypeVar("Asked", bound="Question")
Default = TypeVar("Default")

_KEY = "parameter"
_DIGITS = re.compile(r"[0-9]{1,18}")


class Kind(Protocol):
    """The values that a parameter accepts."""

    @property
    def form(self) -> str:
        """What the kind accepts, in words that can follow `expected`."""

    def parse(self, text: str) -> object:
        """Return the value that `text` denotes, or raise `ValueError`."""

    def write(self, value: object) -> str:
        """Return the text by which `value` is written in the name of a topology."""


@dataclass(frozen=True)
class Integer:
    """An integer from `minimum` to `maximum`."""

    minimum: int
    maximum: int

    @property
    def form(self) -> str:
        return f"an integer from {self.minimum} to {self.maximum}"

    def parse(self, text: str) -> int:
        if not _DIGITS.fullmatch(text) or not self.minimum <= int(text) <= self.maximum:
            raise ValueError(text)
        return int(text)

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class Count:
    """An integer of 1 or more, which may be long."""

    form: str = f"an integer of 1 or more, with at most {MAX_TREES_DIGITS} digits"

    def parse(self, text: str) -> int:
        digits = text.removeprefix("+").lstrip("0")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= MAX_TREES_DIGITS):
            raise ValueError(text)
        return int(digits)

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class Choice:
    """One of several names."""

    names: tuple[str, ...]

    @property
    def form(self) -> str:
        return f"one of {', '.join(self.names)}"

    def parse(self, text: str) -> str:
        if text not in self.names:
            raise ValueError(text)
        return text

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class NameOrInteger:
    """One of several names, or an integer."""

    names: tuple[str, ...]
    integer: Integer

    @property
    def form(self) -> str:
        return f"{', '.join(self.names)}, or {self.integer.form}"

    def parse(self, text: str) -> str | int:
        return text if text in self.names else self.integer.parse(text)

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class Positive:
    """An exact number greater than 0."""

    form: str = f"a number greater than 0 of at most {MAX_DIGITS} digits, such as 25 or 25/3"

    def parse(self, text: str) -> Fraction:
        number = to_fraction(text)
        if number <= 0:
            raise ValueError(text)
        return number

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class Amount:
    """An exact number of 0 or more."""

    form: str = f"a number of 0 or more of at most {MAX_DIGITS} digits, such as 10 or 25/2"

    def parse(self, text: str) -> Fraction:
        """As `Kind.parse`."""
        number = to_fraction(text)
        if number < 0:
            raise ValueError(text)
        return number

    def write(self, value: object) -> str:
        """As `Kind.write`."""
        return str(value)


@dataclass(frozen=True)
class Bandwidth(Positive):
    """A bandwidth in the unit of every builder, `units.BANDWIDTH_UNIT`, or with a unit of its own."""

    form: str = f"a number greater than 0 of at most {MAX_DIGITS} digits, such as 25, 25/3 or 400Gb/s"

    def parse(self, text: str) -> Fraction:
        return super().parse(str(bandwidth_in(BANDWIDTH_UNIT, text)))


@dataclass(frozen=True)
class Part:
    """A part of a whole, 0 or more and less than 1."""

    form: str = "a part such as 1%, 0.01 or 1/100, 0 or more and less than 100%"

    def parse(self, text: str) -> Fraction:
        """As `Kind.parse`."""
        number = to_fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        if not 0 <= number < 1:
            raise ValueError(text)
        return number

    def write(self, value: object) -> str:
        """As `Kind.write`."""
        return str(value)


@dataclass(frozen=True)
class DataSize:
    """A size of data in bytes, which may have a unit."""

    form: str = "a size of 1 byte or more such as 64K, 2.5MiB or 1GB"

    def parse(self, text: str) -> int:
        try:
            return data_size(text)
        except InputError:
            raise ValueError(text) from None

    def write(self, value: object) -> str:
        size = cast("int", value)
        try:
            return name if size > 0 and data_size(name := size_name(size)) == size else str(size)
        except InputError:  # the name is rounded to a part of a byte
            return str(size)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    form: str = "true or false"

    def parse(self, text: str) -> bool:
        if text not in {"true", "false"}:
            raise ValueError(text)
        return text == "true"

    def write(self, value: object) -> str:
        return "true" if value else "false"


@dataclass(frozen=True)
class Text:
    """A text that other code reads. In quotes it may have a `,`, which separates parameters."""

    form: str

    def parse(self, text: str) -> str:
        if not text:
            raise ValueError(text)
        return text

    def write(self, value: object) -> str:
        return str(value)


@dataclass(frozen=True)
class Several:
    """Several values of one kind, joined by `+`; at most `most` of them."""

    form: str
    item: Kind
    most: int

    def parse(self, text: str) -> tuple[object, ...]:
        parts = text.split("+")
        if len(parts) > self.most:
            raise ValueError(text)
        return tuple(self.item.parse(part) for part in parts)

    def write(self, value: object) -> str:
        return "+".join(self.item.write(each) for each in cast("tuple[object, ...]", value))


@dataclass(frozen=True)
class Integers:
    """Several integers, each as in `item`, joined by `separator`; at most `most` of them."""

    form: str
    separator: str
    item: Integer
    most: int

    def parse(self, text: str) -> tuple[int, ...]:
        parts = text.split(self.separator)
        if len(parts) > self.most:
            raise ValueError(text)
        return tuple(self.item.parse(part) for part in parts)

    def write(self, value: object) -> str:
        return self.separator.join(str(each) for each in cast("tuple[int, ...]", value))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a builder: what the listing shows, and how a value in a spec string is checked.

    Attributes:
        name: the key in a spec string.
        kind: the values that it accepts.
        default: its value if a spec does not give one.
        default_text: the default as the listing shows it.
        meaning: what it sets, in one line, with the unit.
        is_size: whether the name of a topology always states it, even if it has its default.
    """

    name: str
    kind: Kind
    default: object
    default_text: str
    meaning: str
    is_size: bool


@dataclass(frozen=True)
class _Declared:
    kind: Kind
    meaning: str
    is_size: bool = False
    default_text: str | None = None


def _field(default: Default, declared: _Declared) -> Default:
    return field(default=default, metadata={_KEY: declared})


def of_kind(default: Default, kind: Kind, meaning: str, *, default_text: str | None = None) -> Default:
    """Return a field whose values are of a kind; with `default_text`, it may be None."""
    return _field(default, _Declared(kind, meaning, default_text=default_text))


def integer(default: int, meaning: str, *, minimum: int = 1, maximum: int = MAX_COMPUTE, is_size: bool = False) -> int:
    """Return a field that is an integer from `minimum` to `maximum`."""
    return _field(default, _Declared(Integer(minimum, maximum), meaning, is_size))


def count(default_text: str, meaning: str) -> Any:
    """Return a field that is an integer of 1 or more, or None for what `default_text` describes."""
    return of_kind(None, Count(), meaning, default_text=default_text)


def choice(default: str, meaning: str, *names: str) -> str:
    """Return a field that is one of several names."""
    return of_kind(default, Choice(names), meaning)


def name_or_integer(default: str, meaning: str, *names: str, maximum: int) -> str:
    """Return a field that is one of several names, or an integer from 1 to `maximum`."""
    return of_kind(default, NameOrInteger(names, Integer(1, maximum)), meaning)


def derived_integer(
    default_text: str, meaning: str, *, minimum: int, maximum: int = MAX_COMPUTE, is_size: bool = False
) -> Any:
    """Return a field that is an integer, or None for the value that `default_text` describes."""
    return _field(None, _Declared(Integer(minimum, maximum), meaning, is_size, default_text))


def text(default: str, form: str, meaning: str) -> str:
    """Return a field that is a text; `form` describes it in words that can follow `expected`."""
    return _field(default, _Declared(Text(form), meaning, is_size=True))


def derived_bandwidth(default_text: str, meaning: str) -> Any:
    """Return a field that is a bandwidth, or None for the value that `default_text` describes."""
    return of_kind(None, Bandwidth(), meaning, default_text=default_text)


def bandwidths(default_text: str, meaning: str) -> Any:
    """Return a field that holds bandwidths, written `100+50`, or None for what `default_text` describes."""
    kind = Several("bandwidths joined by '+', such as 100+50", Bandwidth(), MAX_DIMENSIONS)
    return of_kind(None, kind, meaning, default_text=default_text)


def flags(default: tuple[bool, ...], meaning: str) -> tuple[bool, ...]:
    """Return a field that holds several flags, written `true+false`."""
    return of_kind(default, Several("true or false, or several joined by '+'", Flag(), MAX_DIMENSIONS), meaning)


def positive(default: int, meaning: str) -> Fraction:
    """Return a field that is an exact number greater than 0, such as a ratio of bandwidths."""
    return of_kind(Fraction(default), Positive(), meaning)


def link_bandwidth(default: int | Fraction, meaning: str) -> Fraction:
    """Return a field that is a bandwidth in GB/s; a spec may give it with another unit."""
    return of_kind(Fraction(default), Bandwidth(), meaning)


def derived_flag(default_text: str, meaning: str) -> Any:
    """Return a field that is true or false, or None for what `default_text` describes."""
    return of_kind(None, Flag(), meaning, default_text=default_text)


def flag(meaning: str, *, default: bool = False) -> bool:
    """Return a field that is true or false."""
    return of_kind(default, Flag(), meaning)


def dimensions(
    default: tuple[int, ...] | None, meaning: str, *, default_text: str | None = None, most: int = MAX_DIMENSIONS
) -> Any:
    """Return a field that holds the sizes of a grid's dimensions, written `4x4x4`.

    With a `default_text`, the field may be None, and is then left out of the name of a topology.
    """
    form = f"1 to {most} sizes of 2 or more joined by 'x', such as 4x4x4 (leave out a dimension of size 1)"
    kind = Integers(form, "x", Integer(2, MAX_COMPUTE), most)
    return _field(default, _Declared(kind, meaning, default_text is None, default_text))


def integers(default: tuple[int, ...], meaning: str, *, is_size: bool = True) -> tuple[int, ...]:
    """Return a field that holds a list of integers of 1 or more, written `3+4`."""
    kind = Integers("integers of 1 or more joined by '+', such as 3+4", "+", Integer(1, MAX_COMPUTE), MAX_LISTED)
    return _field(default, _Declared(kind, meaning, is_size))


def parameter_of(declaration: "Field[object]") -> Parameter:
    """Return the parameter that a field from one of the functions above declares."""
    declared = cast("_Declared", declaration.metadata[_KEY])
    default_text = declared.default_text
    return Parameter(
        name=declaration.name,
        kind=declared.kind,
        default=declaration.default,
        default_text=declared.kind.write(declaration.default) if default_text is None else default_text,
        meaning=declared.meaning,
        is_size=declared.is_size,
    )


def check_fields(value: Any, name: str) -> None:
    """Check the fields of a new frozen dataclass in the same way as those of a text, and give them their types.

    Raises:
        InputError: a value is none that its kind accepts; `name` begins the message.
    """
    for each in fields(value):
        given = getattr(value, each.name)
        if given != each.default:
            kind = parameter_of(each).kind
            try:
                object.__setattr__(value, each.name, kind.parse(kind.write(given)))
            except (ValueError, TypeError, AttributeError):
                raise InputError(f"{name}: {each.name} is {shown(given)}; expected {kind.form}") from None


class Question:
    """What a command is asked. Subclasses are dataclasses whose fields are options of its command line.

    Attributes:
        fits: the end of the message about an option that is no field.
        needs: the message about a field that must be given.
    """

    fits: ClassVar[str]
    needs: ClassVar[str]


def of_options(kind: type[Asked], options: Mapping[str, Any], *others: type[Question]) -> Asked:
    """Return the question that options ask; None, False and () are not given.

    Args:
        kind: the kind of question.
        options: the values of options by their names, such as `max_trees`.
        others: questions that more options would ask, for the message about an option of theirs.

    Raises:
        InputError: an option does not fit the question, or is missing.
    """
    given = {name: each for name, each in options.items() if each is not None and each is not False}
    given = {name: each for name, each in given.items() if each not in ((), {})}
    unfit = next((name for name in given if name not in _needed(kind)), None)
    if unfit is not None:
        asking = (_missing(each, given) for each in others if unfit in _needed(each))
        also = next((_option(names[0]) for names in asking if names), None)
        fits = f"does not fit {kind.fits}" if also is None else f"is for {also}; also give {also}"
        raise InputError(f"{_option(unfit)} {fits}")
    if _missing(kind, given):
        raise InputError(kind.needs)
    return kind(**given)


def _needed(kind: type[Question]) -> dict[str, bool]:
    """Return the fields of a question, and whether they must be given."""
    return {each.name: each.default is MISSING is each.default_factory for each in fields(cast("Any", kind))}


def _missing(kind: type[Question], given: Mapping[str, Any]) -> list[str]:
    return [name for name, is_needed in _needed(kind).items() if is_needed and name not in given]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
