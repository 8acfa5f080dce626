"""The group of a symmetry, compared with all its elements one by one."""

import numpy as np
import pytest

from forestcoll.topology import Shift, Symmetry
from forestcoll.topology.registry import build_topology
from forestcoll.verification.network import Network
from forestcoll.verification.routes.group import ShiftGroup


def turned(dims: tuple[int, ...], axis: int) -> Shift:
    """Return the shift of a torus by one along an axis."""
    image = np.roll(np.arange(np.prod(dims)).reshape(dims), -1, axis=axis).ravel()
    return Shift(dims[axis], image.astype(np.int32))


@pytest.mark.parametrize("dims", [(13,), (3, 5), (4, 7)])
def test_nodes_move_with_the_element_that_maps_their_key_to_the_least_node(dims: tuple[int, ...]) -> None:
    spec = f"ring:nodes={dims[0]}" if len(dims) == 1 else f"torus:dims={'x'.join(map(str, dims))}"
    symmetry = Symmetry(tuple(turned(dims, axis) for axis in range(len(dims))))
    group, nodes = ShiftGroup(Network(build_topology(spec)), symmetry), int(np.prod(dims))
    keys, others = (each.ravel() for each in np.meshgrid(np.arange(nodes), np.arange(nodes)))
    element_of = {int(np.flatnonzero(element == 0)[0]): element for element in symmetry.elements(nodes)}
    expected = [int(element_of[key][other]) for key, other in zip(keys.tolist(), others.tolist(), strict=True)]
    assert group.to_least(keys, others).tolist() == expected
