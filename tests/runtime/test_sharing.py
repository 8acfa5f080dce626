"""Ranks of one host: they read each other's memory, and nothing else changes."""

import fcntl
import gc
import os
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from players import LIMIT, Players

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.demand.demand import Demand
from forestcoll.runtime import Communicator, MemoryStore, member, sharing
from forestcoll.runtime.connecting import Connected
from forestcoll.runtime.engine.trees import Hop

MOST = 2**22
COLLECTIVES = ("allreduce", "allgather", "all-to-all")


@contextmanager
def watched() -> Iterator[list[tuple[int, Connected, dict[int, set[int]]]]]:
    """Note of each rank that joins its number, its connections, and the kinds of sockets by the other's rank."""
    seen: list[tuple[int, Connected, dict[int, set[int]]]] = []
    usual = member.Member._take_over

    def note(self: member.Member, connected: Connected, lanes: Sequence[Hop]) -> None:
        kinds: dict[int, set[int]] = {}
        for peer, each in connected.controls.items():
            kinds.setdefault(peer, set()).add(each.family)
        for lane, each in connected.senders.items():
            kinds.setdefault(lanes[lane].target, set()).add(each.family)
        for lane, each in connected.receivers.items():
            kinds.setdefault(lanes[lane].source, set()).add(each.family)
        seen.append((self.rank, connected, kinds))
        usual(self, connected, lanes)

    with patch.object(member.Member, "_take_over", note):
        yield seen


def check(players: Players, count: int) -> None:
    """Run an allreduce, an allgather and an all-to-all of `count` elements."""
    size = players.size

    def body(group: Communicator) -> list[Any]:
        data = np.arange(count, dtype=np.int64) + group.rank
        works = [group.allreduce(data), group.allgather(data), group.all_to_all(data)]
        return [work.wait(LIMIT) for work in works]

    plain, part = np.arange(count, dtype=np.int64), count // size
    for rank, (total, gathered, exchanged) in enumerate(players.run(body)):
        assert np.array_equal(total, size * plain + sum(range(size)))
        assert np.array_equal(gathered, np.concatenate([plain + each for each in range(size)]))
        mine = plain[rank * part : (rank + 1) * part]
        assert np.array_equal(exchanged, np.concatenate([mine + each for each in range(size)]))


