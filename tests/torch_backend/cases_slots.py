"""What ranks do in the tests of two levels and slots: CPU tensors go the way of CUDA tensors, over gloo."""

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import torch
import torch.distributed as dist
from cases_collectives import start, vector
from cases_networks import ran
from replaying import Replaying

import forestcoll.torch as backend
from forestcoll.torch.slots import choice, two_level

TYPES = [torch.float32, torch.bfloat16, torch.int64]
REDUCTIONS = {"SUM": torch.sum, "MAX": torch.amax, "AVG": torch.mean}


def begin(topology: str, cuda: str, **options: Any) -> int:
    return start(topology, cuda=cuda, cuda_device="cpu", **options)


def everything(topology: str, cuda: str, counts: list[int], **options: Any) -> list[Any]:
    """Run all collectives with parts of each size, and compare every element; return paths and reasons."""
    begin(topology, cuda, **options)
    for turn, (count, dtype) in enumerate(product(counts, TYPES)):
        name = list(REDUCTIONS)[turn % 3]
        check_sums(count, dtype, name if dtype.is_floating_point else "SUM")
        check_gathers(count, dtype)
    if cuda == "slots":
        check_uneven(counts[-1])
        check_rooted(counts[-1])
    return sorted({(each.operation, each.path, each.reason) for each in backend.paths()})


def by_graphs(topology: str, cuda: str) -> list[int]:
    """Run all collectives three times as if there were graphs; return the number of captures and of replays."""
    device = Replaying()
    vars(choice)["device_of"] = lambda _: device
    begin(topology, cuda)
    for _ in range(3):
        check_sums(1009, torch.float32, "AVG")
        check_gathers(1009, torch.bfloat16)
        if cuda == "slots":
            check_rooted(1009)
    return [device.log.count("capture"), device.log.count("replay")]


def check_sums(count: int, dtype: torch.dtype, name: str) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    rows = torch.stack([vector(each, count * size + 3, torch.float64) for each in range(size)])
    total = REDUCTIONS[name](rows, 0).to(dtype)
    data, op = rows[rank].to(dtype), getattr(dist.ReduceOp, name)
    dist.all_reduce(data, op=op)
    torch.testing.assert_close(data, total)
    source = rows[rank, : count * size].to(dtype)
    kept, part = source.clone(), torch.empty(count, dtype=dtype)
    dist.reduce_scatter_single(part, source, op=op)
    torch.testing.assert_close(part, total[: count * size][rank * count : (rank + 1) * count])
    assert torch.equal(source, kept)
    dist.reduce_scatter_single(source[rank * count : (rank + 1) * count], source, op=op)
    assert torch.equal(source[rank * count : (rank + 1) * count], part)


def check_gathers(count: int, dtype: torch.dtype) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    whole, own = torch.full((count * size,), 77, dtype=dtype), vector(rank, count, dtype)
    dist.all_gather_single(whole, own)
    assert torch.equal(whole, torch.cat([vector(each, count, dtype) for each in range(size)]))
    whole[: rank * count] = 55
    whole[(rank + 1) * count :] = 55
    dist.all_gather_single(whole, whole[rank * count : (rank + 1) * count])
    assert torch.equal(whole, torch.cat([vector(each, count, dtype) for each in range(size)]))


def check_uneven(count: int) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    rows = [vector(each, size * (count + 2), torch.float32) for each in range(size)]
    counts = [count + each % 3 for each in range(size)]
    listed = [torch.zeros(each) for each in counts]
    dist.all_gather(listed, rows[rank][: counts[rank]])
    assert all(torch.equal(listed[each], rows[each][: counts[each]]) for each in range(size))
    part = torch.zeros(counts[rank])
    dist.reduce_scatter(part, list(rows[rank][: sum(counts)].split(counts)))
    assert torch.equal(part, torch.stack(rows).sum(0)[: sum(counts)].split(counts)[rank])


def check_rooted(count: int) -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    data = vector(rank, count, torch.float32)
    dist.broadcast(data, src=1)
    assert torch.equal(data, vector(1, count, torch.float32))
    data = vector(rank, count, torch.float32)
    dist.reduce(data, dst=2)
    rows = torch.stack([vector(each, count, torch.float32) for each in range(size)])
    assert torch.equal(data, rows.sum(0) if rank == 2 else rows[rank])


