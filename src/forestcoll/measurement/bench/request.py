"""What is measured: collectives, sizes, element types, reductions and numbers of runs, as nccl-tests has them."""

from dataclasses import dataclass

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.runtime.engine.elements import ElementType, ReduceOp

MOST_ROWS = 1_000
"""The most sizes of a table."""

LIBRARIES = ("auto", "gloo", "mpi", "none")
"""The libraries to compare with."""

_TYPES = {
    "int8": ElementType.I8,
    "uint8": ElementType.U8,
    "int32": ElementType.I32,
    "int64": ElementType.I64,
    "half": ElementType.F16,
    "float": ElementType.F32,
    "double": ElementType.F64,
    "bfloat16": ElementType.BF16,
}
"""The names of nccl-tests."""

_OPS = {"mulsum": ReduceOp.PREMUL_SUM}


@dataclass(frozen=True)
class BenchRequest:
    """What `bench` measures.

    Attributes:
        sizes: of the data M in bytes, one for each row.
        elements: the types of elements; all rows for each.
        ops: the reductions; all rows for each. A collective that reduces nothing has rows for the first only.
        iterations: how many runs a time is the mean of.
        warmup: how many runs are not counted.
        checks: how many runs of each row are checked on data.
        in_place: whether each row is measured in place, too.
        other_iterations: how many runs a time of the library is the mean of.
        other_library: what to compare with: `gloo`, `mpi`, `none`, or `auto` for the one that the launcher suggests.
    """

    sizes: tuple[int, ...]
    elements: tuple[ElementType, ...] = (ElementType.F32,)
    ops: tuple[ReduceOp, ...] = (ReduceOp.SUM,)
    iterations: int = 20
    warmup: int = 1
    checks: int = 1
    in_place: bool = True
    other_iterations: int = 5
    other_library: str = "auto"

    def __post_init__(self) -> None:
        if not self.sizes or len(self.sizes) > MOST_ROWS:
            raise InputError(f"bench: {len(self.sizes)} sizes; ask for 1 to {MOST_ROWS}")
        if self.iterations < 1:
            raise InputError(f"bench: {self.iterations} iterations; ask for 1 or more")
        if self.other_library not in LIBRARIES:
            raise InputError(f"bench: library is {shown(self.other_library)}; use one of {', '.join(LIBRARIES)}")


def sizes_between(least: int, most: int, factor: int | None = None, step: int | None = None) -> tuple[int, ...]:
    """Return the sizes from `least` to `most`, each `factor` times or `step` bytes more than the one before.

    Args:
        least: the first size in bytes.
        most: the greatest size in bytes.
        factor: 2 or more, or None.
        step: 1 or more, or None for 1 MiB; without effect where there is a factor.

    Raises:
        InputError: there are too many sizes, or none.

    Example:
        >>> sizes_between(1024, 8192, factor=2)
        (1024, 2048, 4096, 8192)
        >>> sizes_between(1000, 2000, step=500)
        (1000, 1500, 2000)
    """
    if least > most:
        raise InputError(f"bench: the least size {least} is more than the greatest {most}; exchange -b and -e")
    if factor is not None and factor < 2:
        raise InputError(f"bench: factor is {factor}; use 2 or more")
    sizes = [least]
    while len(sizes) <= MOST_ROWS:
        following = sizes[-1] * factor if factor is not None else sizes[-1] + (step or 2**20)
        if following > most:
            return tuple(sizes)
        sizes.append(following)
    raise InputError(f"bench: more than {MOST_ROWS} sizes from {least} to {most}; use a larger step or factor")


def elements_named(text: str) -> tuple[ElementType, ...]:
    """Return the element type that `text` names, as nccl-tests or forestcoll writes it, or all for `all`.

    Raises:
        InputError: there is none.

    Example:
        >>> [element.text for element in elements_named("half")]
        ['f16']
    """
    known = _TYPES | {each.text: each for each in ElementType}
    if text == "all":
        return tuple(ElementType)
    if text not in known:
        raise unknown_name(f"{shown(text)}: no such element type", text, [*known, "all"])
    return (known[text],)


def ops_named(text: str) -> tuple[ReduceOp, ...]:
    """Return the reduction that `text` names, as nccl-tests or forestcoll writes it, or all for `all`.

    Raises:
        InputError: there is none.
    """
    known = {each.value: each for each in ReduceOp} | _OPS
    if text == "all":
        return tuple(ReduceOp)
    if text not in known:
        raise unknown_name(f"{shown(text)}: no such reduction", text, [*known, "all"])
    return (known[text],)
