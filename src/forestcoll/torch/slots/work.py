"""The handle of a collective in slots."""

from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist

from forestcoll.torch.calls.graphs import not_compiled
from forestcoll.torch.slots.streams import Finished


@not_compiled
class SlotWork(dist.Work):
    """A collective whose slots are all issued.

    As with NCCL, `wait` lets the present stream wait, not the caller, and faults come from the inner group.

    Args:
        finished: its end on the device.
        outputs: the tensors with the result.
    """

    def __init__(self, finished: Finished, outputs: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self._finished, self._outputs = finished, list(outputs)

    def wait(self, timeout: timedelta | None = None) -> bool:  # noqa: ARG002 (torch's signature; the limit is the group's)
        """Let what follows on the present stream wait for the result."""
        self._finished.wait()
        return True

    def is_completed(self) -> bool:
        """Return whether it has ended."""
        return self._finished.is_done()

    def is_success(self) -> bool:
        """Return whether it has ended; a fault is raised where it is found."""
        return self._finished.is_done()

    def result(self) -> list[torch.Tensor]:
        """Return the tensors with the result."""
        return self._outputs

    def synchronize(self) -> None:
        """Do what `wait` does."""
        self._finished.wait()

    def get_future(self) -> torch.futures.Future:
        """Return a future of the tensors with the result."""
        return self._finished.future(self._outputs)
