"""Groups end quickly and leave nothing behind, except for a file of their last operations where they fail."""

import gc
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from players import LIMIT, Players, give_up_after, outcome, wait_until

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.runtime import Communicator, TcpStore, member
from forestcoll.runtime.engine.work import Work


def ring(nodes: int) -> list[Any]:
    return [generate(f"ring:nodes={nodes}", "allreduce")]


def total(group: Communicator, count: int = 1000) -> Any:
    return group.allreduce(np.ones(count)).wait(LIMIT)


def test_closing_one_after_the_other_is_quick() -> None:
    with Players(ring(7)) as players:
        players.run(total)
        begin = time.monotonic()
        for group in players.groups:
            group.close(grace=LIMIT)
        assert time.monotonic() - begin < LIMIT  # none of them has waited in vain


def test_a_dropped_group_stops_before_its_arrays_are_freed() -> None:
    players = Players(ring(2))
    group, works = players.groups[0], []
    works.append(group.allreduce(np.ones(3_000_000)))  # rank 1 never calls it
    players.groups[0] = players.groups[1]
    del group
    gc.collect()
    assert isinstance(outcome(lambda: works[0].wait(LIMIT)), CommunicationError)
    players.close()


def test_a_wait_has_a_limit_of_its_own() -> None:
    with Players(ring(2)) as players:
        pending = players.groups[0].allreduce(np.ones(10))
        with pytest.raises(
            TimeoutError, match=r"operation 0 \(allreduce\(sum\) of 10 f64\) has not ended within 0\.01 s"
        ):
            pending.wait(0.01)
        players.groups[1].allreduce(np.ones(10))
        assert np.array_equal(np.asarray(pending.wait(LIMIT)), 2 * np.ones(10))


def test_a_fork_leaves_the_group_of_its_parent_alone() -> None:
    with Players(ring(2)) as players:
        pending = players.groups[0].allreduce(np.ones(10))
        process = os.fork()
        if process == 0:
            os._exit(in_fork(players, pending))
        assert exit_status(process) == 0
        assert np.array_equal(np.asarray(players.groups[1].allreduce(np.ones(10)).wait(LIMIT)), 2 * np.ones(10))
        assert np.array_equal(np.asarray(pending.wait(LIMIT)), 2 * np.ones(10))
        assert all((result == 2).all() for result in players.run(total))


def in_fork(players: Players, pending: Work) -> int:
    """Return 0 if the group is refused here, and ends at once."""
    end_in(LIMIT)
    messages = [str(outcome(lambda: pending.wait(LIMIT))), str(outcome(lambda: total(players.groups[0])))]
    players.groups[0].close()
    players.groups.clear()
    gc.collect()
    return 0 if all("is a fork of the one that made the group" in text for text in messages) else 1


