"""Runs plans with the executor of MSCCL++ on GPUs, and compares every element with the result of the collective.

    python benchmarks/gpu/mscclpp_plans.py PLAN.json... [--sizes 64K,4M] [--dtypes float16,float32]

Needs the Python package of MSCCL++ 0.9 and cupy. Each rank is a process. Rank r uses GPU r modulo the number of GPUs,
so one GPU is enough to see whether a plan is right: the driver lets the processes take turns. The times are then
those of the turns, and say nothing about a machine with a GPU for each rank. All plans for the same number of ranks
use the same executor and the same memory. Each plan is also called with half of the bytes of which sizes are
multiples, which the executor must refuse. Prints a row for each plan, size and type, and exits with 1 if a row is
wrong.
"""

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import HEADER, Case, Ends, Outcome, check_usage, outcome, run, size_of


@dataclass(frozen=True)
class Plan:
    """What the ranks need to know of a plan.

    Attributes:
        path: its file.
        collective: what it does.
        ranks: the number of ranks.
        in_place: whether input and output are the same memory.
        unit: sizes are multiples of so many bytes.
        least: the least size that the plan is for, in bytes.
        most: the greatest one.
    """

    path: str
    collective: str
    ranks: int
    in_place: bool
    unit: int
    least: int
    most: int

    def cases(self, sizes: list[int], dtypes: list[str]) -> list[Case]:
        """Return the calls of the plan: half a unit, the least size, and those of `sizes` that match."""
        least = -(-max(1, self.least) // self.unit) * self.unit
        matching = {least, *(size for size in sizes if size % self.unit == 0 and least <= size <= self.most)}
        return [
            Case(self.path, self.collective, self.ranks, self.in_place, size, dtype)
            for size in [self.unit // 2, *sorted(matching)]
            for dtype in dtypes
        ]


Work = list[tuple[Plan, list[Case]]]


def main() -> None:
    """Run the plans, those with the same number of ranks in the same processes."""
    options = _options()
    groups: dict[int, Work] = defaultdict(list)
    for path in options.plans:
        plan = _plan(path)
        groups[plan.ranks].append((plan, plan.cases(options.sizes, options.dtypes)))
    print(HEADER)
    right = [_run(ranks, work, options.limit) for ranks, work in groups.items()]
    sys.exit(0 if all(right) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+", help="plans of MSCCL++")
    parser.add_argument("--sizes", default="64K,4M", help="bytes of the whole vector")
    parser.add_argument("--dtypes", default="float16,float32", help="types of elements: float16, float32, int32")
    parser.add_argument("--limit", type=float, default=60, help="seconds to wait for a rank")
    options = parser.parse_args()
    check_usage(parser, options.plans, "cupy", "mscclpp")
    options.sizes = [size_of(each) for each in options.sizes.split(",")]
    options.dtypes = options.dtypes.split(",")
    return options


def _plan(path: str) -> Plan:
    document = json.loads(Path(path).read_text())
    chunks = document["gpus"][0]["output_chunks" if document["collective"] == "allgather" else "input_chunks"]
    ranks, limits = len(document["gpus"]), (document["min_message_size"], document["max_message_size"])
    return Plan(
        path, document["collective"], ranks, document["inplace"], chunks * document["buffer_alignment"], *limits
    )


def _run(ranks: int, work: Work, limit: float) -> bool:
    return run(ranks, [case for _, cases in work for case in cases], _rank, (ranks, work, limit), limit)


def _rank(rank: int, ends: Ends, ranks: int, work: Work, limit: float) -> None:
    """Run all plans as one rank."""
    import cupy
    import mscclpp

    cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
    bootstrap = mscclpp.TcpBootstrap.create(rank, ranks)
    bootstrap.initialize(_address(rank, ends, ranks, limit))
    executor = mscclpp.Executor(mscclpp.Communicator(bootstrap))
    most = max(case.size for _, cases in work for case in cases)
    memory = [mscclpp.GpuBuffer(most, dtype=cupy.uint8) for _ in range(2)]
    for plan, cases in work:
        loaded = mscclpp.ExecutionPlan(plan.path, rank)
        for case in cases:
            call = _Call(
                executor, loaded, rank, getattr(mscclpp.DataType, case.dtype), cupy.cuda.Stream(non_blocking=True)
            )
            bootstrap.barrier()
            found = outcome(cupy, case, rank, memory, call)
            ends.outcomes.put((case, _refused(found) if case.size < plan.unit else found))
    bootstrap.barrier()


def _address(rank: int, ends: Ends, ranks: int, limit: float) -> Any:
    """Return where the ranks find each other; rank 0 tells the others."""
    import mscclpp

    if rank:
        return ends.address.get(timeout=limit)
    unique = mscclpp.TcpBootstrap.create_unique_id()
    for _ in range(ranks - 1):
        ends.address.put(unique)
    return unique


@dataclass(frozen=True)
class _Call:
    """Calls a plan, and waits for its end."""

    executor: Any
    plan: Any
    rank: int
    dtype: Any
    stream: Any

    def __call__(self, source: Any, target: Any) -> None:
        pointers, sizes = (source.data.ptr, target.data.ptr), (source.nbytes, target.nbytes)
        self.executor.execute(self.rank, *pointers, *sizes, self.dtype, self.plan, self.stream.ptr)
        self.stream.synchronize()


def _refused(found: Outcome) -> Outcome:
    if found.is_right or "not aligned" not in found.text:
        return Outcome(is_right=False, text=f"not refused: {found.text}")
    return Outcome(is_right=True, text="refused, as stated")


if __name__ == "__main__":
    main()
