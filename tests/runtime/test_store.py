"""The store of rank 0: values arrive, waits end, and strangers learn nothing."""

import hashlib
import hmac
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

import pytest
from players import LIMIT, outcome, wait_until

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.runtime import Communicator, MemoryStore, TcpStore, store
from forestcoll.runtime.connecting import _Card
from forestcoll.runtime.launch import Launch
from refusal import refusal

PAIR = generate("complete:nodes=2", "allreduce")


def served(secret: bytes = b"") -> closing[TcpStore]:
    """Return the store of rank 0, which is closed even if a test fails: a socket left open would fail later tests."""
    return closing(TcpStore("127.0.0.1:0", rank=0, secret=secret))


def joined(server: TcpStore, secret: bytes = b"") -> closing[TcpStore]:
    return closing(TcpStore(f"127.0.0.1:{server.port}", rank=1, secret=secret, timeout=LIMIT))


def test_values_cross_processes_or_threads() -> None:
    with served(b"s") as server, joined(server, b"s") as client:
        later = threading.Timer(0.1, lambda: server.set("key", b"\0\xff"))
        later.start()
        assert client.get("key", LIMIT) == b"\0\xff"
        later.join(LIMIT)
        with pytest.raises(CommunicationError, match=r"no rank set 'other' in the store within 0\.1 s"):
            client.get("other", 0.1)
    assert isinstance(outcome(lambda: client.get("key", 1)), CommunicationError)


def test_a_stranger_is_cut_off() -> None:
    with served(b"s") as server:
        with joined(server, b"guess") as stranger:
            assert "does not answer" in str(outcome(lambda: stranger.get("key", LIMIT)))
        with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) as raw:
            raw.settimeout(LIMIT)
            assert len(raw.recv(100)) == 16
            raw.sendall(b"x" * 32 + b"\xff" * 100)
            answer = outcome(lambda: raw.recv(100))
            assert answer == b"" or isinstance(answer, ConnectionError)
        server.set("key", b"1")
        assert server.get("key", LIMIT) == b"1"


def test_nobody_listens() -> None:
    with pytest.raises(CommunicationError, match=r"rank 0 is not reached at 127\.0\.0\.1:1 within 0\.1 s"):
        TcpStore("127.0.0.1:1", rank=1, timeout=0.1)


def test_bad_addresses() -> None:
    for address in ("", "here", ":5", "host:port", "host:99999"):
        assert "expected host:port" in refusal(TcpStore, address, rank=0)


def test_a_thread_that_waits_does_not_block_others() -> None:
    with served() as server:
        waiting = threading.Thread(target=lambda: server.get("late", LIMIT))
        waiting.start()
        wait_until(lambda: len(server._turns._threads) > 0)  # the question of the thread is under way
        server.set("other", b"1")
        assert waiting.is_alive()
        server.set("late", b"2")
        waiting.join(LIMIT)
        assert not waiting.is_alive()


def test_silent_strangers_are_few_and_do_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_STRANGER_SECONDS", 0.5)
    others = threading.active_count()  # of tests before, in the same process
    with served() as server, ExitStack() as opened:
        address = "127.0.0.1", server.port
        strangers = [opened.enter_context(socket.create_connection(address, timeout=LIMIT)) for _ in range(200)]
        assert threading.active_count() - others < 200
        for stranger in strangers[:50]:
            with suppress(OSError):
                stranger.sendall(b"x")  # does not give it more time
        wait_until(lambda: threading.active_count() <= others + 4)
        with joined(server) as client:
            client.set("key", b"1")


def test_a_full_store_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_KEYS", 2)
    with served() as server:
        for key in ("one", "two", "one"):
            server.set(key, b"1")
        with pytest.raises(CommunicationError, match="the store is full: it has 2 keys"):
            server.set("three", b"1")
        assert server.get("two", LIMIT) == b"1"


