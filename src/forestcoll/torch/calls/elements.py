"""Element types and reductions of torch, as the engine has them."""

from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from forestcoll.runtime import ReduceOp
from forestcoll.runtime.engine.elements import AnyArray, ElementType

TYPES: dict[torch.dtype, tuple[str, np.dtype[Any]]] = {
    getattr(torch, each.dtype_name): (each.text, each.dtype) for each in ElementType
}
"""The name of each type of element for the engine, and what NumPy has for it."""

TORCH_OPS = {
    ReduceOp.SUM: dist.ReduceOp.SUM,
    ReduceOp.AVG: dist.ReduceOp.AVG,
    ReduceOp.MIN: dist.ReduceOp.MIN,
    ReduceOp.MAX: dist.ReduceOp.MAX,
    ReduceOp.PROD: dist.ReduceOp.PRODUCT,
}
"""What torch calls each reduction, but for PREMUL_SUM, which has a factor."""

Reduction = tuple[ReduceOp, float]
"""A reduction and the factor of this rank, which is 1 unless the reduction is PREMUL_SUM."""


class _Memory:
    """The memory of a tensor for NumPy; the array keeps it, and so the tensor.

    `Tensor.numpy` would also forbid torch to resize the storage from then on, and FSDP resizes it.
    """

    def __init__(self, tensor: torch.Tensor, count: int, dtype: np.dtype[Any]) -> None:
        self._tensor = tensor
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False),
            "shape": (count,),
            "typestr": dtype.str,
            "version": 3,
        }


def array_of(tensor: torch.Tensor) -> tuple[AnyArray, str]:
    """Return the memory of a contiguous tensor as a flat array, and the name of its elements for the engine.

    Elements that the engine does not have are bytes.
    """
    name, dtype = TYPES.get(tensor.dtype, ("u8", np.dtype(np.uint8)))
    count = tensor.numel() * tensor.element_size() // dtype.itemsize
    if not count:
        return np.empty(0, dtype), name
    array: AnyArray = np.asarray(_Memory(tensor, count, dtype))
    return array, name


def reduction_of(op: dist.ReduceOp) -> Reduction | None:
    """Return the engine's reduction for torch's; None if it has none."""
    if op == dist.ReduceOp.PREMUL_SUM:
        return _premul_sum(op)
    return next(((ours, 1.0) for ours, theirs in TORCH_OPS.items() if op == theirs), None)


def _premul_sum(op: dist.ReduceOp) -> Reduction | None:
    """Return PREMUL_SUM with its factor, which torch shows only in the state for pickle."""
    _, factor = op.__getstate__()
    if isinstance(factor, torch.Tensor):
        if factor.numel() != 1:
            return None
        factor = factor.item()
    return (ReduceOp.PREMUL_SUM, float(factor)) if isinstance(factor, int | float) else None


def why_not_moved(tensor: torch.Tensor) -> str | None:
    """Return why the engine cannot send this tensor; None if it can."""
    if tensor.device.type != "cpu":
        return f"the tensor is on {tensor.device}"
    if tensor.layout != torch.strided or tensor.is_quantized:
        return f"the tensor is not a dense one ({tensor.layout})"
    if tensor.is_conj() or tensor.is_neg():
        return "the tensor is a view that is conjugated or negated when it is read"
    return None


def why_not_reduced(tensor: torch.Tensor, op: dist.ReduceOp) -> str | None:
    """Return why the engine cannot apply this reduction to such elements; None if it can."""
    reduction = reduction_of(op)
    if reduction is None:
        return f"the engine has no reduction {_name_of(op)}"
    if tensor.dtype not in TYPES:
        return f"the engine does not add up elements of {tensor.dtype}"
    if reduction[0] is ReduceOp.PREMUL_SUM and not tensor.dtype.is_floating_point:
        return f"the engine has no PREMUL_SUM for elements of {tensor.dtype}"
    return None


def _name_of(op: dist.ReduceOp) -> str:
    kind = op.__getstate__()[0] if isinstance(op, dist.ReduceOp) else op
    return str(getattr(kind, "name", kind))
