"""Ends of the process while a file is being written: the temporary file is removed first."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn


class _EndedError(BaseException):
    """A signal that ends the process arrived."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def cleaned_up(part: Path) -> Iterator[None]:
    """Remove the file `part` if the block fails, is interrupted, or the process is terminated in it.

    SIGTERM and SIGHUP end the process as they do without this function, after the file is removed. If the program
    handles or ignores one of them, or in a thread other than the first one, the signal keeps its meaning.
    """
    caught = _listen()
    try:
        yield
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, _EndedError):
            signal.signal(error.number, signal.SIG_DFL)
            os.kill(os.getpid(), error.number)
        raise
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


def _listen() -> list[int]:
    """Let the signals that would end the process raise an exception, and return them."""
    if threading.current_thread() is not threading.main_thread():
        return []
    names = ("SIGTERM", "SIGHUP")
    numbers = [number for name in names if (number := getattr(signal, name, None)) is not None]
    caught = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in caught:
        signal.signal(number, _end)
    return caught


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second signal must not interrupt the cleaning up
    raise _EndedError(number)
