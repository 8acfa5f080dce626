"""Runs the torch backend on tensors in GPU memory and in CPU memory, and compares the results with one process.

    torchrun --nproc-per-node 4 benchmarks/gpu/torch_tensors.py [--topology ring:nodes=4]

The backend gives CUDA tensors to NCCL and CPU tensors to the engine of forestcoll. A rank uses GPU LOCAL_RANK modulo
the number of GPUs. If there are fewer GPUs than ranks, each rank has a host name of its own (`NCCL_HOSTID`), so that
NCCL accepts several ranks on one GPU; data then goes through sockets. Prints each check that is right, and the path
of each operation. A wrong result is an error.
"""

import argparse
import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import forestcoll.torch as backend

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64)
COUNTS = (1, 1000, 70_001)


def main() -> None:
    """Run all checks on both kinds of memory."""
    options = _options()
    if not torch.cuda.is_available():
        sys.exit("torch_tensors.py: PyTorch finds no GPU")
    if torch.cuda.device_count() < RANKS:
        os.environ.update(NCCL_HOSTID=f"rank{RANK}", NCCL_SOCKET_IFNAME="lo", NCCL_NET="Socket")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    chosen = backend.Options(topology=options.topology)
    dist.init_process_group("forestcoll", timeout=timedelta(seconds=60), pg_options=chosen)
    for check in (allreduce, allgather, reduce_scatter, rooted, all_to_all, asynchronous, group, training):
        for device in (torch.device("cuda"), torch.device("cpu")):
            check(device)
            dist.barrier()
            if RANK == 0:
                print(f"right: {check.__name__} of {device.type} tensors", flush=True)
    if RANK == 0:
        for each in backend.paths():
            print(each)
    dist.destroy_process_group()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", help="the network of the ranks; by default, that of the options of the backend")
    return parser.parse_args()


def _vector(rank: int, count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Return small whole numbers, of which sums are exact in every type."""
    generator = torch.Generator().manual_seed(rank)
    return torch.randint(1, 4, (count,), generator=generator).to(dtype).to(device)


def _rows(count: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.stack([_vector(rank, count, dtype, device) for rank in range(RANKS)])


def _check(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected.to(found.dtype), rtol=0, atol=0)


def allreduce(device: torch.device) -> None:
    """Sums and maxima, of all types and sizes."""
    for dtype in DTYPES:
        for count in COUNTS:
            for operation, expected in ((dist.ReduceOp.SUM, torch.sum), (dist.ReduceOp.MAX, torch.amax)):
                data = _vector(RANK, count, dtype, device)
                dist.all_reduce(data, op=operation)
                _check(data, expected(_rows(count, dtype, device), 0))


def allgather(device: torch.device) -> None:
    """Into one tensor and into a list."""
    for dtype in DTYPES:
        for count in COUNTS:
            own, expected = _vector(RANK, count, dtype, device), _rows(count, dtype, device)
            whole = torch.empty(count * RANKS, dtype=dtype, device=device)
            dist.all_gather_into_tensor(whole, own)
            _check(whole, expected.reshape(-1))
            listed = [torch.empty_like(own) for _ in range(RANKS)]
            dist.all_gather(listed, own)
            _check(torch.stack(listed), expected)


def reduce_scatter(device: torch.device) -> None:
    """From one tensor."""
    for dtype in DTYPES:
        for count in COUNTS:
            part = torch.empty(count, dtype=dtype, device=device)
            dist.reduce_scatter_tensor(part, _vector(RANK, count * RANKS, dtype, device))
            expected = _rows(count * RANKS, dtype, device).sum(0)[RANK * count : (RANK + 1) * count]
            _check(part, expected)


def rooted(device: torch.device) -> None:
    """Broadcasts from each root, and reduces to each."""
    for root in range(RANKS):
        data = _vector(RANK, 1000, torch.float32, device)
        dist.broadcast(data, root)
        _check(data, _vector(root, 1000, torch.float32, device))
        data = _vector(RANK, 1000, torch.float32, device)
        dist.reduce(data, root)
        if root == RANK:
            _check(data, _rows(1000, torch.float32, device).sum(0))


def all_to_all(device: torch.device) -> None:
    """With shards of one size."""
    found = torch.empty(1000 * RANKS, device=device)
    dist.all_to_all_single(found, _vector(RANK, 1000 * RANKS, torch.float32, device))
    rows = _rows(1000 * RANKS, torch.float32, device)
    _check(found, rows[:, RANK * 1000 : (RANK + 1) * 1000].reshape(-1))


def asynchronous(device: torch.device) -> None:
    """Several operations in flight, between kernels that write the data and kernels that read it."""
    tensors = [_vector(RANK, 50_000, torch.float32, device) * factor for factor in range(1, 5)]
    works = [dist.all_reduce(each, async_op=True) for each in tensors]
    for factor, (work, data) in enumerate(zip(works, tensors, strict=True), start=1):
        work.wait()
        _check(data * 2, _rows(50_000, torch.float32, device).sum(0) * factor * 2)


def group(device: torch.device) -> None:
    """A group of the even ranks."""
    members = list(range(0, RANKS, 2))
    made = dist.new_group(members)
    if RANK in members:
        data = _vector(RANK, 1000, torch.float32, device)
        dist.all_reduce(data, group=made)
        _check(data, sum((_vector(each, 1000, torch.float32, device) for each in members), torch.zeros_like(data)))
        dist.destroy_process_group(made)


def training(device: torch.device) -> None:
    """Three steps of DistributedDataParallel lead to the model of one process with the whole batch."""
    models = []
    for _ in range(2):
        torch.manual_seed(0)
        models.append(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)).double().to(device))
    parallel = nn.parallel.DistributedDataParallel(models[0])
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
    torch.manual_seed(1)
    for _ in range(3):
        batch, target = torch.randn(8 * RANKS, 32).double().to(device), torch.randn(8 * RANKS, 8).double().to(device)
        own = slice(8 * RANK, 8 * (RANK + 1))
        steps = ((parallel, batch[own], target[own]), (models[1], batch, target))
        for optimizer, (model, data, wanted) in zip(optimizers, steps, strict=True):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(data), wanted).backward()
            optimizer.step()
    for found, expected in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(found, expected)


if __name__ == "__main__":
    main()
