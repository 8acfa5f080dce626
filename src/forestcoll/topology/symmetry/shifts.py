"""Symmetry of a topology: commuting shifts of its nodes.

A shift maps every node to a node of the same kind, such that links are mapped to links of the same bandwidth. The
products of powers of commuting shifts are an abelian group. The group *acts freely* on the compute nodes if no element
except the identity maps a compute node to itself. Then each orbit of compute nodes is as large as the group. The trees
of one root in each orbit determine the trees of all roots, also if the group does not act freely.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # commands that only build a topology do not import NumPy
    import numpy as np
    import numpy.typing as npt

NodeArray: TypeAlias = "npt.NDArray[np.int32]"
"""Numbers of nodes: at each node, the number of the node that a symmetry maps it to."""


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Shift:
    """A symmetry of a topology that is the identity when it is applied `order` times.

    Attributes:
        order: the order, 2 or more.
        image: for each node of the topology, the number of the node that it is mapped to; read-only.
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
    """An abelian group of symmetries: all products of powers of `shifts`.

    Attributes:
        shifts: its generators. They commute, and each product of powers below their orders is another element.
    """

    shifts: tuple[Shift, ...]

    def __repr__(self) -> str:
        orders = " x ".join(str(shift.order) for shift in self.shifts)
        return f"Symmetry(order {self.order}{f' = {orders}' * (len(self.shifts) > 1)})"

    @property
    def order(self) -> int:
        """The number of elements of the group; 1 if there are no shifts."""
        return math.prod(shift.order for shift in self.shifts)

    def elements(self, nodes: int) -> Iterator[NodeArray]:
        """Yield each element as an array like `Shift.image`, for a topology with `nodes` nodes; first the identity."""
        import numpy as np

        yield from _products(self.shifts, np.arange(nodes, dtype=np.int32))


def _products(shifts: tuple[Shift, ...], element: NodeArray) -> Iterator[NodeArray]:
    """Yield `element` followed by each product of powers of `shifts`; the power of the last shift changes fastest."""
    if not shifts:
        yield element
        return
    first, *others = shifts
    for _ in range(first.order):
        yield from _products(tuple(others), element)
        element = first.image[element]
