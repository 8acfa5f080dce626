"""Trains a small model by data parallelism on CPU, over the collectives of a given network.

    torchrun --nproc-per-node 4 examples/train_ddp.py --topology dgx-a100:boxes=2,gpus=2

Only two lines differ from any other DDP script: `import forestcoll.torch`, and the name of the backend.
"""

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import forestcoll.torch


def main() -> None:
    """Train, and print on rank 0 the losses and which path each operation took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--topology", help="a builder's spec or a file; default: FORESTCOLL_TOPOLOGY")
    parser.add_argument("--steps", type=int, default=30)
    arguments = parser.parse_args()

    dist.init_process_group("forestcoll", pg_options=forestcoll.torch.Options(topology=arguments.topology))
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(rank)  # each rank has data of its own
    direction = torch.linspace(-1, 1, 64)

    for step in range(arguments.steps):
        inputs = torch.randn(128, 64, generator=generator)
        loss = torch.nn.functional.mse_loss(model(inputs).squeeze(1), inputs @ direction)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        if rank == 0 and (step % 10 == 0 or step == arguments.steps - 1):
            print(f"step {step:3}: loss {mean.item():.3f}")

    if rank == 0:
        for each in forestcoll.torch.paths():
            print(f"{each.operation}: {each.count} by {each.path} ({each.reason})")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
