"""What ranks do in the tests of single collectives."""

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

import forestcoll.torch as backend

if TYPE_CHECKING:
    from collections.abc import Callable

RING = "ring:nodes=4"


def start(topology: str | None = RING, seconds: float = 20, **options: Any) -> int:
    """Make the default group and return the rank."""
    chosen = backend.Options(topology=topology, **options)
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=seconds), pg_options=chosen)
    return int(dist.get_rank())


def taken() -> dict[str, str]:
    """Return of each operation the path that it took; several are joined."""
    found: dict[str, str] = {}
    for each in backend.paths():
        found[each.operation] = "+".join(sorted({each.path, *found.get(each.operation, each.path).split("+")}))
    return found


def vector(rank: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """Return small whole numbers, of which sums and products are exact in every type."""
    generator = torch.Generator().manual_seed(rank)
    return torch.randint(1, 4, (count,), generator=generator).to(dtype)


def all_of(count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.stack([vector(rank, count, dtype) for rank in range(dist.get_world_size())])


FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
DTYPES = [*FLOATS, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
COUNTS = [0, 1, 3, 1000, 70_001]
REDUCTIONS = {
    "SUM": lambda rows: rows.sum(0),
    "AVG": lambda rows: rows.sum(0).div(len(rows), rounding_mode="floor" if not rows.is_floating_point() else None),
    "MIN": lambda rows: rows.min(0).values,
    "MAX": lambda rows: rows.max(0).values,
    "PRODUCT": lambda rows: rows.prod(0),
}


def sums() -> dict[str, str]:
    """Compare allreduce with torch on one process, for all types, sizes and reductions."""
    rank = start()
    for dtype, count, (name, expected) in product(DTYPES, COUNTS, REDUCTIONS.items()):
        if not count and name in {"MIN", "MAX"}:
            continue
        data = vector(rank, count, dtype)
        dist.all_reduce(data, op=getattr(dist.ReduceOp, name))
        torch.testing.assert_close(data, expected(all_of(count, dtype)).to(dtype), rtol=0, atol=0)
    data = vector(rank, 1000, torch.float32)
    dist.all_reduce(data, op=dist._make_nccl_premul_sum(0.5))
    torch.testing.assert_close(data, (all_of(1000, torch.float32) * 0.5).sum(0))
    return taken()


def gathered() -> dict[str, str]:
    """All forms of allgather, of types with and without sums."""
    rank, size = start(), dist.get_world_size()
    for dtype, count in product([*DTYPES, torch.bool, torch.complex64, torch.float8_e4m3fn], COUNTS):
        own = vector(rank, count, torch.float32).to(dtype)
        expected = torch.stack([vector(each, count, torch.float32).to(dtype).view(torch.uint8) for each in range(size)])
        whole = torch.empty(count * size, dtype=dtype)
        dist.all_gather_single(whole, own)
        assert torch.equal(whole.view(torch.uint8), expected.reshape(-1))
        listed = [torch.empty(count, dtype=dtype) for _ in range(size)]
        dist.all_gather(listed, own)
        assert torch.equal(torch.stack(listed).view(torch.uint8), expected)
        in_place = torch.empty(count * size, dtype=dtype)
        in_place[rank * count : (rank + 1) * count] = own
        dist.all_gather_single(in_place, in_place[rank * count : (rank + 1) * count])
        assert torch.equal(in_place.view(torch.uint8), expected.reshape(-1))
    uneven = [torch.empty(3 * each + 1) for each in range(size)]
    dist.all_gather(uneven, torch.full((3 * rank + 1,), float(rank)))
    assert [each.tolist() for each in uneven] == [[float(each)] * (3 * each + 1) for each in range(size)]
    return taken()


def scattered() -> dict[str, str]:
    """All forms of reduce-scatter."""
    rank, size = start(), dist.get_world_size()
    for dtype, count in product([torch.float32, torch.bfloat16, torch.int64], [1, 3, 1000]):
        own = vector(rank, count * size, dtype)
        expected = all_of(count * size, dtype).sum(0)[rank * count : (rank + 1) * count].to(dtype)
        part = torch.empty(count, dtype=dtype)
        dist.reduce_scatter_single(part, own)
        assert torch.equal(part, expected)
        listed = [each.clone() for each in own.chunk(size)]
        part.zero_()
        dist.reduce_scatter(part, listed)
        assert torch.equal(part, expected)
        dist.reduce_scatter_single(own[rank * count : (rank + 1) * count], own)
        assert torch.equal(own[rank * count : (rank + 1) * count], expected)
    return taken()


def rooted() -> dict[str, str]:
    rank, size = start(), dist.get_world_size()
    for root in range(size):
        data = vector(rank, 100, torch.float32)
        dist.broadcast(data, src=root)
        assert torch.equal(data, vector(root, 100, torch.float32))
        data = vector(rank, 100, torch.float32)
        dist.reduce(data, dst=root)
        expected = all_of(100, torch.float32).sum(0) if rank == root else vector(rank, 100, torch.float32)
        assert torch.equal(data, expected)
    return taken()


def strided() -> dict[str, str]:
    """Tensors whose elements do not lie one after the other are copied in and out."""
    rank, size = start(), dist.get_world_size()
    data = torch.full((6, 4), float(rank + 1)).t()
    dist.all_reduce(data)
    assert torch.equal(data, torch.full((4, 6), 10.0))
    part = torch.zeros(4, 2).t()
    dist.reduce_scatter_single(part, torch.ones(8, 4))
    assert torch.equal(part, torch.full((2, 4), 4.0))
    whole = torch.zeros(4, 2 * size).t()
    dist.all_gather_single(whole, torch.full((2, 4), float(rank)))
    assert whole[:, 0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    data = torch.full((3, 3), float(rank)).t()[:2]
    dist.broadcast(data, src=2)
    assert torch.equal(data, torch.full((2, 3), 2.0))
    return taken()


def _doubled(future: Any) -> Any:
    return future.value()[0] * 2


def in_flight() -> dict[str, str]:
    """Several operations at a time, waited for in another order, and futures."""
    rank = start()
    tensors = [torch.full((20_000,), float(rank + each)) for each in range(8)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for place in (5, 0, 7, 1, 2, 6, 3, 4):
        works[place].wait()
        assert torch.equal(tensors[place], torch.full((20_000,), 6.0 + 4 * place))
        assert works[place].is_completed()
        assert works[place].is_success()
    data = torch.ones(5, 2).t()
    work = dist.all_reduce(data, async_op=True)
    doubled = work.get_future().then(_doubled)
    assert torch.equal(doubled.wait(), torch.full((2, 5), 8.0))
    assert work.result()[0] is data
    return taken()


def coalesced() -> dict[str, str]:
    rank, size = start(), dist.get_world_size()
    tensors = [torch.full((each + 1,), float(rank)) for each in range(3)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    assert all(torch.equal(tensor, torch.full_like(tensor, 6.0)) for tensor in tensors)
    wholes = [torch.empty(size * (each + 1)) for each in range(3)]
    with dist._coalescing_manager():
        for each, whole in enumerate(wholes):
            dist.all_gather_single(whole, torch.full((each + 1,), float(rank)))
    assert all(whole.view(size, -1)[:, 0].tolist() == [0, 1, 2, 3] for whole in wholes)
    parts = [torch.empty(each + 1) for each in range(3)]
    with dist._coalescing_manager():
        for each, part in enumerate(parts):
            dist.reduce_scatter_single(part, torch.full((size * (each + 1),), 1.0))
    assert all(torch.equal(part, torch.full_like(part, 4.0)) for part in parts)
    return taken()


def objects() -> dict[str, str]:
    rank, size = start(), dist.get_world_size()
    found: list[Any] = [None] * size
    dist.all_gather_object(found, {"rank": rank, "text": "x" * rank})
    assert [each["rank"] for each in found] == list(range(size))
    sent = [{"from": rank}, "b"]
    dist.broadcast_object_list(sent, src=1)
    assert sent == [{"from": 1}, "b"]
    on_root: list[Any] | None = [None] * size if rank == 2 else None
    dist.gather_object(rank * 10, on_root, dst=2)
    assert on_root is None or on_root == [0, 10, 20, 30]
    part: list[Any] = [None]
    dist.scatter_object_list(part, ["a", "b", "c", "d"] if rank == 0 else None, src=0)
    assert part == ["abcd"[rank]]
    return taken()


def exchanged() -> dict[str, str]:
    """All-to-alls of equal parts: types, shapes, memory that overlaps or is not contiguous, and calls in flight."""
    rank, size = start(), dist.get_world_size()
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64):
        source = (torch.arange(3 * size * size) + rank).to(dtype)
        out = torch.empty_like(source)
        dist.all_to_all_single(out, source)
        parts = [(torch.arange(3 * size * size) + each).to(dtype).chunk(size)[rank] for each in range(size)]
        assert torch.equal(out, torch.cat(parts))
    wide = torch.arange(2.0 * size * 5).reshape(2 * size, 5) * (rank + 1)
    turned = torch.empty(5, 2 * size).t()
    dist.all_to_all_single(turned, wide)
    base = torch.arange(2.0 * size * 5).reshape(2 * size, 5)[2 * rank : 2 * rank + 2]
    assert torch.equal(turned, torch.cat([base * (each + 1) for each in range(size)]))
    same = torch.full((size,), float(rank))
    dist.all_to_all_single(same, same)
    assert same.tolist() == [float(each) for each in range(size)]
    empty = torch.empty(0, 3)
    dist.all_to_all_single(empty, torch.empty(0, 3))
    outs = [torch.empty(size * 4000) for _ in range(4)]
    sources = [torch.full((size * 4000,), float(rank * 10 + each)) for each in range(4)]
    works = [dist.all_to_all_single(o, s, async_op=True) for o, s in zip(outs, sources, strict=True)]
    for number, (work, got) in enumerate(zip(works, outs, strict=True)):
        work.wait()
        assert got.reshape(size, -1)[:, 0].tolist() == [10.0 * each + number for each in range(size)]
    return taken()


def without_schedules() -> dict[str, str]:
    """What the engine does not do goes to gloo, with right results or an error, never with a plain sum."""
    rank, size = start(), dist.get_world_size()
    out = torch.empty(size)
    dist.all_to_all_single(out, torch.full((size,), float(rank)), [1] * size, [1] * size)
    assert out.tolist() == [0, 1, 2, 3]
    if rank == 0:
        dist.send(torch.ones(2), dst=1)
    if rank == 1:
        received = torch.zeros(2)
        dist.recv(received, src=0)
        assert received.tolist() == [1, 1]
    if rank < 2:
        got = torch.zeros(3)
        pair = [dist.P2POp(dist.isend, torch.full((3,), float(rank)), 1 - rank), dist.P2POp(dist.irecv, got, 1 - rank)]
        for work in dist.batch_isend_irecv(pair):
            work.wait()
        assert got.tolist() == [1.0 - rank] * 3
    bits = torch.tensor([1 << rank], dtype=torch.int32)
    dist.all_reduce(bits, op=dist.ReduceOp.BOR)
    assert bits.tolist() == [15]
    flags = torch.tensor([rank == 2, False])
    dist.all_reduce(flags, op=dist.ReduceOp.MAX)
    assert flags.tolist() == [True, False]
    mean = torch.full((2,), complex(rank, 1))
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    assert mean.tolist() == [1.5 + 1j] * 2
    return taken()


def refused() -> list[str]:
    """Return the messages of calls that cannot be right."""
    start()
    messages = []
    calls: tuple[Callable[[], object], ...] = (
        lambda: dist.all_gather_single(torch.empty(7), torch.empty(2)),
        lambda: dist.reduce_scatter_single(torch.empty(2), torch.empty(8, dtype=torch.float64)),
        lambda: dist.all_reduce(torch.ones(2, dtype=torch.int32), op=dist._make_nccl_premul_sum(0.5)),
        lambda: dist.all_to_all_single(torch.empty(5), torch.empty(5)),
        lambda: dist.all_to_all_single(torch.empty(8), torch.empty(4)),
    )
    for call in calls:
        try:
            call()
            messages.append("")
        except (ValueError, RuntimeError) as error:
            messages.append(str(error).splitlines()[0])
    dist.barrier()
    return messages
