"""Symmetry of a topology: commuting shifts of its nodes that no compute node stays in place under.

A shift sends every node to one of the same kind so that links go to links of the same bandwidth. The products of
powers of commuting shifts are an abelian group; it *acts freely* on the compute nodes if no element but the identity
leaves one in place. Then all compute nodes fall into orbits as large as the group, and trees that are known for one
root of each orbit are known for all.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # commands that only name a topology start without NumPy
    import numpy as np
    import numpy.typing as npt

NodeArray: TypeAlias = "npt.NDArray[np.int32]"


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Shift:
    """A symmetry that comes back to the identity when it is applied `order` times.

    Attributes:
        order: how often it must be applied, 2 or more.
        image: of each node number of the topology, the number of the node that it is sent to; read-only.
    """

    order: int
    image: NodeArray

    def __post_init__(self) -> None:
        self.image.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shift):
            return NotImplemented
        return self.order == other.order and self.image.tolist() == other.image.tolist()

    def __repr__(self) -> str:
        return f"Shift(order {self.order}, {len(self.image)} nodes)"

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash


@dataclass(frozen=True, slots=True, repr=False)
class Symmetry:
    """An abelian group that acts freely on the compute nodes: all products of powers of `shifts`.

    Attributes:
        shifts: its generators. They commute, and each product of powers below their orders is another element.
    """

    shifts: tuple[Shift, ...]

    def __repr__(self) -> str:
        orders = " x ".join(str(shift.order) for shift in self.shifts)
        return f"Symmetry(order {self.order}{f' = {orders}' * (len(self.shifts) > 1)})"

    @property
    def order(self) -> int:
        """How many elements the group has; 1 if there are no shifts."""
        return math.prod(shift.order for shift in self.shifts)

    def elements(self, nodes: int) -> Iterator[NodeArray]:
        """Yield every element as an array like `Shift.image`, of a topology of `nodes` nodes, the identity first."""
        import numpy as np

        yield from _products(self.shifts, np.arange(nodes, dtype=np.int32))


def _products(shifts: tuple[Shift, ...], element: NodeArray) -> Iterator[NodeArray]:
    """Yield `element` after every product of powers of `shifts`; the last shift moves fastest."""
    if not shifts:
        yield element
        return
    first, *others = shifts
    for _ in range(first.order):
        yield from _products(tuple(others), element)
        element = first.image[element]
