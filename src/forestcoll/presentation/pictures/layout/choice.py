"""Select the layout of a network by its structure."""

from forestcoll.presentation.pictures.layout.circle import circle_layout
from forestcoll.presentation.pictures.layout.distances import distances_layout
from forestcoll.presentation.pictures.layout.grids import lattice_layout, lattice_shape
from forestcoll.presentation.pictures.layout.stress import MOST_NODES, stress_layout
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.layout.tiers import tiers_layout
from forestcoll.presentation.pictures.layout.value import NetworkLayout
from forestcoll.topology import Topology

_MOST_ON_CIRCLE = 20
_LEAST_WIDTH = 520.0
"""The least width of a picture, so that the legend fits."""


def layout_of(topology: Topology, *, is_compact: bool = False) -> NetworkLayout:
    """Return the places of all nodes of a network in a picture.

    Args:
        topology: any network.
        is_compact: whether compute nodes are small and show only the number at the end of their ids.

    Returns:
        Boxes in a row with the tiers of switches above them; a lattice for a torus, a mesh or a hypercube; a circle for
        a ring or a small direct network; otherwise places by distances in hops. Large networks are folded: nodes of
        equal structure share a mark.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> layout = layout_of(build_topology("dgx-a100:boxes=2"))
        >>> len(layout.marks), [frame.label for frame in layout.frames]
        (19, ['box 0', 'box 1'])
    """
    return _choose(Structure(topology, is_compact=is_compact)).centred(0 if is_compact else _LEAST_WIDTH)


def _choose(structure: Structure) -> NetworkLayout:
    topology = structure.topology
    shape = lattice_shape(structure)
    if shape is not None:
        return lattice_layout(structure, shape)
    if topology.switches or structure.groups:
        return tiers_layout(structure)
    degree = max(len(around) for around in structure.neighbours)
    if degree <= 2 or len(topology.nodes) <= _MOST_ON_CIRCLE:
        return circle_layout(structure)
    if len(topology.nodes) > MOST_NODES:
        return distances_layout(structure)
    return stress_layout(structure)
