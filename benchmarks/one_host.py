"""Measure collectives between ranks of one host: the engine, torch's interface to it, gloo, MPICH and plain copies.

    .venv/bin/python benchmarks/one_host.py [--ranks 2,4,8] [--sizes 1KB,64KB,1MB,16MB,128MB] [--busy]

Ranks are processes of this machine, started by MPICH's `mpiexec`. The methods take turns, in another order in each run,
so that the load of the machine is the same for all: compare ratios. All ranks meet before each call. A time is from the
call of the last rank until the last rank has its result, and a figure is the median of all calls: a root that goes on
before its data has arrived gains nothing. A plain copy is what NumPy does in memory that all ranks share: each rank
copies its data there, and copies, or adds up, what it needs. CPU times are those of all ranks and their threads.
`--busy` keeps every core busy with another process.

torch and `pip install mpi4py mpich` are needed.
"""

import argparse
import json
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.distributed as dist

import forestcoll.torch
from forestcoll.algorithms.generate import generate
from forestcoll.base.units import data_size
from forestcoll.demand.demand import Demand
from forestcoll.runtime import Communicator
from forestcoll.runtime.environment import launcher_rank
from forestcoll.runtime.torch_store import TorchStore
from forestcoll.topology.registry import build_topology

COLLECTIVES = ("allreduce", "allgather", "reduce-scatter", "broadcast", "all-to-all")
Call: TypeAlias = Callable[[], object]
Calls: TypeAlias = dict[str, Call]
_MOST_CALLS = 20
"""How often small data are sent in one run."""
Moment: TypeAlias = tuple[float, float, float]
"""When a rank called and when it had its result, in seconds of the same clock, and the CPU seconds between."""


@dataclass(frozen=True)
class Data:
    """The memory of one rank for a collective of one size, in elements of 4 bytes.

    Attributes:
        source: what the rank gives: all data, or for an allgather its shard.
        out: where the result goes: all data, or for a reduce-scatter the rank's shard.
    """

    source: Any
    out: Any

    @classmethod
    def of(cls, collective: str, count: int, rank: int, size: int) -> "Data":
        """Return new memory; `count` is that of all data, a multiple of `size`."""
        shard = count // size
        source = np.full(shard if collective == "allgather" else count, rank + 1, dtype=np.float32)
        out = np.zeros(shard if collective == "reduce-scatter" else count, dtype=np.float32)
        return cls(source, out)


class Engine:
    """The runtime of forestcoll on NumPy arrays."""

    def __init__(self, topology: str, rank: int, store: Any) -> None:
        network = build_topology(topology)
        schedules = [generate(network, Demand(each, root=0 if each == "broadcast" else None)) for each in COLLECTIVES]
        self.group = Communicator(schedules, rank=rank, store=TorchStore(store), timeout=120)

    def calls(self, data: Data) -> Calls:
        """Return what runs each collective; an allreduce and a broadcast are in place."""
        group, source, out = self.group, data.source, data.out
        return {
            "allreduce": lambda: group.allreduce(source, source).wait(),
            "allgather": lambda: group.allgather(source, out).wait(),
            "reduce-scatter": lambda: group.reduce_scatter(source, out).wait(),
            "broadcast": lambda: group.broadcast(source).wait(),
            "all-to-all": lambda: group.all_to_all(source, out).wait(),
        }


class Torch:
    """A process group of torch."""

    def __init__(self, group: Any) -> None:
        self.group = group

    def calls(self, data: Data) -> Calls:
        """Return what runs each collective; an allreduce and a broadcast are in place."""
        group, source, out = self.group, torch.from_numpy(data.source), torch.from_numpy(data.out)
        return {
            "allreduce": lambda: dist.all_reduce(source, group=group),
            "allgather": lambda: dist.all_gather_into_tensor(out, source, group=group),
            "reduce-scatter": lambda: dist.reduce_scatter_tensor(out, source, group=group),
            "broadcast": lambda: dist.broadcast(source, 0, group=group),
            "all-to-all": lambda: dist.all_to_all_single(out, source, group=group),
        }


