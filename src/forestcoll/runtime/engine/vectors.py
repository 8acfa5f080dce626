"""Checks of the arrays that callers pass."""

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.runtime.engine.elements import AnyArray, ElementType, bits_to_float, element_type_of, float_to_bits
from forestcoll.runtime.engine.plan import Plan


def flat_input(array: AnyArray, dtype: str | None) -> tuple[AnyArray, ElementType]:
    """Return `array` in one dimension, a copy only if its elements do not lie one after the other, and its type.

    Raises:
        InputError: the type is not supported.
    """
    if not isinstance(array, np.ndarray):
        raise InputError(f"the data is of type {type(array).__name__}; pass a NumPy array")
    if not array.dtype.isnative:
        raise InputError(f"the array has the byte order of another machine ({array.dtype.str}); convert it first")
    return np.ascontiguousarray(array).reshape(-1), element_type_of(array, dtype)


def new_like(array: AnyArray) -> AnyArray:
    """Return a new array of the same shape and type whose elements lie one after the other."""
    return np.empty(array.shape, dtype=array.dtype)


def sized_out(out: AnyArray | None, source: AnyArray, count: int, name: str) -> AnyArray:
    """Return `out` if it can take `count` elements like those of `source`, or a new array if it is None.

    Raises:
        InputError: it cannot.
    """
    if out is None:
        return np.empty(count, dtype=source.dtype)
    if out.dtype != source.dtype or out.size != count:
        raise InputError(
            f"{name}: out has {out.size} elements of {out.dtype.name}; it must have {count} of {source.dtype.name}"
        )
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise InputError(f"{name}: out must be writable, its elements one after the other; pass a contiguous array")
    return out


def copy_scaled(source: AnyArray, out: AnyArray, element: ElementType, factor: float) -> None:
    """Write `source`, multiplied by `factor`, to `out`, which may be `source` itself."""
    flat = out.reshape(-1)
    if factor == 1:
        flat[:] = source
    elif element is ElementType.BF16:
        scaled = bits_to_float(source.view(np.uint16)) * np.float32(factor)
        flat.view(np.uint16)[:] = float_to_bits(scaled)
    else:
        wide = np.dtype(np.float32) if element is ElementType.F16 else source.dtype
        with np.errstate(all="ignore"):
            flat[:] = (source.astype(wide) * wide.type(factor)).astype(source.dtype)


def check_out(part: AnyArray, whole: AnyArray, begin: int, name: str) -> None:
    """Check that `part` shares no memory with `whole`, or is exactly its part from element `begin` on.

    Raises:
        InputError: they overlap in another way.
    """
    if not part.size or not np.may_share_memory(part, whole):
        return
    if part.ctypes.data != whole.ctypes.data + begin * whole.itemsize:
        raise InputError(
            f"{name}: source and out overlap; pass separate arrays, or for in place, out or source at element {begin}"
        )


def gathered_count(plan: Plan, flat: AnyArray, out: AnyArray | None) -> int:
    """Return the number of elements of all shards, from the array for them or, without it, from one shard.

    Raises:
        InputError: shards have different sizes, and there is no array.
    """
    if out is not None:
        return out.size
    if len({plan.parts[member] for member in plan.members}) > 1:
        raise InputError("allgather: the shards have different sizes; pass out or counts")
    return flat.size * len(plan.members)
