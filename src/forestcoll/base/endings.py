"""Signals that end the process while files are written: they end the work, and wait while it is cleaned up.

A message about an ending says whether the process has written results; this module counts them.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_sets_written = 0


def sets_written() -> int:
    """Return how many sets of results this process has written."""
    return _sets_written


def note_written() -> None:
    """Note that results were written, or that another process may write them from now on."""
    global _sets_written  # noqa: PLW0603 (a fact about the process)
    _sets_written += 1


_ENDS = ("SIGTERM", "SIGHUP", "SIGINT")


class _EndedError(BaseException):
    """A signal that ends the process arrived."""


class Endings:
    """The signals that may end the process.

    A signal that would end the process at once raises an exception instead, and ends it after the block. A function of
    the program that handles a signal is called as usual. An ignored signal is ignored.
    """

    def __init__(self) -> None:
        self._waits = False
        self._came: int | None = None
        self._usual: dict[int, signal._HANDLER] = {}

    def wait(self) -> None:
        """Let signals wait from now on, to the end of the block. The first of them is not lost."""
        self._waits = True

    def listen(self) -> None:
        """Catch the signals; in a thread other than the first one, Python cannot."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (number for name in _ENDS if (number := getattr(signal, name, None)) is not None):
            usual = signal.getsignal(number)
            if usual is signal.SIG_DFL or callable(usual):
                self._usual[number] = usual
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        usual = self._usual[number]
        if not self._waits and callable(usual):
            usual(number, frame)
            return
        self._came = self._came or number
        if not self._waits:
            raise _EndedError

    def restore(self) -> None:
        """Give the signals their meaning back, Ctrl-C last, and send the one that came again."""
        for number, usual in self._usual.items():
            signal.signal(number, usual)
        if self._came is not None:
            signal.raise_signal(self._came)


@contextmanager
def caught_endings() -> Iterator[Endings]:
    """Catch the signals that may end the process while the block runs."""
    endings = Endings()
    try:
        endings.listen()
        yield endings
    finally:
        endings.restore()
