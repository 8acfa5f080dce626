"""Starts `forestcoll bench` and `forestcoll probe` as a launcher does: one process for each rank, on loopback."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIMIT = 120


@dataclass(frozen=True)
class Ended:
    """How the processes ended."""

    statuses: list[int]
    out: list[str]
    err: list[str]

    def document(self) -> dict[str, object]:
        """The JSON object that rank 0 printed; the others printed nothing."""
        assert self.statuses == [0] * len(self.statuses), self.err
        assert set(self.out[1:]) <= {""}
        found = json.loads(self.out[0])
        assert isinstance(found, dict)
        return found

    def rows(self) -> list[dict[str, object]]:
        """The rows of that object."""
        rows = self.document()["rows"]
        assert isinstance(rows, list)
        return rows


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert isinstance(port, int)
        return port


def environment(rank: int | None = None, size: int = 0, port: int = 0, **more: str) -> dict[str, str]:
    """This process's environment without a launcher's variables, with those of a rank."""
    places = [str(Path(place).resolve()) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FORESTCOLL_", "PMI", "OMPI"))}
    kept |= {"PYTHONPATH": os.pathsep.join(places)} if places else {}
    if rank is not None:
        kept |= {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return kept | more


def words(*arguments: object, command: str = "bench") -> list[str]:
    return [sys.executable, "-m", "forestcoll", command, *map(str, arguments)]


def bench(size: int, *arguments: object, launched: int | None = None, **more: str) -> Ended:
    """Run `forestcoll bench` on `size` ranks, of which `launched` are started."""
    return run_ranks("bench", size, *arguments, launched=launched, **more)


def run_ranks(command: str, size: int, *arguments: object, launched: int | None = None, **more: str) -> Ended:
    """Run a command on `size` ranks, of which `launched` are started."""
    port = free_port()
    processes = [
        subprocess.Popen(
            words(*arguments, command=command),
            env=environment(rank, size, port, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size if launched is None else launched)
    ]
    said = [process.communicate(timeout=LIMIT) for process in processes]
    return Ended([process.returncode for process in processes], [out for out, _ in said], [err for _, err in said])
