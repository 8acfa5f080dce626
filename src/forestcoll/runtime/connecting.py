"""The connections of a group: who listens where, who connects to whom, and how both know each other.

Every rank listens on the addresses of its interfaces and publishes them in the store with a fresh nonce. The source of
a lane connects to its target, the lower rank of two neighbours opens their control connection. Who connects sends one
hello of fixed size with a code that only those who know the group's secret can compute; who accepts answers with
another. A stranger gets nothing: a hello has a fixed size and a deadline, few may wait at a time, and the listeners
close when all connections stand. Ranks of one host connect by sockets of the host where they can, with the same hellos,
and pass each other a file of the memory that they share.
"""

import hashlib
import hmac
import json
import os
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from forestcoll.base.errors import CommunicationError, shown
from forestcoll.runtime import sharing
from forestcoll.runtime.engine.trees import Hop
from forestcoll.runtime.messages import Deadline, read_object
from forestcoll.runtime.sharing import Sharing
from forestcoll.runtime.store import Store, StoreError

_HELLO = struct.Struct("<4sBBHIi16s16s32s")  # magic, version, byte order, zero, rank, lane, two nonces, code
_MAGIC, _VERSION = b"FCRT", 1
_CONTROL = -1
_MOST_WAITING = 128
_HELLO_SECONDS = 5.0
_NONCE = 16


Admission: TypeAlias = Callable[[socket.socket, bytes], tuple[int, int] | None]
Failure: TypeAlias = Callable[[set[tuple[int, int]]], CommunicationError]


@dataclass(frozen=True, slots=True)
class Membership:
    """What all ranks of a group agree on.

    Attributes:
        name: tells groups that use one store apart.
        rank: of the caller.
        size: how many ranks there are.
        lanes: all lanes, in the order of their numbers.
        digest: a hash of everything that must be the same on all ranks.
        secret: proves that a rank belongs to the group.
    """

    name: str
    rank: int
    size: int
    lanes: tuple[Hop, ...]
    digest: bytes
    secret: bytes

    @property
    def neighbours(self) -> tuple[int, ...]:
        """The ranks that share a lane with this one."""
        ends = {(lane.source, lane.target) for lane in self.lanes}
        return tuple(sorted({sum(pair) - self.rank for pair in ends if self.rank in pair}))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a rank can be reached.

    Attributes:
        default: the address of its interface.
        of_link: other addresses, by the number of the node that the link leads to.
    """

    default: str
    of_link: Mapping[int, str]

    def at(self, link: int) -> str:
        """Return the address for data over this link."""
        return self.of_link.get(link, self.default)


@dataclass(frozen=True, slots=True)
class _Card:
    """What a rank publishes in the store.

    Attributes:
        digest: that of its group.
        nonce: for the codes of those who connect to it.
        default: host and port of its interface.
        links: other hosts and ports, by the number of the node that the link leads to.
        host: that of `Sharing`; empty if it shares nothing.
    """

    digest: bytes
    nonce: bytes
    default: tuple[str, int]
    links: Mapping[int, tuple[str, int]]
    host: str = ""

    def text(self) -> bytes:
        """Return the card as the store has it."""
        document = {
            "digest": self.digest.hex(),
            "nonce": self.nonce.hex(),
            "default": self.default,
            "links": {str(link): end for link, end in self.links.items()},
            "host": self.host,
        }
        return json.dumps(document).encode()

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Return the card in `data`; raises `ValueError` or another error if it is none, as anybody may write one."""
        found = read_object(data)
        links = {int(link): _endpoint(end) for link, end in found["links"].items()}
        digest, nonce = bytes.fromhex(found["digest"]), bytes.fromhex(found["nonce"])
        return cls(digest, nonce, _endpoint(found["default"]), links, str(found["host"]))


def _endpoint(found: object) -> tuple[str, int]:
    if not isinstance(found, list) or len(found) != 2 or not isinstance(found[0], str) or not 0 < found[1] < 2**16:
        raise ValueError("no host and port")
    return found[0], int(found[1])


