"""Starts collectives of the engine on the memory of tensors; results go there directly, or by a copy at the end."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from forestcoll.runtime import Communicator, Work
from forestcoll.runtime.engine.elements import AnyArray
from forestcoll.torch.calls.elements import Reduction, array_of
from forestcoll.torch.calls.work import Completion


@dataclass(frozen=True, slots=True)
class Started:
    """An operation in flight.

    Attributes:
        work: the engine's handle.
        completion: copies the result to where the caller wants it; None if it goes there directly.
    """

    work: Work
    completion: Completion | None


def allreduce(group: Communicator, tensor: torch.Tensor, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks in place."""
    memory, completion = _memory_of(tensor)
    array, name = array_of(memory)
    return Started(group.allreduce(array, array, op=reduction[0], factor=reduction[1], dtype=name), completion)


def reduce(group: Communicator, tensor: torch.Tensor, root: int, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks, in place on the root; other ranks keep theirs."""
    memory, completion = _memory_of(tensor)
    array, name = array_of(memory)
    is_root = group.rank == root
    work = group.reduce(array, array if is_root else None, root=root, op=reduction[0], factor=reduction[1], dtype=name)
    return Started(work, completion if is_root else None)


def broadcast(group: Communicator, tensor: torch.Tensor, root: int) -> Started:
    """Copy the root's tensor to all ranks."""
    memory, completion = _memory_of(tensor)
    array, name = array_of(memory)
    return Started(group.broadcast(array, root=root, dtype=name), None if group.rank == root else completion)


def allgather(group: Communicator, out: torch.Tensor, source: torch.Tensor) -> Started:
    """Gather the tensors of all ranks in `out`, one after the other."""
    memory, completion = _memory_of(out)
    return Started(_gathered(group, memory, source, None), completion)


def allgather_list(group: Communicator, outputs: Sequence[torch.Tensor], source: torch.Tensor) -> Started:
    """Gather the tensors of all ranks, each in its own output; they may have different sizes."""
    counts = _counts(outputs)
    joined = _joined(outputs)
    memory = joined if joined is not None else source.new_empty(sum(each.numel() for each in outputs))
    work = _gathered(group, memory, source, counts)
    return Started(work, None if joined is not None else lambda: _copy_parts(memory, outputs))


def all_to_all(group: Communicator, out: torch.Tensor, source: torch.Tensor) -> Started:
    """Exchange equal parts of `source` between all ranks; the parts for this rank go to `out`."""
    memory, completion = _memory_of(out)
    sent = source.detach().contiguous()
    if sent.untyped_storage().data_ptr() == memory.untyped_storage().data_ptr():
        sent = sent.clone()  # the engine may write a part of the result before it has sent what lies there
    array, name = array_of(memory)
    return Started(group.all_to_all(array_of(sent)[0], array, dtype=name), completion)


def reduce_scatter(group: Communicator, out: torch.Tensor, source: torch.Tensor, reduction: Reduction) -> Started:
    """Combine the tensors of all ranks and leave each rank with its part."""
    return _scattered(group, out, source, reduction, None)


def reduce_scatter_list(
    group: Communicator, out: torch.Tensor, inputs: Sequence[torch.Tensor], reduction: Reduction
) -> Started:
    """Combine the lists of all ranks; each rank gets its tensor. Tensors of a list may have different sizes."""
    joined = _joined(inputs)
    source = joined if joined is not None else torch.cat([each.detach().reshape(-1) for each in inputs])
    return _scattered(group, out, source, reduction, _counts(inputs))


def _gathered(group: Communicator, memory: torch.Tensor, source: torch.Tensor, counts: Sequence[int] | None) -> Work:
    out, name = array_of(memory)
    array, _ = array_of(source.detach().contiguous())
    return group.allgather(array, out, counts=_in_elements(counts, memory, out), dtype=name)


def _scattered(
    group: Communicator, out: torch.Tensor, source: torch.Tensor, reduction: Reduction, counts: Sequence[int] | None
) -> Started:
    memory, completion = _memory_of(out)
    array, _ = array_of(memory)
    whole, name = array_of(source.detach().contiguous())
    op, factor = reduction
    return Started(group.reduce_scatter(whole, array, op=op, factor=factor, counts=counts, dtype=name), completion)


def _in_elements(counts: Sequence[int] | None, memory: torch.Tensor, array: AnyArray) -> Sequence[int] | None:
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


def _counts(tensors: Sequence[torch.Tensor]) -> list[int] | None:
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
