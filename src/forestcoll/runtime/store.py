"""Where ranks find each other: a store of small values by key, in which they wait for each other.

`TcpStore` is one for processes: rank 0 serves it, the others connect. `MemoryStore` is one for threads of a process.
Any object with `set` and `get` will do, for example a thin cover of torch's store.

A client of rank 0 may be anybody, so all that it can ask for is bounded: the length of a message, how many long ones
are in memory at a time and how long they take, the values in all, and the connections. When there are too many, the
one that has been silent for longest is dropped and told so. A rank that was dropped connects again.
"""

import hashlib
import hmac
import os
import resource
import socket
import threading
import time
from collections import deque
from collections.abc import Collection
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Protocol

from forestcoll.base.errors import CommunicationError, InputError, shown
from forestcoll.runtime.environment import check_secret
from forestcoll.runtime.messages import (
    MOST_BYTES,
    MOST_KEY,
    MOST_VALUE,
    Deadline,
    exactly,
    frame,
    length_of,
    read_question,
    receive,
)

_MOST_KEYS = 2**16
_MOST_STORED = 2**29  # bytes of all keys and values
_SHORT_BYTES = 2**12  # a connection may always have a message of this length under way,
_MOST_LONG = 16  # all connections together this many longer ones,
_MESSAGE_SECONDS = 10.0  # each of them for this time
_STRANGER_SECONDS = 10.0
_MOST_STRANGERS, _MOST_CONNECTIONS = 128, 4096
_MOST_NAMED = 3
_SLICE_SECONDS = 0.2  # how long one question may occupy a connection
_ANSWER_SECONDS = 30.0
_LEAST_ANSWER_SECONDS = 2.0  # for the answer to a question that was asked in time
_NONCE = 16


class StoreError(CommunicationError):
    """The store itself failed: it is full, has dropped this rank, or does not answer. No other rank is to blame."""


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
            CommunicationError: no rank set it in this time.
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
        self._stored = 0
        self._changed = threading.Condition()

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`.

        Raises:
            CommunicationError: the store is full.
        """
        with self._changed:
            old = self._values.get(key)
            if old is None and len(self._values) >= _MOST_KEYS:
                raise CommunicationError(f"the store is full: it has {_MOST_KEYS} keys; start a new one")
            more = getsizeof(value) + (getsizeof(key) if old is None else -getsizeof(old))
            if self._stored + more > _MOST_STORED:
                raise CommunicationError(
                    f"the store is full: {key!r} would make it larger than {_MOST_STORED} bytes; start a new one"
                )
            self._values[key] = value
            self._stored += more
            self._changed.notify_all()

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most."""
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._values, timeout):
                raise CommunicationError(f"no rank set {key!r} in the store within {timeout:g} s")
            return self._values[key]


class TcpStore:
    """A store that rank 0 serves to the other ranks over TCP.

    A value has at most 504 KiB, and all keys and values 512 MiB.

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
        check_secret(secret or None)
        self._address = _parsed(address)
        self._secret = secret
        self._turns = _Turns()
        self._joining = Deadline.after(timeout)
        self._server = _Server(self._address, secret) if rank == 0 else None
        try:
            self._socket = self._connected(self._joining)
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """The port of the store: that of the address or, where it is 0, the one that the system chose."""
        return self._address[1] if self._server is None else self._server.port

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`.

        Raises:
            InputError: the key or the value is too long.
            CommunicationError: the store is full, or does not answer.
        """
        _check_key(key)
        if len(value) > MOST_VALUE:
            raise InputError(f"the value of {shown(key)} has {len(value)} bytes; give at most {MOST_VALUE}, in parts")
        deadline = self._joining if self._joining.left() else Deadline.after(_ANSWER_SECONDS)
        self._ask({"set": key, "value": value.hex()}, deadline)

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most. Other threads are not blocked."""
        _check_key(key)
        deadline = Deadline.after(timeout)
        while True:
            answer = self._ask({"get": key, "timeout": min(deadline.left(), _SLICE_SECONDS)}, deadline)
            if "value" in answer:
                return self._value(answer["value"])
            if not deadline.left():
                raise CommunicationError(f"no rank set {key!r} in the store within {timeout:g} s")

    def close(self) -> None:
        """Close the connection and, on rank 0, the store."""
        if (connection := getattr(self, "_socket", None)) is not None:
            connection.close()
        if self._server is not None:
            self._server.close()

    def _connected(self, deadline: Deadline) -> socket.socket:
        host = self._address[0], self.port
        while True:
            try:
                return self._greeted(socket.create_connection(host, timeout=deadline.left(0.05)), deadline)
            except OSError as error:
                if not deadline.left():
                    where = f"{host[0]}:{host[1]}"
                    raise StoreError(
                        f"rank 0 is not reached at {where} within {deadline.seconds:g} s: {error}"
                    ) from None
                time.sleep(0.02)

    def _greeted(self, connection: socket.socket, deadline: Deadline) -> socket.socket:
        """Prove to the server that this rank has the secret; the connection is closed if it breaks."""
        try:
            nonce = exactly(connection, _NONCE, deadline)
            connection.sendall(hmac.digest(self._secret, nonce, hashlib.sha256))
        except OSError:
            connection.close()
            raise
        return connection

    def _ask(self, question: dict[str, object], deadline: Deadline) -> dict[str, Any]:
        """Return the answer to a question. If the store has dropped this rank, connect again.

        Raises:
            StoreError: the store refuses the question, drops this rank again and again, or does not answer in time.
        """
        with self._turns:
            answer = self._answer(question, deadline)
            while "dropped" in answer:
                self._socket.close()
                time.sleep(0.02)
                try:
                    self._socket = self._connected(deadline)
                except StoreError:
                    raise StoreError(_said(answer["dropped"])) from None
                answer = self._answer(question, deadline)
        if "error" in answer:
            raise StoreError(_said(answer["error"]))
        return answer

    def _answer(self, question: dict[str, object], deadline: Deadline) -> dict[str, Any]:
        limit = Deadline.after(min(_ANSWER_SECONDS, deadline.left(_LEAST_ANSWER_SECONDS)))
        try:
            self._socket.settimeout(limit.seconds)
            with suppress(BrokenPipeError, ConnectionResetError):  # the store may have said why it dropped this rank
                self._socket.sendall(frame(question))
            return receive(self._socket, limit)
        except (OSError, ValueError) as error:
            self._socket.close()  # a late answer must not be taken for that of another question
            raise self._failure(error) from None

    def _value(self, answer: object) -> bytes:
        try:
            return bytes.fromhex(str(answer))
        except ValueError as error:
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> StoreError:
        return StoreError(f"the store at {self._address[0]}:{self.port} does not answer: {error}")


