"""Time of the engine on loopback: against the plain Python executor in one process and, if torch is there, gloo.

    .venv/bin/python benchmarks/runtime.py [--topology ring:nodes=8] [--sizes 1KB,1MB,16MB] [--collective allreduce]

Ranks are processes of this machine, so the figures say what the engine costs, not what a network gives. Each row is
the median of several runs, after one that is not counted; a run is over when the last rank is done.
"""

import argparse
import importlib.util
import multiprocessing as mp
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from forestcoll.collective import Collective
from forestcoll.runtime import Communicator, TcpStore
from forestcoll.runtime.elements import AnyArray, ElementType
from forestcoll.runtime.plan import Runnable, plan_of
from forestcoll.runtime.reference import run_reference
from forestcoll.runtime.sizing import layout_of
from forestcoll.solver.generate import generate
from forestcoll.topology.registry import build_topology
from forestcoll.units import data_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", default="ring:nodes=8")
    parser.add_argument("--collective", default="allreduce", choices=["allreduce", "allgather", "reduce-scatter"])
    parser.add_argument("--sizes", default="1KB,64KB,1MB,16MB")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    schedule = generate(build_topology(options.topology), options.collective)
    sizes = [data_size(text) // 4 for text in options.sizes.split(",")]
    engine = measure_processes(engine_rank, schedule, sizes, options.runs)
    has_gloo = importlib.util.find_spec("torch") is not None and schedule.collective is Collective.ALLREDUCE
    gloo = measure_processes(gloo_rank, schedule, sizes, options.runs) if has_gloo else [None] * len(sizes)
    print(f"{options.collective} on {options.topology}, {len(schedule.topology.compute)} processes, milliseconds")
    print(f"{'size':>10} {'engine':>10} {'reference':>10} {'gloo':>10}")
    for count, mine, theirs in zip(sizes, engine, gloo, strict=True):
        plain = reference_time(schedule, count)
        other = "-" if theirs is None else f"{theirs * 1e3:.2f}"
        print(f"{4 * count:>10} {mine * 1e3:>10.2f} {plain * 1e3:>10.2f} {other:>10}")


def measure_processes(rank_of: Callable[..., None], schedule: Runnable, sizes: list[int], runs: int) -> list[Any]:
    """Return the median time of each size, in seconds."""
    context = mp.get_context("spawn")
    size = len(schedule.topology.compute)
    with_store = TcpStore("127.0.0.1:0", rank=0)
    barrier, times = context.Barrier(size), context.Queue()
    arguments = (size, with_store.port, schedule, sizes, runs, barrier, times)
    processes = [context.Process(target=rank_of, args=(rank, *arguments)) for rank in range(size)]
    for process in processes:
        process.start()
    found = [times.get(timeout=600) for _ in range(size)]
    for process in processes:
        process.join(60)
    with_store.close()
    ends = np.array([[stop for _, stop in each] for each in found]).max(axis=0)
    begins = np.array([[start for start, _ in each] for each in found]).max(axis=0)
    by_size = (ends - begins).reshape(len(sizes), runs)
    return [statistics.median(row) for row in by_size.tolist()]


def engine_rank(
    rank: int, _: int, port: int, schedule: Runnable, sizes: list[int], runs: int, barrier: Any, times: Any
) -> None:
    store = TcpStore(f"127.0.0.1:{port}", rank=rank + 1)
    with Communicator([schedule], rank=rank, store=store, timeout=120) as group:
        call = {
            Collective.ALLREDUCE: group.allreduce,
            Collective.ALLGATHER: group.allgather,
            Collective.REDUCE_SCATTER: group.reduce_scatter,
        }[schedule.collective]
        times.put(list(timed(sizes, runs, barrier, schedule, lambda data: call(data).wait())))
        barrier.wait()
    store.close()


def gloo_rank(
    rank: int, size: int, port: int, schedule: Runnable, sizes: list[int], runs: int, barrier: Any, times: Any
) -> None:
    import torch
    import torch.distributed as dist

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port + 1)}
    dist.init_process_group("gloo", rank=rank, world_size=size)
    times.put(list(timed(sizes, runs, barrier, schedule, lambda data: dist.all_reduce(torch.from_numpy(data)))))
    barrier.wait()
    dist.destroy_process_group()


def timed(
    sizes: list[int], runs: int, barrier: Any, schedule: Runnable, call: Callable[[AnyArray], object]
) -> Iterator[tuple[float, float]]:
    """Yield when each run began and ended on this rank; the clock is the same for all processes."""
    members = len(schedule.topology.compute)
    for count in sizes:
        length = count // members if schedule.collective is Collective.ALLGATHER else count // members * members
        data = np.ones(length, dtype=np.float32)
        for run in range(runs + 1):
            barrier.wait()
            begin = time.monotonic()
            call(data)
            if run:
                yield begin, time.monotonic()


def reference_time(schedule: Runnable, count: int) -> float:
    plan = plan_of(schedule)
    count -= count % plan.size
    layout = layout_of(plan, count, None, 4)
    lengths = layout.counts if plan.collective is Collective.ALLGATHER else [count] * plan.size
    inputs: list[AnyArray | None] = [np.ones(length, dtype=np.float32) for length in lengths]
    begin = time.monotonic()
    run_reference(plan, layout, inputs, ElementType.F32)
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
