"""Calls to the operating system of which one fails."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CALLS = [
    (os, "open"),
    (os, "fsync"),
    (os, "link"),
    (Path, "chmod"),
    (Path, "replace"),
    (Path, "rename"),
    (Path, "mkdir"),
    (Path, "is_dir"),
]

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


@contextmanager
def failing(number: int | None, error: BaseException, calls: list[int]) -> Iterator[Wrap]:
    """Let one of the calls to the system raise an error; `calls` receives the number of calls.

    The value of the context wraps one more function, whose calls count too.
    """

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **more: Any) -> Any:
            calls[0] += 1
            if calls[0] - 1 == number:
                raise error
            return function(*arguments, **more)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for place, name in CALLS:
            patch.setattr(place, name, wrap(getattr(place, name)))
        yield wrap
