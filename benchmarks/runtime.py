"""Measure the engine on loopback, and compare it with the plain Python executor and, if torch is installed, gloo.

    .venv/bin/python benchmarks/runtime.py [--topology ring:nodes=8] [--sizes 1KB,1MB,16MB] [--collective allreduce]

Ranks are processes of this machine, so the figures show the cost of the engine and not the speed of a network. Each row
is the median of several runs after a warm-up run. A run ends when the last rank has finished.
"""

import argparse
import importlib.util
import multiprocessing as mp
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from forestcoll.collective import Collective
from forestcoll.runtime import Communicator, TcpStore, Work
from forestcoll.runtime.elements import AnyArray, ElementType
from forestcoll.runtime.plan import Plan, plan_of
from forestcoll.runtime.reference import run_reference
from forestcoll.runtime.sizing import layout_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.generate import generate
from forestcoll.topology.registry import build_topology
from forestcoll.units import data_size

Call: TypeAlias = Callable[[AnyArray], Work]


@dataclass(frozen=True)
class Job:
    """A measurement, as it is sent to every process.

    Attributes:
        topology: the network, as on the command line.
        collective: the collective.
        counts: the number of elements of 4 bytes for each row.
        runs: the number of runs for each row.
    """

    topology: str
    collective: str
    counts: tuple[int, ...]
    runs: int

    def schedule(self) -> TreeSchedule:
        """Return the schedule. Each process generates the same one."""
        return generate(build_topology(self.topology), self.collective)


@dataclass(frozen=True)
class Seat:
    """The rank of a process and its connection to the others."""

    rank: int
    size: int
    port: int
    barrier: Any
    times: Any


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", default="ring:nodes=8")
    parser.add_argument("--collective", default="allreduce", choices=["allreduce", "allgather", "reduce-scatter"])
    parser.add_argument("--sizes", default="1KB,64KB,1MB,16MB")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    counts = tuple(data_size(text) // 4 for text in options.sizes.split(","))
    job = Job(options.topology, options.collective, counts, options.runs)
    plan = plan_of(job.schedule())
    engine = measure(engine_rank, job, plan.size)
    has_gloo = importlib.util.find_spec("torch") is not None and plan.collective is Collective.ALLREDUCE
    gloo = measure(gloo_rank, job, plan.size) if has_gloo else None
    print(f"{job.collective} on {job.topology}, {plan.size} processes, milliseconds")
    print(f"{'size':>10} {'engine':>10} {'reference':>10} {'gloo':>10}")
    for row, count in enumerate(counts):
        other = "-" if gloo is None else f"{gloo[row] * 1e3:.2f}"
        plain = reference_time(plan, count)
        print(f"{4 * count:>10} {engine[row] * 1e3:>10.2f} {plain * 1e3:>10.2f} {other:>10}")


def measure(rank_of: Callable[[Job, Seat], None], job: Job, size: int) -> list[float]:
    """Return the median time of each row, in seconds."""
    context = mp.get_context("spawn")
    store = TcpStore("127.0.0.1:0", rank=0)
    barrier, times = context.Barrier(size), context.Queue()
    seats = [Seat(rank, size, store.port, barrier, times) for rank in range(size)]
    processes = [context.Process(target=rank_of, args=(job, seat)) for seat in seats]
    for process in processes:
        process.start()
    found = np.array([times.get(timeout=600) for _ in seats])
    for process in processes:
        process.join(60)
    store.close()
    taken = found[:, :, 1].max(axis=0) - found[:, :, 0].max(axis=0)
    return [statistics.median(row) for row in taken.reshape(len(job.counts), job.runs).tolist()]


def engine_rank(job: Job, seat: Seat) -> None:
    """Run the job with the engine."""
    store = TcpStore(f"127.0.0.1:{seat.port}", rank=seat.rank + 1)
    with Communicator([job.schedule()], rank=seat.rank, store=store, timeout=120) as group:
        calls: dict[str, Call] = {
            "allreduce": group.allreduce,
            "allgather": group.allgather,
            "reduce-scatter": group.reduce_scatter,
        }
        call = calls[job.collective]
        seat.times.put(list(timed(job, seat, lambda data: call(data).wait())))
        seat.barrier.wait()
    store.close()


def gloo_rank(job: Job, seat: Seat) -> None:
    """Run the job with gloo."""
    import torch
    import torch.distributed as dist

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(seat.port + 1)}
    dist.init_process_group("gloo", rank=seat.rank, world_size=seat.size)
    seat.times.put(list(timed(job, seat, lambda data: dist.all_reduce(torch.from_numpy(data)))))
    seat.barrier.wait()
    dist.destroy_process_group()


def timed(job: Job, seat: Seat, call: Callable[[AnyArray], object]) -> Iterator[tuple[float, float]]:
    """Yield the start and end of each run on this rank. All processes use the same clock."""
    for count in job.counts:
        length = count // seat.size if job.collective == "allgather" else count // seat.size * seat.size
        data = np.ones(length, dtype=np.float32)
        for run in range(job.runs + 1):
            seat.barrier.wait()
            begin = time.monotonic()
            call(data)
            if run:
                yield begin, time.monotonic()


def reference_time(plan: Plan, count: int) -> float:
    """Return the time of the plain executor for all ranks, in seconds."""
    count -= count % plan.size
    layout = layout_of(plan, count, None, 4)
    lengths = layout.counts if plan.collective is Collective.ALLGATHER else [count] * plan.size
    inputs: list[AnyArray | None] = [np.ones(length, dtype=np.float32) for length in lengths]
    begin = time.monotonic()
    run_reference(plan, layout, inputs, ElementType.F32)
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
