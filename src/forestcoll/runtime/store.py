"""Where ranks find each other: a store of small values by key, in which they wait for each other.

`TcpStore` is one for processes: rank 0 serves it, the others connect. `MemoryStore` is one for threads of a process.
Any object with `set` and `get` will do, for example a thin cover of torch's store.
"""

import hashlib
import hmac
import json
import os
import socket
import struct
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Any, Protocol

from forestcoll.base.errors import CommunicationError, InputError

_MOST_BYTES = 2**20
_MOST_KEYS = 2**16
_STRANGER_SECONDS = 10.0
_MOST_STRANGERS, _MOST_CONNECTIONS = 128, 4096
_SLICE_SECONDS = 0.2  # how long one question may occupy a connection
_ANSWER_SECONDS = 30.0
_NONCE = 16


class Store(Protocol):
    """What the rendezvous needs."""

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`."""

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, as soon as somebody has set it.

        Args:
            key: the key.
            timeout: how many seconds to wait at most.

        Raises:
            CommunicationError: nobody set it in this time.
        """


class MemoryStore:
    """A store for ranks that are threads of one process.

    Example:
        >>> store = MemoryStore()
        >>> store.set("greeting", b"hello")
        >>> store.get("greeting", timeout=1)
        b'hello'
    """

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`."""
        with self._changed:
            if key not in self._values and len(self._values) >= _MOST_KEYS:
                raise CommunicationError(f"the store is full: it has {_MOST_KEYS} keys; start a new one")
            self._values[key] = value
            self._changed.notify_all()

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most."""
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._values, timeout):
                raise CommunicationError(f"nobody set {key!r} in the store within {timeout:g} s")
            return self._values[key]