@contextmanager
def admitted(server: TcpStore, secret: bytes = b"") -> Iterator[socket.socket]:
    """Return a connection to the store that has proved that it knows the secret."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT) as raw:
        raw.sendall(hmac.digest(secret, raw.recv(16), hashlib.sha256))
        yield raw


def asked(raw: socket.socket, text: bytes) -> Any:
    """Return the answer of the store to a question."""
    raw.sendall(struct.pack("<I", len(text)) + text)
    return answered(raw)


def answered(raw: socket.socket) -> Any:
    (length,) = struct.unpack("<I", raw.recv(4, socket.MSG_WAITALL))
    return json.loads(raw.recv(length, socket.MSG_WAITALL))


DEEP = b"[" * 200_000
QUESTIONS = {
    "nested": (DEEP, "a message is nested too deeply"),
    "nested key": (b'{"get": ' + b"[" * 90 + b"]" * 90 + b', "timeout": 1}', "the key of a question is no text"),
    "no object": (b"[1]", "a message is no object"),
    "no JSON": (b"\xff{", "the store does not understand a question"),
    "no key": (b"{}", "the key of a question is no text of at most 1024 characters"),
    "long key": (b'{"get": "' + b"k" * 2000 + b'", "timeout": 1}', "at most 1024 characters"),
    "value": (b'{"set": "k", "value": 7}', "the value of a question is no text"),
    "digits": (b'{"set": "k", "value": "xy"}', "non-hexadecimal number"),
    "no timeout": (b'{"get": "k"}', "the timeout of a question is no number of 0 or more"),
    "not a number": (b'{"get": "k", "timeout": NaN}', "no number of 0 or more"),
    "negative": (b'{"get": "k", "timeout": -1}', "no number of 0 or more"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_wrong_question_gets_an_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    text, expected = QUESTIONS[name]
    with served() as server, admitted(server) as raw:
        assert expected in asked(raw, text)["error"]
        assert asked(raw, b'{"set": "k", "value": "00"}') == {}  # the connection goes on
    assert failed == []


def test_a_number_of_many_digits_is_only_a_long_time() -> None:
    for digits in (400, 10_000):
        with served() as server, admitted(server) as raw:
            assert asked(raw, b'{"get": "none", "timeout": ' + b"9" * digits + b"}") == {}
            server.set("some", b"1")
            assert asked(raw, b'{"get": "some", "timeout": ' + b"9" * digits + b"}") == {"value": "31"}


def test_a_question_that_is_too_long_is_refused_before_it_is_read() -> None:
    with served() as server, admitted(server) as raw:
        raw.sendall(struct.pack("<I", 2**32 - 1))
        assert answered(raw) == {"error": "a question has 4294967295 bytes; the store takes 1048576"}
        assert raw.recv(1) == b""


def test_keys_and_values_that_are_too_long_are_refused() -> None:
    with served() as server:
        server.set("k" * 1024, bytes(504 * 2**10))
        assert server.get("k" * 1024, LIMIT) == bytes(504 * 2**10)
        with pytest.raises(InputError, match=r"the value of 'k' has 600000 bytes; give at most 516096, in parts"):
            server.set("k", bytes(600_000))
        assert "has 1025 characters; give at most 1024" in refusal(server.get, "k" * 1025, LIMIT)


def test_the_store_holds_a_limited_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_STORED", 3 * 10_000)
    with served() as server:
        for _ in range(5):
            server.set("one", bytes(10_000))  # in place of the value before
        server.set("two", bytes(10_000))
        with pytest.raises(CommunicationError, match="the store is full: 'three' would make it larger than 30000 b"):
            server.set("three", bytes(10_000))
        server.set("one", b"")
        server.set("three", bytes(10_000))


def test_long_messages_wait_for_each_other_and_have_a_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_LONG", 1)
    monkeypatch.setattr(store, "_MESSAGE_SECONDS", 0.5)
    with served() as server, admitted(server) as slow, joined(server) as client:
        slow.sendall(struct.pack("<I", 2**20) + b"{")  # and no more
        begin = time.monotonic()
        client.set("short", b"1")
        client.set("long", bytes(10_000))
        assert client.get("long", LIMIT) == bytes(10_000)
        assert time.monotonic() - begin < LIMIT
        assert slow.recv(1) == b""


def test_the_longest_silent_connection_is_dropped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_STRANGERS", 2)
    with served(b"s") as server, ExitStack() as opened:
        address = "127.0.0.1", server.port
        first, *_ = [opened.enter_context(socket.create_connection(address, timeout=LIMIT)) for _ in range(2)]
        assert len(first.recv(16, socket.MSG_WAITALL)) == 16
        with joined(server, b"s") as client:
            client.set("key", b"1")
        name = f"127.0.0.1:{first.getsockname()[1]}"
        assert f"too many connections and dropped {name}, which was silent for longest" in answered(first)["dropped"]


def test_a_rank_that_was_dropped_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_CONNECTIONS", 3)
    with served() as server, joined(server) as client:
        server.set("key", b"1")
        with admitted(server) as one, admitted(server) as other:
            for raw in (one, other):
                assert asked(raw, b'{"get": "key", "timeout": 1}') == {"value": "31"}
            assert client.get("key", LIMIT) == b"1"
            client.set("key", bytes(100_000))
            assert server.get("key", LIMIT) == bytes(100_000)


def test_a_rank_that_cannot_join_names_the_silent_connections() -> None:
    text = json.dumps({"dropped": "too many connections; also silent: 10.0.0.7:4312 for 9.1 s"}).encode()
    with mute(bytes(16) + struct.pack("<I", len(text)) + text) as address:
        begin = time.monotonic()
        with pytest.raises(CommunicationError, match=r"also silent: 10\.0\.0\.7:4312 for 9\.1 s"):
            Communicator([PAIR], rank=1, store=address, timeout=1)
        assert 0.9 < time.monotonic() - begin < 3


def test_the_limit_of_open_files_limits_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (4, 4))
    with served() as server, ExitStack() as opened:
        raws = [opened.enter_context(admitted(server)) for _ in range(3)]
        server.set("key", b"1")
        wait_until(lambda: server._server is not None and len(server._server._clients) <= 3)
        assert asked(raws[-1], b'{"get": "key", "timeout": 1}') == {"value": "31"}


@contextmanager
def mute(said: bytes) -> Iterator[str]:
    """Return the address of a store that says the same to everybody."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])
                    kept[-1].sendall(said)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for each in kept:
                each.close()


