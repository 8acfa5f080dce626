"""One rank of a training run for `fabric.py`: steps of a small transformer with DDP or FSDP2.

Started once for each rank, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set. Rank 0 prints one JSON object: the
seconds of each step, the bytes of the gradients, and the loss of the last step. All backends see the same data and
weights.
"""

import argparse
import importlib
import json
import os
import time
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

_WORDS, _LENGTH, _BATCH = 512, 32, 2


class Model(nn.Module):
    """A small transformer that predicts the next of `_WORDS` words."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(_WORDS, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True) for _ in range(layers)
        )
        self.head = nn.Linear(width, _WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Return the logits of each next word."""
        data = self.embedding(words)
        for layer in self.layers:
            data = layer(data)
        result: torch.Tensor = self.head(data)
        return result.clone()  # FSDP2 warns about a view


def main() -> None:
    """Train, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="gloo")
    parser.add_argument("--mode", choices=["ddp", "fsdp"], default="ddp")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    if options.backend == "forestcoll":
        importlib.import_module("forestcoll.torch")  # registers the backend
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group(options.backend)
    model = Model(options.width, options.layers)
    size = sum(each.numel() * each.element_size() for each in model.parameters())
    wrapped = sharded(model) if options.mode == "fsdp" else nn.parallel.DistributedDataParallel(model)
    seconds, loss = train(wrapped, options.steps)
    if dist.get_rank() == 0:
        print(json.dumps({"seconds": seconds, "bytes": size, "loss": loss}))
    dist.destroy_process_group()


def sharded(model: Model) -> Any:
    """Return the model with its parameters sharded over all ranks (FSDP2)."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(model: Any, steps: int) -> tuple[list[float], float]:
    """Return the seconds of each step after the first, and the loss of the last step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    source = torch.Generator().manual_seed(int(os.environ["RANK"]))
    seconds, value = [], 0.0
    for step in range(steps + 1):
        words = torch.randint(_WORDS, (_BATCH, _LENGTH + 1), generator=source)
        dist.barrier()
        begin = time.perf_counter()
        logits = model(words[:, :-1])
        loss: Any = nn.functional.cross_entropy(logits.reshape(-1, _WORDS), words[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        value = loss.item()
        if step:
            seconds.append(time.perf_counter() - begin)
    return seconds, value


if __name__ == "__main__":
    main()
