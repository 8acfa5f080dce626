"""What was called, as far as the choice of its path depends on it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from forestcoll.demand.collective import Collective
from forestcoll.runtime import ReduceOp
from forestcoll.torch.calls.elements import Reduction, reduction_of
from forestcoll.torch.calls.operations import Counts


@dataclass(frozen=True, slots=True)
class Call:
    """What was called.

    Attributes:
        operation: its name in torch.
        collective: what it is; None if it has no schedules.
        tensors: all tensors of the call.
        size: the bytes of all data, M of the collective.
        root: the rank of the root, where the collective has one.
        op: torch's reduction, where data are reduced.
        counts: of each rank the elements of its part, if they differ.
    """

    operation: str
    collective: Collective | None
    tensors: Sequence[torch.Tensor]
    size: int
    root: int | None = None
    op: dist.ReduceOp | None = None
    counts: Counts = None

    @property
    def reduction(self) -> Reduction:
        """The runtime's reduction, which was found to have one like torch's; SUM if nothing is reduced."""
        found = (ReduceOp.SUM, 1.0) if self.op is None else reduction_of(self.op)
        assert found is not None  # noqa: S101 (the path of a call is chosen before)
        return found
