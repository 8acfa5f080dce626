"""What goes over a connection of the store: objects in JSON behind their length, with limits for length and time."""

import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

MOST_BYTES = 2**20
"""The most bytes of a message."""

MOST_VALUE = 504 * 2**10
"""The most bytes of a value: a message has two digits for each of them, and the key."""

MOST_KEY = 1024
"""The most characters of a key."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment until which all steps of a task must have ended together.

    Attributes:
        seconds: how long the task may take in all.
        at: the moment, as `time.monotonic` counts.
    """

    seconds: float
    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """Return the moment in `seconds` from now."""
        return cls(seconds, time.monotonic() + seconds)

    def left(self, least: float = 0.0) -> float:
        """Return the seconds until then, but not less than `least`."""
        return max(least, self.at - time.monotonic())


def frame(message: Mapping[str, object]) -> bytes:
    """Return a message as it is sent."""
    text = json.dumps(message).encode()
    return struct.pack("<I", len(text)) + text


def length_of(connection: socket.socket, deadline: Deadline | None = None) -> int:
    """Return how many bytes the message has that comes next."""
    (length,) = struct.unpack("<I", exactly(connection, 4, deadline))
    return int(length)


def receive(connection: socket.socket, deadline: Deadline) -> dict[str, Any]:
    """Return the next message.

    Raises:
        ValueError: it is too long, or no object.
        OSError: it did not come in time, or the connection was closed.
    """
    if (length := length_of(connection, deadline)) > MOST_BYTES:
        raise ValueError(f"a message of {length} bytes; at most {MOST_BYTES} are taken")
    return read_object(exactly(connection, length, deadline))


def exactly(connection: socket.socket, count: int, deadline: Deadline | None = None) -> bytes:
    """Return the next `count` bytes; without a deadline, the socket's own limit of time counts for each part.

    Raises:
        OSError: they did not come in time, or the connection was closed.
    """
    received = bytearray()
    while len(received) < count:
        if deadline is not None:
            if not (left := deadline.left()):
                raise TimeoutError("timed out")
            connection.settimeout(left)
        part = connection.recv(count - len(received))
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
    return bytes(received)


def read_question(text: bytes) -> tuple[str, bytes | float]:
    """Return what a question asks: its key, and the value to keep or the seconds to wait for one.

    Raises:
        ValueError: the text is no question.
    """
    question = read_object(text)
    key = question.get("set", question.get("get"))
    if not isinstance(key, str) or len(key) > MOST_KEY:
        raise ValueError(f"the key of a question is no text of at most {MOST_KEY} characters")
    if "set" in question:
        if not isinstance(value := question.get("value"), str):
            raise ValueError("the value of a question is no text")
        return key, bytes.fromhex(value)
    if not isinstance(seconds := question.get("timeout"), float) or not seconds >= 0:
        raise ValueError("the timeout of a question is no number of 0 or more")
    return key, seconds


def read_object(text: bytes) -> dict[str, Any]:
    """Return the object that is written in JSON; all its numbers are floats, so that their digits do not matter.

    Raises:
        ValueError: it is none, or nested too deeply.
    """
    try:
        found = json.loads(text, parse_int=float)
    except RecursionError:
        raise ValueError("a message is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("a message is no object")
    return found
