"""The four kinds of errors, kept apart.

`InputError`: the caller must fix the input. `NoSolutionError`: the input is valid, but the network allows no solution.
`CommunicationError`: another process, or the network between processes, failed.
`InternalError`: a defect in forestcoll; no input of a user may cause one.
"""

import json
from collections.abc import Iterable
from itertools import islice

_MOST_SHOWN = 60
"""The most characters of a value that a message shows."""

_MOST_COMPARED = 10_000
"""The most known names that an unknown one is compared with, so that a refusal takes no time on a large network."""

_LIKENESS = 0.59
"""From 0 to 1, how much more than this a known name must have in common with an unknown one to be a hint."""


class ForestcollError(Exception):
    """Base of every error that forestcoll raises on purpose; its text is one line."""


class InputError(ForestcollError):
    """The input is bad: the text says where, what is wrong, the value, and how to fix it."""


class NoSolutionError(ForestcollError):
    """The input is valid, but the request has no solution on this network; the text says why."""


class CommunicationError(ForestcollError):
    """Processes that run a schedule together failed: the text names the operation and the rank at fault."""


class InternalError(ForestcollError):
    """A defect of forestcoll itself: an invariant that its own code broke."""

    def __init__(self, message: str) -> None:
        super().__init__(f"defect in forestcoll: {message}; please report it with the input that led here")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return which of the `known` names an unknown one looks most like, or None; case does not count.

    The first of those that are equally like it is taken, so that the answer is always the same.

    Example:
        >>> nearest("DGX-A10", ["dgx-a100", "ring"])
        'dgx-a100'
    """
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.lower()[:_MOST_SHOWN])
    near, likeness = None, _LIKENESS
    for each in islice(known, _MOST_COMPARED):
        matcher.set_seq1(each.lower())
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness and matcher.ratio() > likeness:
            near, likeness = each, matcher.ratio()
    return near


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that a message about an unknown `name` can go on with, and a space; or nothing.

    Example:
        >>> did_you_mean("allgahter", ["allgather", "allreduce"])
        "did you mean 'allgather'? "
    """
    near = nearest(name, known)
    return "" if near is None else f"did you mean {shown(near)}? "


def shown(value: object) -> str:
    """Return `value` as a message shows it: in JSON notation, text in quotes, cut where it is too long."""
    return repr(_cut(value)) if isinstance(value, str) else _cut(_spelled(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _spelled(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(text := getattr(value, "text", None), str):  # a JSON number that remembers how it was written
        return text
    if isinstance(value, int) and value.bit_length() > 4 * _MOST_SHOWN:  # Python refuses to print the longest ones
        return f"an integer of about {value.bit_length() * 30103 // 100000 + 1} digits"
    if isinstance(value, list | dict):
        return json.dumps(value, default=repr, skipkeys=True)
    return repr(value) if isinstance(value, tuple | bytes) else str(value)
