"""The handle of an operation that was started."""

import time
from typing import TYPE_CHECKING

from forestcoll.base.errors import CommunicationError
from forestcoll.runtime.engine.elements import AnyArray

if TYPE_CHECKING:
    from forestcoll.runtime._runtime import Engine
    from forestcoll.runtime._runtime import Work as NativeWork

_SLICE_SECONDS = 0.2  # how long Ctrl-C may have to wait


class Work:
    """An operation in flight. Leave its arrays alone until `wait` has returned.

    Args:
        engine: runs it.
        native: the engine's handle.
        label: what the operation is.
        result: what `wait` returns.
    """

    def __init__(self, engine: "Engine", native: "NativeWork", label: str, result: AnyArray | None) -> None:
        self._engine, self._native, self._label, self._result = engine, native, label, result

    @property
    def number(self) -> int:
        """The number of the operation in its group, from 0."""
        return self._native.number

    def is_done(self) -> bool:
        """Return whether it has ended, well or not."""
        return self._native.is_done()

    def wait(self, timeout: float | None = None) -> AnyArray | None:
        """Wait until the operation has ended and return its result.

        Args:
            timeout: how many seconds to wait at most; None for as long as the group's own limit allows.

        Returns:
            The array with the result; None where the operation leaves none on this rank.

        Raises:
            CommunicationError: the group has failed; every operation of it fails with the same message.
            TimeoutError: the operation has not ended within `timeout`; it goes on.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE_SECONDS if deadline is None else min(_SLICE_SECONDS, deadline - time.monotonic())
            if self._engine.wait(self._native, max(0.0, left)):
                break
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"operation {self.number} ({self._label}) has not ended within {timeout:g} s")
        if error := self._native.error():
            raise CommunicationError(error)
        return self._result