def reasons() -> list[list[str]]:
    return [[each.operation, each.path, each.reason] for each in backend.paths()]


def one_sum(topology: str, cuda: str) -> list[Any]:
    data = torch.full((1000,), float(begin(topology, cuda)))
    dist.all_reduce(data)
    return [data[0].item(), reasons()]


def left_to_the_inner_group() -> list[list[str]]:
    """Uneven parts go to gloo, which has none either; NCCL has them."""
    rank = begin("dgx-a100:boxes=2,gpus=2", "two-level")
    dist.all_to_all_single(torch.zeros(4), torch.ones(4))
    dist.broadcast(torch.zeros(3), src=1)
    dist.all_reduce(torch.tensor([rank == 1]), op=dist.ReduceOp.MAX)
    dist.all_reduce(torch.tensor([1 << rank]), op=dist.ReduceOp.BOR)
    try:
        dist.all_gather([torch.zeros(each + 1) for each in range(4)], torch.ones(rank + 1))
    except RuntimeError:
        return reasons()
    return []


def one_does_not_come(topology: str, cuda: str) -> str:
    """Return what rank 0 gets if rank 1 does not call."""
    rank = begin(topology, cuda, seconds=3)
    dist.all_reduce(torch.ones(8))
    if rank == 1:
        return ""
    try:
        dist.all_reduce(torch.ones(8))
    except dist.DistBackendError as error:
        return str(error)
    return ""


def replanned_and_same_bits() -> list[Any]:
    """Return a hash of sums of real numbers before and after a link has failed, the path, and the count of calls."""
    rank = begin("ring:nodes=4", "slots")
    bits = []
    for _ in range(2):
        data = torch.randn(4001, generator=torch.Generator().manual_seed(rank))
        rows = torch.stack([torch.randn(4001, generator=torch.Generator().manual_seed(each)) for each in range(4)])
        dist.all_reduce(data)
        torch.testing.assert_close(data, rows.sum(0))
        bits.append(hashlib.sha256(data.view(torch.uint8).numpy().tobytes()).hexdigest())
        network = backend.replan(without=["2--3"]) if len(bits) == 1 else None
        assert network is None or len(network.links) == 6
    (taken,) = [each for each in backend.paths() if each.operation == "all_reduce"]
    return [bits, taken.path, taken.count]


def by_table(topology: str, table: str, counts: list[int]) -> list[list[str]]:
    """Return path and reason of an allreduce of each size, and of an allgather."""
    rank, found = begin(topology, "auto", cuda_table=table), list[list[str]]()
    for count in counts:
        before = reasons()
        data = torch.full((count,), float(rank))
        dist.all_reduce(data)
        assert torch.equal(data, torch.full((count,), 6.0))
        found += [each[1:] for each in reasons() if each not in before]
    dist.all_gather_single(torch.zeros(8), torch.zeros(2))
    pair = dist.new_group([0, 1])
    if rank < 2:
        dist.all_reduce(torch.ones(2), group=pair)
        assert {each.path for each in backend.paths(pair)} == {"forestcoll"}
    return [*found, reasons()[0]]


def benched(arguments: list[str]) -> list[Any]:
    """Run `forestcoll bench` as a rank; return its exit status, and what it printed."""
    return ran("bench", *arguments)


def too_many_operations() -> list[Any]:
    vars(choice)["MOST_OPERATIONS"] = 3
    return one_sum("dgx-a100:boxes=2,gpus=2", "slots")


def stages_in_the_wrong_order(topology: str) -> bool:
    """Return whether an allgather is right on this rank if each chunk goes through the box before the rail."""
    turned = two_level.stages_of_slots

    def wrong(stages: int, chunks: int) -> Iterator[list[tuple[int, int]]]:
        for listed in turned(stages, chunks):
            yield [(stages - 1 - stage, chunk) for stage, chunk in listed]

    rank = begin(topology, "two-level")
    vars(two_level)["stages_of_slots"] = wrong
    whole = torch.zeros(4 * 1009)
    dist.all_gather_single(whole, vector(rank, 1009, torch.float32))
    return bool(torch.equal(whole, torch.cat([vector(each, 1009, torch.float32) for each in range(4)])))