@pytest.mark.parametrize("said", [b"", bytes(16)])  # nothing, and a nonce
@pytest.mark.parametrize("secret", [None, b"s"])
def test_joining_has_one_deadline(said: bytes, secret: bytes | None) -> None:
    begin = time.monotonic()
    with mute(said) as address, pytest.raises(CommunicationError, match="127"):
        Communicator([PAIR], rank=1, store=address, timeout=2.5, secret=secret)
    assert time.monotonic() - begin < 4


def test_all_ranks_join_before_one_deadline() -> None:
    three = generate("complete:nodes=3", "allreduce")
    with served() as server:
        later = threading.Timer(1, lambda: server.set("forestcoll/default/secret", b"s"))
        later.start()
        begin = time.monotonic()
        with joined(server) as client, pytest.raises(CommunicationError, match=r"rank 0 did not come within 1\.5 s"):
            Communicator([three], rank=1, store=client, timeout=1.5)
        assert time.monotonic() - begin < 2.4
        later.join(LIMIT)


def test_a_store_of_another_program_fails_on_one_line() -> None:
    answers = [DEEP, b'{"value": 7}', b'{"value": "x"}', b'{"error": "two\\nlines"}', b"[]", b"\xff"]
    for text in answers:
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def serve(listener: socket.socket = listener, text: bytes = text) -> None:
                with listener.accept()[0] as raw:
                    raw.sendall(bytes(16))
                    raw.recv(1000)
                    raw.sendall(struct.pack("<I", len(text)) + text)
                    raw.recv(1000)

            thread = threading.Thread(target=serve)
            thread.start()
            with closing(TcpStore(f"127.0.0.1:{listener.getsockname()[1]}", rank=1, timeout=LIMIT)) as client:
                failed = outcome(lambda: client.get("key", LIMIT))
            thread.join(LIMIT)
            assert isinstance(failed, CommunicationError), text[:50]
            assert "\n" not in str(failed)


CARDS = {
    "nested": DEEP,
    "no card": b"{}",
    "port": _Card(b"", b"", ("127.0.0.1", 1), {}).text().replace(b"1]", b"1e400]"),
    "links": b'{"digest": "", "nonce": "", "default": ["127.0.0.1", 1], "links": [1]}',
}


@pytest.mark.parametrize("name", CARDS)
def test_addresses_that_cannot_be_read_name_the_rank(name: str) -> None:
    kept = MemoryStore()
    kept.set("forestcoll/default/card/1", CARDS[name])
    with pytest.raises(CommunicationError, match="the store has no addresses of rank 1, but other data"):
        Communicator([PAIR], rank=0, store=kept, timeout=LIMIT)


def test_launched_processes_do_not_take_other_data() -> None:
    for value in (DEEP, b"x", b"\xff", b'"x"'):
        kept = MemoryStore()
        kept.set("bench/1", value)
        with pytest.raises(CommunicationError, match="bench: the store has other data than rank 0 writes"):
            Launch(1, 2, kept, "variables", "127.0.0.1", LIMIT).share("")


def test_a_secret_is_not_shown() -> None:
    text: Any = "known"  # that is the mistake
    for call in (
        lambda: TcpStore("127.0.0.1:0", rank=0, secret=text),
        lambda: Communicator([PAIR], rank=0, store=MemoryStore(), secret=text),
    ):
        assert refusal(call) == "secret is of type str; pass bytes"
    assert "secret is empty" in refusal(Communicator, [PAIR], rank=0, store=MemoryStore(), secret=b"")
    assert "known" not in repr(Launch(0, 1, MemoryStore(), "", "", LIMIT, secret=b"known"))


def test_the_variable_is_the_secret_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_SECRET", "known")
    with served(b"known") as server, joined(server, b"known") as client:
        address = f"127.0.0.1:{server.port}"
        failed = outcome(lambda: Communicator([PAIR], rank=1, store=address, timeout=1))
        assert "rank 0 did not come within 1 s" in str(failed)  # but the store let it in
        with pytest.raises(CommunicationError, match="no rank set"):
            client.get("forestcoll/default/secret", 0.1)
