"""Element types and reductions, with the numbers that the native engine uses for them.

NumPy has no type for bfloat16: name it (`dtype="bf16"`) and pass its bits as `uint16`, or use the type of the package
`ml_dtypes`, which is recognised by its name.
"""

from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError, member_named, shown, unknown_name

AnyArray = npt.NDArray[Any]


class ElementType(IntEnum):
    """The types of elements that can be sent and reduced."""

    F16 = 0
    BF16 = 1
    F32 = 2
    F64 = 3
    I8 = 4
    I16 = 5
    I32 = 6
    I64 = 7
    U8 = 8

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return _ITEMSIZE[self]

    @property
    def dtype_name(self) -> str:
        """The name that NumPy and torch use: `bfloat16`, `float32`, `int64`."""
        return _DTYPE_NAMES[self]

    @property
    def dtype(self) -> np.dtype[Any]:
        """What NumPy has for it; for bfloat16 its bits."""
        return np.dtype(np.uint16 if self is ElementType.BF16 else self.dtype_name)

    @property
    def is_float(self) -> bool:
        """Whether elements have fractions."""
        return self <= ElementType.F64

    @property
    def text(self) -> str:
        """The name in messages: `bf16`, `f32`, `i64`."""
        return self.name.lower()


_ITEMSIZE = (2, 2, 4, 8, 1, 2, 4, 8, 1)
_DTYPE_NAMES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8")
_BY_NAME = {name: each for each in ElementType for name in (each.dtype_name, each.text)}


class ReduceOp(StrEnum):
    """How the vectors of all ranks become one."""

    SUM = "sum"
    AVG = "avg"
    """The sum divided by the number of members; integers are rounded towards zero."""
    MIN = "min"
    MAX = "max"
    PROD = "prod"
    PREMUL_SUM = "premul-sum"
    """Each rank multiplies its vector by its own factor first; floats only."""

    @property
    def number(self) -> int:
        """The number that the engine has for it."""
        return _NUMBERS[self]


_NUMBERS = {each: number for number, each in enumerate(ReduceOp)}


def element_type_of(array: AnyArray, dtype: str | None = None) -> ElementType:
    """Return the element type of `array`, or the one that `dtype` names.

    Args:
        array: the data.
        dtype: None, or a name such as `bf16` or `float32` for the elements, of the same size as those of `array`.

    Raises:
        InputError: the type is not supported, or has another size than the elements of `array`.

    Example:
        >>> import numpy as np
        >>> element_type_of(np.zeros(3, dtype=np.float32)).text
        'f32'
    """
    name = array.dtype.name if dtype is None else dtype
    found = _BY_NAME.get(name)
    if found is None:
        problem = f"dtype is {shown(name)}, which the runtime cannot move"
        raise unknown_name(problem, name, [each.text for each in ElementType], "use one of")
    if found.itemsize != array.dtype.itemsize:
        raise InputError(
            f"dtype is {shown(name)} of {found.itemsize} bytes, but the array has elements of "
            f"{array.dtype.itemsize} bytes; pass an array of the same element size"
        )
    return found


def reduce_op_named(op: ReduceOp | str) -> ReduceOp:
    """Return the reduction called `op`.

    Raises:
        InputError: there is none.
    """
    return member_named(ReduceOp, op, f"there is no reduction {shown(op)}")


def check_reduction(op: ReduceOp, element: ElementType, factor: float) -> None:
    """Check that `op` can be applied to elements of this type.

    Raises:
        InputError: a factor is given to another reduction than PREMUL_SUM, or that one to integers.
    """
    if op is ReduceOp.PREMUL_SUM and not element.is_float:
        raise InputError(f"premul-sum of {element.text}: factors need a float type; use sum, or convert the data")
    if op is not ReduceOp.PREMUL_SUM and factor != 1:
        raise InputError(f"factor is {factor}, but the reduction is {op.value}; only premul-sum takes a factor")


def bits_to_float(values: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Return the values of bfloat16 bits."""
    return (values.astype(np.uint32) << 16).view(np.float32)


def float_to_bits(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Return bfloat16 bits, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), (bits >> 16) | 0x40, rounded).astype(np.uint16)
