"""The three ways in which something can go wrong, kept apart.

`InputError` is the caller's to mend, `NoSolutionError` is the network's answer, and `InternalError` is our own
defect: it never reaches a user because of what they typed.
"""


class ForestcollError(Exception):
    """Base of every error that forestcoll raises on purpose; its text is one line."""


class InputError(ForestcollError):
    """The input is bad: the text says where, what, the value, and how to mend it."""


class NoSolutionError(ForestcollError):
    """The input is well formed, but what was asked cannot be had on it; the text says why."""


class InternalError(ForestcollError):
    """A defect of forestcoll itself: an invariant that its own code broke."""

    def __init__(self, message: str) -> None:
        super().__init__(f"defect in forestcoll: {message}; please report it with the input that led here")