class Mpich:
    """MPICH by mpi4py."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self.mpi: Any = MPI

    def calls(self, data: Data) -> Calls:
        """Return what runs each collective; an allreduce and a broadcast are in place."""
        mpi, source, out = self.mpi, data.source, data.out
        world = mpi.COMM_WORLD
        return {
            "allreduce": lambda: world.Allreduce(mpi.IN_PLACE, source),
            "allgather": lambda: world.Allgather(source, out),
            "reduce-scatter": lambda: world.Reduce_scatter_block(source, out),
            "broadcast": lambda: world.Bcast(source, 0),
            "all-to-all": lambda: world.Alltoall(source, out),
        }


class Plain:
    """Copies by NumPy in memory that all ranks share."""

    def __init__(self, path: Path, rank: int, size: int, most: int) -> None:
        self.rank, self.size = rank, size
        with path.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), 4096 * size + 4 * most * (size + 1))
        self.turns = np.frombuffer(memory, np.int64, 512 * size).reshape(size, 512)[:, 0]
        self.shared = np.frombuffer(memory, np.float32, most * (size + 1), 4096 * size)

    def meet(self, pause: Callable[[], object] = os.sched_yield) -> None:
        """Wait for all ranks."""
        turn = self.turns[self.rank] + 1
        self.turns[self.rank] = turn
        while self.turns.min() < turn:
            pause()

    def calls(self, data: Data) -> Calls:
        """Return what runs each collective."""
        source, out, rank, size = data.source, data.out, self.rank, self.size
        count = source.size
        total = self.shared[: max(source.size, out.size)]
        slots = self.shared[total.size :][: size * count].reshape(size, count)
        mine = slice(rank * (count // size), (rank + 1) * (count // size))

        def added(into: Any) -> None:
            slots[rank] = source
            self.meet()
            np.add(slots[0, mine], slots[1, mine], out=into)
            for other in range(2, size):
                np.add(into, slots[other, mine], out=into)

        def allreduce() -> None:
            added(total[mine])
            self.meet()
            source[:] = total

        def allgather() -> None:
            total.reshape(size, -1)[rank] = source
            self.meet()
            out[:] = total

        def reduce_scatter() -> None:
            added(out)
            self.meet()

        def broadcast() -> None:
            if rank == 0:
                total[:] = source
            self.meet()
            if rank:
                source[:] = total
            self.meet()

        def all_to_all() -> None:
            slots[rank] = source
            self.meet()
            out.reshape(size, -1)[:] = slots[:, mine]
            self.meet()

        return dict(zip(COLLECTIVES, (allreduce, allgather, reduce_scatter, broadcast, all_to_all), strict=True))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--sizes", default="1KB,64KB,1MB,16MB,128MB")
    parser.add_argument("--collectives", default=",".join(COLLECTIVES))
    parser.add_argument("--topology", default="complete:nodes={}", help="of the schedules; {} is the number of ranks")
    parser.add_argument("--methods", default="engine,torch,gloo,MPICH,plain")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--busy", action="store_true", help="keep every core busy with another process")
    parser.add_argument("--seat", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seat:
        play(options)
        return
    with busy(os.cpu_count() or 1 if options.busy else 0):
        for ranks in options.ranks.split(","):
            show(int(ranks), measured(int(ranks)), ", all cores busy" if options.busy else "")


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Run `count` processes that do nothing but keep a core busy."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def measured(ranks: int) -> list[dict[str, Any]]:
    """Run all ranks, and return what they measured."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        command = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(ranks), sys.executable, *sys.argv]
        subprocess.run([*command, "--seat", folder], check=True)
        return [json.loads((Path(folder) / str(rank)).read_text()) for rank in range(ranks)]


def show(ranks: int, found: list[dict[str, Any]], note: str) -> None:
    """Print the table of one number of ranks."""
    names = list(dict.fromkeys(name for row in found[0]["rows"] for name in row["moments"]))
    print(f"\n{ranks} ranks{note}: milliseconds (CPU milliseconds of all ranks)")
    heads = "".join(f"{name:>20}" for name in names)
    print(f"{'collective':<15}{'bytes':>10}{heads}{'engine/best':>13}{'torch/best':>12}{'plain/engine':>14}")
    for number, row in enumerate(found[0]["rows"]):
        each = [of_rank["rows"][number]["moments"] for of_rank in found]
        times = {name: medians([of_rank[name] for of_rank in each]) for name in row["moments"]}
        cells = "".join(f"{'{:.3f} ({:.2f})'.format(*times[name]) if name in times else '-':>20}" for name in names)
        best = min((times[name][0] for name in ("gloo", "MPICH") if name in times), default=float("nan"))
        ratios = [times[name][0] / best if name in times else float("nan") for name in ("engine", "torch")]
        plain = times["plain"][0] / times["engine"][0] if {"plain", "engine"} <= set(times) else float("nan")
        print(
            f"{row['collective']:<15}{row['bytes']:>10}{cells}{ratios[0]:>13.2f}{ratios[1]:>12.2f}{plain:>14.2f}",
            flush=True,
        )


