"""The store of rank 0: values arrive, waits end, and strangers learn nothing."""

import socket
import threading
from contextlib import ExitStack, closing, suppress

import pytest
from players import LIMIT, outcome, wait_until

from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.runtime import TcpStore, store


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
        with pytest.raises(CommunicationError, match=r"nobody set 'other' in the store within 0\.1 s"):
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


@pytest.mark.parametrize("address", ["", "here", ":5", "host:port", "host:99999"])
def test_bad_addresses(address: str) -> None:
    with pytest.raises(InputError, match="expected host:port"):
        TcpStore(address, rank=0)


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
