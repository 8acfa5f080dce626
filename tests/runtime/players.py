"""Groups of ranks for tests: threads of this process, or processes that can be killed. Every wait has a limit."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

import numpy as np
import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.runtime import Communicator, MemoryStore, TcpStore, member
from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp
from forestcoll.runtime.engine.execution import new_engine
from forestcoll.runtime.engine.plan import Plan
from forestcoll.runtime.sharing import Sharing, sharing_here
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import linked
from routed_steps import random_allgather

LIMIT = 30.0
"""The most seconds that any step of a test may take."""

HERE = Path(__file__).parent
SHARED = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)


class Players:
    """One thread a rank, each with its own communicator in one group.

    With `per_host`, so many ranks, one after the other, are on each host; else all are on one.
    """

    def __init__(self, schedules: Sequence[Schedule] | Sequence[Sequence[Schedule]], **options: Any) -> None:
        first = schedules[0]
        alike = not isinstance(first, Sequence)
        topology = (first if alike else first[0]).topology  # type: ignore[union-attr,index]
        self.size = len(topology.compute)
        self._pools = [ThreadPoolExecutor(1, thread_name_prefix=f"rank-{rank}") for rank in range(self.size)]
        store = options.pop("store", None) or MemoryStore()
        per_host = options.pop("per_host", self.size)
        self.groups: list[Communicator] = []

        def join(rank: int) -> Communicator:
            mine: Any = schedules if alike else schedules[rank]
            return Communicator(mine, rank=rank, store=store, **({"timeout": LIMIT} | options))

        with patch.object(member, "sharing_here", partial(sharing_of_thread, per_host)):
            self.groups = self._all([partial(join, rank) for rank in range(self.size)])

    def run(self, body: Callable[[Communicator], Any]) -> list[Any]:
        """Return what `body` returns on each rank; all ranks run it at the same time."""
        return self._all([partial(body, group) for group in self.groups])

    def outcomes(self, body: Callable[[Communicator], Any]) -> list[Any]:
        """Return what `body` returns or raises on each rank."""
        return self.run(lambda group: outcome(lambda: body(group)))

    def _all(self, calls: list[Callable[[], Any]]) -> list[Any]:
        until = time.monotonic() + LIMIT
        futures: list[Future[Any]] = [pool.submit(call) for pool, call in zip(self._pools, calls, strict=True)]
        return [future.result(max(0.1, until - time.monotonic())) for future in futures]

    def close(self) -> None:
        for group in self.groups:
            group.close(grace=1)
        for pool in self._pools:
            pool.shutdown(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def sharing_of_thread(per_host: int, make_pages: Callable[[int], int]) -> Sharing | None:
    """Return what the rank of this thread shares, if so many ranks are on each host."""
    rank = int(threading.current_thread().name.split("-")[1].split("_")[0])
    return sharing_here(make_pages, os.environ | {"FORESTCOLL_HOST": f"host{rank // per_host}"})


def give_up_after(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let operations fail after `seconds` without progress; the ranks still have `LIMIT` to meet."""
    monkeypatch.setattr(member, "new_engine", lambda rank, _, name, dump: new_engine(rank, seconds, name, dump))


def wait_until(condition: Callable[[], bool]) -> None:
    """Return as soon as `condition` is true; it must be true in the end."""
    until = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < until, "the condition is not true in time"
        time.sleep(0.01)


