"""Moves the memory of tensors by slots: what `calls/operations.py` starts collectives on."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from forestcoll.base.errors import InternalError
from forestcoll.runtime import Plan, ReduceOp
from forestcoll.torch.calls.elements import Reduction
from forestcoll.torch.calls.operations import Counts
from forestcoll.torch.slots.graphs import Graphs
from forestcoll.torch.slots.movement import Movement
from forestcoll.torch.slots.steps import Bound


@dataclass(frozen=True, slots=True)
class Way:
    """A verified schedule that is ready for data of any size.

    Attributes:
        path: `two-level` or `slots`.
        plan: of the schedule.
        depth: D: for how many slots a chunk is on its way.
        bound: returns the slots of a collective on this rank's memory.
    """

    path: str
    plan: Plan
    depth: int
    bound: Callable[[Movement], Bound]


@dataclass(frozen=True, slots=True)
class SlotCarrier:
    """Runs the slots of one collective.

    Attributes:
        way: the schedule.
        rank: this rank.
        chunks: S.
        graphs: of the group.
    """

    way: Way
    rank: int
    chunks: int
    graphs: Graphs

    def allreduce(self, data: torch.Tensor, reduction: Reduction) -> None:
        """As `Carrier.allreduce`."""
        self._run(data, reduction=reduction)

    def reduce(self, data: torch.Tensor, root: int, reduction: Reduction) -> None:
        """As `Carrier.reduce`."""
        self._run(data, None if self.rank == root else data, reduction=reduction, root=root)

    def broadcast(self, data: torch.Tensor, root: int) -> None:
        """As `Carrier.broadcast`."""
        self._run(data, root=root)

    def allgather(self, out: torch.Tensor, source: torch.Tensor, counts: Counts) -> None:
        """As `Carrier.allgather`."""
        self._run(out, source, counts)

    def all_to_all(self, out: torch.Tensor, source: torch.Tensor) -> None:
        """Raise an error: `Slots.choose` leaves it to the inner group."""
        raise InternalError(f"slots have no all-to-all, of {source.numel()} elements to {out.numel()}")

    def reduce_scatter(self, out: torch.Tensor, source: torch.Tensor, counts: Counts, reduction: Reduction) -> None:
        """As `Carrier.reduce_scatter`."""
        self._run(out, source, counts, reduction)

    def _run(
        self,
        data: torch.Tensor,
        source: torch.Tensor | None = None,
        counts: Counts = None,
        reduction: Reduction = (ReduceOp.SUM, 1.0),
        root: int | None = None,
    ) -> None:
        if not data.numel() and (source is None or not source.numel()):
            return
        flat = data.detach().view(-1)
        whole = None if source is None else source.detach().view(-1)
        shards = None if counts is None else tuple(counts)
        movement = Movement(self.way.plan.collective, flat, whole, reduction[0], shards, root, self.chunks)
        self.graphs.run(self.way.path, movement, self._moved)

    def _moved(self, movement: Movement) -> None:
        self.way.bound(movement).run()
        if movement.op is ReduceOp.AVG and movement.root in {None, self.rank}:
            movement.data.div_(self.way.plan.size)
