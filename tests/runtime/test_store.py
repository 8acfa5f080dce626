"""The store of rank 0: values arrive, waits end, and strangers learn nothing."""

import socket
import threading
import time
from contextlib import suppress

import pytest
from players import outcome

from forestcoll.errors import CommunicationError, InputError
from forestcoll.runtime import TcpStore, store


def test_values_cross_processes_or_threads() -> None:
    server = TcpStore("127.0.0.1:0", rank=0, secret=b"s")
    client = TcpStore(f"127.0.0.1:{server.port}", rank=1, secret=b"s", timeout=5)
    later = threading.Timer(0.1, lambda: server.set("key", b"\0\xff"))
    later.start()
    assert client.get("key", 5) == b"\0\xff"
    later.join(5)
    with pytest.raises(CommunicationError, match=r"nobody set 'other' in the store within 0\.1 s"):
        client.get("other", 0.1)
    client.close()
    server.close()
    assert isinstance(outcome(lambda: client.get("key", 1)), CommunicationError)


def test_a_stranger_is_cut_off() -> None:
    server = TcpStore("127.0.0.1:0", rank=0, secret=b"s")
    try:
        stranger = TcpStore(f"127.0.0.1:{server.port}", rank=1, secret=b"guess", timeout=5)
        assert isinstance(outcome(lambda: stranger.get("key", 1)), CommunicationError)
        stranger.close()
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
            raw.settimeout(5)
            assert len(raw.recv(100)) == 16
            raw.sendall(b"x" * 32 + b"\xff" * 100)
            answer = outcome(lambda: raw.recv(100))
            assert answer == b"" or isinstance(answer, OSError)
        server.set("key", b"1")
        assert server.get("key", 1) == b"1"
    finally:
        server.close()


def test_nobody_listens() -> None:
    with pytest.raises(CommunicationError, match=r"rank 0 is not reached at 127\.0\.0\.1:1 within 0\.1 s"):
        TcpStore("127.0.0.1:1", rank=1, timeout=0.1)


@pytest.mark.parametrize("address", ["", "here", ":5", "host:port", "host:99999"])
def test_bad_addresses(address: str) -> None:
    with pytest.raises(InputError, match="expected host:port"):
        TcpStore(address, rank=0)


def test_a_thread_that_waits_does_not_block_others() -> None:
    server = TcpStore("127.0.0.1:0", rank=0)
    waiting = threading.Thread(target=lambda: server.get("late", 10))
    waiting.start()
    begin = time.monotonic()
    server.set("other", b"1")
    server.set("late", b"2")
    assert time.monotonic() - begin < 3
    waiting.join(10)
    assert not waiting.is_alive()
    server.close()


def test_silent_strangers_are_few_and_do_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_STRANGER_SECONDS", 0.5)
    others = threading.active_count()  # of tests before, in the same process
    server = TcpStore("127.0.0.1:0", rank=0)
    strangers = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(200)]
    assert threading.active_count() - others < 200
    for stranger in strangers[:50]:
        with suppress(OSError):
            stranger.sendall(b"x")  # does not give it more time
    until = time.monotonic() + 5
    while threading.active_count() > others + 4 and time.monotonic() < until:
        time.sleep(0.05)
    assert threading.active_count() <= others + 4
    client = TcpStore(f"127.0.0.1:{server.port}", rank=1)
    client.set("key", b"1")
    client.close()
    server.close()
    for stranger in strangers:
        stranger.close()


def test_a_full_store_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST_KEYS", 2)
    server = TcpStore("127.0.0.1:0", rank=0)
    for key in ("one", "two", "one"):
        server.set(key, b"1")
    with pytest.raises(CommunicationError, match="the store is full: it has 2 keys"):
        server.set("three", b"1")
    assert server.get("two", 1) == b"1"
    server.close()