@dataclass(frozen=True, slots=True)
class Connected:
    """Connected sockets: by lane those that send and those that receive, by rank those for control.

    Attributes:
        senders: by lane.
        receivers: by lane.
        controls: by rank.
        pages: of ranks of this host, the descriptors of their pages.
    """

    senders: Mapping[int, socket.socket]
    receivers: Mapping[int, socket.socket]
    controls: Mapping[int, socket.socket]
    pages: Mapping[int, int]

    def close(self) -> None:
        """Close all of them."""
        for file in self.pages.values():
            os.close(file)
        for sockets in (self.senders, self.receivers, self.controls):
            for each in sockets.values():
                each.close()


def connect(
    group: Membership, store: Store, addresses: Addresses, deadline: Deadline, shared: Sharing | None = None
) -> Connected:
    """Return the sockets of this rank, connected to those of all neighbours.

    Args:
        group: what all ranks agree on.
        store: where ranks find each other.
        addresses: where this rank can be reached.
        deadline: when all must be there.
        shared: what this rank shares with others of its host; None for nothing.

    Raises:
        CommunicationError: a rank did not come in time, or it has other schedules or options.
    """
    meeting = _Meeting(group, store, addresses, deadline, shared)
    try:
        return meeting.run()
    except BaseException:
        meeting.abandon()
        raise
    finally:
        meeting.close_listeners()


