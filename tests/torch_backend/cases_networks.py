"""What ranks do in the tests of topologies, groups, tables, faults and new schedules."""

import gc
import io
import os
import signal
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from cases_collectives import start, taken

import forestcoll.torch as backend
from forestcoll.base.errors import InputError
from forestcoll.cli import main


def total(value: float = 1.0, count: int = 1000) -> float:
    data = torch.full((count,), value)
    dist.all_reduce(data)
    assert torch.equal(data, torch.full_like(data, data[0].item()))
    return float(data[0])


def sum_of_ranks() -> float:
    """Start with the environment's options."""
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=20))
    return total(float(dist.get_rank()))


def with_options(options: dict[str, Any]) -> float:
    return total(float(start(**options)))


def secret_of_each_rank(options: dict[str, Any], secrets: list[str] | None = None) -> float:
    """Start with the secret of this rank, if any, else with that of the environment."""
    secret = None if secrets is None else secrets[int(os.environ["RANK"])].encode()
    chosen = backend.Options(**options, secret=secret)
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=5), pg_options=chosen)
    return total(float(dist.get_rank()))


def topology_of_one_rank(mine: dict[str, str]) -> float:
    """Start with the topology that `mine` names for this rank, if any."""
    topology = mine.get(os.environ["RANK"])
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=20), pg_options=backend.Options(topology=topology))
    return total(float(dist.get_rank()))


def several_times() -> list[list[Any]]:
    """Destroy the default group and make it again, on the same store; return sums, open files and threads."""
    found: list[list[Any]] = []
    store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), 4, os.environ["RANK"] == "0")
    for topology in ("ring:nodes=4", "hypercube:dim=2", "ring:nodes=4", "ring:nodes=4"):
        dist.init_process_group(
            "forestcoll",
            store=dist.PrefixStore("same", store),
            rank=int(os.environ["RANK"]),
            world_size=4,
            timeout=timedelta(seconds=20),
            pg_options=backend.Options(topology=topology),
        )
        module = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
        module(torch.ones(2, 8)).sum().backward()
        pair = dist.new_group([0, 1], timeout=timedelta(seconds=20))
        value = total()
        del module, pair
        dist.destroy_process_group()
        gc.collect()
        found.append([value, *(len(list(Path("/proc/self", each).iterdir())) for each in ("fd", "task"))])
    return found


def by_size(tuning: str, counts: list[int]) -> list[tuple[str, str]]:
    """Return path and reason of an allreduce of each size."""
    start(tuning=[tuning])
    found: list[tuple[str, str]] = []
    for count in counts:
        before = {each: each.count for each in backend.paths()}
        assert total(2.0, count) == 8
        (changed,) = [each for each in backend.paths() if each not in before]
        found.append((changed.path, changed.reason))
    return found


def replanned(**changes: Any) -> list[Any]:
    """Return sums and networks before and after the network changes, with operations in flight and a group more."""
    rank = start()
    pair = dist.new_group([0, 1], timeout=timedelta(seconds=20))
    found: list[Any] = [total(float(rank))]
    data = torch.full((50_000,), 1.0)
    work = dist.all_reduce(data, async_op=True)
    network = backend.replan(**changes)
    work.wait()
    found += [data[0].item(), len(network.links), str(network.links[0].bandwidth), total(float(rank))]
    if rank < 2:
        data = torch.ones(3)
        dist.all_reduce(data, group=pair)
        found.append(data[0].item())
    return found


def replanned_wrongly(changes_of_ranks: dict[str, list[str]]) -> str:
    """Return the error of a change that is wrong on one rank; the group goes on as before."""
    rank = start()
    try:
        backend.replan(without=changes_of_ranks.get(str(rank), []))
    except InputError as error:
        assert total() == 4
        return str(error)
    return ""


def replanned_after_a_failure() -> list[Any]:
    """One rank does not come to an operation in time; afterwards all take the group back to work."""
    rank = start(seconds=3)
    if rank == 3:
        time.sleep(4.5)
    messages = [failure_of_a_sum(), failure_of_a_sum()]
    backend.replan(without=["2--3"])
    return [*messages, total(float(rank)), taken()]


def failure_of_a_sum() -> str:
    try:
        total()
    except dist.DistBackendError as error:
        return str(error)
    return ""


def one_is_killed(training: bool) -> list[Any]:  # noqa: FBT001 (an argument of a request)
    """Return the error that the others get, how long it took, and how long the group took to end."""
    rank = start()
    module = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    begin = time.monotonic()
    try:
        module(torch.ones(2, 8)).sum().backward()  # others may still be in it when rank 2 ends
        if rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        for _ in range(1000):
            if training:
                module(torch.ones(2, 8)).sum().backward()
            else:
                total(1.0, 10)
    except RuntimeError as error:
        message = str(error)
    took, begin = time.monotonic() - begin, time.monotonic()
    dist.destroy_process_group()
    return [message.splitlines()[0], took, time.monotonic() - begin]


def one_is_stopped() -> list[Any]:
    """As `one_is_killed`, for a process that is stopped; the limit is 2 s."""
    rank = start(seconds=2)
    total()
    if rank == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    begin = time.monotonic()
    try:
        total()
    except RuntimeError as error:
        message = str(error)
    took, begin = time.monotonic() - begin, time.monotonic()
    dist.destroy_process_group()
    return [message, took, time.monotonic() - begin]


def pending_at_the_end() -> float:
    """Destroy the group while operations wait for a rank that does not call them; return how long it took."""
    rank = start()
    if rank != 0:
        dist.all_reduce(torch.ones(10), async_op=True)
    begin = time.monotonic()
    dist.destroy_process_group()
    return time.monotonic() - begin


def mismatched() -> str:
    rank = start()
    try:
        dist.all_reduce(torch.ones(100 + (rank == 1)))
    except RuntimeError as error:
        return str(error)
    return ""


def probed(arguments: list[str], size: int) -> list[Any]:
    """Run `forestcoll probe` as a rank of `size`; return its exit status, and what it printed."""
    warnings.simplefilter("ignore", ResourceWarning)  # the end of the process closes the store
    os.environ["WORLD_SIZE"] = str(size)
    return ran("probe", *arguments)


def ran(*words: str) -> list[Any]:
    """Run a command of `forestcoll` in this process; return its exit status, and what it printed."""
    sys.argv = ["forestcoll", *words]
    streams = [io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2)]
    status: Any = None
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            main()
        except SystemExit as end:
            status = end.code
    return [status, *(stream.buffer.getvalue().decode() for stream in streams)]
