"""Handles of operations as torch expects them: they can be waited for, and have a future."""

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from threading import Lock, Thread

import torch
import torch.distributed as dist

from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Work
from forestcoll.torch.calls.graphs import not_compiled

_END_SECONDS = 10.0

Completion = Callable[[], None]
Failure = Callable[[CommunicationError], BaseException]


@not_compiled
class EngineWork(dist.Work):
    """An operation of the engine.

    Args:
        work: the engine's handle.
        outputs: the tensors with the result.
        completion: copies the result to the outputs, where the engine could not write there itself; None if it did.
        failure: returns the exception that callers get for a fault of the engine.
        completer: completes futures.
    """

    def __init__(
        self,
        work: Work,
        outputs: Sequence[torch.Tensor],
        completion: Completion | None,
        failure: Failure,
        completer: "Completer",
    ) -> None:
        super().__init__()
        self._work, self._outputs, self._completion = work, list(outputs), completion
        self._failure, self._completer = failure, completer
        self._lock = Lock()
        self._future: torch.futures.Future | None = None

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until the result is there.

        Args:
            timeout: how long to wait at most; None or 0 for as long as the group's own limit allows.

        Raises:
            DistBackendError: the group has failed.
            TimeoutError: it took longer than `timeout`.
        """
        seconds = None if timeout is None else timeout.total_seconds()
        self._finish(seconds if seconds is not None and seconds > 0 else None)
        return True

    def is_completed(self) -> bool:
        """Return whether it has ended, well or not."""
        if not self._work.is_done():
            return False
        try:
            self._finish(None)
        except dist.DistBackendError:
            return True
        return True

    def is_success(self) -> bool:
        """Return whether it has ended well."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """Return why it failed; None if it has not."""
        if not self._work.is_done():
            return None
        try:
            self._finish(None)
        except dist.DistBackendError as error:
            failure: BaseException = error
            return failure
        return None

    def result(self) -> list[torch.Tensor]:
        """Return the tensors with the result."""
        return self._outputs

    def synchronize(self) -> None:
        """Do what `wait` does."""
        self.wait()

    def get_future(self) -> torch.futures.Future:
        """Return a future of the tensors with the result.

        A fault comes out of a function that follows the future of the engine: an exception that a thread sets on a
        future ends the process under DDP.
        """
        with self._lock:
            if self._future is None:
                ended: torch.futures.Future = torch.futures.Future()
                self._future = ended.then(self._outcome)
                self._completer.add(self._work, ended)
            return self._future

    def _outcome(self, _ended: torch.futures.Future) -> list[torch.Tensor]:
        self._finish(None)
        return self._outputs

    def _finish(self, seconds: float | None) -> None:
        try:
            self._work.wait(seconds)
        except CommunicationError as error:
            raise self._failure(error) from None
        with self._lock:
            completion, self._completion = self._completion, None
            if completion is not None:
                completion()


@not_compiled
class JoinedWork(dist.Work):
    """Several operations that were called as one."""

    def __init__(self, works: Sequence[dist.Work], outputs: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._works, self._outputs = list(works), list(outputs)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until all have ended."""
        for work in self._works:
            work.wait() if timeout is None else work.wait(timeout)
        return True

    def is_completed(self) -> bool:
        """Return whether all have ended."""
        return all(work.is_completed() for work in self._works)

    def is_success(self) -> bool:
        """Return whether all have ended well."""
        return all(work.is_success() for work in self._works)

    def result(self) -> list[torch.Tensor]:
        """Return the tensors with the results."""
        return self._outputs

    def get_future(self) -> torch.futures.Future:
        """Return a future of the tensors with the results."""
        futures = [work.get_future() for work in self._works]

        def outcome(_ended: torch.futures.Future) -> list[torch.Tensor]:
            for future in futures:
                future.value()
            return self._outputs

        return torch.futures.collect_all(futures).then(outcome)


class Completer:
    """Completes futures of one communicator's operations, in the order of issue, in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name, self._lock = name, Lock()
        self._thread: Thread | None = None
        self._waiting: queue.SimpleQueue[tuple[Work, torch.futures.Future] | None] = queue.SimpleQueue()

    def add(self, work: Work, ended: torch.futures.Future) -> None:
        """Set `ended` when `work` has ended, well or not."""
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._run, name=f"forestcoll-futures-{self._name}", daemon=True)
                self._thread.start()
        self._waiting.put((work, ended))

    def close(self) -> None:
        """End the thread; all operations must have ended."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            thread.join(_END_SECONDS)

    def _run(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            work, ended = waiting
            with suppress(CommunicationError):  # the function that follows the future raises it
                work.wait()
            ended.set_result(None)
