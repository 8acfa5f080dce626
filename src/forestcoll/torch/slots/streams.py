"""What slots need of a device besides torch's operations: streams, events, and groups of sends and receives.

`calls/accelerators.py` has what differs between the GPUs of vendors, and the module of torch that this file calls.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import torch
import torch.distributed as dist

from forestcoll.torch.calls.accelerators import ACCELERATORS, CUDA, Accelerator

Result = TypeVar("Result")


class Finished(Protocol):
    """The end of operations on a device."""

    def wait(self) -> None:
        """Let what the caller does next on the device wait for it."""

    def is_done(self) -> bool:
        """Return whether it was reached."""

    def future(self, outputs: list[torch.Tensor]) -> torch.futures.Future:
        """Return a future of `outputs` that is set then."""


class Device(Protocol):
    """A type of device.

    Attributes:
        can_capture: whether it has graphs.
    """

    can_capture: bool

    def is_captured(self) -> bool:
        """Return whether the caller captures a graph now."""

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """Return what replays the operations of `run`, which are captured and not executed."""

    def issue(self, tensors: Sequence[torch.Tensor], run: Callable[[], None]) -> Finished:
        """Run `run`, which uses `tensors`, after what was issued on the device before, and return its end."""

    def together(self, group: dist.ProcessGroup, start: Callable[[], list[dist.Work]]) -> list[dist.Work]:
        """Return the handles of the sends and receives that `start` starts, as one operation if the group can."""

    def open(self, group: dist.ProcessGroup) -> None:
        """Make a new group ready for sends and receives of some of its ranks; all its ranks call it."""

    def finish(self) -> None:
        """Wait until all that was issued has ended."""


class Host:
    """CPU tensors: everything has ended when it returns."""

    can_capture = False

    def is_captured(self) -> bool:
        """Nothing is."""
        return False

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """Return `run`: the host has no graphs."""
        return run

    def issue(self, tensors: Sequence[torch.Tensor], run: Callable[[], None]) -> Finished:  # noqa: ARG002
        """Run `run` now."""
        run()
        return _Now()

    def together(self, group: dist.ProcessGroup, start: Callable[[], list[dist.Work]]) -> list[dist.Work]:  # noqa: ARG002
        """Start one after the other."""
        return start()

    def open(self, group: dist.ProcessGroup) -> None:
        """Groups of gloo are ready."""

    def finish(self) -> None:
        """Nothing is left."""


class _Now:
    def wait(self) -> None:
        pass

    def is_done(self) -> bool:
        return True

    def future(self, outputs: list[torch.Tensor]) -> torch.futures.Future:
        ended: torch.futures.Future = torch.futures.Future()
        ended.set_result(outputs)
        return ended


class Gpu:
    """Tensors of a GPU: all work is on a stream of its own, so that other work of the caller can run beside it."""

    def __init__(self, kind: Accelerator = CUDA) -> None:
        self.can_capture = kind.has_graphs
        self._kind, self._module = kind, kind.module
        self._stream = self._module.Stream()

    def is_captured(self) -> bool:
        """Return whether the caller captures the present stream."""
        return self.can_capture and bool(self._module.is_current_stream_capturing())

    def capture(self, run: Callable[[], None]) -> Callable[[], None]:
        """Capture on the own stream. Other threads, such as NCCL's watchdog, may go on."""
        graph = self._module.CUDAGraph()
        with self._module.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
            run()
        replay: Callable[[], None] = graph.replay
        return replay

    def issue(self, tensors: Sequence[torch.Tensor], run: Callable[[], None]) -> Finished:
        """Run `run` with the own stream, after what is on the present one."""
        self._stream.wait_stream(self._module.current_stream())
        with self._module.stream(self._stream):
            run()
            event = self._stream.record_event()
        for tensor in tensors:
            tensor.record_stream(self._stream)  # its memory is not given to others before
        return _Event(self._module, self._stream, event)

    def together(self, group: dist.ProcessGroup, start: Callable[[], list[dist.Work]]) -> list[dist.Work]:
        """Start as one group of NCCL (or XCCL): on one communicator, and without an order among them."""
        device = torch.device(self._kind.device, self._module.current_device())
        group._start_coalescing(device)  # noqa: SLF001 (as torch's batch_isend_irecv does)
        start()
        return [group._end_coalescing(device)]  # noqa: SLF001

    def open(self, group: dist.ProcessGroup) -> None:
        """Make the communicator: all ranks must take part in its first operation."""
        group.allreduce([torch.zeros(1, device=self._kind.device)]).wait()

    def finish(self) -> None:
        """Wait for the own stream."""
        self._stream.synchronize()


class _Event:
    def __init__(self, module: Any, stream: Any, event: Any) -> None:
        self._module, self._stream, self._event = module, stream, event

    def wait(self) -> None:
        self._module.current_stream().wait_event(self._event)

    def is_done(self) -> bool:
        return bool(self._event.query())

    def future(self, outputs: list[torch.Tensor]) -> torch.futures.Future:
        ended: torch.futures.Future = torch.futures.Future(devices=[self._stream.device])
        with self._module.stream(self._stream):
            ended.set_result(outputs)  # records an event on this stream; who waits for the future waits for it
        return ended


def device_of(kind: str) -> Device:
    """Return what slots need of a type of device of torch."""
    return Host() if kind == "cpu" else Gpu(ACCELERATORS[kind])