def test_connections_of_one_host_and_between_hosts() -> None:
    schedules = [generate("complete:nodes=4", each) for each in COLLECTIVES]
    with watched() as seen, Players(schedules, per_host=2) as players:
        check(players, 4 * 30_000)
        assert len(seen) == 4
        for rank, connected, kinds in seen:
            near = {each for each in kinds if each // 2 == rank // 2}
            assert near == set(connected.pages) == {rank ^ 1}
            assert all(kinds[each] == {socket.AF_UNIX} for each in near)
            assert all(kinds[each] == {socket.AF_INET} for each in set(kinds) - near)


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_SHARED_MEMORY", "0")
    with watched() as seen, Players([generate("ring:nodes=3", each) for each in COLLECTIVES]) as players:
        check(players, 3 * 30_000)
        assert all(not connected.pages for _, connected, _ in seen)
        assert {kind for *_, kinds in seen for each in kinds.values() for kind in each} == {socket.AF_INET}


@pytest.mark.parametrize("room", [2**12, 2**14, 2**17])
def test_what_finds_no_room_is_sent(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "PAGES_BYTES", room)
    with Players([generate("complete:nodes=4", each) for each in COLLECTIVES]) as players:
        check(players, 4 * 20_000)


@pytest.mark.parametrize("setting", ["", "pages"])
def test_large_chunks_are_read_where_they_lie_unless_it_is_turned_off(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A root whose data is copied to pages is done when it has copied them, and else when the other rank has read."""
    monkeypatch.setenv("FORESTCOLL_SHARED_MEMORY", setting)
    collectives = [Demand("broadcast", root=0), *map(Demand, COLLECTIVES)]
    with Players([generate("complete:nodes=4", each) for each in collectives]) as players:
        check(players, 4 * 200_000)
        is_ended = threading.Event()

        def body(group: Communicator) -> Any:
            data = np.full(100_000, float(group.rank + 1))
            if group.rank:
                assert is_ended.wait(LIMIT)
                return group.broadcast(data).wait(LIMIT)
            work = group.broadcast(data)
            with nullcontext() if setting else pytest.raises(TimeoutError):
                work.wait(0.3)
            is_ended.set()
            return work.wait(LIMIT)

        assert all((each == 1).all() for each in players.run(body))


def test_without_such_files_ranks_use_sockets() -> None:
    def refuse(_size: int) -> int:
        raise OSError

    assert sharing.sharing_here(refuse) is None


def test_hosts_and_network_namespaces_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def host(**variables: str) -> str:
        found = sharing.sharing_here(lambda _: 0, variables)
        assert found is not None
        return found.host

    assert host() == host()
    assert host(FORESTCOLL_HOST="a") == host(FORESTCOLL_HOST="a") != host(FORESTCOLL_HOST="b")
    here = host()
    other = tmp_path / "net"
    other.symlink_to("net:[1]")
    monkeypatch.setattr(sharing, "_NETWORK", other)
    assert host() != here


@pytest.mark.parametrize("kind", ["plain", "short"])
def test_memory_that_could_vanish_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that its owner can cut would end whoever reads there."""

    def pass_other(connection: socket.socket, _file: int) -> None:
        with tempfile.TemporaryFile() as other:
            os.ftruncate(other.fileno(), MOST if kind == "plain" else 1)
            socket.send_fds(connection, [b"f"], [other.fileno()])

    monkeypatch.setattr(sharing, "pass_file", pass_other)
    with pytest.raises(CommunicationError, match=r"the memory of rank [01] cannot be read: rank [01] passed a file"):
        Players([generate("ring:nodes=2", "allreduce")])


def test_a_rank_that_passes_no_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "pass_file", lambda connection, _file: connection.send(b"f"))
    with pytest.raises(CommunicationError, match=r"rank [01] did not pass its memory within"):
        Players([generate("ring:nodes=2", "allreduce")], timeout=5)


def test_nothing_is_left() -> None:
    def left() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8")
        return len(list(Path("/proc/self/fd").iterdir())), maps.count("memfd:forestcoll")

    def files() -> int:
        opened = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
        return sum("memfd:forestcoll" in each for each in opened)

    gc.collect()  # groups of other tests
    before, files_before = left(), files()
    with Players([generate("ring:nodes=2", each) for each in COLLECTIVES]) as players:
        check(players, 2 * 30_000)
        assert left()[1] > before[1]
        assert files() <= files_before
    descriptors, mapped = left()
    assert descriptors <= before[0]
    assert mapped <= before[1]


def test_a_rank_that_cannot_join_keeps_nothing() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(CommunicationError) as kept:
        Communicator([generate("ring:nodes=2", "allreduce")], rank=0, store=MemoryStore(), timeout=0.2)
    assert "rank 1 did not come" in str(kept.value)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_chunk_outside_the_memory_of_its_sender_fails_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that rank 1 passes has no blocks, but it sends where chunks lie in its own."""
    usual, lists = sharing.pass_file, 64 + 2 * 8256

    def pass_other(connection: socket.socket, file: int) -> None:
        if threading.current_thread().name.startswith("rank-1"):
            file = os.memfd_create("other", os.MFD_ALLOW_SEALING)
            os.ftruncate(file, lists)
            fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        usual(connection, file)

    monkeypatch.setattr(sharing, "pass_file", pass_other)
    with Players([generate("complete:nodes=2", "allreduce")]) as players:
        for failed in players.outcomes(lambda group: group.allreduce(np.ones(100_000)).wait(LIMIT)):
            assert isinstance(failed, CommunicationError)
            assert "rank 1 sent a frame that does not fit its operation" in str(failed)
