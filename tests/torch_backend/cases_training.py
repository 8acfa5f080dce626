"""Unmodified training loops, run over gloo and over forestcoll in the same processes, and their losses."""

import os
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from cases_collectives import start, taken
from torch.distributed import _functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel

from forestcoll.torch import Options, paths

STEPS = 6
ENGINE = "forestcoll"


@contextmanager
def group(backend: str, size: int) -> Iterator[int]:
    if backend == "gloo":
        dist.init_process_group("gloo", timeout=timedelta(seconds=20))
        os.environ["MASTER_PORT"] = os.environ["SECOND_PORT"]
    else:
        start(os.environ.get("TEST_TOPOLOGY", f"ring:nodes={size}"))
    yield int(dist.get_rank())
    dist.destroy_process_group()


def model() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(16, 33), torch.nn.Tanh(), torch.nn.Linear(33, 5))


def losses(module: torch.nn.Module, rank: int, steps: int = STEPS) -> list[float]:
    """Train with data of this rank, and return the mean loss over all ranks after each step."""
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(100 + rank)
    found = []
    for _ in range(steps):
        inputs, targets = torch.randn(8, 16, generator=generator), torch.randn(8, 5, generator=generator)
        loss = torch.nn.functional.mse_loss(module(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        found.append(mean.item())
    return found


def compared(size: int, train: Callable[[int], list[float]]) -> dict[str, Any]:
    """Return the losses of `train` over gloo and over forestcoll, and the paths of forestcoll."""
    curves: dict[str, Any] = {}
    for backend in ("gloo", ENGINE):
        with group(backend, size) as rank:
            curves[backend] = train(rank)
            curves["paths"] = taken() if backend == ENGINE else {}
    return curves


def ddp(size: int, **options: float) -> dict[str, Any]:
    return compared(size, lambda rank: losses(DistributedDataParallel(model(), **options), rank))


def fsdp(size: int, precision: str = "") -> dict[str, Any]:
    def train(rank: int) -> list[float]:
        mesh = init_device_mesh("cpu", (size,))
        policy = MixedPrecisionPolicy(reduce_dtype=torch.bfloat16) if precision else MixedPrecisionPolicy()
        module = model()
        for layer in module:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer, mesh=mesh, mp_policy=policy)
        return losses(fully_shard(module, mesh=mesh, mp_policy=policy), rank)

    return compared(size, train)


def fsdp_with_flat_parameters(size: int) -> dict[str, Any]:
    """The first FSDP resizes the memory of tensors that were gathered; torch warns that it is deprecated."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    warnings.simplefilter("ignore")
    return compared(size, lambda rank: losses(FullyShardedDataParallel(model(), device_id=torch.device("cpu")), rank))


def zero(size: int) -> dict[str, Any]:
    """Sums of gradients are scattered, each rank updates its part, parts are gathered."""

    def train(rank: int) -> list[float]:
        torch.manual_seed(1)
        whole, found = torch.randn(size * 50), []
        for step in range(STEPS):
            weights = whole.clone().requires_grad_()
            loss = (weights * (rank + 1) + step).square().mean()
            loss.backward()
            part = torch.empty(50)
            dist.reduce_scatter_single(part, weights.grad, op=dist.ReduceOp.AVG)
            dist.all_gather_single(whole, whole[rank * 50 : (rank + 1) * 50] - 0.1 * part)
            found.append(loss.item())
        return found

    return compared(size, train)


def example(path: str, arguments: list[str]) -> None:
    """Run a script as this rank."""
    sys.argv = [path, *arguments]
    runpy.run_path(path, run_name="__main__")


def hybrid() -> dict[str, Any]:
    """FSDP in groups of two, replicated by other groups of two: all of them are groups of a mesh."""
    with group("forestcoll", 4) as rank:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
        module = fully_shard(model(), mesh=mesh)
        found = losses(module, rank)
        return {"losses": found, "paths": taken()}


def functional_collectives() -> dict[str, str]:
    rank = start()
    mesh = dist.group.WORLD
    total = functional.all_reduce(torch.full((3,), float(rank)), "sum", mesh)
    assert total.tolist() == [6, 6, 6]
    whole = functional.all_gather_single(torch.full((2,), float(rank)), 0, mesh)
    assert whole.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    part = functional.reduce_scatter_single(torch.arange(8.0), "avg", 0, mesh)
    assert part.tolist() == [2.0 * rank, 2.0 * rank + 1]
    copied = functional.broadcast(torch.full((2,), float(rank)), 1, mesh)
    assert copied.tolist() == [1, 1]
    swapped = functional.all_to_all_single(torch.full((4,), float(rank)), None, None, mesh)
    assert swapped.tolist() == [0, 1, 2, 3]
    return taken()


def compiled() -> dict[str, str]:
    """A compiled function with collectives in it, and a compiled module under DDP."""
    rank = start("ring:nodes=2")

    def step(data: torch.Tensor) -> torch.Tensor:
        return functional.all_reduce(data * 2, "sum", dist.group.WORLD) + 1

    compiled_step = torch.compile(step, backend="aot_eager", fullgraph=True)
    assert compiled_step(torch.full((3,), float(rank))).tolist() == [3, 3, 3]
    module = torch.compile(DistributedDataParallel(model()), backend="aot_eager")
    assert len(losses(module, rank, steps=2)) == 2
    return taken()


def groups() -> list[list[Any]]:
    """Groups that overlap; each gives its own sums, by the path that its part of the ring allows."""
    rank, found = start(), list[Any]()
    if rank > 1:  # only members call it
        made = dist.new_group([2, 3], use_local_synchronization=True, timeout=timedelta(seconds=20))
        data = torch.full((100,), float(rank))
        dist.all_reduce(data, group=made)
        found.append([[2, 3], data[0].item(), ENGINE])
    for ranks in ([0, 1], [1, 2, 3], [0, 2], [0, 1, 2, 3], [2]):
        made = dist.new_group(ranks, timeout=timedelta(seconds=20))
        if rank not in ranks:
            continue
        data = torch.full((100,), float(rank))
        dist.all_reduce(data, group=made)
        dist.broadcast(data, src=ranks[-1], group=made)
        (path,) = {each.path for each in paths(made) if each.operation == "all_reduce"}
        found.append([ranks, data[0].item(), path])
        if len(ranks) == 2:
            dist.destroy_process_group(made)
    return found


def compressed() -> dict[str, Any]:
    """Hooks of DDP work on futures."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook

    with group("forestcoll", 2) as rank:
        module = DistributedDataParallel(model())
        module.register_comm_hook(None, fp16_compress_hook)
        return {"losses": losses(module, rank), "paths": taken()}


def beside_gloo() -> list[Any]:
    """A group of gloo next to a default group of forestcoll, and the other way round."""
    with group("forestcoll", 2) as rank:
        data = torch.full((10,), float(rank))
        dist.all_reduce(data, group=dist.new_group(backend="gloo"))
        found: list[Any] = [data[0].item(), taken()]
    os.environ["MASTER_PORT"] = os.environ["SECOND_PORT"]
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    made = dist.new_group(backend="forestcoll", pg_options=Options(topology="ring:nodes=2"))
    data = torch.full((10,), float(rank))
    dist.all_reduce(data, group=made)
    return [*found, data[0].item(), taken()]


def for_devices() -> list[Any]:
    """The backend by device, with torch's checks of debug mode switched on."""
    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    options = Options(topology="ring:nodes=2")
    dist.init_process_group("cpu:forestcoll,cuda:nccl", timeout=timedelta(seconds=20), pg_options=options)
    data = torch.ones(10)
    dist.all_reduce(data)
    return [data[0].item(), taken()]


def sharded_optimizer_and_checkpoint(path: str) -> dict[str, Any]:
    """An optimizer with parts of the state on each rank, a checkpoint, a tensor that changes its layout, `Join`.

    Modules of torch warn that they use parts of torch that are deprecated.
    """
    warnings.simplefilter("ignore")
    from torch.distributed import checkpoint
    from torch.distributed.algorithms.join import Join
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.distributed.tensor import Shard, distribute_tensor

    with group("forestcoll", 2) as rank:
        module = DistributedDataParallel(model())
        optimizer = ZeroRedundancyOptimizer(module.parameters(), torch.optim.Adam, lr=0.1)
        with Join([module]):
            for _ in range(2 + rank):
                module(torch.ones(2, 16)).sum().backward()
        optimizer.step()
        weights = [float(each.sum()) for each in module.parameters()]
        saved = {"weight": torch.full((3,), 5.0)}
        checkpoint.save(saved, checkpoint_id=path)
        saved["weight"].zero_()
        checkpoint.load(saved, checkpoint_id=path)
        mesh = init_device_mesh("cpu", (2,))
        tensor = distribute_tensor(torch.arange(8.0).reshape(4, 2), mesh, [Shard(0)])
        whole = tensor.redistribute(mesh, [Shard(1)]).full_tensor()
        return {"weights": weights, "saved": saved["weight"].tolist(), "whole": whole.flatten().tolist()}