class _Meeting:
    def __init__(
        self, group: Membership, store: Store, addresses: Addresses, deadline: Deadline, shared: Sharing | None
    ) -> None:
        self._group, self._store, self._addresses, self._deadline = group, store, addresses, deadline
        self._shared, self._pages = shared, dict[int, int]()
        self._nonce = os.urandom(_NONCE)
        self._listeners: dict[str, socket.socket] = {}
        self._outgoing: dict[tuple[int, int], tuple[socket.socket, bytes]] = {}  # with the code that must come back
        self._accepted: dict[tuple[int, int], socket.socket] = {}

    def run(self) -> Connected:
        self._listen()
        cards = self._exchange()
        for lane, target, ends in self._calls(cards):
            self._call(lane, target, ends, cards[target])
        _Reception(self._listeners.values(), self._expected(), self._admit, self._deadline).run(self._missing)
        for (_, target), (connection, code) in self._outgoing.items():
            self._confirm(connection, code, target)
        self._exchange_files()
        self._store.set(self._key("ready", self._group.rank), b"1")
        if self._group.rank == 0:
            for rank in range(self._group.size):
                self._fetch("ready", rank)
        return self._sorted()

    def close_listeners(self) -> None:
        for listener in self._listeners.values():
            listener.close()

    def abandon(self) -> None:
        for connection in [each for each, _ in self._outgoing.values()] + list(self._accepted.values()):
            connection.close()
        for file in self._pages.values():
            os.close(file)

    def _key(self, kind: str, rank: int) -> str:
        return f"forestcoll/{self._group.name}/{kind}/{rank}"

    def _fetch(self, kind: str, rank: int) -> bytes:
        try:
            return self._store.get(self._key(kind, rank), self._deadline.left(0.1))
        except StoreError:
            raise
        except CommunicationError:
            text = f"group {self._group.name!r}: rank {rank} did not come within {self._deadline.seconds:g} s"
            raise CommunicationError(f"{text}; start all {self._group.size} ranks") from None

    def _listen(self) -> None:
        for address in sorted({self._addresses.default, *self._addresses.of_link.values()}):
            try:
                self._listeners[address] = socket.create_server((address, 0), backlog=1024)
            except OSError as error:
                raise CommunicationError(f"rank {self._group.rank} cannot listen on {address}: {error}") from None
            self._listeners[address].setblocking(False)  # noqa: FBT003 (the name that sockets have)
        if self._shared is not None:
            self._listeners[""] = sharing.listener(self._nonce)
            self._listeners[""].setblocking(False)  # noqa: FBT003

    def _exchange(self) -> list[_Card]:
        """Publish where this rank listens, and return what all have published."""
        ends = {each: (each, listener.getsockname()[1]) for each, listener in self._listeners.items() if each}
        links = {link: ends[address] for link, address in self._addresses.of_link.items()}
        card = _Card(self._group.digest, self._nonce, ends[self._addresses.default], links, self._host)
        self._store.set(self._key("card", self._group.rank), card.text())
        cards = [self._card(rank) for rank in range(self._group.size)]
        for rank, other in enumerate(cards):
            if other.digest != card.digest:
                raise CommunicationError(
                    f"group {self._group.name!r}: rank {rank} has other schedules or options than rank "
                    f"{self._group.rank}; give all ranks the same"
                )
        return cards

    def _card(self, rank: int) -> _Card:
        data = self._fetch("card", rank)
        try:
            return _Card.read(data)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            raise CommunicationError(
                f"group {self._group.name!r}: the store has no addresses of rank {rank}, but other data; "
                "keep other programs away from the store, or give all ranks a secret"
            ) from None

    def _calls(self, cards: Sequence[_Card]) -> Iterable[tuple[int, int, tuple[str, tuple[str, int]]]]:
        """Yield lane, target, and the addresses here and there of the connections that this rank opens."""
        for number, lane in enumerate(self._group.lanes):
            if lane.source == self._group.rank:
                card = cards[lane.target]
                there = card.links.get(lane.enters, card.default)
                yield number, lane.target, (self._addresses.at(lane.leaves), there)
        for rank in self._group.neighbours:
            if rank > self._group.rank:
                yield _CONTROL, rank, (self._addresses.default, cards[rank].default)

    @property
    def _host(self) -> str:
        return "" if self._shared is None else self._shared.host

    def _call(self, lane: int, target: int, ends: tuple[str, tuple[str, int]], card: _Card) -> None:
        nonce, mine = card.nonce, os.urandom(_NONCE)
        rank, order = self._group.rank, sys.byteorder == "little"
        code = self._code(b"hello", rank, lane, nonce, mine)
        try:
            connection = self._connection(ends, card)
            self._outgoing[lane, target] = connection, self._code(b"answer", rank, lane, nonce, mine)
            connection.sendall(_HELLO.pack(_MAGIC, _VERSION, order, 0, rank, lane, nonce, mine, code))
        except (OSError, ValueError) as error:  # `ValueError`: the host is no name
            where = shown(f"{ends[1][0]}:{ends[1][1]}")[1:-1]
            raise CommunicationError(
                f"group {self._group.name!r}: rank {target} is not reached at {where}: {error}"
            ) from None

    def _connection(self, ends: tuple[str, tuple[str, int]], card: _Card) -> socket.socket:
        left = self._deadline.left(0.1)
        if self._shared is not None and card.host == self._host:
            connection = sharing.connection_to(card.nonce, left)
            if connection is not None:
                return connection
        return socket.create_connection(ends[1], timeout=left, source_address=(ends[0], 0))

    def _code(self, kind: bytes, rank: int, lane: int, nonce: bytes, other: bytes) -> bytes:
        text = kind + self._group.name.encode() + struct.pack("<Ii", rank, lane) + nonce + other
        return hmac.digest(self._group.secret, text, hashlib.sha256)

    def _expected(self) -> set[tuple[int, int]]:
        rank = self._group.rank
        lanes = {(number, lane.source) for number, lane in enumerate(self._group.lanes) if lane.target == rank}
        return lanes | {(_CONTROL, other) for other in self._group.neighbours if other < rank}

    def _admit(self, connection: socket.socket, hello: bytes) -> tuple[int, int] | None:
        """Return lane and rank of a hello that is right, and answer it."""
        magic, version, order, _, rank, lane, nonce, other, code = _HELLO.unpack(hello)
        is_right = magic == _MAGIC and version == _VERSION and bool(order) == (sys.byteorder == "little")
        expected = self._code(b"hello", rank, lane, self._nonce, other)
        if not is_right or nonce != self._nonce or not hmac.compare_digest(code, expected):
            return None
        if (lane, rank) not in self._expected() or (lane, rank) in self._accepted:
            return None
        connection.sendall(self._code(b"answer", rank, lane, nonce, other))
        self._accepted[lane, rank] = connection
        return lane, rank

    def _missing(self, missing: set[tuple[int, int]]) -> CommunicationError:
        rank = min(rank for _, rank in missing)
        text = f"group {self._group.name!r}: rank {rank} did not connect to rank {self._group.rank}"
        return CommunicationError(f"{text} within {self._deadline.seconds:g} s")

    def _confirm(self, connection: socket.socket, code: bytes, target: int) -> None:
        answer = bytearray()
        try:
            while len(answer) < len(code):
                connection.settimeout(self._deadline.left(0.1))
                part = connection.recv(len(code) - len(answer))
                if not part:
                    break
                answer += part
        except OSError:
            answer.clear()
        if not hmac.compare_digest(bytes(answer), code):
            raise CommunicationError(
                f"group {self._group.name!r}: rank {target} refused the connection of rank {self._group.rank}; "
                "start all ranks with the same secret, and make sure that all of them run"
            )

    def _exchange_files(self) -> None:
        """Pass the pages of this rank to all neighbours on this host, and receive theirs."""
        if self._shared is None:
            return
        controls = {rank: each for rank, each in self._controls().items() if sharing.is_on_host(each)}
        try:
            for each in controls.values():
                sharing.pass_file(each, self._shared.file)
        except OSError as error:
            raise CommunicationError(f"group {self._group.name!r}: a rank left while it connected: {error}") from None
        for rank, each in controls.items():
            self._pages[rank] = sharing.receive_file(each, self._deadline, rank)

    def _controls(self) -> dict[int, socket.socket]:
        opened = {key: connection for key, (connection, _) in self._outgoing.items()}
        return {rank: each for (lane, rank), each in (opened | self._accepted).items() if lane == _CONTROL}

    def _sorted(self) -> Connected:
        opened = {key: connection for key, (connection, _) in self._outgoing.items()}
        senders = {lane: each for (lane, _), each in opened.items() if lane != _CONTROL}
        receivers = {lane: each for (lane, _), each in self._accepted.items() if lane != _CONTROL}
        return Connected(senders, receivers, self._controls(), self._pages)


