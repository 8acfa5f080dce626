"""The four ways in which something can go wrong, kept apart.

`InputError` is the caller's to fix, `NoSolutionError` is the network's answer, `CommunicationError` is the fault of
another process or of the network between them, and `InternalError` is our own defect: it never reaches a user because
of what they typed.
"""

import json

_MOST_SHOWN = 60
"""The most characters of a value that a message shows."""


class ForestcollError(Exception):
    """Base of every error that forestcoll raises on purpose; its text is one line."""


class InputError(ForestcollError):
    """The input is bad: the text says where, what, the value, and how to mend it."""


class NoSolutionError(ForestcollError):
    """The input is well formed, but what was asked cannot be had on it; the text says why."""


class CommunicationError(ForestcollError):
    """Processes that run a schedule together failed: the text names the operation and the rank at fault."""


class InternalError(ForestcollError):
    """A defect of forestcoll itself: an invariant that its own code broke."""

    def __init__(self, message: str) -> None:
        super().__init__(f"defect in forestcoll: {message}; please report it with the input that led here")


def shown(value: object) -> str:
    """Return how a message shows a value that somebody wrote: as it stands in JSON, text in quotes, never too long."""
    return repr(_cut(value)) if isinstance(value, str) else _cut(_spelled(value))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _spelled(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(text := getattr(value, "text", None), str):  # a JSON number that remembers how it was written
        return text
    if isinstance(value, int) and value.bit_length() > 4 * _MOST_SHOWN:  # Python does not print the longest
        return f"an integer of about {value.bit_length() * 30103 // 100000 + 1} digits"
    if isinstance(value, list | dict):
        return json.dumps(value, default=repr, skipkeys=True)
    return repr(value) if isinstance(value, tuple | bytes) else str(value)
