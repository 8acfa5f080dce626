"""Keeps `torch.compile` out of the backend: it would trace into methods that torch calls while compiled code runs."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

AnyClass = TypeVar("AnyClass", bound=type)


def not_compiled(chosen: AnyClass) -> AnyClass:
    """Mark all methods of a class as code that runs as it is, with everything that they call.

    Example:
        >>> @not_compiled
        ... class Counter:
        ...     def add(self, one: int, other: int) -> int:
        ...         return one + other
        >>> Counter().add(1, 2)
        3
    """
    mark = _mark()
    for name, value in list(vars(chosen).items()):
        if isinstance(value, FunctionType):
            setattr(chosen, name, mark(value))
    return chosen


def _mark() -> Callable[[Any], Any]:
    """Return what marks a function. torch's public way imports the compiler, which takes seconds."""
    try:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy
    except ImportError:
        from torch.compiler import disable

        public: Callable[[Any], Any] = disable
        return public
    skip = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)

    def mark(function: FunctionType) -> FunctionType:
        set_code_exec_strategy(function.__code__, skip)
        return function

    return mark
