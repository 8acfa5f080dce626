"""Element types and reductions of torch, as the engine has them."""

import torch
import torch.distributed as dist

from forestcoll.runtime import ReduceOp
from forestcoll.runtime.elements import AnyArray

_NAMES = {
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
}

_REDUCTIONS = (
    (dist.ReduceOp.SUM, ReduceOp.SUM),
    (dist.ReduceOp.AVG, ReduceOp.AVG),
    (dist.ReduceOp.MIN, ReduceOp.MIN),
    (dist.ReduceOp.MAX, ReduceOp.MAX),
    (dist.ReduceOp.PRODUCT, ReduceOp.PROD),
)

Reduction = tuple[ReduceOp, float]
"""A reduction and the factor of this rank, which is 1 unless the reduction is PREMUL_SUM."""


def array_of(tensor: torch.Tensor) -> tuple[AnyArray, str]:
    """Return the memory of a contiguous tensor as a flat array, and the name of its elements for the engine.

    Elements that the engine does not have are bytes.
    """
    flat = tensor.detach().reshape(-1)
    name = _NAMES.get(tensor.dtype)
    if name is None:
        return flat.view(torch.uint8).numpy(), "u8"
    return (flat.view(torch.int16) if name == "bf16" else flat).numpy(), name


def reduction_of(op: dist.ReduceOp) -> Reduction | None:
    """Return the engine's reduction for torch's; None if it has none."""
    if op == dist.ReduceOp.PREMUL_SUM:
        return _premul_sum(op)
    return next(((ours, 1.0) for theirs, ours in _REDUCTIONS if op == theirs), None)


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
    if tensor.dtype not in _NAMES:
        return f"the engine does not add up elements of {tensor.dtype}"
    if reduction[0] is ReduceOp.PREMUL_SUM and not tensor.dtype.is_floating_point:
        return f"the engine has no PREMUL_SUM for elements of {tensor.dtype}"
    return None


def _name_of(op: dist.ReduceOp) -> str:
    kind = op.__getstate__()[0] if isinstance(op, dist.ReduceOp) else op
    return str(getattr(kind, "name", kind))
