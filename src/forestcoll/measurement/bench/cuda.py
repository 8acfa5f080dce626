"""Measures the ways of collectives on CUDA tensors: the library's own, two levels, and slots, each with several S.

Ways take turns, so that a change of the machine meets all of them. In each round a way runs several times, one call
after the other; a time is that of the slowest rank, and the median of the rounds counts.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

import torch
import torch.distributed as dist

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import CommunicationError, InputError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import UNROOTED, Collective
from forestcoll.measurement.bench.libraries import torch_function
from forestcoll.runtime.cuda_table import INNER, SLOTS, TWO_LEVEL, CudaTable, MeasuredSize, MeasuredWay
from forestcoll.runtime.environment import timeout_here
from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology
from forestcoll.torch import Options, paths
from forestcoll.torch.backend import member_of
from forestcoll.torch.calls.accelerators import ACCELERATORS, CUDA, accelerator_here
from forestcoll.torch.options import completed
from forestcoll.torch.slots.choice import Slots

CHUNKS = (1, 2, 4, 8, 16, 32)
"""The values of S that are tried."""

_LEAST_CHUNK = 2**16
"""The least bytes of a chunk that are tried."""

_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class CudaRequest:
    """What is measured.

    Attributes:
        topology: the network: a builder's spec or a file.
        sizes: of all data, in bytes; rounded down to what all ranks can share.
        iterations: the calls of a round.
    """

    topology: str
    sizes: Sequence[int]
    iterations: int = 5


def measure_ways(request: CudaRequest, show: Callable[[MeasuredSize], None]) -> tuple[CudaTable | None, bool]:
    """Return on rank 0 the table of all ways, elsewhere None, and whether all elements were right.

    Every rank of a launcher of torch calls it.

    Args:
        request: what to measure.
        show: gets each row when it was measured, on rank 0.

    Raises:
        InputError: there is no GPU, or the network does not fit the ranks.
        CommunicationError: NCCL refuses the ranks, for example two on one GPU.
    """
    device, gpu = completed(None).cuda_device, accelerator_here()
    if device != "cpu" and gpu is None:
        raise InputError("bench: PyTorch finds no GPU; run --cuda on machines with GPUs and PyTorch built for them")
    if "RANK" not in os.environ:
        raise InputError(
            "bench: --cuda runs on several ranks of torch; start it by 'torchrun -m forestcoll bench --cuda'"
        )
    if device != "cpu" and gpu is not None:
        gpu.module.set_device(int(os.environ.get("LOCAL_RANK", "0")) % gpu.module.device_count())
    topology = load_topology(request.topology)
    options = Options(topology=topology, cuda=SLOTS, cuda_device=device)
    limit = timedelta(seconds=timeout_here())
    try:
        dist.init_process_group("forestcoll", timeout=limit, pg_options=options)
    except dist.DistBackendError as error:
        raise CommunicationError(f"bench: NCCL: {str(error).strip().splitlines()[-1]}") from None
    try:
        slots = member_of(None).group.slots
        if slots is None:
            raise InputError("bench: the group has one rank; start several")
        rows = list(_rows(request, topology, slots, show))
        is_right = not any(way.wrong for row in rows for way in row.ways)
        table = CudaTable(topology, device_name(slots.place.device), tuple(rows))
        return table if dist.get_rank() == 0 else None, is_right
    finally:
        dist.destroy_process_group()


def device_name(device: str) -> str:
    """Return what runs the collectives, with versions."""
    if device == "cpu":
        return f"CPU, torch {torch.__version__}, gloo"
    gpu = ACCELERATORS[device]
    version = ".".join(map(str, gpu.module.nccl.version())) if gpu is CUDA else ""
    return f"{gpu.module.get_device_name()}, torch {torch.__version__}, {gpu.title} {version}".rstrip()


def _rows(
    request: CudaRequest, topology: Topology, slots: Slots, show: Callable[[MeasuredSize], None]
) -> Iterator[MeasuredSize]:
    for collective in UNROOTED:
        bound = float(optimum(topology, collective).algbw)
        for size in request.sizes:
            case = CudaCase(collective, size, slots.place.device)
            found = _ways(request, slots, case)
            ways = tuple(_measured(case, topology, bound, way, each) for way, each in found.items())
            row = MeasuredSize(collective, case.size, ways)
            if dist.get_rank() == 0:
                show(row)
            yield row


def _measured(
    case: "CudaCase", topology: Topology, bound: float, way: tuple[str, int], found: tuple[float, int]
) -> MeasuredWay:
    time_us, wrong = found
    algbw = case.size / time_us / float(bytes_per_microsecond(topology.bandwidth_unit))
    busbw = algbw * float(case.collective.busbw_factor(len(topology.compute)))
    return MeasuredWay(*way, time_us, algbw, busbw, algbw / bound, wrong)


class CudaCase:
    """A collective on data of one size, with whole numbers of which sums are exact.

    Args:
        collective: which one.
        size: the bytes of all data.
        device: of the tensors.
    """

    def __init__(self, collective: Collective, size: int, device: str) -> None:
        self.collective, self._rank, self._ranks = collective, dist.get_rank(), dist.get_world_size()
        self._part = max(1, size // 4 // self._ranks)
        self.size = 4 * self._part * self._ranks
        self._whole = torch.zeros(self._part * self._ranks, device=device)
        self._own = torch.zeros(self._part, device=device)
        self._gpu = ACCELERATORS.get(device)

    def call(self) -> None:
        """Run it once."""
        if self.collective is Collective.ALLREDUCE:
            dist.all_reduce(self._whole)
        elif self.collective is Collective.ALLGATHER:
            torch_function("all_gather_single", "all_gather_into_tensor")(self._whole, self._own)
        else:
            torch_function("reduce_scatter_single", "reduce_scatter_tensor")(self._own, self._whole)

    def wait(self) -> None:
        """Wait for the end of all calls."""
        if self._gpu is not None:
            self._gpu.module.synchronize()

    def wrong(self) -> int:
        """Run it once on numbers that differ by rank and place, and return how many elements are wrong here.

        All numbers are 0 afterwards, so that sums of sums stay finite.
        """
        found = self._wrong()
        self._whole.zero_()
        self._own.zero_()
        return found

    def _wrong(self) -> int:
        is_gather = self.collective is Collective.ALLGATHER
        filled, result = (self._own, self._whole) if is_gather else (self._whole, self._own)
        result.fill_(-1)
        filled.copy_(self._numbers(self._rank, filled.numel()))
        self.call()
        if is_gather:
            expected = torch.cat([self._numbers(rank, self._part) for rank in range(self._ranks)])
            return int((self._whole != expected).sum())
        total = torch.zeros_like(self._whole)
        for rank in range(self._ranks):
            total += self._numbers(rank, total.numel())
        if self.collective is Collective.ALLREDUCE:
            return int((self._whole != total).sum())
        return int((self._own != total[self._rank * self._part : (self._rank + 1) * self._part]).sum())

    def _numbers(self, rank: int, count: int) -> torch.Tensor:
        places = torch.arange(count, device=self._whole.device)
        return ((places * 31 + rank * 17) % 13).to(torch.float32)


def _ways(request: CudaRequest, slots: Slots, case: CudaCase) -> dict[tuple[str, int], tuple[float, int]]:
    """Return of each way that runs, its path and S, the median time in µs and the count of wrong elements."""
    several = [chunks for chunks in CHUNKS if chunks == 1 or chunks * _LEAST_CHUNK <= case.size]
    ways = [(INNER, 0), *((path, chunks) for path in (TWO_LEVEL, SLOTS) for chunks in several)]
    wrong: dict[tuple[str, int], int] = {}
    for way in ways:
        slots.ask(*way)
        before = _taken()
        found = case.wrong()
        if way[0] == INNER or _taken()[way[0]] > before[way[0]]:
            wrong[way] = found
    times: dict[tuple[str, int], list[float]] = {way: [] for way in wrong}
    for _ in range(_ROUNDS):
        for way, listed in times.items():
            slots.ask(*way)
            listed.append(_timed(case, request.iterations))
    slots.ask(INNER)
    return {
        way: (median(_over_ranks(listed, dist.ReduceOp.MAX)), int(_over_ranks([wrong[way]], dist.ReduceOp.SUM)[0]))
        for way, listed in times.items()
    }


def _taken() -> Counter[str]:
    """Return how many operations took each path."""
    counts: Counter[str] = Counter()
    for each in paths():
        counts[each.path] += each.count
    return counts


def _timed(case: CudaCase, iterations: int) -> float:
    """Return the microseconds of a call on this rank."""
    dist.barrier()
    case.wait()
    began = time.perf_counter()
    for _ in range(iterations):
        case.call()
    case.wait()
    return (time.perf_counter() - began) / iterations * 1e6


def _over_ranks(numbers: Sequence[float], op: dist.ReduceOp) -> list[float]:
    """Return the numbers of all ranks, added up or the greatest."""
    found = torch.tensor(numbers, dtype=torch.float64)
    dist.all_reduce(found, op=op)
    listed: list[float] = found.tolist()
    return listed