class TcpStore:
    """A store that rank 0 serves to the other ranks over TCP.

    Args:
        address: `host:port` of rank 0; rank 0 listens there.
        rank: the rank of the caller.
        timeout: how many seconds to try to connect.
        secret: what all ranks must know to use the store; none if it is empty.

    Raises:
        InputError: the address has another form.
        CommunicationError: rank 0 cannot listen there, or is not reached in time.
    """

    def __init__(self, address: str, *, rank: int, timeout: float = 60.0, secret: bytes = b"") -> None:
        self._address = _parsed(address)
        self._secret = secret
        self._turns = _Turns()
        self._server = _Server(self._address, secret) if rank == 0 else None
        try:
            self._socket = self._connected(time.monotonic() + timeout, timeout)
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """The port of the store: that of the address or, where it is 0, the one that the system chose."""
        return self._address[1] if self._server is None else self._server.port

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`."""
        if error := self._ask({"set": key, "value": value.hex()}).get("error"):
            raise CommunicationError(error)

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most. Other threads are not blocked."""
        deadline = time.monotonic() + timeout
        while True:
            left = max(0.0, deadline - time.monotonic())
            answer = self._ask({"get": key, "timeout": min(left, _SLICE_SECONDS)})
            if "value" in answer:
                return bytes.fromhex(answer["value"])
            if time.monotonic() >= deadline:
                raise CommunicationError(f"nobody set {key!r} in the store within {timeout:g} s")

    def close(self) -> None:
        """Close the connection and, on rank 0, the store."""
        if (connection := getattr(self, "_socket", None)) is not None:
            connection.close()
        if self._server is not None:
            self._server.close()

    def _connected(self, deadline: float, timeout: float) -> socket.socket:
        host = self._address[0], self.port
        while True:
            try:
                return self._greeted(socket.create_connection(host, timeout=max(0.05, deadline - time.monotonic())))
            except OSError as error:
                if time.monotonic() >= deadline:
                    where = f"{host[0]}:{host[1]}"
                    raise CommunicationError(
                        f"rank 0 is not reached at {where} within {timeout:g} s: {error}"
                    ) from None
                time.sleep(0.02)

    def _greeted(self, connection: socket.socket) -> socket.socket:
        """Prove to the server that this rank has the secret; the connection is closed if it breaks."""
        try:
            nonce = _exactly(connection, _NONCE)
            connection.sendall(hmac.digest(self._secret, nonce, hashlib.sha256))
        except OSError:
            connection.close()
            raise
        return connection

    def _ask(self, question: dict[str, object]) -> dict[str, Any]:
        with self._turns:
            try:
                self._socket.settimeout(_ANSWER_SECONDS)
                _send(self._socket, question)
                answer: dict[str, Any] = _receive(self._socket)
            except (OSError, ValueError) as error:
                self._socket.close()  # a late answer must not be taken for that of another question
                raise CommunicationError(
                    f"the store at {self._address[0]}:{self.port} does not answer: {error}"
                ) from None
            return answer


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InputError(f"store is {address!r}; expected host:port, such as '127.0.0.1:29500'")
    return host, int(port)


class _Turns:
    """A lock that threads get in the order in which they came.

    With a usual lock, a thread that waits for a value and repeats its question could keep all others out.
    """

    def __init__(self) -> None:
        self._threads: deque[object] = deque()
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._threads.append(mine := object())
            try:
                self._changed.wait_for(lambda: self._threads[0] is mine)
            except BaseException:  # Ctrl-C
                self._threads.remove(mine)
                self._changed.notify_all()
                raise

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._threads.popleft()
            self._changed.notify_all()


class _Server:
    """Serves the values of a store, a thread a connection."""

    def __init__(self, address: tuple[str, int], secret: bytes) -> None:
        self._values, self._secret, self._open = MemoryStore(), secret, True
        self._connections: set[socket.socket] = set()
        self._strangers: set[socket.socket] = set()
        try:
            self._listener = socket.create_server(address, backlog=1024)
        except OSError as error:
            raise CommunicationError(f"rank 0 cannot listen at {address[0]}:{address[1]}: {error}") from None
        self.port: int = self._listener.getsockname()[1]
        self._listener.settimeout(0.1)
        self._thread = threading.Thread(target=self._accept, name="forestcoll-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._open = False
        self._thread.join()
        self._listener.close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)  # ends the thread that reads from it, which closes it

    def _accept(self) -> None:
        while self._open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                continue
            if len(self._connections) >= _MOST_CONNECTIONS or len(self._strangers) >= _MOST_STRANGERS:
                connection.close()
                continue
            self._connections.add(connection)
            self._strangers.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="forestcoll-store", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if not self._admit(connection):
                return
            self._strangers.discard(connection)
            connection.settimeout(None)
            while self._open:
                _send(connection, self._answer(_receive(connection)))
        except (OSError, ValueError, KeyError, TypeError):
            return
        finally:
            self._strangers.discard(connection)
            self._connections.discard(connection)
            connection.close()

    def _admit(self, connection: socket.socket) -> bool:
        """Return whether the other end has the secret; it must prove that in time."""
        nonce, deadline = os.urandom(_NONCE), time.monotonic() + _STRANGER_SECONDS
        connection.settimeout(_STRANGER_SECONDS)
        connection.sendall(nonce)
        code = _exactly(connection, hashlib.sha256().digest_size, deadline)
        return hmac.compare_digest(code, hmac.digest(self._secret, nonce, hashlib.sha256))

    def _answer(self, question: dict[str, Any]) -> dict[str, object]:
        if "set" in question:
            try:
                self._values.set(str(question["set"]), bytes.fromhex(question["value"]))
            except CommunicationError as error:
                return {"error": str(error)}
            return {}
        deadline = time.monotonic() + float(question["timeout"])
        while self._open:
            try:
                return {"value": self._values.get(str(question["get"]), _SLICE_SECONDS / 2).hex()}
            except CommunicationError:
                if time.monotonic() >= deadline:
                    break
        return {}


def _send(connection: socket.socket, message: dict[str, object]) -> None:
    text = json.dumps(message).encode()
    connection.sendall(struct.pack("<I", len(text)) + text)


def _receive(connection: socket.socket) -> dict[str, Any]:
    (length,) = struct.unpack("<I", _exactly(connection, 4))
    if length > _MOST_BYTES:
        raise ValueError(f"a message of {length} bytes; at most {_MOST_BYTES} are taken")
    message = json.loads(_exactly(connection, length))
    if not isinstance(message, dict):
        raise ValueError("a message is no object")
    return message


def _exactly(connection: socket.socket, count: int, deadline: float | None = None) -> bytes:
    received = bytearray()
    while len(received) < count:
        if deadline is not None:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
        part = connection.recv(count - len(received))
        if not part:
            raise ConnectionError("the connection was closed")
        received += part
    return bytes(received)
