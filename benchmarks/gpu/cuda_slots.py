"""Runs the ways of CUDA tensors, two levels and slots, and compares every element; also repeated calls, as graphs.

    torchrun --nproc-per-node 4 benchmarks/gpu/cuda_slots.py --topology dgx-a100:boxes=2,gpus=2

Each way has a group of its own. A rank uses GPU LOCAL_RANK modulo the number of GPUs. If there are fewer GPUs than
ranks, each rank has a host name of its own (`NCCL_HOSTID`), so that NCCL accepts several ranks on one GPU; with
`NCCL_MULTI_RANK_GPU_ENABLE=1` in the environment (NCCL 2.30), this is not needed. Prints for each way the calls that
were right, whether graphs were used, and what a call of little data costs next to the library's own: on GPUs that ranks
share, that says nothing about speed. A wrong element is an error. `--device cpu` runs the same over gloo.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from datetime import timedelta
from itertools import product

import torch
import torch.distributed as dist

import forestcoll.torch as backend

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
WAYS = ("two-level", "slots")
DTYPES = (torch.float32, torch.bfloat16, torch.int32)
CALLS = 4  # of a kind: the first is not captured, the second is, the others are replayed


def main() -> None:
    """Run all ways on groups of all ranks."""
    options = _options()
    warnings.filterwarnings("ignore", category=FutureWarning)  # names of collectives before torch 2.13
    if options.device == "cuda":
        _use_gpu()
    chosen = backend.Options(topology=options.topology)
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=120), pg_options=chosen)
    for way in WAYS:
        asked = backend.Options(topology=options.topology, cuda=way, cuda_device=options.device)
        group = dist.new_group(backend="forestcoll", pg_options=asked)
        began, calls = time.perf_counter(), 0
        for count, dtype, call in product(options.counts, DTYPES, range(CALLS)):
            calls += sum(1 for _ in _checked(group, count, dtype, call, torch.device(options.device)))
        _say(f"{way}: {calls} calls right, {time.perf_counter() - began:.1f} s")
        for each in sorted({(each.operation, each.path, each.reason) for each in backend.paths(group)}):
            _say("  " + ": ".join(each))
        for name, measured in (("the library's own", None), (way, group)):
            _say(f"  64 KiB by {name}: {_microseconds(measured, torch.device(options.device)):.0f} us a call")
        dist.destroy_process_group(group)
    dist.destroy_process_group()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", required=True, help="the network of the ranks")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="where the tensors are")
    parser.add_argument(
        "--counts", type=int, nargs="+", default=[1, 1009, 70_001, 2_000_003], metavar="N", help="elements of a rank"
    )
    return parser.parse_args()


def _use_gpu() -> None:
    gpus = torch.cuda.device_count()
    if gpus < int(os.environ.get("LOCAL_WORLD_SIZE", RANKS)) and "NCCL_MULTI_RANK_GPU_ENABLE" not in os.environ:
        os.environ.update(NCCL_HOSTID=f"rank{RANK}", NCCL_SOCKET_IFNAME="lo", NCCL_NET="Socket")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % gpus)


def _say(text: str) -> None:
    if RANK == 0:
        print(text, flush=True)


def _vector(rank: int, count: int, dtype: torch.dtype, call: int) -> torch.Tensor:
    """Return small whole numbers, of which sums are exact in every type."""
    made = torch.Generator().manual_seed(1000 * call + rank)
    return torch.randint(-3, 4, (count,), generator=made).to(dtype)


def _checked(
    group: dist.ProcessGroup, count: int, dtype: torch.dtype, call: int, device: torch.device
) -> Iterator[str]:
    """Yield the name of each collective that was right."""
    rows = torch.stack([_vector(rank, count * RANKS + 3, dtype, call) for rank in range(RANKS)])
    total = rows.sum(0).to(dtype)
    data = rows[RANK].to(device, copy=True)
    dist.all_reduce(data, group=group)
    yield _same("all_reduce", data, total)
    whole = torch.full((count * RANKS,), 77, dtype=dtype, device=device)
    dist.all_gather_into_tensor(whole, rows[RANK, :count].to(device), group=group)
    yield _same("all_gather_into_tensor", whole, rows[:, :count].reshape(-1))
    part, source = torch.full((count,), 77, dtype=dtype, device=device), rows[RANK, : count * RANKS].to(device)
    dist.reduce_scatter_tensor(part, source, group=group)
    yield _same("reduce_scatter_tensor", part, total[RANK * count : (RANK + 1) * count])
    root = call % RANKS
    data = rows[RANK].to(device, copy=True)
    dist.broadcast(data, root, group=group)
    yield _same("broadcast", data, rows[root])


def _same(name: str, found: torch.Tensor, expected: torch.Tensor) -> str:
    torch.testing.assert_close(found.cpu(), expected, rtol=0, atol=0, msg=lambda text: f"{name}: {text}")
    return name


def _microseconds(group: dist.ProcessGroup | None, device: torch.device, calls: int = 20) -> float:
    """Return the mean time of an allreduce of 64 KiB, of calls one after the other."""
    data = torch.zeros(2**14, device=device)
    began = 0.0
    for call in range(calls + CALLS):
        if call == CALLS:
            _wait(device)
            began = time.perf_counter()
        dist.all_reduce(data, group=group)
    _wait(device)
    return (time.perf_counter() - began) / calls * 1e6


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
