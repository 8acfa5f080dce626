"""A process that imports torch once and forks the ranks of each test; `torch_ranks.py` talks to it, a line a request.

A request names a function of a module here, `cases_sums:name`. Each rank calls it with the arguments of the request and
answers with what it returns, or with what it raises. Ranks that do not end in time are killed.
"""

import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

import forestcoll.torch  # noqa: F401 (imported once for all ranks)


def free_ports() -> list[int]:
    """Return two ports: a case that makes the default group twice needs a store for each time."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return [int(probe.getsockname()[1]) for probe in (one, other)]


def play(request: dict[str, Any], answer: int) -> None:
    """Run the case as one rank, write its outcome to the pipe `answer`, and end the process."""
    try:
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        module, name = request["case"].split(":")
        value = getattr(importlib.import_module(module), name)(**request["arguments"])
        if dist.is_initialized():
            dist.destroy_process_group()
        outcome = {"value": value}
    except BaseException as error:  # noqa: BLE001 (the outcome of a test)
        traceback.print_exc()
        outcome = {"error": f"{type(error).__name__}: {error}"}
    os.write(answer, json.dumps(outcome).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def started(request: dict[str, Any], ports: list[int], folder: Path) -> dict[int, tuple[int, int]]:
    """Return the process and the reading end of the pipe of each rank."""
    ranks = {}
    for rank in range(request["ranks"]):
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.setsid()
            out = os.open(folder / f"{rank}.log", os.O_CREAT | os.O_WRONLY)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.environ.update(request["environment"])
            os.environ.update(
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE=str(request["ranks"]),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(ports[0]),
                SECOND_PORT=str(ports[1]),
            )
            play(request, writing)
        os.close(writing)
        ranks[rank] = process, reading
    return ranks


def served(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        ranks = started(request, free_ports(), Path(name))
        until = time.monotonic() + request["limit"]
        outcomes = [outcome_of(*ranks[rank], until) for rank in sorted(ranks)]
        logs = [(Path(name) / f"{rank}.log").read_text() for rank in sorted(ranks)]
    return {"outcomes": outcomes, "logs": logs}


def outcome_of(process: int, reading: int, until: float) -> dict[str, Any]:
    text = b""
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(reading, 65536)
        if not part:
            break
        text += part
    else:
        text = b'{"error": "did not end in time"}'
    os.close(reading)
    os.kill(process, signal.SIGKILL)  # it has answered, was killed by the test, or is too late
    os.waitpid(process, 0)
    answer: dict[str, Any] = json.loads(text) if text else {"error": "killed"}
    return answer


def main() -> None:
    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(__file__).parent))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(served(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