def medians(moments: list[list[Moment]]) -> tuple[float, float]:
    """Return the medians of the time and of the CPU time of a call, in milliseconds, given the calls of each rank."""
    by_call = list(zip(*moments, strict=True))
    whole = [max(end for _, end, _ in call) - max(begin for begin, _, _ in call) for call in by_call]
    work = [sum(cpu for _, _, cpu in call) for call in by_call]
    return statistics.median(whole) * 1e3, statistics.median(work) * 1e3


def play(options: argparse.Namespace) -> None:
    """Measure on one rank."""
    if (place := launcher_rank()) is None:
        raise SystemExit("one_host.py: mpiexec has started no ranks; install the packages mpi4py and mpich")
    rank, size = place
    counts = [data_size(text) // 4 // size * size for text in options.sizes.split(",")]
    plain = Plain(
        shared_file(Path(options.seat), rank, 4096 * size + 4 * max(counts) * (size + 1)), rank, size, max(counts)
    )
    store = dist.FileStore(str(Path(options.seat) / "store"), size)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    methods = joined(options.methods.split(","), options.topology.format(size), rank, store)
    if "plain" in options.methods:
        methods["plain"] = plain
    rows = []
    for collective in options.collectives.split(","):
        for count in counts:
            data = Data.of(collective, count, rank, size)
            calls = {name: each.calls(data)[collective] for name, each in methods.items()}
            rows.append(row(collective, count, calls, plain, options.runs))
    (Path(options.seat) / str(rank)).write_text(json.dumps({"rows": rows}))
    plain.meet(lambda: time.sleep(1e-3))
    if "engine" in methods:
        methods["engine"].group.close()
    dist.destroy_process_group()


def shared_file(folder: Path, rank: int, size: int) -> Path:
    """Return a file of `size` bytes that rank 0 makes."""
    path = folder / "pages"
    if rank == 0:
        (folder / "new").write_bytes(b"")
        os.truncate(folder / "new", size)
        (folder / "new").rename(path)
    while not path.exists():
        time.sleep(0.01)
    return path


def joined(names: list[str], topology: str, rank: int, store: Any) -> dict[str, Any]:
    """Return the methods that are called `names`, after all ranks have met; gloo's group is there already."""
    torch_options = forestcoll.torch.Options(topology=topology)
    known: dict[str, Call] = {
        "engine": lambda: Engine(topology, rank, dist.PrefixStore("engine", store)),
        "torch": lambda: Torch(dist.new_group(backend="forestcoll", pg_options=torch_options)),
        "gloo": lambda: Torch(None),
        "MPICH": Mpich,
    }
    return {name: join() for name, join in known.items() if name in names}


def row(collective: str, count: int, calls: Mapping[str, Call], plain: Plain, runs: int) -> dict[str, Any]:
    """Return the moments of all calls of each method on this rank, without those of a first run."""
    repeats = max(1, min(_MOST_CALLS, 2**20 // count))
    moments: dict[str, list[Moment]] = {name: [] for name in calls}
    for run in range(runs + 1):
        for name, call in Random(run).sample(list(calls.items()), len(calls)):  # noqa: S311 (the same on all ranks)
            found = [moment(call, plain) for _ in range(repeats)]
            moments[name] += found if run else []
    return {"collective": collective, "bytes": 4 * count, "moments": moments}


def moment(call: Call, plain: Plain) -> Moment:
    """Run one call on this rank, after all ranks have ended what was before, and have met."""
    plain.meet(lambda: time.sleep(1e-4))
    plain.meet()
    cpu, begin = time.process_time(), time.monotonic()
    call()
    end = time.monotonic()
    return begin, end, time.process_time() - cpu


if __name__ == "__main__":
    main()