def outcome(call: Callable[[], Any]) -> Any:
    """Return what `call` returns, or what it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 (that is what is asked for)
        return error


class Processes:
    """One process a rank; rank 0's store is in this process, so that every rank may be killed."""

    def __init__(self, ranks: int, timeout: float, seconds: float = 60) -> None:
        self._done = threading.Event()
        self.store = TcpStore("127.0.0.1:0", rank=0)
        script = str(HERE / "rank_process.py")
        address = f"127.0.0.1:{self.store.port}"
        self.processes = [
            subprocess.Popen(  # noqa: S603 (our own script)
                [sys.executable, script, address, str(rank), str(ranks), str(timeout), str(seconds)],
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
            for rank in range(ranks)
        ]
        for rank in range(ranks):
            self.store.get(f"running/{rank}", LIMIT)

    def reports(self, ranks: Sequence[int], limit: float) -> list[str]:
        """Return what these ranks print in the end."""
        until = time.monotonic() + limit
        return [self.processes[rank].communicate(timeout=max(0.1, until - time.monotonic()))[0] for rank in ranks]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.communicate(timeout=LIMIT)
        self.store.close()


def schedules_of(topology: Topology, **asked: Any) -> list[Schedule]:
    """Return a schedule of trees for each collective, the rooted ones with two roots."""
    members = asked.get("ranks") or range(len(topology.compute))
    without_shards = {key: value for key, value in asked.items() if key != "shards"}
    made: list[Schedule] = [
        generate(topology, Demand(each, **(asked if each.has_shards else without_shards))) for each in SHARED
    ]
    for place in (min(members), max(members)):
        root = topology.nodes[topology.compute[place]].id
        made += [
            generate(topology, Demand(each, root=root, **without_shards))
            for each in (Collective.BROADCAST, Collective.REDUCE)
        ]
    return made


def routed_steps_of(topology: Topology, ranks: tuple[int, ...] | None = None) -> list[Schedule]:
    """Return a schedule of steps over switches for each collective that has one."""

    def made(network: Topology) -> StepSchedule:
        return random_allgather(network, Random(7), relays=False, ranks=ranks)  # noqa: S311

    return [from_allgathers(topology, each, made) for each in SHARED]


def able_switch() -> Topology:
    """Return four ranks on a switch that copies and adds up, and slow links between them."""
    links = "0=switch:10 1=switch:10 2=switch:10 3=switch:10 0=1 1=2 2=3 3=0"
    return linked("0 1 2 3", links, switches="switch", able=True, name="able")


NETWORKS: dict[str, Callable[[], list[Schedule]]] = {
    "two": lambda: schedules_of(build_topology("complete:nodes=2")),
    "ring": lambda: schedules_of(build_topology("ring:nodes=5")),
    "boxes": lambda: schedules_of(build_topology("dgx-a100:boxes=2,gpus=4")),
    "mi250": lambda: schedules_of(build_topology("mi250:boxes=1,gpus=8")),
    "relays": lambda: schedules_of(build_topology("ring:nodes=6"), ranks=(0, 2, 3, 5)),
    "able": lambda: schedules_of(able_switch()),
    "uneven": lambda: schedules_of(build_topology("ring:nodes=3"), shards={0: "1/2", 1: "1/6", 2: "1/3"}),
    "routes": lambda: routed_steps_of(build_topology("dgx-a100:boxes=2,gpus=2")),
    "routes of ranks": lambda: routed_steps_of(build_topology("dgx-a100:boxes=2,gpus=3"), (0, 2, 4, 5)),
    "steps": lambda: [generate("circulant:nodes=7,offsets=1+2", each, "bfb") for each in SHARED],
}


def data_for(element: ElementType, count: int, seed: int) -> AnyArray:
    """Return random values of every size that the type has, without not-a-number."""
    random = np.random.default_rng(seed)
    if element.is_float:
        values = random.standard_normal(count) * 10.0 ** random.integers(-3, 4, count)
        if element is ElementType.BF16:
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return values.astype(numpy_type(element))
    limits = np.iinfo(numpy_type(element))
    return random.integers(limits.min, limits.max, count, dtype=numpy_type(element), endpoint=True)


def drawn_shards(plan: Plan, count: int, random: Random) -> list[int] | None:
    """Return shards of any sizes that add up to `count`, some of them empty; None for those of the schedule."""
    if plan.collective not in {Collective.ALLGATHER, Collective.REDUCE_SCATTER} or random.random() < 0.5:
        return None
    cuts = sorted(random.choice([0, count, random.randint(0, count)]) for _ in plan.members[1:])
    return [end - begin for begin, end in pairwise([0, *cuts, count])]


def numpy_type(element: ElementType) -> np.dtype[Any]:
    names = ("float16", "uint16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
    return np.dtype(names[element])


def ops_for(element: ElementType) -> list[ReduceOp]:
    return [op for op in ReduceOp if element.is_float or op is not ReduceOp.PREMUL_SUM]
