"""Starts `forestcoll bench` and `forestcoll probe` as a launcher does: one process for each rank, on loopback."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from forestcoll.cli import main
from forestcoll.runtime import MemoryStore
from forestcoll.runtime.launch import Launch, join

LIMIT = 120
LAUNCHERS = ("FORESTCOLL_", "PMI", "OMPI", "RANK", "WORLD_SIZE", "MASTER_")


@dataclass(frozen=True)
class Ended:
    """How the processes ended."""

    statuses: list[int]
    out: list[str]
    err: list[str]

    def document(self) -> dict[str, Any]:
        """The JSON object that rank 0 printed; the others printed nothing."""
        assert self.statuses == [0] * len(self.statuses), self.err
        assert set(self.out[1:]) <= {""}
        found = json.loads(self.out[0])
        assert isinstance(found, dict)
        return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert isinstance(port, int)
        return port


def environment(rank: int | None = None, size: int = 0, port: int = 0, **more: str) -> dict[str, str]:
    """This process's environment without a launcher's variables, with those of a rank."""
    places = [str(Path(place).resolve()) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    kept |= {"PYTHONPATH": os.pathsep.join(places)} if places else {}
    if rank is not None:
        kept |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return kept | more


def words(*arguments: object, command: str = "bench") -> list[str]:
    return [sys.executable, "-m", "forestcoll", command, *map(str, arguments)]


def completed(command: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a launcher to its end."""
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False)


def mpirun() -> str:
    """Return the launcher of MPI; a test is skipped without it."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    found = shutil.which("mpirun") or shutil.which("mpirun", path=str(Path(sys.executable).parent))
    return found or pytest.skip("mpirun is not installed")


def run_ranks(
    command: str, *ranks: tuple[object, ...], only_first: Mapping[str, str] | None = None, **more: str
) -> Ended:
    """Run a command on ranks, each with its own arguments; `only_first` are variables of rank 0 alone."""
    port = free_port()
    processes = [
        subprocess.Popen(
            words(*arguments, command=command),
            env=environment(rank, len(ranks), port, **more) | ({} if rank else dict(only_first or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, arguments in enumerate(ranks)
    ]
    said = [process.communicate(timeout=LIMIT) for process in processes]
    return Ended([process.returncode for process in processes], [out for out, _ in said], [err for _, err in said])


def refusal(
    capsys: pytest.CaptureFixture[str], command: str, *arguments: object, variables: Mapping[str, str]
) -> tuple[object, str]:
    """Run a command in this process; return its status and what it wrote to standard error, and nowhere else."""
    with ExitStack() as opened:

        def joined(*asked: Any, **options: Any) -> Launch:
            made = join(*asked, **options)
            opened.callback(made.store.close)  # type: ignore[attr-defined]  # else the end of the process closes it
            return made

        with (
            mock.patch.object(sys, "argv", ["forestcoll", command, *map(str, arguments)]),
            mock.patch.dict(os.environ, {**environment(), **variables}, clear=True),
            mock.patch("forestcoll.runtime.launch.join", joined),
            pytest.raises(SystemExit) as ended,
        ):
            main()
    out, err = capsys.readouterr()
    assert out == ""
    return ended.value.code, err


@contextmanager
def dask_executor(folder: Path) -> Iterator[Executor]:
    """Return the executor of a Dask client; a test is skipped without Dask."""
    distributed = pytest.importorskip("distributed")
    options: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(local_directory=folder, **options) as cluster, distributed.Client(cluster) as client:
        yield client.get_executor()


def alone(size: int) -> dict[str, str]:
    """Return the variables of rank 0 of a group."""
    return environment(0, size, free_port())


def in_threads(size: int, body: Callable[[Launch], Any], command: str = "bench") -> list[Any]:
    """Return what `body` returns or raises on each rank; each rank is a thread."""
    store = MemoryStore()

    def run(rank: int) -> Any:
        try:
            return body(Launch(rank, size, store, "variables", "127.0.0.1", LIMIT, command))
        except (Exception, SystemExit) as error:  # noqa: BLE001 (a result)
            return error

    with ThreadPoolExecutor(size) as threads:
        return [each.result(LIMIT) for each in [threads.submit(partial(run, rank)) for rank in range(size)]]
