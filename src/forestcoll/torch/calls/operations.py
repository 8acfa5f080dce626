"""Starts collectives on the memory of tensors; results go there directly, or by a copy at the end.

What moves the memory is a `Carrier`: the engine, or slots of torch's own operations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from forestcoll.runtime import Communicator, Work
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.torch.calls.elements import Reduction, array_of
from forestcoll.torch.calls.work import Completion

Counts = Sequence[int] | None
"""Of each rank the elements of its part; None if they are equal."""


@dataclass(frozen=True, slots=True)
class Started:
    """An operation in flight.

    Attributes:
        work: the carrier's handle.
        completion: copies the result to where the caller wants it; None if it goes there directly.
    """

    work: Any
    completion: Completion | None


class Carrier(Protocol):
    """Moves the memory of contiguous tensors between the ranks of a group; each method returns a handle."""

    @property
    def rank(self) -> int:
        """This rank."""

    def allreduce(self, data: torch.Tensor, reduction: Reduction) -> object:
        """Combine `data` of all ranks in place."""

    def reduce(self, data: torch.Tensor, root: int, reduction: Reduction) -> object:
        """Combine `data` of all ranks, in place on the root; other ranks keep theirs."""

    def broadcast(self, data: torch.Tensor, root: int) -> object:
        """Copy `data` of the root to all ranks."""

    def allgather(self, out: torch.Tensor, source: torch.Tensor, counts: Counts) -> object:
        """Gather `source` of all ranks in `out`; `counts` are their elements, if they differ."""

    def all_to_all(self, out: torch.Tensor, source: torch.Tensor) -> object:
        """Exchange equal parts of `source`; they do not overlap with `out`."""

    def reduce_scatter(self, out: torch.Tensor, source: torch.Tensor, counts: Counts, reduction: Reduction) -> object:
        """Combine `source` of all ranks and leave each with its part in `out`."""


class EngineCarrier:
    """The engine of a communicator, for CPU tensors."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator

    @property
    def rank(self) -> int:
        """This rank."""
        return self._communicator.rank

    def allreduce(self, data: torch.Tensor, reduction: Reduction) -> Work:
        """As `Carrier.allreduce`."""
        array, name = array_of(data)
        return self._communicator.allreduce(array, array, op=reduction[0], factor=reduction[1], dtype=name)

    def reduce(self, data: torch.Tensor, root: int, reduction: Reduction) -> Work:
        """As `Carrier.reduce`."""
        array, name = array_of(data)
        (op, factor), out = reduction, array if self.rank == root else None
        return self._communicator.reduce(array, out, root=root, op=op, factor=factor, dtype=name)

    def broadcast(self, data: torch.Tensor, root: int) -> Work:
        """As `Carrier.broadcast`."""
        array, name = array_of(data)
        return self._communicator.broadcast(array, root=root, dtype=name)

    def allgather(self, out: torch.Tensor, source: torch.Tensor, counts: Counts) -> Work:
        """As `Carrier.allgather`."""
        array, name = array_of(out)
        sent, _ = array_of(source)
        return self._communicator.allgather(sent, array, counts=_in_elements(counts, out, array), dtype=name)

    def all_to_all(self, out: torch.Tensor, source: torch.Tensor) -> Work:
        """As `Carrier.all_to_all`."""
        array, name = array_of(out)
        return self._communicator.all_to_all(array_of(source)[0], array, dtype=name)

    def reduce_scatter(self, out: torch.Tensor, source: torch.Tensor, counts: Counts, reduction: Reduction) -> Work:
        """As `Carrier.reduce_scatter`."""
        array, name = array_of(out)
        (op, factor), (whole, _) = reduction, array_of(source)
        return self._communicator.reduce_scatter(whole, array, op=op, factor=factor, counts=counts, dtype=name)


