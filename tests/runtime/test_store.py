"""The store of rank 0: values arrive, waits end, and strangers learn nothing."""

import socket
import threading

import pytest
from players import outcome

from forestcoll.errors import CommunicationError, InputError
from forestcoll.runtime import TcpStore


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