class _Reception:
    """Accepts connections until all expected ones are there; strangers wait apart from them, and not long."""

    def __init__(
        self,
        listeners: Iterable[socket.socket],
        expected: set[tuple[int, int]],
        admit: Admission,
        deadline: Deadline,
    ) -> None:
        self._missing, self._admit, self._deadline = set(expected), admit, deadline
        self._hellos: dict[socket.socket, tuple[bytearray, float]] = {}
        self._selector = selectors.DefaultSelector()
        self._listeners = set(listeners)
        for listener in self._listeners:
            self._selector.register(listener, selectors.EVENT_READ)

    def run(self, failure: Failure) -> None:
        try:
            while self._missing:
                if not self._deadline.left():
                    raise failure(self._missing)
                for key, _ in self._selector.select(0.1):
                    self._serve(key.fileobj)  # type: ignore[arg-type]  # only sockets are registered
                self._drop_late()
        finally:
            for connection in list(self._hellos):
                self._drop(connection)
            self._selector.close()

    def _serve(self, ready: socket.socket) -> None:
        if ready in self._listeners:
            self._accept(ready)
        elif ready in self._hellos:
            self._read(ready)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        if len(self._hellos) >= _MOST_WAITING:
            self._drop(next(iter(self._hellos)))  # the one that has waited longest
        connection.setblocking(False)  # noqa: FBT003 (the name that sockets have)
        self._hellos[connection] = bytearray(), time.monotonic() + _HELLO_SECONDS
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        hello, _ = self._hellos[connection]
        try:
            part = connection.recv(_HELLO.size - len(hello))
        except BlockingIOError:
            return
        except OSError:
            part = b""
        hello += part
        if not part:
            self._drop(connection)
        elif len(hello) == _HELLO.size:
            self._selector.unregister(connection)
            del self._hellos[connection]
            self._decide(connection, bytes(hello))

    def _decide(self, connection: socket.socket, hello: bytes) -> None:
        try:
            found = self._admit(connection, hello)
        except OSError:
            found = None
        if found is None:
            connection.close()
        else:
            self._missing.discard(found)

    def _drop_late(self) -> None:
        now = time.monotonic()
        for connection in [each for each, (_, until) in self._hellos.items() if until < now]:
            self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        del self._hellos[connection]
        connection.close()