def end_in(seconds: float) -> None:
    """End this fork after a time. The time limit of the tests handles the signal otherwise."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(seconds))


def exit_status(process: int) -> int:
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return status
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    return os.waitpid(process, 0)[1]


def test_a_fork_does_not_keep_connections_open() -> None:
    """The fault of a rank must be seen although a process that it forked still runs."""
    with Players(ring(2)) as players:
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            end_in(2 * LIMIT)
            os.read(reading, 1)
            os._exit(0)
        players.groups[0].close()
        failed = outcome(lambda: total(players.groups[1]))
        assert isinstance(failed, CommunicationError)
        assert "rank 0 closed the group" in str(failed)
        assert os.waitpid(process, os.WNOHANG) == (0, 0)  # it still runs
        os.write(writing, b"x")
        exit_status(process)
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("kind", ["data", "control"])
def test_a_broken_connection_is_no_dead_process(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[socket.socket] = []
    usual = member._detached

    def copied(connection: socket.socket) -> int:
        kept.append(connection.dup())
        return usual(connection)

    monkeypatch.setattr(member, "_detached", copied)
    with Players(ring(3)) as players:
        controls = {each.fileno(): each for each in kept}
        players.run(total)
        chosen = [*controls.values()][0 if kind == "data" else -1]
        chosen.shutdown(socket.SHUT_RDWR)
        for failed in players.outcomes(lambda group: [total(group, 100_000) for _ in range(50)]):
            assert isinstance(failed, CommunicationError)
            assert "broke" in str(failed) or "ended or was killed" in str(failed)
    for each in kept:
        each.close()


def test_more_operations_in_flight_than_the_journal_keeps() -> None:
    """All of them are compared, also when many wait: a rank that calls another one is found."""

    def body(group: Communicator) -> Any:
        works = [group.allreduce(np.full(8, number)) for number in range(600)]
        op = "max" if group.rank == 1 else "sum"
        works.append(group.allreduce(np.ones(8), op=op))
        return [work.wait(LIMIT) for work in works]

    with Players(ring(3)) as players:
        for failed in players.outcomes(body):
            assert isinstance(failed, CommunicationError)
            assert "operation 600 is allreduce(" in str(failed)


def test_a_late_rank_finds_that_all_its_operations_differ() -> None:
    """Many operations are posted at once, and the first of them fails: the others must end too."""

    def body(group: Communicator) -> list[Any]:
        if group.rank == 0:
            time.sleep(0.3)
        works = [group.allreduce(np.ones(5 if group.rank else 6)) for _ in range(20)]
        return [outcome(lambda work=work: work.wait(LIMIT)) for work in works]  # type: ignore[misc]

    with Players(ring(3)) as players:
        for failed in players.run(body):
            assert all(isinstance(each, CommunicationError) for each in failed)


def test_a_store_leaves_no_threads_or_sockets() -> None:
    def once() -> None:
        server = TcpStore("127.0.0.1:0", rank=0)
        client = TcpStore(f"127.0.0.1:{server.port}", rank=1)
        client.set("key", b"1")
        server.close()
        assert "does not answer" in str(outcome(lambda: client.get("other", LIMIT)))
        client.close()

    once()
    before = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a count)
    for _ in range(5):
        once()
    wait_until(lambda: counts() <= before)


def counts() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))  # noqa: PTH208 (a count)


def fail(players: Players, *, closing: bool = False) -> list[str]:
    """Run one operation, then one that rank 1 never calls; return the messages of the other ranks.

    Args:
        players: the ranks.
        closing: whether rank 1 closes the group, so that no rank waits for a limit.
    """

    def body(group: Communicator) -> str:
        group.allreduce(np.ones(10, dtype=np.float32)).wait(LIMIT)
        if group.rank == 1:
            if closing:
                group.close()
            return ""
        return str(outcome(lambda: group.allreduce(np.ones(1000)).wait(LIMIT)))

    return [text for text in players.run(body) if text]


def document(text: str) -> Any:
    return json.loads(Path(text.rpartition(" are in ")[2]).read_text())


def test_a_timeout_leaves_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_up_after(1.0, monkeypatch)
    schedule = generate("ring:nodes=3", "allreduce")
    with Players([schedule], name='my "group"\t1', dump=tmp_path / "new") as players:
        for text in fail(players):
            found = document(text)
            assert found["format"] == "forestcoll.dump/1"
            assert found["group"] == 'my "group"\t1'
            assert found["fault"]["rank"] == 1
            assert found["fault"]["text"] in text
            first, last = found["operations"]
            assert (first["collective"], first["dtype"], first["bytes"], first["state"]) == (
                "allreduce",
                "f32",
                40,
                "done",
            )
            assert (last["number"], last["dtype"], last["bytes"], last["state"]) == (1, "f64", 8000, "failed")
            assert {each["rank"] for each in last["waits_for"]} >= {1}
            assert last["chunks_left"] > 0
            assert {peer["rank"]: peer["operations_called"] for peer in found["peers"]}[1] == 1
    assert sorted(path.name.partition("-rank")[0] for path in (tmp_path / "new").iterdir()) == ["my_group_1"] * 3


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORESTCOLL_DUMP", str(tmp_path))
    with Players([generate("complete:nodes=2", "allreduce")]) as players:
        assert document(fail(players, closing=True)[0])["rank"] == 0


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with Players([generate("complete:nodes=2", "allreduce")], dump=tmp_path) as players:
        (tmp_path / f"default-rank0-{os.getpid()}.json").mkdir()  # in the place of the file
        assert "the dump could not be written to" in fail(players, closing=True)[0]


def test_a_bad_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"the folder for dumps, .*file, cannot be made"):
        Communicator([], rank=0, size=1, dump=tmp_path / "file")