def _check_key(key: str) -> None:
    if len(key) > MOST_KEY:
        raise InputError(f"the key {shown(key)} has {len(key)} characters; give at most {MOST_KEY}")


def _said(text: object) -> str:
    """Return what a store said, on one line: rank 0 may be another program."""
    return text if isinstance(text, str) and text.isprintable() and len(text) < _SHORT_BYTES else shown(text)


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


@dataclass(eq=False, slots=True)
class _Client:
    """A connection of the server.

    Attributes:
        connection: its socket.
        name: its other end.
        heard: when it connected, was admitted or asked last.
        is_known: whether it has proved that it has the secret.
    """

    connection: socket.socket
    name: str
    heard: float
    is_known: bool = False


class _Server:
    """Serves the values of a store, a thread a connection."""

    def __init__(self, address: tuple[str, int], secret: bytes) -> None:
        self._values, self._secret, self._open = MemoryStore(), secret, True
        self._clients: set[_Client] = set()
        self._parsing, self._long = threading.Lock(), threading.BoundedSemaphore(_MOST_LONG)
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
        for client in list(self._clients):
            _end(client.connection)

    # Connections.

    def _accept(self) -> None:
        while self._open:
            try:
                connection, address = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:  # the process may open no more files
                self._drop_longest_silent(self._clients)
                time.sleep(_SLICE_SECONDS)
            else:
                self._begin(_Client(connection, f"{address[0]}:{address[1]}", time.monotonic()))

    def _begin(self, client: _Client) -> None:
        """Serve a client in a thread of its own."""
        clients = list(self._clients)
        strangers = [each for each in clients if not each.is_known]
        if len(strangers) >= _MOST_STRANGERS:
            self._drop_longest_silent(strangers)
        elif len(clients) >= min(_MOST_CONNECTIONS, _most_files()):
            self._drop_longest_silent(clients)
        nonce = os.urandom(_NONCE)
        try:
            client.connection.sendall(nonce)  # before anything else that the client may be told
            self._clients.add(client)
            threading.Thread(target=self._serve, args=(client, nonce), name="forestcoll-store", daemon=True).start()
        except (OSError, RuntimeError):  # the client has left, or the process may start no more threads
            self._clients.discard(client)
            client.connection.close()

    def _drop_longest_silent(self, among: Collection[_Client]) -> None:
        silent = sorted(among, key=lambda each: each.heard)
        if silent:
            now = time.monotonic()
            others = silent[1:]
            named = ", ".join(f"{each.name} for {now - each.heard:.1f} s" for each in others[:_MOST_NAMED])
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            self._drop(
                silent[0],
                f"the store of rank 0 has too many connections and dropped {silent[0].name}, which was silent for "
                f"longest; also silent: {named or 'none'}{more}; end those that are no ranks of the group",
            )

    def _drop(self, client: _Client, reason: str) -> None:
        """End a connection, and say why if that is possible at once."""
        self._clients.discard(client)
        with suppress(OSError):
            client.connection.settimeout(0)
            client.connection.send(frame({"dropped": reason}), socket.MSG_DONTWAIT)
        _end(client.connection)

    def _serve(self, client: _Client, nonce: bytes) -> None:
        try:
            if self._admit(client, nonce):
                client.is_known = True
                while self._open:
                    client.connection.settimeout(None)
                    client.heard = time.monotonic()
                    self._answer_next(client.connection)
        except (OSError, ValueError):
            return
        finally:
            self._clients.discard(client)
            client.connection.close()

    def _admit(self, client: _Client, nonce: bytes) -> bool:
        """Return whether the other end has the secret; it must prove that in time."""
        try:
            code = exactly(client.connection, hashlib.sha256().digest_size, Deadline.after(_STRANGER_SECONDS))
        except TimeoutError:
            self._drop(
                client, f"the store of rank 0 dropped {client.name}, which was silent for {_STRANGER_SECONDS:g} s"
            )
            raise
        return hmac.compare_digest(code, hmac.digest(self._secret, nonce, hashlib.sha256))

    # Questions.

    def _answer_next(self, connection: socket.socket) -> None:
        """Read a question and answer it."""
        length = length_of(connection)
        if length > MOST_BYTES:
            connection.sendall(frame({"error": f"a question has {length} bytes; the store takes {MOST_BYTES}"}))
            raise ValueError("the rest of the connection cannot be read")
        try:
            key, content = self._question(connection, length)
            answer = self._kept(key, content) if isinstance(content, bytes) else self._found(key, content)
        except ValueError as error:
            answer = {"error": f"the store does not understand a question: {error}"}
        except CommunicationError as error:
            answer = {"error": str(error)}
        connection.settimeout(_MESSAGE_SECONDS)
        if "key" in answer:  # long, and not yet in memory
            with self._long:
                connection.sendall(frame({"value": self._values.get(answer["key"], 0).hex()}))
        else:
            connection.sendall(frame(answer))

    def _question(self, connection: socket.socket, length: int) -> tuple[str, bytes | float]:
        """Return the key of a question, and the value to keep or the seconds to wait for one."""
        with self._long if length > _SHORT_BYTES else nullcontext():
            text = exactly(connection, length, Deadline.after(_MESSAGE_SECONDS))
            with self._parsing:  # a parsed text may take many times its length
                return read_question(text)

    def _kept(self, key: str, value: bytes) -> dict[str, str]:
        self._values.set(key, value)
        return {}

    def _found(self, key: str, seconds: float) -> dict[str, str]:
        """Return the value of `key` or, if it is long, only the key; nothing if no rank sets it in time."""
        deadline = Deadline.after(min(_SLICE_SECONDS, seconds))
        while self._open:
            try:
                value = self._values.get(key, min(_SLICE_SECONDS / 2, deadline.left()))
            except CommunicationError:
                if not deadline.left():
                    break
            else:
                return {"value": value.hex()} if 2 * len(value) <= _SHORT_BYTES else {"key": key}
        return {}


def _most_files() -> int:
    """Return how many connections leave the process some of the files that it may open."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_CONNECTIONS if most == resource.RLIM_INFINITY else most * 3 // 4


def _end(connection: socket.socket) -> None:
    """End the thread that reads from a connection; it closes the connection."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
