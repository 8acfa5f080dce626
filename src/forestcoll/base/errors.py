"""The four kinds of errors, and the words of messages: names that are near, and numbers with their nouns.

`InputError`: the caller must fix the input. `NoSolutionError`: the input is valid, but the network allows no solution.
`CommunicationError`: another process, or the network between processes, failed.
`InternalError`: a defect in forestcoll; no input of a user may cause one.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from numbers import Number
from pathlib import PurePath
from types import UnionType
from typing import Any, TypeVar

Name = TypeVar("Name", bound=StrEnum)

_MOST_SHOWN = 60
"""The most characters of a value that a message shows."""

_MOST_COMPARED = 10_000
"""The most known names that an unknown name is compared with, so that the error message is fast on large networks."""

_LIKENESS = 0.59
"""A known name is a hint only if its similarity to the unknown name, from 0 to 1, is greater than this."""


_OF_WORD = 0.75
"""The similarity of a name to one of its words: more than `swing` has to `ring`, less than `trees` has to `tree`."""


class ForestcollError(Exception):
    """Base class of all errors that forestcoll raises; the text is one line.

    Example:
        >>> import forestcoll
        >>> try:
        ...     forestcoll.optimum("rign:nodes=3")
        ... except forestcoll.ForestcollError as error:
        ...     print(error)
        'rign': no such builder or file; did you mean 'ring'? 'forestcoll topology' lists the builders
    """


class InputError(ForestcollError):
    """The input is not valid. The text states the place, what is wrong, the value, and how to fix it.

    Example:
        >>> import forestcoll
        >>> forestcoll.optimum("ring:nodes=1")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: ring: nodes is '1'; expected an integer from 2 to 1048576
    """


class NoSolutionError(ForestcollError):
    """The input is valid, but the request has no solution on this network. The text states the reason.

    Example:
        >>> import forestcoll
        >>> try:
        ...     forestcoll.find_topologies(5, 3, bidirectional=True)
        ... except forestcoll.NoSolutionError as error:
        ...     print(str(error).partition("; ")[0])
        no bidirectional network of 5 nodes with 3 links each is known
    """


class CommunicationError(ForestcollError):
    """Another process, or the network between processes, failed. The text names the operation and the rank.

    Example:
        >>> import forestcoll
        >>> issubclass(forestcoll.CommunicationError, forestcoll.ForestcollError)
        True
    """


class InternalError(ForestcollError):
    """A defect of forestcoll: an invariant does not hold. Please report it with the input.

    Example:
        >>> print(InternalError("a tree is not spanning"))
        defect in forestcoll: a tree is not spanning; please report it with the input that led here
    """

    def __init__(self, message: str) -> None:
        super().__init__(f"defect in forestcoll: {message}; please report it with the input that led here")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the one of the `known` names that is most similar to the unknown `name`, or None. Case is ignored.

    Of several that are equally similar, the first is returned. A name with the unknown name as one of its words is
    similar, too.

    Example:
        >>> nearest("DGX-A10", ["dgx-a100", "ring"]), nearest("ring", ["swing", "nccl-ring", "rccl-ring"])
        ('dgx-a100', 'nccl-ring')
    """
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.lower()[:_MOST_SHOWN])
    near, likeness = None, _LIKENESS
    for each in islice(known, _MOST_COMPARED):
        if likeness < _OF_WORD and name.lower() in each.lower().split("-"):
            near, likeness = each, _OF_WORD
        matcher.set_seq1(each.lower())
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness and matcher.ratio() > likeness:
            near, likeness = each, matcher.ratio()
    return near


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the name most similar to the unknown `name`, for an error message, or "".

    Example:
        >>> did_you_mean("allgahter", ["allgather", "allreduce"])
        "did you mean 'allgather'? "
    """
    near = nearest(name, known)
    return "" if near is None else f"did you mean {shown(near)}? "


def unknown_name(problem: str, name: object, known: Iterable[str], use: str = "there are") -> InputError:
    """Return the error about a name that is none of the `known` ones: the most similar one, and all of them.

    Example:
        >>> print(unknown_name("there is no collective 'allgahter'", "allgahter", ["allgather", "allreduce"]))
        there is no collective 'allgahter'; did you mean 'allgather'? there are allgather, allreduce
    """
    listed = [str(each) for each in known]
    hint = did_you_mean(name, listed) if isinstance(name, str) else ""
    return InputError(f"{problem}; {hint}{use} {', '.join(listed)}")


def member_named(kind: type[Name], name: str, problem: str, use: str = "there are") -> Name:
    """Return the member of an enumeration that `name` is or names.

    Raises:
        InputError: there is none; `problem` and `use` are as for `unknown_name`.
    """
    try:
        return kind(name)
    except ValueError:
        raise unknown_name(problem, name, [each.value for each in kind], use) from None


def shown(value: object) -> str:
    """Return `value` for an error message: in JSON notation, text in quotes, shortened if it is too long."""
    return repr(_cut(value)) if isinstance(value, str) else _cut(_spelled(value))


def argument(value: object) -> str:
    """Return an argument of a Python function for an error message: its `repr` on one line, shortened if it is long.

    Example:
        >>> argument(None), argument([True, "a"]), argument("a")
        ('None', "[True, 'a']", "'a'")
    """
    try:
        return repr(_cut(value)) if isinstance(value, str) else _cut(_one_line(repr(value)))
    except (RecursionError, ValueError):  # an integer that is too long to be written
        return shown(value)


def require_kind(value: object, kind: type | UnionType, name: str, expected: str) -> None:
    """Check the type of an argument of a public function.

    Args:
        value: the argument.
        kind: the type, or several.
        name: the name of the argument, which begins the message.
        expected: what is accepted, in words.

    Raises:
        InputError: it is of another type.
    """
    if not isinstance(value, kind):
        raise InputError(f"{name} is {argument(value)}; expected {expected}")


def listed(values: object, kind: type | UnionType, name: str, expected: str) -> tuple[Any, ...]:
    """Return the values of an argument that is a list, after a check of their types.

    Args:
        values: the argument.
        kind: the type of each value, or several.
        name: the name of the argument, which begins the message.
        expected: what a value is, in words.

    Raises:
        InputError: it is no list, or a value is of another type.
    """
    if not isinstance(values, Iterable):
        raise InputError(f"{name} is {argument(values)}; expected a list, each {expected}")
    found = tuple(values)
    for place, each in enumerate(found):
        require_kind(each, kind, f"{name}[{place}]", expected)
    return found


def first_line(error: BaseException) -> str:
    r"""Return the first line of the message of an error of another library; the name of its type if it has none.

    Example:
        >>> first_line(RuntimeError("no route\nat tcp.cpp:7")), first_line(TimeoutError())
        ('no route', 'TimeoutError')
    """
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _spelled(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(text := getattr(value, "text", None), str):  # a `WrittenFloat`
        return text
    # Python does not convert very long integers to text
    if isinstance(value, int) and value.bit_length() > 4 * _MOST_SHOWN:
        return f"an integer of about {value.bit_length() * 30103 // 100000 + 1} digits"
    try:
        if isinstance(value, list | dict):
            return json.dumps(value, default=repr, skipkeys=True)
        return str(value) if isinstance(value, Number | PurePath) else _one_line(repr(value))
    except (RecursionError, ValueError):  # a list that contains itself is a `ValueError`
        return f"a deeply nested {type(value).__name__}"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    Args:
        count: the number.
        noun: the singular.
        nouns: the plural; if it is empty, the singular with an s.

    Example:
        >>> plural(1, "link"), plural(2048, "link"), plural(2, "switch", "switches")
        ('1 link', '2,048 links', '2 switches')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def times(count: int | Fraction) -> str:
    """Return how often something happens.

    Example:
        >>> times(1), times(2), times(Fraction(5, 2))
        ('once', 'twice', '5/2 times')
    """
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
