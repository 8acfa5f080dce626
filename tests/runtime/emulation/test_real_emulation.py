"""Networks that are really made, on machines that can: what ranks see, and that nothing is left in any case."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forestcoll.runtime.emulation.requirements import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"no emulation here: {missing()}")

_SLEEPER = f"sleep 86400.{os.getpid()}"
"""A command that no other process of this machine runs, also where tests run in parallel."""


def run(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words(*arguments), capture_output=True, text=True, timeout=timeout, check=False)  # noqa: S603


def words(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "forestcoll", "emulate", *map(str, arguments)]


def ring(nodes: int) -> list[str]:
    return [f"ring:nodes={nodes}", "--scale", "100Mbit=1"]


def left_behind(folder: Path) -> list[str]:
    """What the emulations of a test leave if they leave anything."""
    names = Path("/run/netns").glob("*") if Path("/run/netns").exists() else iter(())
    return sorted(map(str, [*folder.glob("*"), *names])) + sleepers()


def sleepers() -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text.strip() == _SLEEPER:
            found.append(folder.name)
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before, links = left_behind(tmp_path), sorted(os.listdir("/sys/class/net"))  # noqa: PTH208 (names only)
    yield
    wait_until(lambda: left_behind(tmp_path) == before)
    assert sorted(os.listdir("/sys/class/net")) == links  # noqa: PTH208


def wait_until(condition: object, seconds: float = 60.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


_TALK = """
import os, socket, sys
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
here = os.environ["FORESTCOLL_INTERFACE"]
with socket.create_server((here, 4000)) as listener:
    listener.settimeout(30)
    peers = [f"10.64.0.{each + 1}" for each in range(size) if each != rank]
    for peer in peers:
        while True:
            try:
                socket.create_connection((peer, 4000), timeout=5).close()
                break
            except ConnectionRefusedError:
                pass
    seen = sorted(listener.accept()[1][0] for _ in peers) == sorted(peers)
    said = rank, size, os.environ["LOCAL_RANK"], os.environ["MASTER_ADDR"], socket.gethostbyname("rank1"), seen
    sys.stdout.write(" ".join(map(str, said)) + "\\n")  # in one piece, as ranks share standard output
"""


@pytest.mark.parametrize(("spec", "size"), [("ring:nodes=4", 4), ("dgx-a100:boxes=1", 8)])
def test_every_rank_runs_the_command_once_and_reaches_every_other(spec: str, size: int) -> None:
    hosts = Path("/etc/hosts").read_text()
    done = run(spec, "--scale", "100Mbit=300GB/s", "--", sys.executable, "-c", _TALK)
    assert done.returncode == 0, done.stderr
    expected = [f"{rank} {size} {rank} 10.64.0.1 10.64.0.2 True" for rank in range(size)]
    assert sorted(done.stdout.splitlines()) == expected
    assert Path("/etc/hosts").read_text() == hosts


_THROUGHPUT = """
import os, socket, time
rank = int(os.environ["RANK"])
if rank == 1:
    with socket.create_server(("10.64.0.2", 4000)) as listener:
        connection = listener.accept()[0]
        begin, total = None, 0
        while part := connection.recv(65536):
            begin, total = begin or time.monotonic(), total + len(part)
        print(total * 8 / (time.monotonic() - begin) / 1e6)
elif rank == 0:
    while True:
        try:
            with socket.create_connection(("10.64.0.2", 4000)) as connection:
                connection.sendall(bytes(4_000_000))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
"""


def test_a_link_has_its_rate() -> None:
    done = run("ring:nodes=2", "--scale", "20Mbit=1", "--", sys.executable, "-c", _THROUGHPUT)
    assert done.returncode == 0, done.stderr
    assert 15 < float(done.stdout) < 21.5  # a loaded machine may be slower


_HOST = """
import sys
from forestcoll.runtime.sharing import sharing_here
shared = sharing_here(lambda _: 0, {})
sys.stdout.write(("nothing" if shared is None else shared.host) + "\\n")
"""


def test_ranks_share_no_memory_and_use_the_links() -> None:
    done = run(*ring(3), "--", sys.executable, "-c", _HOST)
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split()) - {"nothing"}) == 3


def test_a_link_changes_while_ranks_run() -> None:
    show = "tc class show dev to1 | grep -o 'rate [0-9]*Mbit'; grep -c '\"bandwidth\": 20$' $FORESTCOLL_TOPOLOGY"
    script = f"[ $RANK = 0 ] || exit 0; {show}; sleep 4; {show}"
    done = run(*ring(3), "--degrade", "0--1=20Mbit@2", "--", "sh", "-c", script)
    assert done.stdout.splitlines() == ["rate 100Mbit", "0", "rate 20Mbit", "2"], done.stderr


def test_a_dead_link_carries_nothing() -> None:
    connect = f"{sys.executable} -c \"import socket; socket.create_connection(('10.64.0.1', 22), timeout=2)\" 2>&1"
    script = f"[ $RANK = 1 ] || exit 0; {connect} | tail -1; sleep 4; {connect} | tail -1"
    done = run(*ring(2), "--degrade", "0--1=0@3", "--", "sh", "-c", script)
    alive, dead = done.stdout.splitlines()
    assert "ConnectionRefusedError" in alive, done.stderr
    assert "timed out" in dead, done.stderr


def test_the_status_of_the_first_failed_rank_is_passed_on() -> None:
    done = run(*ring(3), "--grace", "0.2", "--", "sh", "-c", f"[ $RANK != 1 ] || exit 7; {_SLEEPER}")
    assert done.returncode == 7
    assert "rank 1 ended with exit status 7" in done.stderr
    assert re.search(r"terminating rank 0, rank 2: still running 0\.2 s after", done.stderr)
    killed = run(*ring(2), "--", "sh", "-c", "kill -9 $$")
    assert killed.returncode == 128 + 9
    assert "signal 9 (SIGKILL)" in killed.stderr


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_nothing_is_left_after_a_signal(number: signal.Signals, status: int) -> None:
    script = f"trap '' TERM INT; setsid {_SLEEPER} & echo started; wait"
    with subprocess.Popen(  # noqa: S603 (our own command)
        words(*ring(3), "--", "sh", "-c", script), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert [running.stdout.readline() for _ in range(3)] == ["started\n"] * 3
        wait_until(lambda: len(sleepers()) == 3)
        running.send_signal(number)
        assert running.wait(60) == status
    wait_until(lambda: not sleepers())


def test_two_emulations_at_a_time_do_not_meet() -> None:
    script = "echo $RANK; sleep 1; ip -brief address show main | grep -c 10.64.0"
    both = [
        subprocess.Popen(words(*ring(2), "--", "sh", "-c", script), stdout=subprocess.PIPE, text=True)  # noqa: S603
        for _ in range(2)
    ]
    for each in both:
        out, _ = each.communicate(timeout=60)
        assert each.returncode == 0
        assert sorted(out.split()) == ["0", "1", "1", "1"]