def allreduce(carrier: Carrier, tensor: torch.Tensor, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks in place."""
    memory, completion = _memory_of(tensor)
    return Started(carrier.allreduce(memory, reduction), completion)


def reduce(carrier: Carrier, tensor: torch.Tensor, root: int, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks, in place on the root; other ranks keep theirs."""
    memory, completion = _memory_of(tensor)
    return Started(carrier.reduce(memory, root, reduction), completion if carrier.rank == root else None)


def broadcast(carrier: Carrier, tensor: torch.Tensor, root: int) -> Started:
    """Copy the root's tensor to all ranks."""
    memory, completion = _memory_of(tensor)
    return Started(carrier.broadcast(memory, root), None if carrier.rank == root else completion)


def allgather(carrier: Carrier, out: torch.Tensor, source: torch.Tensor) -> Started:
    """Gather the tensors of all ranks in `out`, one after the other."""
    memory, completion = _memory_of(out)
    return Started(carrier.allgather(memory, source.detach().contiguous(), None), completion)


def allgather_list(carrier: Carrier, outputs: Sequence[torch.Tensor], source: torch.Tensor) -> Started:
    """Gather the tensors of all ranks, each in its own output; they may have different sizes."""
    joined = _joined(outputs)
    memory = joined if joined is not None else source.new_empty(sum(each.numel() for each in outputs))
    work = carrier.allgather(memory, source.detach().contiguous(), counts_of(outputs))
    return Started(work, None if joined is not None else lambda: _copy_parts(memory, outputs))


def all_to_all(carrier: Carrier, out: torch.Tensor, source: torch.Tensor) -> Started:
    """Exchange equal parts of `source` between all ranks; the parts for this rank go to `out`."""
    memory, completion = _memory_of(out)
    sent = source.detach().contiguous()
    if sent.untyped_storage().data_ptr() == memory.untyped_storage().data_ptr():
        sent = sent.clone()  # a part of the result may be written before what lies there was sent
    return Started(carrier.all_to_all(memory, sent), completion)


def reduce_scatter(carrier: Carrier, out: torch.Tensor, source: torch.Tensor, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks and leave each rank with its part."""
    memory, completion = _memory_of(out)
    return Started(carrier.reduce_scatter(memory, source.detach().contiguous(), None, reduction), completion)


def reduce_scatter_list(
    carrier: Carrier, out: torch.Tensor, inputs: Sequence[torch.Tensor], reduction: Reduction
) -> Started:
    """Combine the lists of all ranks; each rank gets its tensor. Tensors of a list may have different sizes."""
    joined, (memory, completion) = _joined(inputs), _memory_of(out)
    source = joined if joined is not None else torch.cat([each.detach().reshape(-1) for each in inputs])
    return Started(carrier.reduce_scatter(memory, source, counts_of(inputs), reduction), completion)


def _in_elements(counts: Counts, memory: torch.Tensor, array: AnyArray) -> Counts:
    """Return counts in the elements of the array, which are bytes where the engine does not have those of torch."""
    if counts is None or not memory.numel():
        return counts
    return [count * array.size // memory.numel() for count in counts]


def _memory_of(tensor: torch.Tensor) -> tuple[torch.Tensor, Completion | None]:
    """Return contiguous memory with the values of `tensor`, and what copies it back; its own memory if it is that."""
    if tensor.is_contiguous():
        return tensor, None
    memory = tensor.detach().contiguous()

    def copy_back() -> None:
        tensor.detach().copy_(memory)

    return memory, copy_back


def counts_of(tensors: Sequence[torch.Tensor]) -> Counts:
    """Return the sizes of tensors; None if they are alike."""
    counts = [each.numel() for each in tensors]
    return None if len(set(counts)) == 1 else counts


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """Return one flat tensor over tensors that lie one after the other in the same memory; None if they do not."""
    first, place = tensors[0], tensors[0].data_ptr()
    for each in tensors:
        same = each.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
        if not each.is_contiguous() or not same or each.data_ptr() != place or each.dtype != first.dtype:
            return None
        place += each.numel() * each.element_size()
    total = sum(each.numel() for each in tensors)
    return first.detach().as_strided((total,), (1,), first.storage_offset())


def _copy_parts(memory: torch.Tensor, outputs: Sequence[torch.Tensor]) -> None:
    begin = 0
    for out in outputs:
        out.detach().copy_(memory[begin : begin + out.numel()].view(out.shape))
        begin += out.numel()
