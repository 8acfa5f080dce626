"""Measure the engine on loopback, and compare it with the plain Python executor and, if torch is installed, gloo.

    .venv/bin/python benchmarks/runtime.py [--topology ring:nodes=8] [--sizes 1KB,1MB,16MB] [--collective allreduce]

Ranks are processes of this machine, so the figures show the cost of the engine and not the speed of a network. Each row
is the median of several runs after a warm-up run. A run ends when the last rank has finished. The engine and gloo take
turns, so that the load of the machine is the same for both: compare their ratio.
"""

import argparse
import importlib.util
import multiprocessing as mp
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from forestcoll.algorithms.generate import generate
from forestcoll.base.units import data_size
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Communicator, TcpStore, Work
from forestcoll.runtime.engine.elements import AnyArray, ElementType
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.engine.sizing import layout_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.registry import build_topology

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from runtime_reference import run_reference

Call: TypeAlias = Callable[[AnyArray], object]


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
        made: TreeSchedule = generate(build_topology(self.topology), self.collective)
        return made


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
    times = measure(job, plan.size)
    print(f"{job.collective} on {job.topology}, {plan.size} processes, milliseconds: median (best) of {job.runs}")
    print(f"{'size':>10} {'engine':>18} {'gloo':>18} {'engine / gloo':>14} {'reference':>10}")
    for row, count in enumerate(counts):
        cells = [f"{statistics.median(each[row]) * 1e3:.2f} ({min(each[row]) * 1e3:.2f})" for each in times.values()]
        medians = [statistics.median(each[row]) for each in times.values()]
        ratio = "-" if len(medians) < 2 else f"{medians[0] / medians[1]:.2f}"
        gloo = cells[1] if len(cells) > 1 else "-"
        plain = reference_time(plan, count) * 1e3
        print(f"{4 * count:>10} {cells[0]:>18} {gloo:>18} {ratio:>14} {plain:>10.2f}")


def measure(job: Job, size: int) -> dict[str, list[list[float]]]:
    """Return the times of each row of each method, in seconds."""
    context = mp.get_context("spawn")
    store = TcpStore("127.0.0.1:0", rank=0)
    barrier, times = context.Barrier(size), context.Queue()
    seats = [Seat(rank, size, store.port, barrier, times) for rank in range(size)]
    processes = [context.Process(target=play, args=(job, seat)) for seat in seats]
    for process in processes:
        process.start()
    found = [times.get(timeout=600) for _ in seats]
    for process in processes:
        process.join(60)
    store.close()
    taken: dict[str, list[list[float]]] = {}
    for name in found[0]:
        moments = np.array([each[name] for each in found])  # by rank, run, and begin or end
        last = moments[:, :, 1].max(axis=0) - moments[:, :, 0].max(axis=0)
        taken[name] = last.reshape(len(job.counts), job.runs).tolist()
    return taken


def play(job: Job, seat: Seat) -> None:
    """Run the job on one rank: the engine and, where torch is installed, gloo, one after the other in each run."""
    store = TcpStore(f"127.0.0.1:{seat.port}", rank=seat.rank + 1)
    with Communicator([job.schedule()], rank=seat.rank, store=store, timeout=120) as group:
        calls: dict[str, Call] = {"engine": lambda data: engine_call(job, group, data).wait()}
        has_gloo = importlib.util.find_spec("torch") is not None and job.collective == "allreduce"
        if has_gloo:
            calls["gloo"] = gloo_call(seat)
        seat.times.put(timed(job, seat, calls))
        seat.barrier.wait()
        if has_gloo:
            import torch.distributed as dist

            dist.destroy_process_group()
    store.close()


def engine_call(job: Job, group: Communicator, data: AnyArray) -> Work:
    """Start the collective; an allreduce is in place, as gloo's."""
    if job.collective == "allreduce":
        return group.allreduce(data, data)
    return group.allgather(data) if job.collective == "allgather" else group.reduce_scatter(data)


def gloo_call(seat: Seat) -> Call:
    """Join a group of gloo, and return its allreduce."""
    import torch
    import torch.distributed as dist

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(seat.port + 1)}
    dist.init_process_group("gloo", rank=seat.rank, world_size=seat.size)
    return lambda data: dist.all_reduce(torch.from_numpy(data))


def timed(job: Job, seat: Seat, calls: Mapping[str, Call]) -> dict[str, list[tuple[float, float]]]:
    """Return the start and end of each run of each method on this rank. All processes use the same clock."""
    moments: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for count in job.counts:
        length = count // seat.size if job.collective == "allgather" else count // seat.size * seat.size
        data = np.zeros(length, dtype=np.float32)
        for run in range(job.runs + 1):
            for name, call in calls.items():
                seat.barrier.wait()
                begin = time.monotonic()
                call(data)
                if run:
                    moments[name].append((begin, time.monotonic()))
    return moments


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
